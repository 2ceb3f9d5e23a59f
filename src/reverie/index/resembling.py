"""Entries whose words resemble those of a new one: what an extraction or a dream compares it with.

Owns the search behind links; promises that what waits for the drain is looked through like what is stored, that the
files are looked at when a stored entry changed rather than for each entry, and that while the index cannot be
used only its part is missing; never judges what two entries are to each other.

What waits has an index of its own, in memory.
"""

from __future__ import annotations

from collections.abc import Callable

from reverie.core.fold import EntryState
from reverie.core.query import Query
from reverie.core.rare_words import DEPTH, RareWords, words_by_which
from reverie.core.records import Entry
from reverie.core.rows import Filter
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

    def __call__(self, entry: Entry) -> list[EntryState]:
        """Return the entries, stored and waiting, whose words resemble those of `entry`."""
        words = words_by_which(entry.text)
        if self._seen != self._state.version:
            self._waiting.set({one.entry.id: one.entry.text for one in self._state.queued()})
            self._is_empty = self._state.is_empty()
            self._seen = self._state.version
        waiting = self._waiting.alike(words)
        if self._is_empty:
            return self._state.queued(waiting)
        return list(self._state.find((*self._stored(entry.text, words), *waiting)).values())

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
