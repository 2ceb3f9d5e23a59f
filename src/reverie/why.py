"""Where a memory comes from: page → entry → turn.

Owns following a citation to the entry and the entry to the words that were said; promises to show only what stands in
the files now and is not forgotten; never writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie import layout
from reverie.core.active_window import parse_range
from reverie.core.fold import EntryState
from reverie.core.forgetting import Mask
from reverie.core.records import Event, Outcome, Turn
from reverie.index.state import State
from reverie.store import sessions
from reverie.store.workspace import Workspace


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


def why(ws: Workspace, state: State, entry_id: str, *, masked: Mask) -> Why:
    """Return the chain behind the entry whose id begins with `entry_id`; raises NotFound or AmbiguousId.

    A turn in which something forgotten was said is left out, the entry's own words in it notwithstanding.
    """
    found = state.get(entry_id)
    entry = found.entry
    events = tuple(state.events(entry.id))
    linked = {name for event in events for name in (event.entry, event.other) if name and name != entry.id}
    return Why(
        state=found,
        log=layout.log_file(entry.day),
        pages=tuple(state.cited_on(entry.id)),
        turns=tuple(
            turn
            for turn in source_turns(ws, found)
            if not masked.turn(turn.session, turn.id) and not masked.text(turn.content)
        ),
        events=events,
        outcomes=tuple(state.outcomes(entry.id)),
        others=tuple(state.find(sorted(linked)).values()),
    )


def source_turns(ws: Workspace, state: EntryState) -> tuple[Turn, ...]:
    """Return the turns an entry was extracted from; none for an explicit write or a note."""
    span = parse_range(state.entry.turns)
    if span is None or not state.entry.session:
        return ()
    return tuple(sessions.read(ws, state.entry.session, start=span[0], stop=span[1] + 1))
