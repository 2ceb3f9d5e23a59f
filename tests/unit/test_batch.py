"""Tests of what waits for a dream: the gates, batches, parts and what is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from dream_world import entry
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.dreams.batch import (
    PART_CHARACTERS,
    Open,
    Part,
    Shut,
    after_batch,
    cut,
    gate,
    halves,
    is_suspect,
    parts_of,
)
from reverie.core.fold import fold
from reverie.core.settings.value import DreamSettings

NOW = datetime(2026, 7, 10, 3, tzinfo=UTC)
TODAY = "2026-07-10"


def parts(count: int, *, day: str = "2026-07-09", first: int = 1) -> list[Part]:
    """Return the parts of that many short entries of a day."""
    return [
        part
        for n in range(count)
        for part in parts_of(fold(entry(first + n, f"fact number {n}", day=day), ()))
    ]


def ask(
    waiting: list[Part], *, last: datetime | None = None, passing: bool = False, **fields: int
) -> Open | Shut:
    """Ask the gates with these settings."""
    return gate(DreamSettings(**fields), waiting, last=last, now=NOW, today=TODAY, passing=passing)


def test_nothing_pending_keeps_the_gates_shut_even_for_a_person() -> None:
    """With nothing pending no dream begins, not even on a person's call."""
    assert isinstance(ask([], passing=True), Shut)


def test_a_dream_waits_for_enough_entries_and_enough_time() -> None:
    """In steady state both gates must open: entries gathered, and hours passed since the last dream (S-23)."""
    assert isinstance(ask(parts(19)), Shut)
    assert ask(parts(20)) == Open(sprint=False)
    assert isinstance(ask(parts(20), last=NOW - timedelta(hours=23)), Shut)
    assert ask(parts(20), last=NOW - timedelta(hours=24)) == Open(sprint=False)


def test_a_small_backlog_is_dreamt_by_age() -> None:
    """Too few entries are dreamt all the same once the oldest has waited `max_wait_days` (P-07)."""
    assert isinstance(ask(parts(1, day="2026-07-04")), Shut)
    assert ask(parts(1, day="2026-07-03")) == Open(sprint=False)


def test_a_clock_set_back_does_not_keep_the_gates_shut() -> None:
    """A last dream that lies in the future counts for nothing."""
    assert isinstance(ask(parts(20), last=NOW + timedelta(days=400)), Open)


def test_a_backlog_of_more_than_one_batch_waits_for_nothing() -> None:
    """What exceeds one batch by number or by days is sprinted through, whatever the hour (R-16, S-22)."""
    just = NOW - timedelta(minutes=1)
    assert ask(parts(4), last=just, max_entries=3) == Open(sprint=True)
    days = [part for n in range(1, 5) for part in parts(1, day=f"2026-07-0{n}", first=n)]
    assert ask(days, last=just, max_days=3) == Open(sprint=True)


def test_a_person_passes_every_gate() -> None:
    """A person's own call passes the switch, the hours and the number (S-33)."""
    verdict = gate(DreamSettings(enabled=False), parts(1), last=NOW, now=NOW, today=TODAY, passing=True)
    assert verdict == Open(sprint=False)
    assert isinstance(gate(DreamSettings(enabled=False), parts(50), last=None, now=NOW, today=TODAY), Shut)


def test_a_batch_is_cut_oldest_first() -> None:
    """A batch takes what is oldest, within its entries, days and tokens, and at least one part (N-25)."""
    waiting = parts(2, day="2026-07-01") + parts(2, day="2026-07-02", first=3)
    assert [part.id for part in cut(DreamSettings(max_entries=3), waiting)] == [
        part.id for part in waiting[:3]
    ]
    assert [part.day for part in cut(DreamSettings(max_days=1), waiting)] == ["2026-07-01"] * 2
    long = parts_of(fold(entry(9, "word " * 1_500), ()))
    assert cut(DreamSettings(batch_tokens=500), long) == long


def test_what_failed_too_often_comes_last_and_apart() -> None:
    """Entries that failed `max_retries` times are left out until the rest is through (R-11)."""
    waiting, settings = parts(3), DreamSettings(max_retries=2)
    failures = {waiting[0].id: 2, waiting[1].id: 1}
    batch = cut(settings, waiting, failures=failures)
    assert [part.id for part in batch] == [waiting[1].id, waiting[2].id]
    assert not is_suspect(settings, batch, failures=failures)
    rest = cut(settings, waiting[:1], failures=failures)
    assert rest == waiting[:1]
    assert is_suspect(settings, rest, failures=failures)


def test_failures_are_counted_by_entry_and_forgotten_when_settled() -> None:
    """A failure adds one to each entry at fault; an entry that was settled is counted no more."""
    assert after_batch({"a": 2, "b": 1}, settled={"a"}, failed={"b", "c"}) == {"b": 2, "c": 1}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_halves_lose_nothing(count: int) -> None:
    """Halves hold every part once, and are smaller unless there is one alone."""
    whole = parts(count)
    pieces = halves(whole)
    assert [part for piece in pieces for part in piece] == whole
    assert count == 1 or all(0 < len(piece) < count for piece in pieces)


def test_a_long_entry_comes_in_parts() -> None:
    """An entry too long to be looked at in one go is cut into parts that together are its whole text (R-18, N-25)."""
    text = "A sentence about the harbour. " * 1_000
    pieces = parts_of(fold(entry(1, text), ()))
    assert "".join(part.text for part in pieces) == text
    assert all(len(part.text) <= PART_CHARACTERS for part in pieces)
    assert [(part.number, part.of) for part in pieces] == [(n, len(pieces)) for n in range(len(pieces))]
    assert parts_of(fold(entry(1, text), ()), settled=[0, 2])[0].number == 1


@given(st.text(max_size=40), st.integers(0, 1_200))
def test_parts_hold_any_text_whole(piece: str, times: int) -> None:
    """Whatever the text, its parts joined are the text."""
    text = piece * times or "x"
    assert "".join(part.text for part in parts_of(fold(entry(1, text), ()))) == text
