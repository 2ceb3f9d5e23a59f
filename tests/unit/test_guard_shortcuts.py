"""The guard's shortcuts: what is kept of a text and what is seen at a glance change no answer."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.core.fold import EntryState
from reverie.core.guard import relate
from reverie.core.guard_reading import _of_word, _read
from reverie.core.links import links_of
from reverie.core.records import Entry

DATA = Path(__file__).parent.parent / "data"
PAIRS: dict[str, list[list[str]]] = tomllib.loads((DATA / "guard_pairs.toml").read_text(encoding="utf-8"))
TEXTS = sorted({text for pairs in PAIRS.values() for pair in pairs for text in pair})
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
BEFORE = "in may is planed called 3 hours an apple now be Anna New York March works the owns by goes".split()


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


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_a_link_is_what_the_guard_says_of_the_pair(old: str, new: str) -> None:
    """An entry is linked to another exactly when the guard, asked about the two alone, finds a relation."""
    first, then = entry(old, 0), entry(new, 1)
    state = EntryState(entry=first, sig=0.5, confirmed=first.at)
    linked = links_of(then, [state], at=NOON, by="rules/1")
    relation = relate(then, first)
    assert bool(linked) == (relation is not None)
