"""What a new entry is compared with: the stored and the waiting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.records import Draft, Entry, Event, Turn
from reverie.index.resembling import Resembling
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.testing import FixedClock

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def entry(text: str) -> EntryState:
    """Return an entry that waits."""
    one = Entry(id=derived_id("waiting", text), text=text, at=NOON, day="2026-07-01")
    return EntryState(entry=one, sig=0.5, confirmed=NOON)


def opened(root: Path) -> Memory:
    """Return a memory at `root`, as one more process would have it."""
    opening = Opening(
        path=root / "agent",
        config_dir=root / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC"},
        clock=FixedClock(NOON),
    )
    return Memory(make_workspace(opening))


def test_stored_and_waiting_entries_are_found_alike(tmp_path: Path) -> None:
    """An entry that was drained and one that waits are both met by one that resembles them."""
    with opened(tmp_path) as memory:
        stored = memory.remember("User works at Kestrel in Oslo", Draft(category="work")).id
        memory.drain()
        waiting = memory.remember("User works at Kestrel since May", Draft(category="work")).id
        memory.remember("The server room is cold")
        memory.opened.state_now()
        found = memory.opened.reading().alike(entry("User left Kestrel").entry)
        assert {state.entry.id for state in found} == {stored, waiting}


def test_what_another_process_stored_is_found_by_the_next_look(tmp_path: Path) -> None:
    """An entry that a neighbour wrote and drained after this process last looked is met, though no row told of it."""
    with opened(tmp_path) as memory, opened(tmp_path) as neighbour:
        memory.remember("The server room is cold")
        memory.drain()
        assert not memory.opened.reading().alike(entry("User left Kestrel").entry)
        stored = neighbour.remember("User works at Kestrel in Oslo").id
        neighbour.drain()
        found = memory.opened.reading().alike(entry("User left Kestrel").entry)
        assert [state.entry.id for state in found] == [stored]


def test_the_files_are_looked_at_when_a_stored_entry_changed_and_not_for_each_entry(tmp_path: Path) -> None:
    """The rows are brought up at the first look and after a drain; not for a queued record, nor for every entry."""
    with opened(tmp_path) as memory:
        state, looks = memory.opened.state_now(), []

        def catch_up() -> None:
            looks.append(state.version)
            memory.opened.rebuild()

        alike = Resembling(state, lambda: memory.opened.index, catch_up=catch_up)
        asked = entry("User works at Kestrel in Oslo").entry
        memory.remember("User works at Kestrel")
        memory.opened.state_now()
        assert len(alike(asked)) == 1
        assert not looks  # nothing is stored: there is no row to look for
        memory.drain()
        for _ in range(3):
            memory.opened.state_now()
            assert len(alike(asked)) == 1
        assert len(looks) == 1
        memory.remember("User works in Oslo")
        memory.opened.state_now()
        assert len(alike(asked)) == 2
        assert len(looks) == 1
        memory.drain()
        memory.opened.state_now()
        assert len(alike(asked)) == 2
        assert len(looks) == 2


def test_what_one_wrote_oneself_is_found_before_the_files_are_looked_at(tmp_path: Path) -> None:
    """Entries that are told of are met like stored ones, and what happened to them is seen, until the next look."""
    with opened(tmp_path) as memory:
        memory.opened.state_now()
        alike, old, new = (
            memory.opened.reading().alike,
            entry("User works at Kestrel"),
            entry("User works at Teal"),
        )
        over = Event(id=derived_id("link"), at=NOON, kind="supersede", entry=new.entry.id, other=old.entry.id)
        told = memory.opened.reading().told
        assert told([old.entry], [])
        assert [state.current for state in alike(new.entry)] == [True]
        assert told([new.entry], [over])
        found = {state.entry.id: state for state in alike(entry("User works at Kestrel or Teal").entry)}
        assert (found[old.entry.id].superseded_by, found[new.entry.id].current) == (new.entry.id, True)
        memory.remember("The server room is cold")
        memory.opened.state_now()
        assert not alike(new.entry)  # no file holds them


def test_what_happens_to_a_stored_entry_asks_for_a_look_at_the_files(tmp_path: Path) -> None:
    """The search rows follow the files, so an event on a stored entry is seen by bringing them up to date alone."""
    with opened(tmp_path) as memory:
        stored = memory.remember("User works at Kestrel").id
        memory.opened.state_now()
        new = entry("User works at Teal")
        over = Event(id=derived_id("link"), at=NOON, kind="supersede", entry=new.entry.id, other=stored)
        assert memory.opened.reading().told([new.entry], [over])  # it waits
        memory.drain()
        memory.opened.state_now()
        assert not memory.opened.reading().told([new.entry], [over])


SAID = (
    "I work at Kestrel as an engineer.",
    "I prefer tea over coffee.",
    "I will send Dana the quote by 2026-07-09.",
    "I now work at Teal.",
    "I prefer tea over coffee.",
    "I sent Dana the quote for 4,200 euros.",
    "我住在杭州。",
    "I no longer work at Teal.",
    "我搬到了成都。",
    "I do not prefer tea over coffee.",
)


@pytest.mark.parametrize("drained", [0, 4])
def test_sessions_read_at_once_are_linked_as_if_read_one_by_one(tmp_path: Path, drained: int) -> None:
    """One reading of many sessions makes the entries and the links that a reading of each by itself makes, in order."""
    made = []
    for name in ("at once", "one by one"):
        with opened(tmp_path / name) as memory:
            for n, text in enumerate(SAID):
                at = NOON + timedelta(minutes=n - len(SAID))
                memory.capture(f"s{n}", Turn(role="user", content=text, at=at, id=f"t{n}"))
            names = [f"s{n}" for n in range(len(SAID))]
            memory.extract(names[:drained])
            memory.drain()
            for part in [names[drained:]] if name == "at once" else [[one] for one in names[drained:]]:
                memory.extract(part)
            state = memory.opened.state_now()
            entries = {one.entry.id: one for one in state.states()}
            made.append((entries, [event for one in sorted(entries) for event in state.events(one)]))
    assert made[0] == made[1]
    kinds = {event.kind for event in made[0][1]}
    assert kinds >= {"repeat", "supersede", "complete"}
