"""What a new entry is compared with: the stored and the waiting, the rarest words first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.records import Draft, Entry
from reverie.index.resembling import DEPTH, Waiting
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.testing import FixedClock, counter_ids

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
WORDS = "invoice server Lisbon tea coffee bike garden budget report meeting 合同 报告".split()


def entry(text: str) -> EntryState:
    """Return an entry that waits."""
    one = Entry(id=derived_id("waiting", text), text=text, at=NOON, day="2026-07-01")
    return EntryState(entry=one, sig=0.5, confirmed=NOON)


def test_stored_and_waiting_entries_are_found_alike(tmp_path: Path) -> None:
    """An entry that was drained and one that waits are both met by one that resembles them."""
    opening = Opening(
        path=tmp_path / "agent",
        config_dir=tmp_path / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC"},
        clock=FixedClock(NOON),
        new_id=counter_ids(),
    )
    with Memory(make_workspace(opening)) as memory:
        stored = memory.remember("User works at Kestrel in Oslo", Draft(category="work")).id
        memory.drain()
        waiting = memory.remember("User works at Kestrel since May", Draft(category="work")).id
        memory.remember("The server room is cold")
        memory.opened.state_now()
        found = memory.opened.reading().alike(entry("User left Kestrel").entry)
        assert {state.entry.id for state in found} == {stored, waiting}


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), max_size=60),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), max_size=60),
)
def test_what_waits_is_known_whatever_came_and_went(first: list[str], then: list[str]) -> None:
    """After entries came and went, the same are found as if only the last had ever been there."""
    lived, fresh = Waiting(), Waiting()
    lived.set([entry(text) for text in first])
    lived.set([entry(text) for text in then])
    fresh.set([entry(text) for text in then])
    for word in WORDS:
        asked = (word.lower(),)
        assert set(lived.alike(asked, 1_000)) == set(fresh.alike(asked, 1_000))


def test_the_rarest_words_decide() -> None:
    """Among hundreds that share a common word, the one that shares a rare one comes first, and not all are returned."""
    waiting = Waiting()
    common = [entry(f"The budget of project {number}") for number in range(500)]
    rare = entry("The budget of the aquarium")
    waiting.set([*common, rare])
    found = waiting.alike(("budget", "aquarium"))
    assert found[0] == rare.entry.id
    assert len(found) <= DEPTH
