"""Import as an upload and export as a stream: what comes in or goes out whole, and no folder is named.

Owns the two endpoints; promises that an upload is not held in memory, that what is on its way lies beneath the root and
is removed when it has arrived, and that a whole export which comes back makes the same memory again; never trusts a
name that was sent with it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from reverie.errors import UsageError
from reverie.importers.taken import Imported
from reverie.importing import Wish
from reverie.memory import Memory
from reverie.store.hosts.parcels import Parcel, zipped
from reverie.surface import results
from reverie.surface.http.guard import demand, grant_of
from reverie.surface.http.operations import USER, Takes, read
from reverie.surface.http.serving import Server, person_of, told, written
from reverie.transfer import MANIFEST

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

ZIP = "application/zip"
_PIECE = 1 << 20
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class Import(Takes, frozen=True, kw_only=True):
    """How to import what the body holds."""

    name: Annotated[
        str, Meta(description="The file's name: letters, digits, dots, hyphens, underscores.")
    ] = "upload"
    session: Annotated[str, Meta(description="For turns that name none; else the file's name.")] = ""
    dry_run: Annotated[bool, Meta(description="Count what would come in; write nothing.")] = False


async def take_in(server: Server, request: Request) -> Response:
    """Import what the body holds, from wherever it came."""
    query = list(request.query_params.multi_items())
    person, workspace = person_of(query), str(request.path_params["workspace"])
    name = demand(grant_of(request.scope), "write", hosted=server.hosted, workspace=workspace, person=person)
    given = read(Import, {}, query=[one for one in query if one[0] != USER])
    if not _PLAIN.fullmatch(given.name):
        raise UsageError("name is no plain name of a file: use letters, digits, dots, hyphens, underscores")
    async with _on_its_way(server) as parcel:
        await _received(request, parcel, given.name)

        def verb(memory: Memory) -> Imported:
            memory.opened.trusted_or_raise()
            file = parcel.arrived(given.name)
            whole = parcel.unpacked(file, MANIFEST)
            return memory.import_(whole or file, wish=Wish(session=given.session, dry_run=given.dry_run))

        # Waited for to its end: the parcel must not go while it is read.
        future = server.hosted.call(name, verb, user=person, long=True)
        done = await asyncio.shield(asyncio.wrap_future(future))
    return told(request, written(msgspec.to_builtins(results.importing(done), str_keys=True)))


async def send_out(server: Server, request: Request) -> Response:
    """Send everything as one archive, which `import` takes back."""
    from starlette.responses import StreamingResponse

    query = list(request.query_params.multi_items())
    person, workspace = person_of(query), str(request.path_params["workspace"])
    name = demand(grant_of(request.scope), "admin", hosted=server.hosted, workspace=workspace, person=person)
    read(Takes, {}, query=[one for one in query if one[0] != USER])
    held = AsyncExitStack()
    parcel = await held.enter_async_context(_on_its_way(server))
    async with held:
        target = parcel.folder / "export"
        future = server.hosted.call(name, lambda memory: memory.export(target), user=person, long=True)
        await asyncio.shield(asyncio.wrap_future(future))
        sending = held.pop_all()  # removed when it was sent, not when this returns
    own = {"content-disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(_sent(sending, zipped(target)), media_type=ZIP, headers=own)


@asynccontextmanager
async def _on_its_way(server: Server) -> AsyncIterator[Parcel]:
    """Make a parcel, and remove it, on a thread."""
    parcel = Parcel(server.hosted.root)
    await asyncio.to_thread(parcel.__enter__)
    try:
        yield parcel
    finally:
        await asyncio.to_thread(parcel.__exit__, None, None, None)


async def _received(request: Request, parcel: Parcel, name: str) -> None:
    """Write the body down as it comes, in pieces of a size that is worth a thread."""
    piece = bytearray()
    async for data in request.stream():
        piece += data
        if len(piece) >= _PIECE:
            await asyncio.to_thread(parcel.add, name, bytes(piece))
            piece.clear()
    await asyncio.to_thread(parcel.add, name, bytes(piece))


async def _sent(held: AsyncExitStack, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces, each made on a thread, and remove what they were made of."""
    async with held:
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            if piece:
                yield piece
