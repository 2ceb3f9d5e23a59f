"""The agent's own dated notes, as files.

Owns which files are notes and whether one changed since it was last read; promises that each call looks at the bytes
that stand there then; never writes a note.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from fnmatch import fnmatch

import msgspec

from reverie.core.names import is_day
from reverie.errors import UnsafePath
from reverie.store.workspace import Workspace

LARGEST = 1_000_000  # bytes; a longer note is a document, which is reported and left alone


class Note(msgspec.Struct, frozen=True):
    """A note whose bytes changed: its path, its day and text, the digest it was last read under, and its own."""

    path: str
    day: str
    text: str
    before: str
    digest: str


def changed(ws: Workspace, known: Callable[[str], str]) -> Iterator[Note | str]:
    """Yield each note whose digest is not the one that `known` says of its path, or why a file is not read."""
    for path in files(ws):
        day = path.rsplit("/", 1)[-1].removesuffix(".md")[:10]
        try:
            data = ws.disk.read(path) or b""
        except UnsafePath as error:
            yield str(error)
            continue
        digest = hashlib.sha256(data).hexdigest()
        if not is_day(day):
            yield f"{path} is named after no day: call it YYYY-MM-DD.md"
        elif len(data) > LARGEST:
            yield f"{path} has {len(data):,} bytes: at most {LARGEST:,} are read"
        elif (before := known(path)) != digest:
            yield Note(path, day, data.decode("utf-8", "replace"), before, digest)


def files(ws: Workspace) -> list[str]:
    """Return the paths of the dated notes that `notes.globs` names, sorted."""
    tops = {pattern.rsplit("/", 1)[0] if "/" in pattern else "" for pattern in ws.settings.notes.globs}
    paths = [f"{top}/{name}" if top else name for top in sorted(tops) for name in ws.disk.list(top)]
    return [
        path
        for path in paths
        if path.endswith(".md") and any(fnmatch(path, pattern) for pattern in ws.settings.notes.globs)
    ]
