"""Entries whose words resemble those of a new one: what an extraction or a dream compares it with.

Owns the search behind links; promises that what waits for the drain is looked through like what is stored, that the
files are looked at when a stored entry changed rather than for each entry, and that while the index cannot be
used only its part is missing; never judges what two entries are to each other.

What waits has an index of its own, in memory. One who writes many entries says so (`told`), and they are looked through
before the files are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from reverie.core.fold import EntryState, fold
from reverie.core.guard.rare_words import DEPTH, RareWords, words_by_which
from reverie.core.records import Entry, Event
from reverie.core.search.query import Query
from reverie.core.search.rows import Filter
from reverie.errors import Busy, IndexUnavailable
from reverie.index.protocol import Index
from reverie.index.state import State


class Resembling:
    """Call it with an entry to get those that resemble it; bound to one open memory's state and index."""

    def __init__(self, state: State, index: Callable[[], Index], *, catch_up: Callable[[], object]) -> None:
        """Search `state` and `index`; `catch_up` brings the index up to the files."""
        self._state, self._index, self._catch_up = state, index, catch_up
        self._waiting = RareWords()
        self._seen = self._searched = -1  # the versions of the state that were looked at
        self._is_empty = False  # whether nothing was stored then
        self._fresh: dict[str, Entry] = {}  # what was written since then
        self._events: dict[str, list[Event]] = {}  # and what happened, by the ids it names
        self._told: dict[str, EntryState] = {}  # what follows from it

    def __call__(self, entry: Entry) -> list[EntryState]:
        """Return the entries, stored and waiting, whose words resemble those of `entry`."""
        words = words_by_which(entry.text)
        self._look()
        waiting = self._waiting.alike(words)
        if self._is_empty:
            found = {state.entry.id: state for state in self._state.queued(waiting)}
            return self._as_told(waiting, found)
        ids = (*self._stored(entry.text, words), *waiting)
        return self._as_told(ids, self._state.find(ids))

    def told(self, entries: Iterable[Entry], events: Iterable[Event]) -> bool:
        """Take in entries that were just written, and events, until the state shows them by itself.

        Return whether it could: what happened to a stored entry is seen by reading the files alone, for the search rows
        follow them.
        """
        self._look()
        for entry in entries:
            self._fresh[entry.id] = entry
            self._waiting.add(entry.id, entry.text)
        changed: dict[str, None] = {}
        for event in events:
            for one in filter(None, (event.entry, event.other)):
                self._events.setdefault(one, []).append(event)
                self._told.pop(one, None)
                changed[one] = None
        waiting = {state.entry.id for state in self._state.queued(changed)}
        return changed.keys() <= (waiting | self._fresh.keys())

    def _look(self) -> None:
        """Take in what waits for the drain, where the state was brought up to date since it was last looked at."""
        if self._seen != self._state.version:
            self._waiting.set({one.entry.id: one.entry.text for one in self._state.queued()})
            self._is_empty = self._state.is_empty()
            self._fresh, self._events, self._told = {}, {}, {}
            self._seen = self._state.version

    def _as_told(self, ids: Iterable[str], found: Mapping[str, EntryState]) -> list[EntryState]:
        """Return the states of `ids`, in their order, as they are by what was told."""
        states = (self._state_of(one, found.get(one)) for one in dict.fromkeys(ids))
        return [state for state in states if state is not None]

    def _state_of(self, one: str, known: EntryState | None) -> EntryState | None:
        """Return the state of an entry, which the state of the files `known` has or not, worked out once."""
        if one not in self._fresh and one not in self._events:
            return known
        state = self._told.get(one)
        if state is not None:
            return state
        entry = self._fresh.get(one) or (known.entry if known is not None else None)
        if entry is None:
            return None
        before = () if one in self._fresh else self._state.events(one)
        self._told[one] = fold(entry, (*before, *self._events.get(one, ())))
        return self._told[one]

    def _stored(self, text: str, words: tuple[str, ...]) -> list[str]:
        """Return the ids of stored entries that resemble a text."""
        try:
            if self._searched != self._state.version:
                first, self._searched = self._searched < 0, self._state.version
                if first or self._lacking():
                    self._catch_up()
            query = Query(text=text, terms=words, words=frozenset())
            found = self._index().search(query, where=Filter(kinds=("entry",)), depth=DEPTH)
        except (IndexUnavailable, Busy):
            return []
        return [candidate.row.id for candidate in found]

    def _lacking(self) -> bool:
        """Tell whether the search rows lack a stored entry; what waits is not looked for in them."""
        rows = self._index().rows
        return rows.fresh or rows.in_memory or self._state.unsearched()
