"""Where a memory comes from: page → entry → turn.

Owns following a citation to the entry and the entry to the words that were said; promises to show only what stands in
the files now; never writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.records import Event, Outcome, Turn
from reverie.index.state import State
from reverie.store import sessions
from reverie.store.workspace import Workspace

_TURNS = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The chain behind one entry: its state, its log, the pages and lines that cite it, and the turns it came from.

    `events` are what happened to it, `outcomes` what dreams did with it, `others` the entries it is linked with.
    """

    state: EntryState
    log: str
    pages: tuple[tuple[str, int], ...]
    turns: tuple[Turn, ...]
    events: tuple[Event, ...]
    outcomes: tuple[Outcome, ...]
    others: tuple[EntryState, ...]


def why(ws: Workspace, state: State, entry_id: str) -> Why:
    """Return the chain behind the entry whose id begins with `entry_id`; raises NotFound or AmbiguousId."""
    found = state.get(entry_id)
    entry = found.entry
    events = tuple(state.events(entry.id))
    linked = {name for event in events for name in (event.entry, event.other) if name and name != entry.id}
    return Why(
        state=found,
        log=layout.log_file(entry.day),
        pages=tuple(state.cited_on(entry.id)),
        turns=source_turns(ws, found),
        events=events,
        outcomes=tuple(state.outcomes(entry.id)),
        others=tuple(state.find(sorted(linked)).values()),
    )


def source_turns(ws: Workspace, state: EntryState) -> tuple[Turn, ...]:
    """Return the turns an entry was extracted from; none for an explicit write or a note."""
    match = _TURNS.fullmatch(state.entry.turns)
    if match is None or not state.entry.session:
        return ()
    first = int(match[1])
    return tuple(sessions.read(ws, state.entry.session, start=first, stop=int(match[2] or first) + 1))
