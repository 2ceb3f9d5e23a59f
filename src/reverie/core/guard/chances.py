"""What a new statement could be to an old one, seen before their words are matched.

Owns `chances`; promises that a pair it rejects has no relation whatever, so that nearly all pairs that are compared
and are nothing to each other cost a look at a few words; never says what the relation of another pair is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from reverie.core.guard.bounds import TOO_MANY, far_apart, is_opposed, is_value, moves, over
from reverie.core.guard.claims import may_claim
from reverie.core.guard.disputes import denies
from reverie.core.guard.forms import plain_text
from reverie.core.guard.reading import SHORT_TEXT, read
from reverie.core.guard.signature import comparable, signature
from reverie.core.guard.spellings import spellings
from reverie.core.guard.statement import Reading
from reverie.core.guard.turns import LEAD, NOT_PATTERNS
from reverie.core.guard.words import ENGLISH
from reverie.core.guard.words_zh import CHINESE
from reverie.core.text.patterns import Words

_OF_USER = [word for word, (form, _) in (*ENGLISH.items(), *CHINESE.items()) if form == "user"]
_USER = Words(
    rf"(?<![a-z])(?:{'|'.join(filter(str.isascii, _OF_USER))})(?![a-z])"
    f"|{'|'.join(word for word in _OF_USER if not word.isascii())}",
    fold=True,
)


class _Side(msgspec.Struct, frozen=True):
    """One of two statements: its reading, and the forms of those of its things and deeds that have one form."""

    reading: Reading
    single: frozenset[str]


_KEPT = 8192
_SIDES: dict[str, _Side] = {}  # by text; whatever is kept is let go of when it becomes too much


def may_relate(new: str, old: str) -> bool:
    """Tell whether `new` may repeat, turn or dispute `old`."""
    return chances(new)(old)


def chances(new: str) -> Callable[[str], bool]:
    """Return what tells of an old statement whether `new` may repeat, turn or dispute it, for asking of many."""
    one, signed, turns = _side(new), signature(new), turning(new)
    known, single = one.reading.places, one.single
    of_user = all("user" in key for key in signed.keys)
    spelled = [spellings(form) for form in single if form.isalpha()]

    def may(old: str) -> bool:
        two = _SIDES.get(old)
        if two is None:
            plain = old if turns or old.isascii() else plain_text(old)
            if (
                not turns
                and _lacks(plain, spelled)
                and not (signed.keys and _may_claim(plain, of_user=of_user))
            ):
                return False  # seen without reading it, as most of what the search finds among thousands is
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
        if not comparable(new, old):
            return False
        left, right = over(one.reading, two.reading)
        return sure or not (left or right) or is_opposed(left, right) or is_value(left, right)

    return may


def _may_claim(plain: str, *, of_user: bool) -> bool:
    """Tell whether a text may claim an attribute, one of the user if that is asked."""
    return (not of_user or _USER.search(plain) is not None) and may_claim(plain)


def _lacks(plain: str, spelled: list[tuple[str, ...]]) -> bool:
    """Tell whether a text lacks more things and deeds than may differ, by how each may be spelled."""
    low, missing = plain.casefold(), 0
    for words in spelled:
        for word in words:
            if word in low:
                break
        else:
            missing += 1
            if missing == TOO_MANY:
                return True
    return False


def _side(text: str) -> _Side:
    side = _SIDES.get(text)
    if side is None:
        reading = read(text)
        single = frozenset(form for forms in reading.firm if len(forms) == 1 for form in forms)
        side = _Side(reading, single)
        if len(text) <= SHORT_TEXT:
            if len(_SIDES) >= _KEPT:
                _SIDES.clear()
            _SIDES[text] = side
    return side


@lru_cache(maxsize=4096)
def turning(new: str) -> bool:
    """Tell whether a statement has words by which one corrects, ends, replaces, denies or moves any other."""
    one = read(new)
    if one.has("now", "change", "correction") or moves(one) or LEAD.match(new):
        return True
    low = new.casefold()
    if "not " not in low and "rather than " not in low and "不" not in low:
        return False  # one of these stands in all that the patterns find
    return any(pattern.search(new) for pattern in NOT_PATTERNS) or denies(new)
