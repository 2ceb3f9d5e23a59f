"""What an editor did to the notebook, and whether a page that it rearranged still says what stood there.

Owns what an editorial pass may not take away; promises that every citation and every line of somebody's own words is
on one of the pages afterwards, or the page that lost it is named; never looks at a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from reverie.core.dreams.page_rules import wording
from reverie.core.dreams.proposal import Refusal
from reverie.core.pages.citations import citations, citing_lines
from reverie.core.pages.source import split


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """The pages that were edited in which run, what was refused and why, and what kept the editor from its work."""

    pages: tuple[str, ...] = ()
    run: str = ""
    refused: tuple[str, ...] = ()
    problem: str = ""


def losses(
    old: Mapping[str, str], new: Mapping[str, str], *, cited_on: Callable[[str], Iterable[str]]
) -> tuple[Refusal, ...]:
    """Return the pages of `new` that lost something; `cited_on` returns the pages that cite an entry as they stand."""
    cited = {one.id for text in new.values() for one in citations(text)}
    own = Counter(line for text in new.values() for line in _own_words(text))
    found: list[Refusal] = []
    for path in sorted(new):
        before = old.get(path, "")
        lost = (one.id for one in citations(before) if one.id not in cited)
        if gone := [id_ for id_ in lost if all(page in new for page in cited_on(id_))]:
            found.append(Refusal(path, f"the citation of {gone[0]} would be lost"))
            continue
        words = Counter(_own_words(before)) - own
        if words:
            found.append(Refusal(path, f"words that are nobody's entry would be lost: {min(words)[:80]}"))
    return tuple(found)


def _own_words(text: str) -> Iterable[str]:
    """Yield the lines of a body that cite nothing, are no headings, and are more than links."""
    citing = {raw.strip() for _, raw, _ in citing_lines(text)}
    for line in split(text).body.splitlines():
        said = line.strip()
        if said and not said.startswith("#") and said not in citing and wording(said).strip(" -*+"):
            yield said
