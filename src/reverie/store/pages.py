"""The files people and dreams write: the core files, the notebook, skills, and a host's own memory files.

Owns which files the history tracks, reading them, and the texts a new workspace starts with; promises that an
existing file is never touched by `bootstrap`, and that a file is never taken for deleted because it cannot be read or
its folder is missing; never decides what a page should say.

Tracked are USER.md, SOUL.md, MEMORY.md, the notebook, `skills/` and `files/`, without anything under a name that
starts with a dot (an Obsidian vault's settings and bin) and without files over `MAX_BYTES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from reverie import layout
from reverie.core.pages.blocks import render_block
from reverie.errors import UnsafePath
from reverie.store.dreams.noted import Noted
from reverie.store.versions.git import History, blob_id
from reverie.store.workspace import Workspace

MAX_BYTES = (
    8 * 1024 * 1024
)  # a larger file (a film dropped into 4_Assets) is left to people, and out of the history

_CORE = (layout.USER, layout.SOUL, layout.MEMORY)
_SEEDS = Path(__file__).parent / "seeds"
_IGNORE_ALL = b"*\n"  # memory that came to lie in somebody's repository is not committed by accident


def is_tracked(ws: Workspace, path: str) -> bool:
    """Tell whether the history keeps the file at this path, size aside."""
    if path in _CORE:
        return True
    inside = path.startswith(tuple(f"{folder}/" for folder in _folders(ws)))
    return inside and not path.startswith(".") and "/." not in path


def is_page(ws: Workspace, path: str) -> bool:
    """Tell whether the file is a content page of the notebook: Markdown, tracked, and no navigation."""
    inside = path.removeprefix(f"{ws.notebook}/")
    return inside != path and layout.is_page(inside)


def snapshot(ws: Workspace) -> dict[str, bytes]:
    """Return every tracked file with its bytes as they are now."""
    contents = ((path, _read(ws, path)) for path, _ in _files(ws))
    return {path: data for path, data in contents if data is not None}


def people_changes(
    ws: Workspace, history: History, *, writes: Container[str] | None = None
) -> dict[str, bytes | None]:
    """Return what differs between the working files and the newest commit, None for a deleted file.

    Contents are compared, not times or sizes: a change that kept both would be overwritten by the next dream. Whoever
    names the paths that it `writes` next has only those compared, and what may have changed since it was last read
    (`store.dreams.noted`): the cost follows what was touched. A file whose folder (the notebook, `skills/`, `files/`)
    is missing, that grew too large, that may not be opened, or that lies outside what is tracked now, is left as it
    was.
    """
    known = history.tree(history.head())
    noted = None if writes is None else Noted(ws)
    changes: dict[str, bytes | None] = {}
    there: set[str] = set()
    for path, status in _files(ws):
        in_doubt = noted is None or status is None or path in (writes or ())
        if noted and status and not in_doubt and noted.content(path, status) == known.get(path, "none"):
            there.add(path)
            continue
        data = _read(ws, path)
        if data is None:
            continue
        there.add(path)
        content = blob_id(data)
        if noted and status and not in_doubt:
            noted.add(path, status, content=content)
        if content != known.get(path):
            changes[path] = data
    gone = (path for path in known.keys() - there if is_tracked(ws, path) and ws.disk.stat(path) is None)
    changes.update((path, None) for path in gone if _has_home(ws, path))
    if noted:
        noted.keep()
    return changes


def bootstrap(ws: Workspace) -> tuple[str, ...]:
    """Make what is missing of the notebook's zones and first pages, the core files and `.gitignore`.

    Returns the paths made; a second call makes none. Raises StoreUnwritable.
    """
    made: list[str] = []
    for zone in layout.ZONES:
        folder = f"{ws.notebook}/{zone}"
        if ws.disk.stat(folder) is None:
            ws.disk.make_folder(folder)
            made.append(folder)
    for path, data in _first_texts(ws):
        if ws.disk.stat(path) is None:
            # Under the file's lock: what somebody made since the look above stays.
            ws.disk.rewrite(path, _only_when_absent(data))
            made.append(path)
    return tuple(made)


def is_untouched(path: str, data: bytes) -> bool:
    """Tell whether USER.md or SOUL.md still holds only the words it started with, which say nothing of anybody."""
    return path in (layout.USER, layout.SOUL) and data == (_SEEDS / path).read_bytes()


def _files(ws: Workspace) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield each path that is tracked; those beneath a folder may be opened and come with their status."""
    for path in _CORE:
        yield path, None
    for folder in _folders(ws):
        if not folder.startswith("."):
            yield from (found for found in ws.disk.walk_statuses(folder) if "/." not in found[0])


def _read(ws: Workspace, path: str) -> bytes | None:
    """Return what a file holds; None when it is absent, too large, or may not be opened."""
    try:
        # Markdown is read without a look at its size first: a third less to do for ten thousand pages.
        if not path.endswith(".md") and (ws.disk.size(path) or 0) > MAX_BYTES:
            return None
        data = ws.disk.read(path)
    except UnsafePath:
        return None  # a link or a second name: left alone, and reported by `check`
    return data if data is not None and len(data) <= MAX_BYTES else None


def _only_when_absent(data: bytes) -> Callable[[bytes | None], bytes | None]:
    return lambda old: data if old is None else None


def _first_texts(ws: Workspace) -> Iterator[tuple[str, bytes]]:
    yield layout.GITIGNORE, _IGNORE_ALL
    for path in (layout.USER, layout.SOUL):
        yield path, (_SEEDS / path).read_bytes()
    for name in layout.NAVIGATION:
        block = render_block("").encode() if name == "index.md" else b""
        yield f"{ws.notebook}/{name}", (_SEEDS / name).read_bytes() + block


def _folders(ws: Workspace) -> tuple[str, str, str]:
    return (ws.notebook, layout.SKILLS, layout.FILES)


def _has_home(ws: Workspace, path: str) -> bool:
    """Tell whether the tracked folder of a file exists; a core file's is the workspace itself."""
    return path in _CORE or any(
        path.startswith(f"{folder}/") and ws.disk.stat(folder) is not None for folder in _folders(ws)
    )
