"""Everything going out, and coming back whole.

Owns the export's shape; promises that an export imported into an empty workspace is the same workspace; never touches
the source. Conversations of other programs come in by `importing`.

An export is a folder: the canonical files as they are, and `manifest.json` with the SHA-256 of each. Derived files are
left out, for they come back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from reverie import layout
from reverie.errors import NewerFormat, UsageError
from reverie.importers.taken import Imported
from reverie.store.disk import Disk
from reverie.store.workspace import Workspace

MANIFEST = "manifest.json"
_DERIVED = re.compile(
    rf"(?:{layout.PEOPLE}/[^/]+/)*(?:{'|'.join(map(re.escape, (layout.INDEX, layout.DIGESTS, layout.LOCKS)))})/"
)


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


def export(ws: Workspace, target: Path) -> Exported:
    """Write every canonical file to the empty or missing folder `target`; the manifest comes last and seals it."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not empty: export into a new folder")
    if target.resolve().is_relative_to(ws.root.resolve()):
        raise UsageError(f"{target} lies in the workspace itself: export to a folder outside it")
    disk, digests, size = Disk(target), {}, 0
    disk.make_folder("")
    for path in canonical(ws):
        data = ws.disk.read(path)
        if data is not None:
            disk.replace(path, data)
            digests[path] = hashlib.sha256(data).hexdigest()
            size += len(data)
    identity = ws.identity()
    manifest = Manifest(version=layout.FORMAT, workspace=identity.id, agent=identity.agent, files=digests)
    disk.replace(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    return Exported(folder=target, files=len(digests), size=size)


def canonical(ws: Workspace) -> Iterator[str]:
    """Yield the path of every canonical file, MEMORY.md with what people wrote in it included."""
    for path in ws.disk.walk(""):
        if not _DERIVED.match(path):
            yield path


def import_export(ws: Workspace, source: Path) -> Imported:
    """Take an export into a workspace that holds nothing yet.

    Raises UsageError when it holds something, or a file is not whole, and NewerFormat.

    Every file is verified before the first is written, so that a damaged export changes nothing.
    """
    disk = Disk(source)
    sealed = disk.read(MANIFEST)
    if sealed is None:
        raise UsageError(f"{source} is no export: {MANIFEST} is missing")
    try:
        manifest = msgspec.json.decode(sealed, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{source / MANIFEST} cannot be read ({error}): nothing was imported") from error
    if manifest.version > layout.FORMAT:
        raise NewerFormat(f"{source} was exported by a newer Reverie: upgrade to import it")
    if ws.disk.list(layout.SESSIONS) or ws.disk.list(layout.ARCHIVE) or ws.disk.size(layout.EVENTS):
        raise UsageError(f"{ws.root} holds memories already: import an export into a new workspace")
    for path, digest in manifest.files.items():
        if hashlib.sha256(disk.read(path) or b"").hexdigest() != digest:
            raise UsageError(f"{source / path} is not what was exported: nothing was imported")
    for path in manifest.files:
        if path != layout.ORIGIN:  # the seal of this user's own workspace stays
            ws.disk.replace(path, disk.read(path) or b"")
    return Imported(format="reverie-export", files=len(manifest.files))
