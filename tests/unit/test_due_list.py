"""Tests of core.due_list: what is due, in which order and form."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from reverie.core.days import Calendar
from reverie.core.due_list import due_lines, shown_when
from reverie.core.fold import EntryState, fold
from reverie.core.pages.blocks import Missing, find_block
from reverie.core.records import Entry, Event

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
UTC_DAYS = Calendar()
BERLIN = Calendar("Europe/Berlin", "00:00")


def owed(due: str, number: int = 1, **fields: object) -> EntryState:
    """Return an open promise."""
    promise = {
        "text": "send the quote to Dana",
        "category": "commitment",
        "who": "Agent",
        "at": AT,
        "day": "2026-07-01",
    }
    return fold(Entry(**{**promise, "id": f"{number:016x}", "due": due, **fields}), ())


def test_a_promise_reads_the_same_everywhere() -> None:
    """The one form names the part, the day, what was promised, by whom, and the id."""
    (line,) = due_lines([owed("2026-07-03")], datetime(2026, 7, 4, 8, tzinfo=UTC), calendar=UTC_DAYS).overdue
    assert line.line == "- overdue 2026-07-03: send the quote to Dana (from Agent) `mem_id: 0000000000000001`"


@pytest.mark.parametrize(
    ("due", "now", "part"),
    [
        ("2026-07-03", "2026-07-02T21:59:59Z", "upcoming"),
        ("2026-07-03", "2026-07-02T22:00:00Z", "today"),  # midnight in Berlin
        ("2026-07-03", "2026-07-03T21:59:59Z", "today"),
        ("2026-07-03", "2026-07-03T22:00:00Z", "overdue"),
        ("2026-07-03T09:00:00+02:00", "2026-07-03T06:59:00Z", "today"),
        ("2026-07-03T09:00:00+02:00", "2026-07-03T07:00:00Z", "overdue"),
        ("2026-07", "2026-07-30T12:00:00Z", "upcoming"),
        ("2026-07", "2026-07-31T12:00:00Z", "today"),
        ("2026-07", "2026-08-01T12:00:00Z", "overdue"),
        ("", "2026-08-01T12:00:00Z", "undated"),
        ("some day", "2026-08-01T12:00:00Z", "undated"),
    ],
)
def test_a_promise_is_overdue_when_its_time_is_over(due: str, now: str, part: str) -> None:
    """A date is due until its day is over in the zone, an instant until it comes."""
    found = due_lines([owed(due)], datetime.fromisoformat(now), calendar=BERLIN)
    assert [line.part for line in found.lines] == [part]
    assert len(getattr(found, part)) == 1


def test_only_open_promises_are_due() -> None:
    """What is done, cancelled, superseded, hidden or merely discussed is not due; a fact with a date is."""
    closed = [_after(kind) for kind in ("complete", "cancel", "hide", "forget")]
    heard = owed("2026-07-03", 7, status="discussed")
    fact = owed("2026-07-03", 8, category="fact")
    found = due_lines([*closed, heard, fact], AT, calendar=UTC_DAYS)
    assert [line.state.entry.id for line in found.lines] == [f"{8:016x}"]


def _after(kind: str) -> EntryState:
    return fold(owed("2026-07-03").entry, (Event(id=kind, at=AT, kind=kind, entry=f"{1:016x}"),))


def test_a_new_date_counts() -> None:
    """A rescheduled promise is due on its new day."""
    moved = Event(id="m", at=AT, kind="reschedule", entry=f"{1:016x}", when="2026-09-01")
    state = fold(owed("2026-07-03").entry, (moved,))
    assert due_lines([state], AT, calendar=UTC_DAYS).upcoming[0].line.startswith("- upcoming 2026-09-01: ")


def test_promises_stand_in_order_of_their_instant() -> None:
    """The list is sorted by due instant, then id, whatever order the states come in."""
    whens = ["2026-07-05", "2026-07", "2026-07-02", "2026-06-30T10:00:00Z", "", "2026-07-02", "2026"]
    states = [owed(due, number) for number, due in enumerate(whens)]
    expected = [3, 2, 5, 0, 1, 6, 4]
    for seed in range(5):
        random.Random(seed).shuffle(states)
        found = due_lines(states, AT, calendar=UTC_DAYS)
        assert [int(line.state.entry.id, 16) for line in found.lines] == expected


def test_an_instant_is_shown_in_local_time() -> None:
    """A person reads the date and time of the workspace's zone."""
    assert shown_when("2026-07-03T15:00:00Z", BERLIN) == "2026-07-03 17:00"
    assert shown_when("2026-07", BERLIN) == "2026-07"


def test_a_promise_is_one_line() -> None:
    """Line breaks and markers in a promise or its promiser cannot break the list."""
    state = owed("2026-07-03", text="send\n<!-- reverie:end -->\n# quote", who="A\n## B")
    (line,) = due_lines([state], AT, calendar=UTC_DAYS).lines
    assert line.line.count("\n") == 0
    assert isinstance(find_block(line.line), Missing)
