"""How a request becomes a call of a verb, and what came of it an answer.

Owns reading the body, choosing the memory, waiting, and the form of the answer; promises that a verb runs on its
memory's own thread, that JSON is looked at for its depth before it is read, that every error is a problem with its
remedy, and that a GET which was answered the same before is answered by 304; never runs anything on the loop.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import msgspec

from reverie.config import traceback_wanted
from reverie.core.settings.http import HttpSettings
from reverie.errors import Busy, ReverieError, UsageError
from reverie.memory import Memory
from reverie.surface.http.guard import demand, grant_of
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.metrics import Metrics
from reverie.surface.http.operations import LONGEST_NAME, USER, File, Operation, read
from reverie.surface.http.problems import MEDIA, Refusal, headers, problem
from reverie.surface.render import escaped
from reverie.surface.unplaced import WORKSPACE, Folders, unplaced_all

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    Endpoint = Callable[[Request], Awaitable[Response]]

JSON = "application/json"

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[{\]}]")
_OPENING = (b"[", b"{")


class Server:
    """What the endpoints share: the workspaces, the limits, the counts."""

    def __init__(self, hosted: Hosted, limits: HttpSettings, *, metrics: Metrics) -> None:
        """Take all three."""
        self.hosted, self.limits, self.metrics = hosted, limits, metrics

    def endpoint(self, operation: Operation) -> Endpoint:
        """Return the endpoint of an operation."""

        async def made(_: Server, request: Request) -> Response:
            return await self._answer(operation, request)

        return self.route(operation.id, made)

    def route(self, name: str, make: Callable[[Server, Request], Awaitable[Response]]) -> Endpoint:
        """Return the endpoint of what makes an answer, or of the problem that keeps it from being made; counted."""

        async def answer(request: Request) -> Response:
            with self.metrics.timed(name) as ended:
                try:
                    response = await make(self, request)
                # The outermost frame: a fault of ours must not end the server.
                except Exception as error:
                    response = self.failed(error)
                ended(response.status_code)
                return response

        return answer

    def failed(self, error: Exception) -> Response:
        """Return the problem that an error is."""
        if isinstance(error, Refusal) and error.kind.status in {408, 413}:
            raise error  # the door answers it, for it has to end the connection
        if not isinstance(error, Refusal | ReverieError) and traceback_wanted():
            traceback.print_exception(error, file=sys.stderr)
        told = problem(error, self.folders())
        return _response(msgspec.json.encode(told), MEDIA, status=told.status, headers=headers(told, error))

    def folders(self, name: str = "") -> Folders:
        """Return the folders that no answer names, with what stands for them."""
        own = ((WORKSPACE, self.hosted.root / name),) if name else ()
        return (*own, ("<root>", self.hosted.root), ("<config>", self.hosted.config))

    async def wait(self, future: Future[Any]) -> Any:  # noqa: ANN401 - whatever a verb returns
        """Return what a verb returns; raises Refusal when that takes longer than a request may wait."""
        running = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(asyncio.shield(running), self.limits.answer_seconds)
        except TimeoutError as error:
            running.add_done_callback(_passed_over)
            raise Refusal("TooLong", f"no answer within {self.limits.answer_seconds:g} seconds") from error
        except asyncio.CancelledError:
            if not future.cancelled():
                raise
            raise Busy("the server is stopping: try again when it is back") from None

    async def _answer(self, operation: Operation, request: Request) -> Response:
        path = dict(request.path_params)
        workspace = str(path.pop("workspace"))
        query = list(request.query_params.multi_items())
        person = person_of(query)
        grant = grant_of(request.scope)
        name = demand(grant, operation.right, hosted=self.hosted, workspace=workspace, person=person)
        body = await json_body(request, self.limits.max_json_depth) if operation.has_body else {}
        given = read(operation.takes, path, query=[one for one in query if one[0] != USER], body=body)
        demand(grant, operation.needs(given), hosted=self.hosted, workspace=workspace, person=person)

        def verb(memory: Memory) -> Any:  # noqa: ANN401 - whatever the verb returns
            if not operation.bare:
                memory.opened.trusted_or_raise()  # what comes from here goes into a prompt
            return operation.run(memory, given)

        found = await self.wait(self.hosted.call(name, verb, user=person, long=operation.long))
        if operation.renews:
            self.hosted.drop(name)
        if isinstance(found, File):
            return told(request, found.text.encode("utf-8", "replace"), media=found.media)
        built = msgspec.to_builtins(found, enc_hook=str, str_keys=True)
        if operation.named and not isinstance(built, Mapping):
            built = {operation.named: built}
        if operation.unplaced:
            built = unplaced_all(built, self.folders(name))
        return told(request, written(built))


def person_of(query: list[tuple[str, str]]) -> str:
    """Return the person whose memory a request means, "" for the agent's own; raises UsageError."""
    named = [value for name, value in query if name == USER]
    if len(named) > 1:
        raise UsageError(f"{USER} is given twice: give it once")
    person = named[0] if named else ""
    if len(person) > LONGEST_NAME or (named and not person.strip()):
        raise UsageError(
            f"{USER} names nobody: give a name of at most {LONGEST_NAME} characters, or leave it out"
        )
    return person


async def json_body(request: Request, depth: int) -> Mapping[str, Any]:
    """Return the object that a request sends, empty when it sends nothing; raises Refusal."""
    data = await request.body()
    if not data:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise Refusal("WrongMedia", f"the body is {kind[:80] or 'of no type'}: send {JSON}")
    if deeper(data, depth):
        raise Refusal("BadRequest", f"the JSON is nested more than {depth} deep")
    try:
        body = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise Refusal("BadRequest", f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refusal("BadRequest", "the body is no JSON object")
    return body


def deeper(data: bytes, depth: int) -> bool:
    """Tell whether JSON is nested more than `depth` deep; text that is no JSON may be either."""
    now = 0
    for found in _BRACKETS.finditer(_STRINGS.sub(b"", data)):
        now += 1 if found[0] in _OPENING else -1
        if now > depth:
            return True
    return False


def written(value: object) -> bytes:
    """Return a value as JSON, in which what would act on a terminal is escaped."""
    return escaped(json.dumps(value, ensure_ascii=False)).encode()


def told(request: Request, body: bytes, *, media: str = JSON) -> Response:
    """Return an answer; a GET has an ETag, and is answered by 304 where the client has the same already."""
    if request.method not in {"GET", "HEAD"}:
        return _response(body, media)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    own = {"etag": tag, "cache-control": "private, no-cache"}
    if known & {tag, "*"}:
        return _response(b"", media, status=304, headers=own)
    return _response(body, media, headers=own)


def _response(
    body: bytes, media: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    from starlette.responses import Response

    return Response(body, status_code=status, media_type=media, headers=dict(headers or {}))


def _passed_over(future: asyncio.Future[Any]) -> None:
    """Look at what came of a call nobody waits for any more, so that nobody is warned of it."""
    if not future.cancelled():
        future.exception()
