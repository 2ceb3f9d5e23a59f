"""What a new statement could be to an old one, seen before their words are matched.

Owns `chances`; promises that a pair it rejects has no relation whatever, so that nearly all pairs that are compared
and are nothing to each other cost a look at a few words; never says what the relation of another pair is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from reverie.core.guard_bounds import TOO_MANY, differs_in_value, far_apart, may_oppose, may_repeat, moves
from reverie.core.guard_disputes import denies
from reverie.core.guard_reading import SHORT_TEXT, read
from reverie.core.guard_signature import comparable, signature
from reverie.core.guard_tokens import Reading
from reverie.core.guard_turns import LEAD, NOT_PATTERNS


class _Side(msgspec.Struct, frozen=True):
    """One of two statements: its reading, and the forms of those of its things and deeds that have one form."""

    reading: Reading
    single: frozenset[str]


def may_relate(new: str, old: str) -> bool:
    """Tell whether `new` may repeat, turn or dispute `old`."""
    return chances(new)(old)


def chances(new: str) -> Callable[[str], bool]:
    """Return what tells of an old statement whether `new` may repeat, turn or dispute it, for asking of many."""
    one, signed, turns = _side(new), signature(new), turning(new)
    known, single = one.reading.places, one.single

    def may(old: str) -> bool:
        two = _side(old)
        # What the old one claims takes as long to find as all else: most pairs are told apart without.
        sure = turns or (bool(signed.keys) and not signed.keys.isdisjoint(signature(old).keys))
        # Two of these that the other side lacks are enough; counting all, as `far_apart` does, takes far longer.
        if not sure and (
            len(single.difference(two.reading.places)) >= TOO_MANY
            or len(two.single.difference(known)) >= TOO_MANY
            or far_apart(one.reading, two.reading)
        ):
            return False
        return comparable(new, old) and (
            sure
            or may_oppose(one.reading, two.reading)
            or differs_in_value(one.reading, two.reading)
            or may_repeat(one.reading, two.reading)
        )

    return may


def _side(text: str) -> _Side:
    return _side_short(text) if len(text) <= SHORT_TEXT else _side_of(text)


@lru_cache(maxsize=8192)
def _side_short(text: str) -> _Side:
    return _side_of(text)


def _side_of(text: str) -> _Side:
    reading = read(text)
    single = frozenset(form for forms in reading.firm if len(forms) == 1 for form in forms)
    return _Side(reading, single)


@lru_cache(maxsize=4096)
def turning(new: str) -> bool:
    """Tell whether a statement has words by which one corrects, ends, replaces, denies or moves any other."""
    one = read(new)
    if one.has("now", "change", "correction") or moves(one) or LEAD.match(new):
        return True
    return any(pattern.search(new) for pattern in NOT_PATTERNS) or denies(new)
