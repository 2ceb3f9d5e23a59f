"""What a new statement could be to an old one, seen before their words are matched.

Owns `may_relate`; promises that a pair it rejects has no relation whatever, so that nearly all pairs that are compared
and are nothing to each other cost a look at a few words; never says what the relation of another pair is.
"""

from __future__ import annotations

from functools import lru_cache

from reverie.core.guard_bounds import differs_in_value, far_apart, may_oppose, may_repeat, moves
from reverie.core.guard_disputes import denies
from reverie.core.guard_reading import read
from reverie.core.guard_signature import signature
from reverie.core.guard_turns import LEAD, NOT_PATTERNS


def may_relate(new: str, old: str) -> bool:
    """Tell whether `new` may repeat, turn or dispute `old`."""
    if turning(new) or not signature(new).keys.isdisjoint(signature(old).keys):
        return True
    one, two = read(new), read(old)
    return not far_apart(one, two) and (
        may_oppose(one, two) or differs_in_value(one, two) or may_repeat(one, two)
    )


@lru_cache(maxsize=4096)
def turning(new: str) -> bool:
    """Tell whether a statement has words by which one corrects, ends, replaces, denies or moves any other."""
    one = read(new)
    if one.has("now", "change", "correction") or moves(one) or LEAD.match(new):
        return True
    return any(pattern.search(new) for pattern in NOT_PATTERNS) or denies(new)
