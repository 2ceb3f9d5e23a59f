"""The guard's shortcuts: what is kept of a text and what is seen at a glance change no answer."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.core.fold import EntryState
from reverie.core.guard.attributes import (
    CLAIMING,
    CLAIMING_ASCII,
    DATE_NOUNS,
    FREE_NOUNS,
    NAME_NOUNS,
    NUMBER_NOUNS,
    NUMBER_VERBS,
)
from reverie.core.guard.claims import _SPOKEN
from reverie.core.guard.forms import plain_text
from reverie.core.guard.links import links_of
from reverie.core.guard.places import PLACES, TWO_WORDS
from reverie.core.guard.reading import _of_word, _read
from reverie.core.guard.relation import relate
from reverie.core.guard.spellings import spellings
from reverie.core.guard.words import ENGLISH, IRREGULAR_PAST, IRREGULAR_PLURALS, SAME_WORDS, UNITS
from reverie.core.guard.words_zh import CHINESE
from reverie.core.records import Entry
from reverie.core.text.patterns import Words

DATA = Path(__file__).parent.parent / "data"
PAIRS: dict[str, list[list[str]]] = tomllib.loads((DATA / "guard_pairs.toml").read_text(encoding="utf-8"))
TEXTS = sorted({text for pairs in PAIRS.values() for pair in pairs for text in pair})
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
BEFORE = "in may is planed called 3 hours an apple now be Anna New York March works the owns by goes".split()

NOUNS = NUMBER_NOUNS | NUMBER_VERBS | DATE_NOUNS | NAME_NOUNS | FREE_NOUNS


def shapes(word: str) -> set[str]:
    """Return a word as it may stand in a text: in capitals, and with each ending put to it in each way."""
    stems = {word, word[:-1], word + word[-1]}
    inflected = {
        stem + end for stem in stems for end in ("s", "es", "ies", "ed", "d", "ied", "ing", "'s", "n't", "'d")
    }
    return inflected | {word, word.upper(), word.title()}


INFLECTED = {*NOUNS, *SAME_WORDS, *IRREGULAR_PAST, *IRREGULAR_PLURALS, "quick", "try", "watch", "Kestrel"}
LISTED = {*UNITS, *PLACES, *TWO_WORDS, *ENGLISH, *CHINESE, "won't", "I'd", "5km", "Nadia's"}
SHAPED = sorted(f"It is {one} now" for one in LISTED.union(*map(shapes, INFLECTED)))


def entry(text: str, days: int) -> Entry:
    """Return an entry that the user said `days` after the first of July."""
    at = NOON + timedelta(days=days)
    return Entry(id=f"{days:016x}", text=text, at=at, day=f"{at:%Y-%m-%d}", origin="user")


def test_a_word_that_was_read_before_is_read_as_anew() -> None:
    """What is kept of the words of other texts gives each text the reading it has without, whatever stands where."""
    texts = [f"Then {one} {two} running" for one, two in product(BEFORE, BEFORE)]
    kept = [_read(text) for text in texts]
    for text, reading in zip(texts, kept, strict=True):
        _of_word.cache_clear()
        assert _read(text) == reading


def test_what_is_read_in_a_text_is_spelled_there() -> None:
    """Each form of each statement has one of its spellings there, so that a statement without any lacks the form."""
    for text in (*TEXTS, *SHAPED):
        low = plain_text(text).casefold()
        for form in filter(str.isalpha, _read(text).places):
            assert any(word in low for word in spellings(form)), (text, form)


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_a_link_is_what_the_guard_says_of_the_pair(old: str, new: str) -> None:
    """An entry is linked to another exactly when the guard, asked about the two alone, finds a relation."""
    first, then = entry(old, 0), entry(new, 1)
    state = EntryState(entry=first, sig=0.5, confirmed=first.at)
    linked = links_of(then, [state], at=NOON, by="rules/1")
    relation = relate(then, first)
    assert bool(linked) == (relation is not None)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(_SPOKEN).flatmap(lambda one: st.tuples(st.just(one), st.from_regex(one[1].source))))
def test_what_says_a_claim_holds_one_of_the_words_it_is_looked_for_by(
    drawn: tuple[tuple[str, Words, bool, tuple[str, ...]], str],
) -> None:
    """A pattern of claims matches no text without one of the words by which it is tried."""
    one, text = drawn
    if one[1].match(text):
        assert any(word in text for word in one[3])


def test_what_a_noun_claims_is_seen_in_any_form_of_it() -> None:
    """No word whose reading has a form of a claiming noun lacks what a text is looked through for."""
    for text in SHAPED:
        forms = {form for token in _read(text).tokens for form in token.forms}
        if not forms.isdisjoint(NOUNS):
            low = text.casefold()
            assert any(word in low for word in (CLAIMING_ASCII if low.isascii() else CLAIMING)), text
