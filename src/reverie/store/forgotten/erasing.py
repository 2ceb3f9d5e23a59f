"""Rewriting the files of a workspace without a text, and proving that none holds it any more.

Owns the walk over everything; promises that each file is whole before and after, that doing it again after a crash
finds less to do, and that what could not be cleaned is named; never touches a person's workspace beneath this one.

The order, under the dream, index and write locks:

1. the erasure is synced to `.state/erase.json`; from here on it will be finished
2. each file that holds the text is replaced
3. the history is rewritten (`store.versions.erasing_history`)
4. what is derived is removed: the index, the digests
5. every file and object is decoded and searched
6. what is to be done in other workspaces is queued (`store.forgotten.orders`)
7. the record of the erasure, which holds the text, is removed

A crash leaves that record, and doing all of it again finds less to do.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress
from functools import partial

from reverie import layout
from reverie.core.forgetting import stubs
from reverie.core.forgetting.erasure import Eraser
from reverie.core.formats.containers import closed
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.pages.blocks import Block, find_block, with_inner
from reverie.errors import UnsafePath
from reverie.store import counters
from reverie.store.counters import DrainCounters
from reverie.store.forgotten import orders
from reverie.store.versions import erasing_history, pruning
from reverie.store.workspace import Workspace

_APART = (
    layout.KEY,
    layout.ERASE_INTENT,
    layout.TOMBSTONES,
    layout.PAUSED,
)  # they hold no text, or are ours to drop
_FOLDERS = (layout.LOCKS, layout.INDEX, layout.OBJECTS, layout.ERASING)
ELSEWHERE = (
    "Backups, exports and copies of this folder elsewhere keep what they hold, as do others who read it along in a"
    " shared workspace, and the free space of the disk."
)
MOST = 200  # places named of those that still hold a text
_NAMED = 3  # of files that could not be searched


def affected(ws: Workspace, eraser: Eraser) -> list[str]:
    """Return the paths of the files that hold the text, those of the history as `.history`, without changing any."""
    found = [path for path in _files(ws) if _changed(path, ws.disk.read(path) or b"", eraser)]
    return found + ([layout.OBJECTS] if erasing_history.holds(ws, eraser) else [])


def rewrite(ws: Workspace, eraser: Eraser) -> list[str]:
    """Take the text out of every file, and return the paths of those that changed."""
    changed = [path for path in list(_files(ws)) if _rewrite(ws, path, eraser)]
    if erasing_history.rewrite(ws, eraser):
        changed.append(layout.OBJECTS)
    for path in [*ws.disk.walk(layout.INDEX), *ws.disk.walk(layout.DIGESTS)]:
        ws.disk.remove(path)
    for folder in sorted({"", *(path.rpartition("/")[0] for path in ws.disk.walk(""))}):
        ws.disk.sweep(folder)  # a replacement that a crash cut short holds what it was to replace
    pruning.sweep(ws)  # also where nothing else stands in a folder
    return changed


def drop_lines(ws: Workspace, ids: Container[str]) -> None:
    """Take the lines that name these entries out of what is compiled anew later and read till then.

    That is the digests and the block of MEMORY.md; of those that may not be opened nobody reads them.
    """

    def without(path: str, old: bytes | None) -> bytes | None:
        text = to_text(old)
        block = find_block(text) if path == layout.MEMORY else None
        if block is None:
            new = stubs.uncited(text, ids)
        elif isinstance(block, Block):
            new = with_inner(text, block, inner=stubs.uncited(block.inner, ids))
        else:
            return None
        return None if new == text else to_bytes(new)

    with suppress(UnsafePath):
        for path in ws.disk.walk(layout.DIGESTS):
            ws.disk.rewrite(path, partial(without, path))
    with suppress(UnsafePath):
        ws.disk.rewrite(layout.MEMORY, partial(without, layout.MEMORY))


def leftovers(ws: Workspace, eraser: Eraser, *, planned: Container[str] | None = None) -> list[str]:
    """Return the places that still hold the text or could not be searched, about `MOST` at most.

    Before an erase, `planned` are those that it would change; what is derived, and the history, are not looked at then.
    """
    found, unread = _search(ws, eraser, planned)
    if unread:
        more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
        first = ", ".join(unread[:_NAMED])
        found.append(
            f"{first}{more} (packed, encrypted or typeset: not searched, look through them yourself)"
        )
    return found


def holding(ws: Workspace, eraser: Eraser) -> list[str]:
    """Return the places that still hold the text, or may not be opened."""
    return _search(ws, eraser, None)[0]


def _search(ws: Workspace, eraser: Eraser, planned: Container[str] | None) -> tuple[list[str], list[str]]:
    """Return the places that hold the text or may not be opened, and the files that nobody here can read."""
    found: list[str] = []
    unread: list[str] = []
    theirs = (f"{layout.ERASING}/", *_beneath(ws))
    derived = (f"{layout.INDEX}/", f"{layout.DIGESTS}/", f"{layout.OBJECTS}/")
    passed = theirs if planned is None else (*theirs, *derived)
    for path in ws.disk.walk(""):
        if path in _APART or path.startswith(passed) or (planned is not None and path in planned):
            continue
        data = ws.disk.read(path) or b""
        if erasing_history.is_packed(path):
            found.append(f"{path} (a pack that Reverie does not read: remove it, or unpack it with git)")
        elif eraser.found_in(path, data):
            found.append(path)
        elif closed(data):
            unread.append(path)
        if len(found) >= MOST:
            break
    found += [f"{path} ({reason})" for path, reason in ws.disk.refused("") if not path.startswith(theirs)]
    return found[:MOST], unread


def _beneath(ws: Workspace) -> tuple[str, ...]:
    """Return how the paths of people's workspaces begin: each is erased in by itself."""
    return tuple(f"{layout.person_folder(name)}/" for name in orders.people(ws))


def _files(ws: Workspace) -> Iterator[str]:
    """Yield the files that may hold text and are rewritten one by one."""
    passed = (*(f"{folder}/" for folder in _FOLDERS), *_beneath(ws))
    for path in ws.disk.walk(""):
        if path not in _APART and not path.startswith(passed):
            yield path


def _changed(path: str, data: bytes, eraser: Eraser) -> bool:
    return eraser.file(path, data) != data


def _rewrite(ws: Workspace, path: str, eraser: Eraser) -> bool:
    """Replace the file by what is left of it; False when nothing has to go."""
    data = ws.disk.read(path)
    if data is None or not _changed(path, data, eraser):
        return False
    status = ws.disk.stat(path)
    mode = status.st_mode & 0o777 if status is not None else 0o600
    try:
        if path == layout.EVENTS:
            _rewrite_events(ws, eraser, mode)
        else:
            ws.disk.rewrite(path, lambda old: eraser.file(path, old) if old is not None else None, mode=mode)
    except UnsafePath:
        return False  # it became a link meanwhile; the search will name it
    folder, _, name = path.rpartition("/")
    if folder == layout.DRAINING:
        # A drain that read this file before must not write what it remembers of it: it starts over when a name is gone.
        ws.disk.rename(path, f"{folder}/{name.removesuffix('.jsonl')}-{ws.new_id()}.jsonl")
    return True


def _rewrite_events(ws: Workspace, eraser: Eraser, mode: int) -> None:
    """Replace the events, and move the drain's position in them along.

    At 0 meanwhile: a drain that finds it there compares more than it must and loses nothing.
    """
    position = counters.read(ws, DrainCounters).events
    moved = position

    def build(old: bytes | None) -> bytes | None:
        nonlocal moved
        if old is None:
            return None
        moved = len(eraser.lines(old[:position]))
        return eraser.lines(old)

    counters.write(ws, DrainCounters(events=0))
    ws.disk.rewrite(layout.EVENTS, build, mode=mode)
    counters.write(ws, DrainCounters(events=moved))
