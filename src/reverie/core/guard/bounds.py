"""What two statements cannot be to each other, seen before their words are matched.

Owns the tests for nearly all pairs that are compared and are nothing to each other; promises that a pair they reject
has no such relation: a word whose forms the other side lacks stays over however the two are matched; never finds one.
"""

from __future__ import annotations

from reverie.core.guard.attributes import MOVES
from reverie.core.guard.statement import Reading, Token
from reverie.core.guard.words import OPPOSED
from reverie.core.guard.words_zh import OPPOSED_ZH

OPPOSITES = OPPOSED | OPPOSED_ZH
VALUES = (frozenset(("number", "unit", "version")), frozenset(("date",)))
UPGRADES = frozenset(("upgrade to", "downgrade to", "升级到"))
MARKS = frozenset(("change", "now", "correction"))
TO_A_VALUE = frozenset(("to", "到", "in", "at", "on", "new", "新"))
TOO_MANY = 2  # of what only one says: no more than a word and its opposite, or values, may differ
_OF_NO_SIDE = MARKS | {"have"}  # `没有` is a have and a negation at once


def other_value(one: Reading, two: Reading) -> bool:
    """Tell whether two statements without a mark of change may differ in one value, or one tells of a move.

    Words that only one side has are seen without matching the two: no more of them may be there than of a value.
    """
    return moves(one) or differs_in_value(one, two)


def moves(one: Reading) -> bool:
    """Tell whether a statement has a word for going over to another tool or version."""
    return any(t.form in MOVES or t.form in UPGRADES for t in one.tokens)


def over(one: Reading, two: Reading) -> tuple[list[Token], list[Token]]:
    """Return what only the one statement has and what only the other, seen without matching them.

    It stays over when they are matched, but more may.
    """
    known, others = one.places.keys(), two.places.keys()
    return (
        [token for token in one.content if others.isdisjoint(token.forms)],
        [token for token in two.content if known.isdisjoint(token.forms)],
    )


def differs_in_value(one: Reading, two: Reading) -> bool:
    """Tell whether what only one of two statements has may be nothing but values of one kind."""
    return is_value(*over(one, two))


def is_value(left: list[Token], right: list[Token]) -> bool:
    """Tell whether what is over of two statements may be nothing but values of one kind."""
    kinds: set[str] = set()
    for token in (*left, *right):
        if token.kind not in MARKS and token.form not in TO_A_VALUE:
            kinds.add(token.kind)
            if kinds.isdisjoint(VALUES[0]) and kinds.isdisjoint(VALUES[1]):
                return False
    return any(kinds <= of_one for of_one in VALUES)


def far_apart(one: Reading, two: Reading) -> bool:
    """Tell whether either of two statements has two things or deeds that the other lacks: more than the tests allow."""
    for this, other in ((one, two), (two, one)):
        known, missing = other.places.keys(), 0
        for forms in this.firm:
            if known.isdisjoint(forms):
                missing += 1
                if missing == TOO_MANY:
                    return True
    return False


def may_oppose(one: Reading, two: Reading) -> bool:
    """Tell whether what only one of two statements has may be negations alone, or one opposed word on each side."""
    return is_opposed(*over(one, two))


def is_opposed(left: list[Token], right: list[Token]) -> bool:
    """Tell whether what is over of two statements may be negations alone, or one opposed word on each side."""
    sides = [[t for t in side if t.kind not in _OF_NO_SIDE and t.form != "again"] for side in (left, right)]
    plain = any(token.kind != "negation" for side in sides for token in side)
    if not plain or not all(sides):
        return not plain or max(map(len, sides)) == 1
    return len(sides[0]) == len(sides[1]) == 1 and any(
        frozenset((x, y)) in OPPOSITES
        for x in sides[0][0].forms | sides[0][0].bare
        for y in sides[1][0].forms | sides[1][0].bare
    )
