"""Three-way merges of a page's lines: what one side changed, put onto what the other side made of the same text.

Owns deciding whether two sets of changes touch the same lines; promises that a merge keeps every line that only one
side changed and is refused when both changed the same or adjoining lines; never guesses between two versions.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise

import msgspec


class _Change(msgspec.Struct, frozen=True):
    """Lines `[start, stop)` of the common text, and what stands in their place."""

    start: int
    stop: int
    lines: tuple[str, ...]


def merged(base: str, mine: str, *, theirs: str) -> str | None:
    """Return `base` with the changes of both sides, or None when they touch the same or adjoining lines.

    Undoing a change is this merge with the changed text as `base`, the text now as `mine`, and the text before the
    change as `theirs`.
    """
    if mine in {base, theirs}:
        return theirs
    if theirs == base:
        return mine
    lines = base.splitlines(keepends=True)
    ours, others = _changes(lines, mine), _changes(lines, theirs)
    both = [one for one in ours if one not in others] + others
    both.sort(key=lambda one: (one.start, one.stop))
    for first, second in pairwise(both):
        if second.start < first.stop or second.start == first.start:
            return None
        if second.start == first.stop and (first in ours) != (second in ours):
            return None
    result: list[str] = []
    at = 0
    for change in both:
        result += [*lines[at : change.start], *change.lines]
        at = change.stop
    return "".join([*result, *lines[at:]])


def _changes(base: list[str], other: str) -> list[_Change]:
    """Return how `other` differs from `base`, as changes of lines in order."""
    lines = other.splitlines(keepends=True)
    opcodes = SequenceMatcher(None, base, lines, autojunk=False).get_opcodes()
    return [
        _Change(start, stop, tuple(lines[first:last]))
        for tag, start, stop, first, last in opcodes
        if tag != "equal"
    ]
