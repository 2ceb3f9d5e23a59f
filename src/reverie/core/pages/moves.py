"""Where a page went that a person moved or gave another name.

Owns telling it by the page's own name, or by the entries that runs cited on it; promises no answer where none, or more
than one page, can be meant; never looks at a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reverie import layout
from reverie.core.records import Outcome


def moves(
    paths: Iterable[str],
    outcomes: Iterable[Outcome],
    *,
    cited_on: Callable[[str], list[tuple[str, int]]],
    notebook: str,
) -> Callable[[str], str]:
    """Return what tells where the page that a link names stands now, as a link names it; "" when that is not known.

    `paths` are the pages there are (in the notebook), `cited_on` returns pages (in the workspace) that cite an entry.
    """
    prefix = f"{notebook}/"
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(_plain(path).rpartition("/")[2], []).append(path)
    written: dict[str, set[str]] = {}
    for one in outcomes:
        if one.outcome == "cited":
            written.setdefault(_plain(one.page), set()).add(one.entry)

    def heirs(name: str) -> list[str]:
        # Pages that cite whatever of the old one is still cited, and that no run wrote to under their path.
        places = [{page for page, _ in cited_on(entry)} for entry in sorted(written.get(name, ()))]
        cited = [pages for pages in places if pages]
        common = sorted(set.intersection(*cited)) if cited else []
        every = (page.removeprefix(prefix) for page in common)
        return [page for page in every if _plain(page) not in written and page != layout.OVERVIEW]

    def moved(target: str) -> str:
        name = _plain(target.removeprefix(prefix))
        found = by_name.get(name.rpartition("/")[2], [])
        if len(found) != 1:
            found = heirs(name)
        return found[0].removesuffix(".md") if len(found) == 1 else ""

    return moved


def _plain(path: str) -> str:
    """Return a path as links name it, whatever its case."""
    return path.removesuffix(".md").casefold()
