"""The table of triggers: what sets a session's reading off, and which steps follow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar
from reverie.core.sessions.pipeline import PIPELINE, STEPS, Moment, Rhythm, Talk, captured, due, fired

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
RHYTHM = Rhythm(every_turns=6, idle_minutes=15)
CALENDAR = Calendar("UTC", "00:00")
FRESH = NOON - timedelta(minutes=1)


@pytest.mark.parametrize(
    ("talk", "moment", "trigger"),
    [
        (Talk(session="s", turns=2, read=2, open=False, last=FRESH), "hand", None),
        (Talk(session="s", turns=2, read=0, last=FRESH), "tick", None),
        (Talk(session="s", turns=2, read=0, last=FRESH), "open", None),
        (Talk(session="s", turns=2, read=0, last=FRESH), "hand", "hand"),
        (Talk(session="s", turns=2, read=0, last=FRESH), "compaction", "compaction"),
        (Talk(session="s", turns=2, read=0, open=False, last=FRESH), "tick", "end"),
        (Talk(session="s", turns=9, read=3, last=FRESH), "tick", "turns"),
        (Talk(session="s", turns=9, read=4, last=FRESH), "tick", None),
        (Talk(session="s", turns=9, read=8, last=NOON - timedelta(hours=13)), "tick", "day"),
        (Talk(session="s", turns=9, read=8, last=NOON - timedelta(minutes=15)), "tick", "idle"),
        (Talk(session="s", turns=9, read=8, last=NOON - timedelta(minutes=15)), "open", "recovery"),
        (Talk(session="s", turns=3, read=40, open=False, last=FRESH), "tick", "end"),
    ],
)
def test_each_trigger_fires_on_its_state_alone(talk: Talk, moment: Moment, trigger: str | None) -> None:
    """What is due follows from ordinals, mark, last turn and who asks; nothing unread is never due (R-43)."""
    assert fired(talk, moment, now=NOON, calendar=CALENDAR, rhythm=RHYTHM) == trigger


def test_the_table_names_each_trigger_once_and_reads_before_it_drains() -> None:
    """Each trigger has one row, and in each row what is extracted is drained after it, and published last."""
    assert len(STEPS) == len(PIPELINE) == 7
    for steps in STEPS.values():
        assert steps.index("extract") < steps.index("drain")
        assert "publish" not in steps or steps[-1] == "publish"


def test_capture_asks_for_reading_every_so_many_turns() -> None:
    """With six turns the sixth and the twelfth set reading off; with one, each does; a turn not stored never."""
    assert [n for n in range(-1, 13) if captured(n, RHYTHM)] == [5, 11]
    assert [n for n in range(-1, 3) if captured(n, Rhythm(1, 15))] == [0, 1, 2]


def test_sessions_are_read_in_the_order_in_which_they_spoke_last() -> None:
    """A change said later is read after what it changes."""
    talks = [
        Talk(session="b", turns=1, read=0, open=False, last=NOON),
        Talk(session="a", turns=1, read=0, open=False, last=FRESH),
        Talk(session="quiet", turns=1, read=0, last=NOON),
    ]
    assert list(due(talks, "tick", now=NOON, calendar=CALENDAR, rhythm=RHYTHM)) == ["a", "b"]


@given(
    st.lists(st.tuples(st.integers(1, 400), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 8),
    st.integers(1, 60),
)
def test_no_turn_waits_longer_than_the_rhythm_allows(
    turns: list[tuple[int, bool]], every: int, idle: int
) -> None:
    """Asked each minute, the table has everything read within the silence it allows, each ordinal exactly once."""
    rhythm, read, spans = Rhythm(every, idle), 0, list[tuple[int, int]]()
    at, spoken, is_open = NOON, 0, True
    for minutes, ends in turns:
        at += timedelta(minutes=minutes)
        talk = Talk(session="s", turns=spoken, read=read, open=is_open, last=at - timedelta(minutes=minutes))
        if fired(talk, "tick", now=at, calendar=CALENDAR, rhythm=rhythm):
            spans.append((read, spoken))
            read = spoken
        assert minutes < idle or read == spoken
        spoken, is_open = spoken + 1, not ends
        assert spoken - read <= every + 1
    spans.append((read, spoken))
    assert [n for start, stop in spans for n in range(start, stop)] == list(range(spoken))
