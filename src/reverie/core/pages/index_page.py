"""The notebook's `index.md`: every content page by zone, with its description.

Owns what stands between that page's markers; promises that an entry for a page changes only when the page does, and
that text outside the markers stays; never reads a page: titles and descriptions are passed in for those that changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from reverie import layout
from reverie.core.pages.blocks import Block, Broken, escape_memory_text, find_block, with_block
from reverie.core.pages.citations import link
from reverie.core.pages.front_matter import read
from reverie.core.pages.source import split

_LINKED = re.compile(r"(?:(?!%%)[^\[\]|#^<>])+")
_ROW = re.compile(r"- \[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\].*")


def compile_index(
    text: str, paths: Iterable[str], *, changed: Iterable[str], read_page: Callable[[str], str]
) -> str | Broken:
    """Return `index.md` with a row for each of `paths` (in the notebook), or why its markers cannot be used.

    Pages that are `changed`, or have no row yet, are read; the rows of all others stay as they are. A page of a name
    that no link can hold has none.
    """
    found = find_block(text)
    rows = _rows(found.inner) if isinstance(found, Block) else {}
    for path in changed:
        rows.pop(path, None)
    named = sorted(path for path in paths if _LINKED.fullmatch(path) and path.isprintable())
    listed = {path: rows.get(path) or _row(path, read_page(path)) for path in named}
    inner = "\n".join(_sections(listed))
    if isinstance(found, Block) and found.inner == (inner and f"{inner}\n"):
        return text
    return with_block(text, inner)


def _rows(inner: str) -> dict[str, str]:
    return {f"{match.group(1)}.md": line for line in inner.splitlines() if (match := _ROW.fullmatch(line))}


def _sections(rows: dict[str, str]) -> Iterator[str]:
    """Yield the lines for rows, which are in the order of their paths."""
    paths, first = list(rows), True
    for zone in layout.ZONES:
        start, stop = bisect_left(paths, f"{zone}/"), bisect_left(paths, f"{zone}0")  # "0" comes after "/"
        if start < stop:
            yield f"## {zone}" if first else f"\n## {zone}"
            yield ""
            yield from (rows[path] for path in paths[start:stop])
            first = False


def _row(path: str, text: str) -> str:
    front = read(split(text).front)
    # A link's alias ends at a bracket or bar, so a title with either is shown by its path.
    title = front.title if not set("[]|") & set(front.title) else ""
    said = f": {escape_memory_text(front.description)}" if front.description else ""
    return f"- {link(path, escape_memory_text(title))}{said}"
