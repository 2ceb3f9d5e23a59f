"""Entries whose words resemble those of a new one: what an extraction or a dream compares it with.

Owns the search behind links; promises that what waits for the drain is looked through like what is stored, that the
files are looked at when a stored entry changed rather than for each entry, and that while the index cannot be
used only its part is missing; never judges what two entries are to each other.

What waits has an index of its own, in memory: a fresh extraction queues entries by the thousand, and to score each of
them for each new one would take a time that grows with their square.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable

from reverie.core.fold import EntryState
from reverie.core.guard_signature import searched_by
from reverie.core.query import Query
from reverie.core.records import Entry
from reverie.core.rows import Filter
from reverie.core.tokens import query_terms
from reverie.errors import Busy, IndexUnavailable
from reverie.index.protocol import Index
from reverie.index.state import State

DEPTH = 20  # entries a new one is compared with, of those stored and of those that wait
LOOKED_AT = 400  # places in the lists of a word's entries; the rarest words come first
_SAY_NOTHING = frozenset(("user", "agent", "用户"))  # whom half of all entries are about


class Waiting:
    """The words of the entries that wait for the drain."""

    def __init__(self) -> None:
        """Know none."""
        self._terms: dict[str, tuple[str, ...]] = {}
        self._having: dict[str, dict[str, None]] = {}

    def set(self, states: Iterable[EntryState]) -> None:
        """Know these entries and no others; the work follows what changed."""
        now = {state.entry.id: state.entry.text for state in states}
        for gone in self._terms.keys() - now.keys():
            for term in self._terms.pop(gone):
                self._having[term].pop(gone, None)
        for name, text in now.items():
            if name not in self._terms:
                self._terms[name] = _words(text)
                for term in self._terms[name]:
                    self._having.setdefault(term, {})[name] = None

    def alike(self, words: Iterable[str], depth: int = DEPTH) -> list[str]:
        """Return the ids of the entries that share the rarest of some words, most alike first."""
        having = sorted(filter(None, (self._having.get(term) for term in words)), key=len)
        scores: dict[str, float] = defaultdict(float)
        left = LOOKED_AT
        for names in having:
            left -= len(names)
            if left < 0 and scores:
                break
            weight = math.log(1 + len(self._terms) / len(names))
            for name in names:
                scores[name] += weight
        return heapq.nlargest(depth, scores, key=scores.__getitem__)


class Resembling:
    """Call it with an entry to get those that resemble it; bound to one open memory's state and index."""

    def __init__(self, state: State, index: Callable[[], Index], *, catch_up: Callable[[], object]) -> None:
        """Search `state` and `index`; `catch_up` brings the index up to the files."""
        self._state, self._index, self._catch_up = state, index, catch_up
        self._waiting = Waiting()
        self._seen = self._searched = -1  # the versions of the state that were looked at

    def __call__(self, entry: Entry) -> list[EntryState]:
        """Return the entries, stored and waiting, whose words resemble those of `entry`."""
        words = _words(f"{entry.text} {searched_by(entry.text)}")
        if self._seen != self._state.version:
            self._waiting.set(self._state.queued())
            self._seen = self._state.version
        return list(
            self._state.find((*self._stored(entry.text, words), *self._waiting.alike(words))).values()
        )

    def _stored(self, text: str, words: tuple[str, ...]) -> list[str]:
        """Return the ids of stored entries that resemble a text."""
        if self._state.is_empty():
            return []
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


def _words(text: str) -> tuple[str, ...]:
    """Return the words of an entry that may tell it from others, each once."""
    return tuple(term for term in dict.fromkeys(query_terms(text)) if term not in _SAY_NOTHING)
