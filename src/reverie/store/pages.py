"""The files people and dreams write: the core files, the notebook, skills, and a host's own memory files.

Owns which files the history tracks, reading them, and the texts a new workspace starts with; promises that an
existing file is never touched by `bootstrap`, and that a file is never taken for deleted because it cannot be read or
its folder is missing; never decides what a page should say.

Tracked are USER.md, SOUL.md, MEMORY.md, the notebook, `skills/` and `files/`, without anything under a name that
starts with a dot (an Obsidian vault's settings and bin) and without files over `MAX_BYTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from reverie import layout
from reverie.core.blocks import render_block
from reverie.errors import UnsafePath
from reverie.store.git import History, blob_id
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
    inside = any(path.startswith(f"{folder}/") for folder in _folders(ws))
    return inside and not any(name.startswith(".") for name in path.split("/"))


def is_page(ws: Workspace, path: str) -> bool:
    """Tell whether the file is a content page of the notebook: Markdown, tracked, and no navigation."""
    inside = path.removeprefix(f"{ws.notebook}/")
    return (
        inside != path and is_tracked(ws, path) and inside.endswith(".md") and inside not in layout.NAVIGATION
    )


def snapshot(ws: Workspace) -> dict[str, bytes]:
    """Return every tracked file with its bytes as they are now."""
    return dict(_contents(ws))


def people_changes(ws: Workspace, history: History) -> dict[str, bytes | None]:
    """Return what differs between the working files and the newest commit, None for a deleted file.

    Contents are compared, not times or sizes: a change that kept both would be overwritten by the next dream.
    A file whose folder (the notebook, `skills/`, `files/`) is missing, that grew too large, that may not be opened,
    or that lies outside what is tracked now, is left as it was.
    """
    known = history.tree(history.head())
    changes: dict[str, bytes | None] = {}
    there: set[str] = set()
    for path, data in _contents(ws):
        there.add(path)
        if blob_id(data) != known.get(path):
            changes[path] = data
    gone = (path for path in known.keys() - there if is_tracked(ws, path) and ws.disk.stat(path) is None)
    changes.update((path, None) for path in gone if _has_home(ws, path))
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


def _contents(ws: Workspace) -> Iterator[tuple[str, bytes]]:
    """Yield each tracked file that may be opened and is not too large."""
    below = (path for folder in _folders(ws) for path in ws.disk.walk(folder) if is_tracked(ws, path))
    for path in (*_CORE, *below):
        data = _read(ws, path)
        if data is not None and len(data) <= MAX_BYTES:
            yield path, data


def _read(ws: Workspace, path: str) -> bytes | None:
    try:
        # Markdown is read without a look at its size first: a third less to do for ten thousand pages.
        if not path.endswith(".md") and (ws.disk.size(path) or 0) > MAX_BYTES:
            return None
        return ws.disk.read(path)
    except UnsafePath:
        return None  # a link or a second name: left alone, and reported by `check`


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
