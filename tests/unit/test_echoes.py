"""Answers that repeat in their own words what was just said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reverie.core.guard.echoes import answers, echoes
from reverie.core.records import Entry, Turn

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def entry(text: str, evidence: str = "") -> Entry:
    """Return an entry."""
    return Entry(id="1" * 16, text=text, at=NOON, day="2026-07-01", evidence=evidence)


@pytest.mark.parametrize(
    ("text", "answer", "repeated"),
    [
        (
            "User is allergic to macadamia nuts",
            "Noted: no macadamia nuts. Shall I go on?",
            "Noted: no macadamia nuts.",
        ),
        ("User moved to Lisbon in June", "Lisbon is a fine city! What now?", "Lisbon is a fine city!"),
        ("User now earns 84,000 euros", "So it is 84,000. Good.", "So it is 84,000."),
        ("User is allergic to walnuts", "Noted, no walnuts. What else?", "Noted, no walnuts."),
        ("User was diagnosed with lupus", "Sorry to hear about the lupus!", "Sorry to hear about the lupus!"),
        ("User is vegetarian", "A vegetarian dinner, then.", "A vegetarian dinner, then."),
        ("Dana lives with Priya", "Say hello to Priya from me.", "Say hello to Priya from me."),
        ("用户对花生过敏", "好的，我记住了。你对花生过敏。", "你对花生过敏。"),
    ],
)
def test_a_repeated_statement_is_found(text: str, answer: str, repeated: str) -> None:
    """A sentence that shares a name, a number, two telling words or the one it is about is an echo, and it alone."""
    assert echoes(entry(text), answer) == [repeated]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("User is allergic to walnuts", "I put peanuts on the list. What else?"),
        ("User works at Acme", "Let us work on it. I will write the tests."),
        ("User likes tea", "The weather is fine."),
        ("User moved to Lisbon", "Where do you work?"),
        ("User is allergic to macadamia nuts", ""),
    ],
)
def test_another_answer_is_none(text: str, answer: str) -> None:
    """What shares a single word that it is not about, or nothing, is no echo."""
    assert echoes(entry(text), answer) == []


def test_answers_end_where_the_user_speaks() -> None:
    """What others say after a turn answers it until the user speaks again; what comes later does not."""

    def turn(n: int, role: Any) -> Turn:
        return Turn(role=role, content=str(n), at=NOON, n=n)

    roles = ("user", "user", "tool", "assistant", "user", "assistant", "assistant", "user")
    turns = [turn(n, role) for n, role in enumerate(roles)]

    def of(*ordinals: int) -> list[tuple[int, bool]]:
        return [(one.n, answering) for one, answering in answers(turns, ordinals)]

    assert of(0) == [(2, True), (3, True), (5, False), (6, False)]
    assert of(1) == of(0)
    assert of(4) == [(5, True), (6, True)]
    assert of(5) == [(6, True)]
    assert of(7) == of() == []


def test_what_is_said_later_must_say_half_of_it() -> None:
    """Further on in the session a name, or two words of many, are no echo."""
    nuts = entry("User is allergic to macadamia nuts")
    assert echoes(nuts, "No cookies with macadamia nuts, then.", answering=False)
    assert echoes(nuts, "Nuts are tasty.", answering=False) == []
    assert echoes(entry("User moved to Lisbon in June"), "Lisbon is fine.", answering=False) == []
    long = entry("User prefers a window seat on the left in the last row of night trains to Vienna")
    assert echoes(long, "The night train leaves at nine.", answering=False) == []
