"""How many of a thing, in words."""

from __future__ import annotations

from reverie.core.text.plural import many


def test_one_is_singular_and_nothing_else_is() -> None:
    """One thing is named in the singular, none and several in the plural, thousands with a comma."""
    said = [many(number, "turn") for number in (0, 1, 2, 12_345)]
    assert said == ["0 turns", "1 turn", "2 turns", "12,345 turns"]


def test_a_word_in_y_is_written_as_english_does() -> None:
    """A `y` behind a consonant becomes `ies`, behind a vowel it stays."""
    assert [many(2, thing) for thing in ("entry", "day", "history")] == ["2 entries", "2 days", "2 histories"]
