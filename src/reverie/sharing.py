"""Giving to a shared workspace: copies of entries of scope `team`, and taking them back when they are forgotten.

In: the state after a drain or a forget. Out: a copy of each such entry queued in the shared workspace's own journal,
which its own drain stores; for what was forgotten, a tombstone and an event there. No model, and no lock of either
workspace but the short one on the file that is appended to: two workspaces that subscribe to one another cannot wait
for each other, and a copy is never copied on, so they cannot go on for ever either.

The order, for each entry:

1. its copy, whose id follows from this workspace's and the entry's, is appended to the other's journal, synced
2. that it was given is appended to `.state/shared.jsonl`, synced

What a crash leaves: between 1 and 2, a copy nobody noted; it is given again, and known there by its id. Withdrawing
and giving back go the same way: first there, then noted here.

Next: the shared workspace's `drain`.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from reverie import layout
from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Event, Remember, Tombstone
from reverie.core.scopes import Copied, copy_of
from reverie.index.state import State
from reverie.index.team import of_team
from reverie.store import journal, stream, subscriptions
from reverie.store.forgotten import erasing, tombstones
from reverie.store.workspace import Workspace


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What was given to a shared workspace, withdrawn from it and given back, by the copies' ids.

    `refused` are entries that name a topic which the shared workspace excludes.
    """

    copies: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Team(NamedTuple):
    """Where copies go: the shared workspace, its id, what copies say of their owner, and whether new ones are made."""

    ws: Workspace
    id: str
    owner: str
    giving: bool = True


def share(ws: Workspace, state: State, team: Team, *, own: str, mask: Mask) -> Given:
    """Bring what a shared workspace has of this one (with the id `own`) up to the state; writes what changed alone.

    Raises StoreUnwritable, Busy, UnsafePath; what was not given then is given the next time.
    """
    known = {entry: one for (to, entry), one in subscriptions.copies(ws).items() if to == team.id}
    gone = _forgotten(state, mask)
    fresh = (
        [one for one in of_team(state) if one.entry.id not in known and not one.hidden] if team.giving else []
    )
    given = _give(ws, team, fresh, own=own, known=known) if fresh else Given()
    withdrawn = [one for one in known.values() if one.entry in gone and not one.withdrawn]
    back = [
        one for one in known.values() if one.withdrawn and one.entry not in gone and state.find([one.entry])
    ]
    if withdrawn:
        _settle(ws, team, withdrawn, withdrawn=True)
    if back:
        _settle(ws, team, back, withdrawn=False)
    return msgspec.structs.replace(
        given,
        withdrawn=tuple(one.copy for one in withdrawn),
        restored=tuple(one.copy for one in back),
    )


def _forgotten(state: State, mask: Mask) -> set[str]:
    """Return the entries that a tombstone hides; what merely is not there (a lost log) is not among them."""
    named = {entry for tomb in mask.tombstones for entry in tomb.entries}
    return named | {entry.id for entry in state.masked()} if mask else named


def _give(ws: Workspace, team: Team, fresh: list[EntryState], *, own: str, known: dict[str, Copied]) -> Given:
    """Queue a copy of each entry there, oldest first, and note them here."""
    at, given = ws.clock(), set(known)
    made: list[Copied] = []
    refused: list[str] = []
    for state in fresh:
        if excluded_by(state.entry.text, team.ws.settings.exclusions):
            refused.append(state.entry.id)
            continue
        copy = copy_of(state.entry, source=own, owner=team.owner, given=given)
        journal.append(team.ws, Remember(id=derived_id("give", copy.id), at=state.entry.at, entry=copy))
        given.add(state.entry.id)
        made.append(Copied(entry=state.entry.id, to=team.id, copy=copy.id, at=at))
    subscriptions.note(ws, made)
    return Given(copies=tuple(one.copy for one in made), refused=tuple(refused))


def _settle(ws: Workspace, team: Team, copies: list[Copied], *, withdrawn: bool) -> None:
    """Hide copies there or show them again, then note it here.

    The tombstone hides the lines that cite a copy, the event the copy itself. Neither says a word of it.
    """
    at = ws.clock()
    kind = "forget" if withdrawn else "restore"
    tombs = [
        Tombstone(id=one.copy, at=at, entries=(one.copy,), by=team.owner, lifted=not withdrawn)
        for one in copies
    ]
    tombstones.append(team.ws, tombs)
    events = [Event(id=ws.new_id(), at=at, kind=kind, entry=one.copy, by=team.owner) for one in copies]
    stream.append_all(team.ws, layout.EVENTS, events)
    if withdrawn:
        erasing.drop_lines(team.ws, {one.copy for one in copies})
    subscriptions.note(ws, [msgspec.structs.replace(one, at=at, withdrawn=withdrawn) for one in copies])
