"""Taking turns back: what was said in them counts as never said, wherever it went meanwhile.

In: turns of one session that a host removes from it. Out: a tombstone that names their places and no words, with the
entries that stand on nothing else. From then on no reader gets them: they are not in the session's items, not
extracted, summarised, recalled or shown. The bytes stay in the session's file until `erase`, and the same words said
again are heard again, for nothing was forgotten but the place.

An entry goes with its turns when all the turns that hold its evidence were taken back; `forget(restore=True)` brings it
back, and its turns with it. Turns without entries are named by their ids or their session: that restores them
(`unforget`), or erases them whole, with what the history has of them. What an agent wrote elsewhere by hand (a note, a
page, an explicit write) stays.

The order, and what a crash leaves, is that of a forget (`store.forgotten.letting_go`): what was begun is finished by
the next write.

Next: `publish`, at once, when entries went.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from reverie.core.due import Due
from reverie.core.forgetting.mask import Cipher, Mask
from reverie.core.records import Entry, Span, Tombstone, Turn
from reverie.core.where import Where
from reverie.index.state import State
from reverie.store import sessions
from reverie.store.forgotten import letting_go, tombstones
from reverie.store.forgotten.letting_go import Forgetting
from reverie.store.provenance import Origins
from reverie.store.workspace import Workspace

SPANS = 1_000  # places that one tombstone names


class Retracted(msgspec.Struct, frozen=True, kw_only=True):
    """The turns that were taken back, the entries that went with them, and what that makes due."""

    turns: tuple[Turn, ...] = ()
    entries: tuple[str, ...] = ()
    due: Due = Due()


def standing(ws: Workspace, session: str, *, masked: Mask, start: int = 0) -> list[Turn]:
    """Return the turns of a session from the ordinal `start` on that were not taken back, in order."""
    return [
        turn for turn in sessions.read(ws, session, start=start) if not masked.retracted(session, turn.id)
    ]


def retract(
    ws: Workspace,
    state: State,
    session: str,
    *,
    choose: Callable[[list[Turn]], Sequence[Turn]],
    by: str = "user",
) -> Retracted:
    """Take back those turns of a session that `choose` picks from the ones that stand; it is called under the lock.

    Of two processes at once the second chooses from what the first left. Raises StoreUnwritable, Busy.
    """
    with ws.writing("retract"):
        letting_go.finish(ws)
        done = would(ws, state, session, choose=choose)
        turns, ids = done.turns, done.entries
        if not turns:
            return done
        intent = Forgetting(
            id=ws.new_id(), tombstones=_tombstones(ws, session, turns, ids, by=by), entries=ids, by=by
        )
        letting_go.begin(ws, intent)
        letting_go.carry_out(ws, intent)
    state.remask(ids, masked=True)
    return done


def would(
    ws: Workspace, state: State, session: str, *, choose: Callable[[list[Turn]], Sequence[Turn]]
) -> Retracted:
    """Return what `retract` takes back, without taking it."""
    before = tombstones.mask(ws)
    turns = tuple(choose(standing(ws, session, masked=before)))
    if not turns:
        return Retracted()
    gone = {turn.id for turn in turns}
    entries = _resting_on(ws, state, session, lambda one: one in gone or before.retracted(session, one))
    ids = tuple(entry.id for entry in entries)
    return Retracted(turns=turns, entries=ids, due=Due(publish=bool(ids), digest=bool(ids)))


def _tombstones(
    ws: Workspace, session: str, turns: Sequence[Turn], entries: tuple[str, ...], *, by: str
) -> tuple[Tombstone, ...]:
    """Return tombstones of places alone, each naming all entries, for they are restored together."""
    at = ws.clock()
    return tuple(
        Tombstone(
            id=ws.new_id(),
            at=at,
            entries=entries,
            spans=tuple(Span(session, turn.id, n=turn.n) for turn in turns[first : first + SPANS]),
            by=by,
        )
        for first in range(0, len(turns), SPANS)
    )


def _resting_on(ws: Workspace, state: State, session: str, is_gone: Callable[[str], bool]) -> list[Entry]:
    """Return the entries of a session of which every turn that holds their evidence is gone."""
    origins = Origins(ws, Cipher(b""))
    every = state.states(Where(session=session, include_hidden=True, include_previous=True))
    found = [(one.entry, origins.spans(one.entry)) for one in every if one.entry.turns]
    return [entry for entry, spans in found if spans and all(is_gone(span.turn) for span in spans)]
