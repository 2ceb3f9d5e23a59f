"""A statement's signature: what it must share with another before the two need be compared at all.

Owns `comparable`; promises that two statements it tells apart have no relation whatever, so that looking through
hundreds of them costs two set operations each; never says what the relation of two others is.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from reverie.core.guard.claims import claims
from reverie.core.guard.reading import read
from reverie.core.guard.words import OPPOSED
from reverie.core.guard.words_zh import OPPOSED_ZH

_OPPOSITES = {
    form: tuple("/".join(sorted(pair)) for pair in OPPOSED | OPPOSED_ZH if form in pair)
    for pair in OPPOSED | OPPOSED_ZH
    for form in pair
}
_SAID_BY = {
    "home": "live lives living based moved 住 住在 搬到",
    "employer": "work works working job joined started 工作 上班 入职 跳槽",
    "title": "work works working promoted 职位",
    "age": "years old 岁",
}
_BOUND = frozenset(("word", "code", "number", "date", "unit", "version", "modality", "quantity"))


class Signature(msgspec.Struct, frozen=True):
    """The forms of what a statement says beside whom it is about, and the keys of the attributes it claims.

    A word that has an opposite is there with the pair, which the opposite shares.

    `bare` is set where it says nothing beside that, or is a correction: it must be compared with everything.
    """

    forms: frozenset[str]
    keys: frozenset[tuple[str, ...]]
    bare: bool


@lru_cache(maxsize=16_384)
def signature(text: str) -> Signature:
    """Return the signature of a statement."""
    reading = read(text)
    content = reading.content
    corrects = reading.has("correction")  # what it corrects is said behind words that hide the claim
    forms = {form for token in content if token.kind in _BOUND for form in token.forms}
    bare = {form for token in content for form in token.bare}
    forms |= {pair for form in forms | bare for pair in _OPPOSITES.get(form, ())}
    return Signature(frozenset(forms), frozenset(claim.key for claim in claims(text)), corrects or not forms)


def searched_by(text: str) -> str:
    """Return words by which statements are found that claim the same attribute in other words, or nothing.

    `User moved to Lisbon` shares no word with `User lives in Berlin`, which it overtakes.
    """
    return " ".join(_SAID_BY[claim.attribute] for claim in claims(text) if claim.attribute in _SAID_BY)


def comparable(one: str, two: str) -> bool:
    """Tell whether two statements share a word, a value or a claimed attribute; only then can they have a relation."""
    first, second = signature(one), signature(two)
    if first.bare or second.bare:
        return True
    return not (first.forms.isdisjoint(second.forms) and first.keys.isdisjoint(second.keys))
