"""Where a memory comes from: page → entry → turn.

Owns following a citation to the entry and the entry to the words that were said; promises to show only what stands in
the files now and is not forgotten; never writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Event, Outcome, Turn
from reverie.core.search.rows import Row
from reverie.core.sessions.active_window import parse_range
from reverie.core.where import Where
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """What stands behind a hit that is no entry: its row, its turn when it is one, and the chains of its entries.

    A page's entries are those its paragraph cites, a turn's those that were extracted from it. `along` names the
    workspace that all of it was read along from; it is empty for one's own.
    """

    row: Row
    turns: tuple[Turn, ...]
    entries: tuple[Why, ...]
    along: str = ""


def behind(ws: Workspace, state: State, row: Row, *, masked: Mask) -> Behind:
    """Return what stands behind a row of the search index."""
    turns: tuple[Turn, ...] = ()
    named = state.find(row.digest.split()) if row.kind in {"page", "core"} else {}
    if row.kind == "turn":
        read = sessions.read(ws, row.session, start=row.n, stop=row.n + 1)
        turns = tuple(turn for turn in read if not masked.turn(turn.session, turn.id))
        every = state.states(Where(session=row.session))
        named = {one.entry.id: one for one in every if _covers(one.entry.turns, row.n)}
    return Behind(row=row, turns=turns, entries=tuple(why(ws, state, one, masked=masked) for one in named))


def _covers(turns: str, n: int) -> bool:
    span = parse_range(turns)
    return span is not None and span[0] <= n <= span[1]


def source_turns(ws: Workspace, state: EntryState) -> tuple[Turn, ...]:
    """Return the turns an entry was extracted from; none for an explicit write or a note."""
    span = parse_range(state.entry.turns)
    if span is None or not state.entry.session:
        return ()
    return tuple(sessions.read(ws, state.entry.session, start=span[0], stop=span[1] + 1))
