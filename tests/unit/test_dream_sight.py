"""Tests of what a dream looks up of the entries that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dream_world import entry

from reverie.core.dreams.batch import parts_of
from reverie.core.dreams.sight import Sight
from reverie.core.fold import EntryState, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reverie.core.dreams.overview import Weights
    from reverie.core.records import Entry, Event

TEA, AGAIN, CAT = (
    entry(n, text, category="preference")
    for n, text in enumerate(("User likes tea",) * 2 + ("User likes cats",), 1)
)
STATES = {one.id: fold(one, ()) for one in (TEA, AGAIN, CAT)}


class Counted:
    """Entries that count how often each is looked up."""

    def __init__(self) -> None:
        """Begin with nothing looked up."""
        self.found: list[str] = []

    def find(self, ids: Iterable[str]) -> Mapping[str, EntryState]:
        """Return the entries."""
        wanted = list(ids)
        self.found += wanted
        return {one: STATES[one] for one in wanted}

    def weights(self, ids: Iterable[str]) -> Weights:
        """Weigh nothing."""
        return dict.fromkeys(ids, (False, 0.0, 0.0))

    def events(self, entry_id: str) -> list[Event]:
        """Return that nothing happened to an entry."""
        assert entry_id in STATES
        return []

    def cited_on(self, entry_id: str) -> list[tuple[str, int]]:
        """Return that no page cites an entry."""
        assert entry_id in STATES
        return []


def test_what_waits_is_not_looked_up_again() -> None:
    """Of what waits only what was linked has another state afterwards, and only that is looked up for it."""
    entries = Counted()
    sight = Sight(entries, notebook="notebook")
    waiting = [part for state in STATES.values() for part in parts_of(state)]

    def alike(one: Entry) -> list[EntryState]:
        return [state for state in STATES.values() if state.entry.id != one.id]

    made = sight.link(waiting, alike, by="rules", at=TEA.at, zone="UTC")
    assert [(one.kind, one.entry, one.other) for one in made] == [("repeat", AGAIN.id, TEA.id)]
    seen = sight.seen_again(waiting)
    assert set(entries.found) == {TEA.id, AGAIN.id}
    assert seen[2] is waiting[2]
    assert [part.state.observations for part in seen] == [2, 1, 1]
