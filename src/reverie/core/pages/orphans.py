"""Which pages stand alone: they cite no entry, and no other page links to them.

Owns what a link to a page may say; promises that a page's link to itself does not count; never looks at a disk.
"""

from __future__ import annotations

from collections.abc import Mapping

from reverie.core.pages.citations import citing_lines, links


def name_of(path: str, notebook: str) -> str:
    """Return how links name a page: its path in the notebook without the ending, or its own name."""
    return path.removeprefix(f"{notebook}/").removesuffix(".md").casefold()


def shorts(name: str) -> set[str]:
    """Return what a link to a file of the notebook may say: its name in the notebook, or its last part alone."""
    return {name, name.rsplit("/", 1)[-1]}


def orphans(texts: Mapping[str, str], notebook: str) -> list[str]:
    """Return the paths of the pages that stand alone, in the order of `texts`, which has all pages by their paths."""
    linked: set[str] = set()
    for path, text in texts.items():
        own = shorts(name_of(path, notebook))
        for one in links(text):
            target = name_of(one.target, notebook)
            if target not in own:
                linked |= shorts(target)
    return [
        path
        for path, text in texts.items()
        if not citing_lines(text) and not linked & shorts(name_of(path, notebook))
    ]
