"""Three-way merges of a page's lines: what one side changed, put onto what the other side made of the same text.

Owns deciding whether two sets of changes touch the same lines; promises that a merge keeps every line that only one
side changed and is refused when both changed the same or adjoining lines; never guesses between two versions.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise

import msgspec

_UPDATED = re.compile(r"^updated: \d{4}-\d{2}-\d{2}[ \t]*(?=\r?$)", re.MULTILINE)
_ALIKE = 1_000_000  # pairs of equal lines, and
_LINES = 6_000  # lines that differ: what is rewritten beyond either counts as one change, for comparing would take long


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


def reconciled(base: str, mine: str, *, theirs: str) -> str | None:
    """Return the merge of a page that a person (`mine`) and a dream (`theirs`) changed; None where they collide.

    The day under `updated` is nobody's change: where both set it, the later one stands.
    """
    days = [found.group() if (found := _UPDATED.search(text)) else "" for text in (base, mine, theirs)]
    if all(days) and days[0] not in days[1:]:
        later = max(days[1:])
        base, mine, theirs = (_UPDATED.sub(later, text, count=1) for text in (base, mine, theirs))
    return merged(base, mine, theirs=theirs)


def _changes(base: list[str], other: str) -> list[_Change]:
    """Return how `other` differs from `base`, as changes of lines in order."""
    lines = other.splitlines(keepends=True)
    top = _alike(base, lines)
    bottom = _alike(base[top:][::-1], lines[top:][::-1])
    old, new = base[top : len(base) - bottom], lines[top : len(lines) - bottom]
    times = Counter(old)
    if len(old) + len(new) > _LINES or sum(times[line] for line in new) > _ALIKE:
        return [_Change(top, top + len(old), tuple(new))]
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        _Change(top + start, top + stop, tuple(new[first:last]))
        for tag, start, stop, first, last in opcodes
        if tag != "equal"
    ]


def _alike(some: list[str], others: list[str]) -> int:
    """Return how many lines two texts begin with in common."""
    different = (at for at, (one, other) in enumerate(zip(some, others, strict=False)) if one != other)
    return next(different, min(len(some), len(others)))
