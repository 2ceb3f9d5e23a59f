"""The agent's own dated notes, as files.

Owns which files are notes, where a new one goes, and whether one changed since it was last read; promises that each
call looks at the bytes that stand there then, and that none added here makes a file too long to be read; never
changes what stands in one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from itertools import count

import msgspec

from reverie import layout
from reverie.core.text.names import is_day
from reverie.errors import UnsafePath, UsageError
from reverie.store.workspace import Workspace

LARGEST = 1_000_000  # bytes; a longer note is a document, which is reported and left alone


class Note(msgspec.Struct, frozen=True):
    """A note whose bytes changed: its path, its day and text, the digest it was last read under, and its own."""

    path: str
    day: str
    text: str
    before: str
    digest: str


def add(ws: Workspace, day: str, text: str, *, once: bool = False) -> str:
    """Append `text` to the note of `day` and return its path: `DAY.md`, or `DAY-2.md` and so on once that is full.

    With `once` a text that stands there is not added again. Raises UsageError for a text that no note could hold.
    """
    try:
        added = text.replace("\0", "\ufffd").rstrip("\n").encode() + b"\n\n"
    except UnicodeEncodeError:
        message = "the note holds half a character (a lone surrogate): send valid Unicode"
        raise UsageError(message) from None
    if len(added) > LARGEST:
        message = f"the note has {len(added):,} bytes: at most {LARGEST:,} fit; split it or keep it in a file"
        raise UsageError(message)
    path = ""
    placed = False

    def build(old: bytes | None) -> bytes | None:
        nonlocal placed
        before = old or b""
        if once and added in before:
            placed = True
            return None
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        placed = len(before) + len(gap) + len(added) <= LARGEST
        return before + gap + added if placed else None

    numbers = count(1)
    while not placed:
        path = layout.note_file(day, next(numbers))
        # Prose has no checksum: half a note, as a torn append leaves it, would be read as what was noted.
        ws.disk.rewrite(path, build)
    return path


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
