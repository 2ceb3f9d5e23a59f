"""Everything going out, and coming back whole.

Owns the export's shape; promises that an export holds every canonical file as it stood at one moment of its workspace,
whoever writes meanwhile, that imported into an empty workspace it is the same workspace, that an import which was cut
short goes on, and that nothing is written before all of an export was verified; never touches the source. An export
that meets other memories is merged by `merging`, conversations of other programs come in by `importing`.

An export is a folder: the canonical files as they are, and `manifest.json` with the SHA-256 of each. Derived files are
left out, for they come back.

The order of an export, for the workspace and then for each person's beneath it:

1. every file is copied, while others write
2. under that workspace's write lock, so that no drain, dream or erase moves anything, what changed since is copied
   again: what refers to other files (events, pages) before what it refers to (entries, turns), which only grows
3. the manifest is written

The order of an import: what holds no memories, then what does. A crash leaves a part of the export, and importing it
again completes it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.errors import NewerFormat, StoreUnwritable, UnsafePath, UsageError
from reverie.importers.taken import Imported
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.lock import Locks
from reverie.store.workspace import Workspace

MANIFEST = "manifest.json"
LARGEST = (
    2_000_000_000  # bytes of one file; no file of a workspace comes near, and a planted one fills the memory
)
_DERIVED = re.compile(
    rf"(?:{layout.PEOPLE}/[^/]+/)*(?:{'|'.join(map(re.escape, (layout.INDEX, layout.DIGESTS, layout.LOCKS)))})/"
)
_PERSON = re.compile(rf"{layout.PEOPLE}/[^/]+/")
_ORDER = (f"{layout.STATE}/", f"{layout.OBJECTS}/", f"{layout.NOTEBOOK}/")  # before the rest
_LAST = (f"{layout.JOURNAL}/", f"{layout.SESSIONS}/")  # behind the rest, in this order
_MEMORIES = (layout.SESSIONS, layout.ARCHIVE, layout.SEGMENTS, layout.DRAINING, layout.JOURNAL_ARCHIVE)


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export wrote: the folder, how many files, how many bytes."""

    folder: Path
    files: int
    size: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`manifest.json`: the format's version, the workspace's id and agent, and the SHA-256 of each file."""

    version: int
    workspace: str
    agent: str
    files: dict[str, str]


class Export(NamedTuple):
    """An export that was verified: the folder, and its manifest."""

    disk: Disk
    manifest: Manifest


class _Copy(NamedTuple):
    """How a file stood when it was copied, and what was copied."""

    stamp: tuple[int, int, int]
    digest: str
    size: int


def export(ws: Workspace, target: Path, *, still: bool = True) -> Exported:
    """Write every canonical file to the empty or missing folder `target`; the manifest comes last and seals it.

    `still` has others wait a moment, so that all files are of one; without it (a workspace that may not be written to)
    nobody should write. Raises UsageError for the target, StoreUnwritable, Busy.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty: export into a new folder")
    if target.resolve().is_relative_to(ws.root.resolve()):
        raise UsageError(f"{target} lies in the workspace itself: export to a folder outside it")
    disk, copies = Disk(target), dict[str, _Copy]()
    disk.make_folder("")
    whose = ["", *(f"{layout.PEOPLE}/{name}/" for name in ws.disk.list(layout.PEOPLE))]
    for own in whose:
        _bring(ws, own, disk, copies=copies)
        with ExitStack() as held:
            if still:
                locks = Locks(ws.root / own) if own else ws.locks
                held.enter_context(locks.write(ws.settings.lock_wait_seconds, what="export"))
            _bring(ws, own, disk, copies=copies, whole=still)
    identity = ws.identity()
    digests = {path: one.digest for path, one in sorted(copies.items())}
    manifest = Manifest(version=layout.FORMAT, workspace=identity.id, agent=identity.agent, files=digests)
    disk.replace(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    return Exported(folder=target, files=len(copies), size=sum(one.size for one in copies.values()))


def canonical(ws: Workspace) -> Iterator[str]:
    """Yield the path of every canonical file, MEMORY.md with what people wrote in it included."""
    return (path for path in ws.disk.walk("") if not _DERIVED.match(path))


def _bring(ws: Workspace, own: str, to: Disk, *, copies: dict[str, _Copy], whole: bool = False) -> None:
    """Copy the files of one workspace (those beneath `own`) that changed since they were copied; drop those gone.

    With `whole`, nobody is in the middle of an append to what is read.
    """
    there = set()
    for path in sorted(_own_files(ws, own), key=lambda one: _place(one.removeprefix(own))):
        status = ws.disk.stat(path)
        if status is None:
            continue
        there.add(path)
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if path in copies and copies[path].stamp == stamp:
            continue
        data = _unbroken(ws, path) if whole and path.endswith(".jsonl") else ws.disk.read(path)
        if data is not None:
            to.replace(path, data)
            copies[path] = _Copy(stamp, hashlib.sha256(data).hexdigest(), len(data))
    for path in [
        one for one in copies if one.startswith(own) and one not in there and (own or not _PERSON.match(one))
    ]:
        to.remove(path)
        del copies[path]


def _own_files(ws: Workspace, own: str) -> Iterator[str]:
    """Yield the canonical files of the workspace beneath `own`, without those of the people in it."""
    for path in ws.disk.walk(own.rstrip("/")):
        if not _DERIVED.match(path) and not _PERSON.match(path.removeprefix(own)):
            yield path


def _place(path: str) -> tuple[int, str]:
    """Return where a file comes among the others: what refers to others first, what others refer to last."""
    if path.startswith(_ORDER):
        return (0, path)
    last = next((at for at, folder in enumerate(_LAST) if path.startswith(folder)), -1)
    return (2 + last, path)


def _unbroken(ws: Workspace, path: str) -> bytes | None:
    """Return a stream's bytes as they stand between two appends."""
    found: list[bytes | None] = []

    def look(data: bytes | None) -> None:
        found.append(data)

    with suppress(StoreUnwritable, UnsafePath):  # it cannot be held: then nobody can append to it either
        ws.disk.rewrite(path, look)
    return found[-1] if found else ws.disk.read(path)


# Coming back


def verified(source: Path) -> Export:
    """Return the export in a folder after every file of it was verified; raises UsageError, UnsafePath, NewerFormat."""
    disk = Disk(source)
    sealed = disk.read(MANIFEST) if (disk.size(MANIFEST) or 0) <= LARGEST else None
    if sealed is None:
        raise UsageError(f"{source} is no export: {MANIFEST} is missing")
    try:
        manifest = msgspec.json.decode(sealed, type=Manifest)
    except framing.NO_JSON as error:
        raise UsageError(f"{source / MANIFEST} cannot be read ({error}): nothing was imported") from error
    if manifest.version > layout.FORMAT:
        raise NewerFormat(f"{source} was exported by a newer Reverie: upgrade to import it")
    for path, digest in manifest.files.items():
        _read(Export(disk, manifest), path, digest)
    return Export(disk, manifest)


def read(export: Export, path: str) -> bytes | None:
    """Return the bytes of a file of an export as they were sealed, None when it has none; raises UsageError."""
    digest = export.manifest.files.get(path)
    return None if digest is None else _read(export, path, digest)


def _read(export: Export, path: str, digest: str) -> bytes:
    place = export.disk.root / path
    if _DERIVED.match(path) or path == MANIFEST:
        raise UsageError(f"{place} is no file of an export: nothing was imported")
    if (export.disk.size(path) or 0) > LARGEST:
        raise UsageError(
            f"{place} is larger than {LARGEST:,} bytes: no file of an export is; nothing was imported"
        )
    data = export.disk.read(path)
    if data is None or hashlib.sha256(data).hexdigest() != digest:
        raise UsageError(f"{place} is not what was exported: nothing was imported")
    return data


def fits(ws: Workspace, export: Export) -> bool:
    """Whether a workspace holds no memories but those of this export, as it is empty or was imported in part."""
    own = [path for path in canonical(ws) if _is_memory(path)]
    return all(path in export.manifest.files and ws.disk.read(path) == read(export, path) for path in own)


def all_sealed(export: Export) -> None:
    """Raise UsageError for an export in whose folder lies what its manifest does not name: nobody verified it."""
    for path in export.disk.walk(""):
        if path not in export.manifest.files and path != MANIFEST and not _DERIVED.match(path):
            raise UsageError(
                f"{export.disk.root / path} is not in the manifest: remove it; nothing was imported"
            )


def planned(export: Export) -> Imported:
    """Return what `put` would do in an empty workspace."""
    return Imported(format="reverie-export", files=len(export.manifest.files), dry_run=True)


def put(ws: Workspace, export: Export) -> Imported:
    """Write what a workspace lacks of an export that fits it; the seal of this user's own workspace stays.

    Where it holds memories already, it was all there before, so what differs otherwise was changed since and is kept.
    """
    begun = any(map(_is_memory, canonical(ws)))
    written = kept = 0
    for path in sorted(export.manifest.files, key=_is_memory):
        if path == layout.ORIGIN:
            continue
        old, new = ws.disk.read(path), read(export, path)
        if new is None or old == new:
            continue
        if old is not None and begun:
            kept += 1
            continue
        ws.disk.replace(path, new)
        written += 1
    passed = {"a file that was changed here since": kept} if kept else {}
    repeated = len(export.manifest.files) - written if begun else 0
    return Imported(
        format="reverie-export", files=len(export.manifest.files), repeated=repeated, passed=passed
    )


def _is_memory(path: str) -> bool:
    return path in (layout.EVENTS, layout.KV) or path.startswith(tuple(f"{folder}/" for folder in _MEMORIES))
