"""The links of the entries that one reading found: to what stood before, and to one another.

Owns the pass over them, in the order they were said; promises that its cost follows how many there are; never writes
an event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

import msgspec

from reverie.core.fold import EntryState
from reverie.core.guard.hints import asked_by
from reverie.core.guard.links import links_of
from reverie.core.guard.rare_words import DEPTH, RareWords, words_by_which
from reverie.core.records import Entry, Event

Alike = Callable[[Entry], Iterable[EntryState]]


def linked(
    entries: Iterable[Entry], hints: Mapping[str, str], *, alike: Alike, at: datetime, by: str, zone: str
) -> list[Event]:
    """Return the links of `entries`, each once; `alike` returns what stood before and resembles one.

    `hints` are, by id, the statements that a model says an entry replaces. `at` is when the links are made, `by` who
    makes them, `zone` as for `core.guard.links.links_of`.
    """
    events: dict[str, Event] = {}
    before = _Before()
    for entry in entries:
        # A drain may have stored what is linked meanwhile: its entries are then met on both sides.
        others = before.alike(entry) | {state.entry.id: state for state in alike(entry)}
        links = links_of(entry, list(others.values()), at=at, by=by, zone=zone)
        if not links and (hint := hints.get(entry.id)):
            others |= {state.entry.id: state for state in alike(msgspec.structs.replace(entry, text=hint))}
            links = links_of(entry, list(others.values()), at=at, by=by, zone=zone)
            asked = asked_by(entry, hint, others=others.values(), at=at, by=by)
            links += [asked] if asked and not links else []
        events |= {link.id: link for link in links}
        before.add(entry)
    return list(events.values())


class _Before:
    """The entries of the same reading that came before one."""

    def __init__(self) -> None:
        self._states: dict[str, EntryState] = {}
        self._words = RareWords()

    def add(self, entry: Entry) -> None:
        """Take in one more, in the order they were said."""
        self._states[entry.id] = EntryState(entry=entry, sig=entry.sig or 0.0, confirmed=entry.at)
        self._words.add(entry.id, entry.text)

    def alike(self, entry: Entry) -> dict[str, EntryState]:
        """Return all while they are few, else those that resemble `entry`."""
        if len(self._states) <= DEPTH:
            return dict(self._states)
        return {name: self._states[name] for name in self._words.alike(words_by_which(entry.text))}
