"""The first fold of a large archive fills the state without its indexes, and nobody can tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.formats.daylog import render
from reverie.core.formats.framing import frame
from reverie.core.records import Entry, Event
from reverie.index.state import State
from reverie.store.filesystem.disk import Disk

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
CALENDAR = Calendar("UTC", "00:00")
INDEXES = "SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name"
LONG = "word " * 1_000


def state_at(root: Path) -> State:
    """Return the state of the folder, caught up with its files."""
    state = State(root, Disk(root), calendar=CALENDAR, notebook=layout.NOTEBOOK)
    state.catch_up(lambda entry: entry.id.endswith("7"))
    return state


def write_day(root: Path, number: int, *, size: int) -> list[Entry]:
    """Write the log of one day, of so many long entries of all kinds, and return them."""
    at = NOON + timedelta(days=number)
    day = CALENDAR.day(at)
    made = [
        Entry(
            id=f"{number:08x}{place:08x}",
            text=f"{LONG}{place}",
            at=at,
            day=day,
            category=("fact", "commitment", "procedure")[place % 3],
            due=day if place % 3 == 1 else "",
            session=f"talk-{place % 5}",
        )
        for place in range(size)
    ]
    path = root / layout.log_file(day)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(made, CALENDAR, first=True, day=day))
    return made


def test_a_large_archive_ends_with_the_indexes_and_answers_of_one_that_grew(tmp_path: Path) -> None:
    """Three days of a megabyte, folded at once or day by day, give the same state under the same indexes."""
    grown, whole, small = (tmp_path / name for name in ("grown", "whole", "small"))
    write_day(small, 0, size=2)
    entries = [one for number in range(3) for one in write_day(whole, number, size=100)]
    pin = frame(Event(id="e1", at=NOON, kind="pin", entry=entries[5].id))
    for root in (whole, grown):
        (root / layout.EVENTS).parent.mkdir(parents=True, exist_ok=True)
        (root / layout.EVENTS).write_bytes(pin)
    for number in range(3):
        write_day(grown, number, size=100)
        by_day = state_at(grown)
    at_once = state_at(whole)
    assert at_once.digest() == by_day.digest()
    assert at_once.counts() == by_day.counts()
    assert [one.entry.id for one in at_once.promises()] == [one.entry.id for one in by_day.promises()]
    assert [one.entry.id for one in at_once.pins()] == [entries[5].id]
    assert at_once.pending_days("2027-01-01") == by_day.pending_days("2027-01-01")
    indexes = state_at(small).db.execute(INDEXES).fetchall()
    assert at_once.db.execute(INDEXES).fetchall() == by_day.db.execute(INDEXES).fetchall() == indexes


def test_a_first_fold_that_breaks_off_leaves_the_indexes(tmp_path: Path) -> None:
    """What ends a first fold midway takes all of it back, and the next one folds everything."""
    made = write_day(tmp_path, 0, size=300)
    state = State(tmp_path, Disk(tmp_path), calendar=CALENDAR, notebook=layout.NOTEBOOK)
    before = state.db.execute(INDEXES).fetchall()

    def stop(entry: Entry) -> bool:
        if entry.id == made[-1].id:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        state.catch_up(stop)
    assert state.db.execute(INDEXES).fetchall() == before
    assert state.is_empty()
    state.catch_up(lambda _: False)
    assert len(state.states()) == len(made)
    assert state.db.execute(INDEXES).fetchall() == before
