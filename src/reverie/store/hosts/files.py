"""A host's own memory files: `files/`, which an agent writes through a memory tool.

Owns reading and writing beneath `files/`; promises that a file is made only where there is none, that it is changed
whole and under its lock, redacted before its first byte is written, and that what was acknowledged is on disk; never
follows a link, and never says what may be shown of a file.

What a crash leaves: a file as it was or as it was to be; of a folder that was being removed some files, and removing it
again finishes it; a folder that was being moved at one of the two places.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from typing import Literal

from reverie import layout
from reverie.core.forgetting.exclusions import excluded_by
from reverie.errors import InvalidRecord
from reverie.store.workspace import Workspace

MOST_BYTES = 1_000_000  # of one file: a memory that nobody can read in one go helps no agent
MOST_FILES = 5_000

Kind = Literal["file", "folder", "absent", "other"]
Change = Callable[[str], str]


def kind(ws: Workspace, name: str) -> Kind:
    """Return what lies at a path beneath `files/`, empty for that folder itself; raises UnsafePath beneath a link."""
    status = ws.disk.stat(_path(name))
    if status is None:
        return "folder" if not name else "absent"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(status.st_mode) else "other"


def read(ws: Workspace, name: str) -> str | None:
    """Return a file's text, None when it is absent; raises InvalidRecord when it is none, UnsafePath."""
    data = ws.disk.read(_path(name))
    return None if data is None else _decoded(name, data)


def create(ws: Workspace, name: str, text: str) -> bool:
    """Make a file, with the folders above it; False when something has that name already.

    Raises InvalidRecord for a text that may not be stored, UnsafePath, StoreUnwritable, Busy.
    """
    data = _fit(ws, name, text)
    if kind(ws, name) != "absent":
        return False
    if sum(1 for _ in ws.disk.walk(layout.FILES)) >= MOST_FILES:
        message = f"there are {MOST_FILES:,} memory files already: delete what is no longer needed"
        raise InvalidRecord(message)
    made = [False]

    def build(old: bytes | None) -> bytes | None:
        made[0] = old is None
        return data if old is None else None

    ws.disk.rewrite(_path(name), build)
    return made[0]


def change(ws: Workspace, name: str, edit: Change) -> str | None:
    """Put what `edit` makes of a file's text in its place, and return it as stored; None when there is no file.

    What `edit` raises leaves the file as it was. Raises InvalidRecord, UnsafePath, StoreUnwritable, Busy.
    """
    stored: list[bytes] = []

    def build(old: bytes | None) -> bytes | None:
        stored.clear()
        if old is None:
            return None
        stored.append(_fit(ws, name, edit(_decoded(name, old))))
        return stored[0]

    ws.disk.rewrite(_path(name), build)
    return stored[0].decode() if stored else None


def remove(ws: Workspace, name: str) -> bool:
    """Remove a file, or a folder with all that is in it; False when absent. Raises UnsafePath, StoreUnwritable."""
    what = kind(ws, name)
    if what == "absent" or not name:
        return False
    if what != "folder":
        return ws.disk.remove(_path(name))
    for path, status in ws.disk.statuses(_path(name)):
        inside = path.removeprefix(f"{layout.FILES}/")
        if stat.S_ISDIR(status.st_mode):
            remove(ws, inside)
        else:
            ws.disk.remove(path)
    ws.disk.sweep(_path(name))
    return ws.disk.remove_folder(_path(name))


def move(ws: Workspace, old: str, new: str) -> Literal["moved", "absent", "taken"]:
    """Move a file or folder to a free name; raises UnsafePath, StoreUnwritable (also for a name just taken), Busy."""
    if kind(ws, old) == "absent":
        return "absent"
    if kind(ws, new) != "absent":
        return "taken"
    return "moved" if ws.disk.rename(_path(old), _path(new)) else "absent"


def listed(ws: Workspace, name: str, depth: int) -> Iterator[tuple[str, int, bool]]:
    """Yield what is in a folder, down to `depth`: the name beneath it, its size in bytes, whether it is a folder.

    Hidden things and `node_modules` are left out, and so is what may not be opened.
    """
    for path, status in ws.disk.statuses(_path(name)):
        shown = path.rpartition("/")[2]
        if shown.startswith(".") or shown == "node_modules":
            continue
        if stat.S_ISDIR(status.st_mode):
            inside = path.removeprefix(f"{layout.FILES}/")
            yield shown, size(ws, inside), True
            if depth > 1:
                below = listed(ws, inside, depth - 1)
                yield from ((f"{shown}/{one}", bytes_, folder) for one, bytes_, folder in below)
        elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
            yield shown, status.st_size, False


def size(ws: Workspace, name: str) -> int:
    """Return the bytes of all files in a folder."""
    return sum(status.st_size for _, status in ws.disk.walk_statuses(_path(name)))


def _path(name: str) -> str:
    return f"{layout.FILES}/{name}" if name else layout.FILES


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"{name} is no text in UTF-8 (byte {error.start})"
        raise InvalidRecord(message) from error


def _fit(ws: Workspace, name: str, text: str) -> bytes:
    """Return a text as it may be stored: without secrets; raises InvalidRecord when it may not be."""
    if topic := excluded_by(f"{name.replace('/', ' ')}\n{text}", ws.settings.exclusions):
        message = f"{topic!r} is a topic that is never stored here: leave it out"
        raise InvalidRecord(message)
    if ws.clean(name) != name:
        message = "the name holds what looks like a secret: choose another"
        raise InvalidRecord(message)
    if "\0" in text:
        message = "the text holds NUL bytes: send text"
        raise InvalidRecord(message)
    data = ws.clean(text).encode("utf-8", "replace")
    if len(data) > MOST_BYTES:
        message = f"the file would have {len(data):,} bytes, of {MOST_BYTES:,}: split it"
        raise InvalidRecord(message)
    return data
