"""Which lines of a page claim something without saying where it comes from.

Owns what counts as a claim: a list item among items that cite, with neither a citation nor a link of its own; promises
that a page which cites nothing, and a section that does, has no such lines: not every page is made of memories.
"""

from __future__ import annotations

import re

from reverie.core.pages.plain import citing, headings_above
from reverie.core.pages.source import split

_ITEM = re.compile(r"([ \t]*)[-*+] +(\S.*)")
_FENCE = re.compile(r"[ \t>]*(?:`{3}|~{3})")


def uncited(text: str) -> list[int]:
    """Return the numbers of the lines that claim something among lines that cite."""
    cited = {number for number, _, _ in citing(text)}
    if not cited:
        return []
    lines = split(text).body.splitlines()
    first = len(text.splitlines()) - len(lines) + 1
    starts = [number for number, _ in headings_above(text)]
    sections = {_section(starts, number) for number in cited}
    found: list[int] = []
    fenced, depth = False, -1  # of the citing item above, whose steps need no citation of their own
    for number, line in enumerate(lines, first):
        fenced ^= bool(_FENCE.match(line))
        item = _ITEM.fullmatch(line)
        if fenced or item is None:
            depth = depth if line.strip() and not line.startswith("#") else -1
            continue
        indent = len(item.group(1).expandtabs(4))
        if number in cited:
            depth = indent
        elif not 0 <= depth < indent:
            depth = -1
            if "[[" not in item.group(2) and _section(starts, number) in sections:
                found.append(number)
    return found


def _section(starts: list[int], number: int) -> int:
    """Return the line of the heading that a line stands under, 0 for none."""
    return max((start for start in starts if start < number), default=0)
