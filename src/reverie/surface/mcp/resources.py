"""The files a client may read as resources: MEMORY.md, notebook pages, daily logs.

Owns their addresses; promises that an address names a place in the memory and never one on the machine, that a file is
read through the mask of what is forgotten and without the entries that are hidden, and that nothing else of the
workspace can be reached by any spelling; never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

import msgspec

from reverie import layout
from reverie.core.text.names import is_day
from reverie.errors import NotFound
from reverie.memory import Memory
from reverie.store import daylog, pages
from reverie.store.dreams.dream_views import Veil, shown

ROOT = "reverie://memory/"
ENTRY = f"{ROOT}entry/"
MARKDOWN = "text/markdown"
PAGE = 200  # resources in one answer

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


class Resource(msgspec.Struct, frozen=True):
    """One file: its address, its name, and what it is."""

    uri: str
    name: str
    title: str
    what: str


class Template(msgspec.Struct, frozen=True):
    """A family of files: the form of their addresses (RFC 6570), its name, and what they are."""

    form: str
    name: str
    title: str
    what: str


TEMPLATES = (
    Template(
        f"{ROOT}archive/{{day}}.md", "daily log", "Daily log", "What was remembered on a day, YYYY-MM-DD."
    ),
    Template(
        f"{ROOT}notebook/{{+page}}.md",
        "notebook page",
        "Notebook page",
        "A page by its path in the notebook.",
    ),
)


def uri_of(path: str) -> str:
    """Return the address of a file by its path in the workspace."""
    return ROOT + quote(path, safe="/")


def resources(memory: Memory) -> Iterator[Resource]:
    """Yield every file there is to read: MEMORY.md, the pages by path, the logs from the latest; raises Untrusted."""
    memory.opened.trusted_or_raise()
    ws = memory.opened.ws
    if ws.disk.size(layout.MEMORY) is not None:
        what = "What is worth having in mind, sized for a context window."
        yield Resource(uri_of(layout.MEMORY), layout.MEMORY, "MEMORY.md", what)
    for path in ws.disk.walk(ws.notebook):
        if _is_page(memory, path):
            name = path.removeprefix(f"{ws.notebook}/")
            yield Resource(_page_uri(name), name, name.rpartition("/")[2][:-3], "A page of the notebook.")
    for day in reversed(list(daylog.days(ws))):
        path = layout.log_file(day)
        yield Resource(uri_of(path), path, f"Daily log {day}", f"What was remembered on {day}.")


def read_resource(memory: Memory, uri: str) -> str:
    """Return the text of a file by its address; raises NotFound for any other, UnsafePath, Untrusted."""
    memory.opened.trusted_or_raise()
    path = _path(memory, uri)
    ws, mask = memory.opened.ws, memory.opened.mask
    text = ws.disk.read(path) if path else None
    if text is None:
        raise NotFound(f"there is no resource {uri[:200]!r}: resources/list names them")
    content = text.decode("utf-8", "replace")
    found = memory.opened.state_now().find(_ID.findall(content))
    hidden = {one for one, state in found.items() if state.hidden}

    def veiled(line: str) -> bool:
        return mask.text(line) or any(one in hidden for one in _ID.findall(line))

    return shown(ws, path, Veil(veiled, mask.covers), text=content)


def _page_uri(name: str) -> str:
    """Return the address of a page by its path in the notebook, which may lie in a folder of another name."""
    return uri_of(f"{layout.NOTEBOOK}/{name}")


def _path(memory: Memory, uri: str) -> str:
    """Return the path in the workspace that an address stands for, empty when it stands for none."""
    if not uri.startswith(ROOT):
        return ""
    name = unquote(uri.removeprefix(ROOT))
    folder, _, inside = name.partition("/")
    if name == layout.MEMORY:
        return name
    if folder == layout.ARCHIVE and is_day(inside.removesuffix(".md")) and inside.endswith(".md"):
        return name
    if folder == layout.NOTEBOOK:
        path = f"{memory.opened.ws.notebook}/{inside}"
        parts = path.split("/")
        return path if _is_page(memory, path) and all(parts) and ".." not in parts else ""
    return ""


def _is_page(memory: Memory, path: str) -> bool:
    """Tell whether a file is a page, or the notebook's own index."""
    ws = memory.opened.ws
    return pages.is_page(ws, path) or path == f"{ws.notebook}/index.md"
