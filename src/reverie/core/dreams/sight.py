"""What a dream knows of entries while it runs: their states, their links, and the pages that cite them.

Owns what was looked up and what the dream added since; promises that a link made or a citation written during the
dream is seen by its next batch; never writes either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from reverie import layout
from reverie.core.dreams.batch import Part, parts_of
from reverie.core.dreams.overview import Weights
from reverie.core.fold import EntryState, effective, fold
from reverie.core.guard.links import links_of
from reverie.core.records import Entry, Event, Outcome

Alike = Callable[[Entry], Sequence[EntryState]]

_REPLACING = frozenset({"supersede", "correct"})


class Seen(Protocol):
    """What is asked of the entries as they were when the dream began."""

    def find(self, ids: Iterable[str]) -> Mapping[str, EntryState]:
        """Return those of the entries that may be seen."""

    def weights(self, ids: Iterable[str]) -> Weights:
        """Return what those of the entries weigh that hold, as far as that is known without their states."""

    def events(self, entry_id: str) -> list[Event]:
        """Return what happened to an entry."""

    def cited_on(self, entry_id: str) -> list[tuple[str, int]]:
        """Return the pages (in the workspace) and lines that cite an entry."""


class Sight:
    """The entries as one dream sees them."""

    def __init__(self, entries: Seen, *, notebook: str) -> None:
        """Look nothing up yet; `notebook` is the folder that pages are named in."""
        self._entries = entries
        self._prefix = f"{notebook}/"
        self._known: dict[str, EntryState | None] = {}
        self._added: dict[str, list[Event]] = {}
        self._placed: dict[str, str] = {}

    def find(self, entry: str) -> EntryState | None:
        """Return the state of an entry, None when there is none that may be seen."""
        if entry not in self._known:
            self.expect((entry,))
        return self._known[entry]

    def expect(self, entries: Iterable[str]) -> None:
        """Look up at once what `find` is about to be asked for, one by one."""
        wanted = [one for one in dict.fromkeys(entries) if one not in self._known]
        found = self._entries.find(wanted) if wanted else {}
        for one in wanted:
            state = found.get(one)
            again = state is not None and one in self._added
            self._known[one] = fold(state.entry, self.events(one)) if state is not None and again else state

    def weights(self, entries: Iterable[str]) -> Weights:
        """Return what those of some entries weigh of which that can be said without their states."""
        return self._entries.weights(one for one in entries if one not in self._added)

    def events(self, entry: str) -> list[Event]:
        """Return what happened to an entry, links of this dream included."""
        return [*self._entries.events(entry), *self._added.get(entry, ())]

    def page_of(self, entry: str) -> str:
        """Return the page in the notebook that cites an entry now, or ""; the overview only quotes."""
        if entry in self._placed:
            return self._placed[entry]
        pages = (page.removeprefix(self._prefix) for page, _ in self._entries.cited_on(entry))
        return next((page for page in pages if page != layout.OVERVIEW), "")

    def replaced(self, entry: str) -> tuple[str, ...]:
        """Return what an entry supersedes or corrects."""
        happened = effective(self.events(entry))
        return tuple(one.other for one in happened if one.kind in _REPLACING and one.entry == entry)

    def place(self, outcomes: Iterable[Outcome]) -> None:
        """Note where entries are cited from now on."""
        self._placed.update({one.entry: one.page for one in outcomes if one.outcome == "cited"})

    def link(self, waiting: Iterable[Part], alike: Alike, *, by: str, at: datetime, zone: str) -> list[Event]:
        """Return links for entries that no extraction has looked at (explicit writes, imports), and learn them.

        `alike` returns entries whose words resemble those of one. The same pair has the same event whenever it is
        looked at, so those made before are not returned again.
        """
        made: list[Event] = []
        still = list(waiting)
        later = {part.id for part in still}
        for part in still:
            entry = part.state.entry
            later.discard(entry.id)
            if entry.turns or part.of > 1:
                continue
            known = {one.id for one in self.events(entry.id)}
            # Of two said in the same second the one further down the log is the later one.
            before = [one.entry.id for one in alike(entry) if one.entry.id not in later]
            self.expect(before)
            others = [state for id_ in before if (state := self.find(id_)) is not None]
            links = links_of(entry, others, at=at, by=by, zone=zone)
            found = [one for one in links if one.id not in known]
            made += found
            self._learn(found)
        return made

    def seen_again(self, waiting: Iterable[Part]) -> list[Part]:
        """Return the parts with the states that their entries have by now; nothing happens to raw records.

        Only what was linked is another: all that waits is not looked up, and held, a second time.
        """
        return [
            part if state is part.state else Part(state, part.text, part.number, part.of, part.raw)
            for part in waiting
            if (state := self._by_now(part)) is not None
        ]

    def _by_now(self, part: Part) -> EntryState | None:
        return self.find(part.id) if part.id in self._added and not part.raw else part.state

    def _learn(self, events: Iterable[Event]) -> None:
        for event in events:
            for entry in (event.entry, event.other):
                self._added.setdefault(entry, []).append(event)
                self._known.pop(entry, None)


def waiting_parts(pending: Iterable[EntryState], outcomes: Callable[[str], list[Outcome]]) -> list[Part]:
    """Return the parts that are pending, in order. What is hidden is no work for a dream."""
    waiting: list[Part] = []
    for one in pending:
        parts = [] if one.hidden else parts_of(one)
        settled = {outcome.part for outcome in outcomes(one.entry.id)} if len(parts) > 1 else set()
        waiting += [part for part in parts if part.number not in settled]
    return waiting
