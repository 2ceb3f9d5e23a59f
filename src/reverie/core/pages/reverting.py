"""Taking one change of a page back, whatever came after it on the page.

Owns deciding what of a page a run's change still is; promises that a later line is never lost, that the day under
`updated` is nobody's change, and that where both changed the same lines nothing is done; never looks at a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher

from reverie.core.pages.citations import citing_lines
from reverie.core.pages.merge import merged

_UPDATED = re.compile(r"^updated: \d{4}-\d{2}-\d{2}[ \t]*(?=\r?$)", re.MULTILINE)


def reverted(old: str, new: str, *, now: str) -> str | None:
    """Return the page as it is `now` without the change from `old` to `new`; None when a later one changed its lines.

    Lines that the change added may have grown neighbours since: they go, and the neighbours stay.
    """
    if _day(now) != _day(new):
        old, new = _as_of(old, now), _as_of(new, now)
    return _without_added(old, new, now) or merged(new, now, theirs=old)


def without_citing(text: str, entries: AbstractSet[str]) -> str:
    """Return a page without the lines that cite these entries and no others."""
    gone = {number for number, _, ids in citing_lines(text) if entries >= set(ids)}
    lines = text.splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone)


def _day(text: str) -> str:
    stated = _UPDATED.search(text)
    return stated.group() if stated else ""


def _as_of(text: str, now: str) -> str:
    """Return a page with the `updated` of the page as it is now."""
    return _UPDATED.sub(_day(now), text, count=1) if _day(now) else text


def _without_added(old: str, new: str, now: str) -> str | None:
    """Return the page without the blocks of lines that were added; None when lines went, or a block is not there."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    opcodes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    if not before or any(tag in {"replace", "delete"} for tag, *_ in opcodes):
        return None
    lines = now.splitlines(keepends=True)
    for block in (after[start:stop] for tag, _, _, start, stop in opcodes if tag == "insert"):
        places = list(_places(lines, block))
        if len(places) != 1 or not any(line.strip() for line in block):
            return None
        del lines[places[0] : places[0] + len(block)]
    return "".join(lines)


def _places(lines: list[str], block: list[str]) -> Iterable[int]:
    first = block[0]
    size = len(block)
    return (at for at, line in enumerate(lines) if line == first and lines[at : at + size] == block)
