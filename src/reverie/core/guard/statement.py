"""What the near-repeat guard has read: a statement and its tokens.

Owns the two values and what follows from them alone, each worked out once for a reading, because it is compared with
many; never reads a text or judges two.

A token has forms: two tokens are the same if they share one.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import msgspec

_FIRM = frozenset(("word", "code"))
_OF_NEIGHBOURS = frozenset(("tense", "relation", "have", "change"))
_ENDING = frozenset(("stopped", "quit", "stops", "ceased", "了"))
_BEFORE_DATES = frozenset("in by all until since every each".split())
_BE = frozenset("is are am was were be been being".split())
_PRESENT = frozenset("is are am be".split())  # a participle behind these tells a state, not the past


class Behind(NamedTuple):
    """What the reading of a word asks of the token before it."""

    relates: bool = False  # it may stand before a month
    counts: bool = False
    is_noun: bool = False
    is_be: bool = False
    is_present: bool = False
    is_now: bool = False
    is_article: bool = False


NOTHING = Behind()  # a word that begins a text stands behind this


class Token(msgspec.Struct, frozen=True, dict=True):
    """One thing a statement says; `kind`: word, number, date, version, unit, code, have, or one of the tables'."""

    forms: frozenset[str]
    kind: str
    raw: str
    name: bool = False  # written as a name: with a capital inside a sentence, or a known place
    past: bool = False
    count: str = ""  # `one` after a or an, `many` for a plural
    bare: frozenset[str] = frozenset()  # the forms before synonyms were joined; empty: as `forms`

    @cached_property
    def form(self) -> str:
        """Return the token's first form in order of letters, for looking it up."""
        return min(self.forms)

    @cached_property
    def unsettled(self) -> bool:
        """Return whether its neighbours may decide what it is, or it what its neighbour is."""
        return self.kind in _OF_NEIGHBOURS or self.raw.casefold() in _ENDING or "anymore" in self.forms

    @cached_property
    def behind(self) -> Behind:
        """Return what the reading of the next word asks of this one."""
        raw = self.raw.casefold()
        return Behind(
            relates=self.form in _BEFORE_DATES,
            counts=self.kind == "number",
            is_noun=self.kind == "word" and not self.name,
            is_be=raw in _BE,
            is_present=raw in _PRESENT,
            is_now=self.kind == "now",
            is_article=raw in {"a", "an"},
        )


class Reading(msgspec.Struct, frozen=True, dict=True):
    """A statement: all its tokens, and the marks it carries (`now`, `change`, `correction`)."""

    text: str
    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> tuple[Token, ...]:
        """Return the tokens that are compared."""
        return tuple(token for token in self.tokens if token.kind not in {"drop", "now"})

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of all its tokens."""
        return frozenset(token.kind for token in self.tokens)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Return where in the content each form stands, in order; not to be changed."""
        places: dict[str, list[int]] = {}
        for place, token in enumerate(self.content):
            for form in token.forms:
                places.setdefault(form, []).append(place)
        return places

    @cached_property
    def firm(self) -> tuple[frozenset[str], ...]:
        """Return the forms of each token that stands for a thing or a deed, and is no value, mark or little word."""
        return tuple(token.forms for token in self.content if token.kind in _FIRM)

    def has(self, *kinds: str) -> bool:
        """Tell whether any token is of one of these kinds."""
        return not self.kinds.isdisjoint(kinds)
