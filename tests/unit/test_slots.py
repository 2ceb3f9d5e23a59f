"""Slots: one moment in which what is due is run, however many look, sleep or come back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.slots import Before, Seen, is_due, slot_of

NOW = datetime(2026, 7, 2, 3, 0, tzinfo=UTC)
HALF = timedelta(minutes=30)
SLOT = slot_of(NOW, HALF, name="a")
RAN = Before(SLOT - HALF, SLOT - HALF, "2026-07-02")
IDLE = Seen(today="2026-07-02", touched=SLOT - 2 * HALF)


@given(st.integers(946_684_800, 4_102_444_800), st.text())
def test_a_moment_lies_in_its_slot(seconds: int, name: str) -> None:
    """Each moment lies in one slot, and every moment in that finds the same."""
    now = datetime.fromtimestamp(seconds, UTC)
    slot = slot_of(now, HALF, name=name)
    assert slot <= now < slot + HALF
    assert slot_of(slot, HALF, name=name) == slot
    assert slot_of(slot + HALF - timedelta(milliseconds=1), HALF, name=name) == slot
    assert slot_of(slot + HALF, HALF, name=name) == slot + HALF


def test_workspaces_take_turns() -> None:
    """The slots of a hundred workspaces begin at many different moments."""
    assert len({slot_of(NOW, HALF, name=str(number)) for number in range(100)}) > 90


def test_a_slot_is_never_shorter_than_a_minute() -> None:
    """An interval of nothing is a minute."""
    assert slot_of(NOW, timedelta(0), name="a") + timedelta(minutes=1) > NOW


@pytest.mark.parametrize(
    ("before", "seen", "due"),
    [
        (Before(None, None, ""), IDLE, True),  # never looked after
        (RAN, IDLE, False),  # nothing happened
        (Before(SLOT, SLOT, "2026-07-02"), Seen(today="2026-07-03", waits=True), False),  # the slot was used
        (RAN, Seen(today="2026-07-03", touched=IDLE.touched), True),  # the day changed
        (RAN, Seen(today="2026-07-02", touched=SLOT), True),  # something was written since
        (RAN, Seen(today="2026-07-02", touched=RAN.began), True),  # in that very moment
        (RAN, Seen(today="2026-07-02", waits=True), True),  # a stage failed, or a change waits to be shown
        (
            RAN,
            Seen(today="2026-07-02", opens=SLOT - timedelta(minutes=1)),
            True,
        ),  # the dream's hours are over
        (RAN, Seen(today="2026-07-02", opens=SLOT + timedelta(minutes=1)), False),
        (RAN, Seen(today="2026-07-02", opens=SLOT - 3 * HALF), False),  # they were over then already
        (Before(SLOT + 99 * HALF, SLOT + 99 * HALF, "2026-07-02"), IDLE, False),
        (Before(SLOT + 99 * HALF, SLOT + 99 * HALF, "2026-07-04"), IDLE, True),  # a clock that was wrong
    ],
)
def test_what_is_due(before: Before, seen: Seen, *, due: bool) -> None:
    """A slot is used once, and only where something can have become due since the last run began."""
    assert is_due(SLOT, before, seen=seen) is due
