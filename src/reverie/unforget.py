"""What is forgotten, told without its words, and how a forgetting is taken back.

In: entries by id or by the filter that they were forgotten by, and turns that a host took back. Out: lifted tombstones;
on return every reader has what they hid. The list of what is forgotten gives ids, days and deeds, never a text.

What a crash leaves: tombstones are lifted with one append, synced; before it nothing came back, after it everything
did, and the search rows are made again by the next reader.

Next: `publish`, at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from reverie.core.fold import fold
from reverie.core.forgetting.letting_go import out_of_sight
from reverie.core.forgetting.mask import ERASED, ERASED_CATEGORY
from reverie.core.records import Entry, Tombstone, Turn
from reverie.core.where import Where
from reverie.errors import NotFound
from reverie.index.state import State
from reverie.store import journal, sessions
from reverie.store.forgotten import letting_go, tombstones
from reverie.store.workspace import Workspace

Deed = Literal["forget", "retract", "alike"]


class Gone(msgspec.Struct, frozen=True, kw_only=True):
    """A forgotten entry without its words: its id, day and category; when it was let go, by whom and by which deed.

    `deed` is `forget`; `retract`, its turns were taken back; or `alike`, it was never named itself, and says what was.
    `event` is what `take_back` takes; empty where the deed left none.
    """

    id: str
    day: str
    category: str
    at: datetime
    by: str
    deed: Deed
    event: str = ""


class Restored(NamedTuple):
    """The entries that are shown again, and how many turns count as said."""

    entries: tuple[str, ...]
    turns: int


def gone(ws: Workspace, state: State, where: Where | None = None) -> list[Gone]:
    """Return what is forgotten and not erased, of all or of what a filter admits, in the order it was let go."""
    mask = tombstones.mask(ws)
    found = [
        _told(state, entry, tomb, named=mask.why(entry) in {"id", "retracted"})
        for entry in _out_of_sight(ws, state, where)
        if (tomb := mask.tombstone(entry)) is not None
    ]
    return sorted(found, key=lambda one: (one.at, one.day, one.id))


def id_of(ws: Workspace, prefix: str) -> str:
    """Return the full id of the forgotten entry that `prefix` names, or nothing when it is not forgotten."""
    every = tombstones.mask(ws).tombstones
    ids = {one for tomb in every for one in tomb.entries if prefix and one.startswith(prefix)}
    return ids.pop() if len(ids) == 1 else ""


def named(ws: Workspace, state: State, prefix: str) -> str:
    """Return the full id that `prefix` begins, of a forgotten entry, one that resembles such, or one that is shown.

    Raises NotFound, AmbiguousId.
    """
    if found := id_of(ws, prefix):
        return found
    alike = {entry.id for entry in _out_of_sight(ws, state) if prefix and entry.id.startswith(prefix)}
    return alike.pop() if len(alike) == 1 else state.get(prefix).entry.id


def turns_of(ws: Workspace, where: Where | None) -> list[tuple[str, Turn]]:
    """Return the turns of the session that a filter names, within its days, which were not erased.

    Each with the session; none of a filter that asks for what only entries have.
    """
    if where is None or not where.session or where.of_entries:
        return []
    return [
        (where.session, turn)
        for turn in sessions.read(ws, where.session)
        if turn.content != ERASED and where.within(ws.calendar.day(turn.at))
    ]


def retracted(ws: Workspace, where: Where | None) -> list[tuple[str, Turn]]:
    """Return those of `turns_of` that were taken back."""
    mask = tombstones.mask(ws)
    return [one for one in (turns_of(ws, where) if mask else ()) if mask.retracted(one[0], one[1].id)]


def restore(
    ws: Workspace,
    state: State,
    ids: Sequence[str] = (),
    *,
    turns: Sequence[tuple[str, Turn]] = (),
    where: Where | None = None,
    dry_run: bool = False,
) -> Restored:
    """Take back the forgetting of entries, by full id or by filter, and of all that was forgotten with them.

    Also for an entry that is hidden because it resembles something forgotten, when it is named; and for `turns` that
    were taken back, named or of the session of a filter, all those that one call took back together. What was erased
    meanwhile does not come back. With `dry_run` nothing is written. Raises NotFound when nothing is forgotten there.
    """
    turns = (*turns, *retracted(ws, where))
    wanted = ids if where is None else [one.id for one in gone(ws, state, where) if one.deed != "alike"]
    lifted = _reached(ws, state, wanted) | _back(ws, turns)
    if not lifted:
        there = "there" if where is not None else f"under {', '.join(ids) or 'no id'}"
        asked = "`reverie list --forgotten` has what is, `reverie review list` what is asked"
        message = f"nothing is forgotten {there}: {asked}"
        raise NotFound(message)
    number = sum(len(tomb.spans) for tomb in lifted.values() if not tomb.keyed)
    if dry_run:
        meant = (*(entry for tomb in lifted.values() for entry in tomb.entries), *wanted)
        return Restored(tuple(dict.fromkeys(meant)), number)
    back, hidden = letting_go.lift(ws, lifted.values(), by="user"), state.masked()
    mask = tombstones.mask(ws)
    shown = [entry.id for entry in hidden if not mask(entry)]
    state.remask(shown, masked=False)
    return Restored(tuple(dict.fromkeys((*back, *shown))), number)


def _told(state: State, entry: Entry, tomb: Tombstone, *, named: bool) -> Gone:
    deeds = [one for one in state.events(entry.id) if one.kind == "forget" and one.entry == entry.id]
    last = max(deeds, key=lambda one: (one.at, one.id), default=None)
    return Gone(
        id=entry.id,
        day=entry.day,
        category=entry.category,
        at=tomb.at,
        by=tomb.by,
        deed="alike" if not named else "forget" if tomb.keyed else "retract",
        event=last.id if last is not None and named else "",
    )


def _out_of_sight(ws: Workspace, state: State, where: Where | None = None) -> list[Entry]:
    """Return the entries that the mask hides, stored or queued, but for what was erased, that a filter admits."""
    wanted = None if where is None else where.everything
    hidden = out_of_sight(state.masked(), journal.waiting(ws).records, masked=tombstones.mask(ws))
    return [
        entry
        for entry in hidden
        if not (entry.category == ERASED_CATEGORY and entry.text == ERASED)
        and (wanted is None or wanted.admits(fold(entry, ())))
    ]


def _reached(ws: Workspace, state: State, ids: Sequence[str]) -> dict[str, Tombstone]:
    """Return the tombstones that hide entries, with those of all that was forgotten with them."""
    mask = tombstones.mask(ws)
    hidden = {entry.id: entry for entry in _out_of_sight(ws, state)} if ids else {}
    of: dict[str, list[Tombstone]] = {}
    for tomb in mask.tombstones:
        for one in tomb.entries:
            of.setdefault(one, []).append(tomb)
    found: dict[str, Tombstone] = {}
    for one in ids:
        entry = state.known(one) or hidden.get(one)
        by = mask.tombstone(entry) if entry is not None else None
        for tomb in (*of.get(one, ()), *([by] if by is not None else [])):
            found[tomb.id] = tomb
            found |= {other.id: other for with_it in tomb.entries for other in of[with_it]}
    return found


def _back(ws: Workspace, turns: Iterable[tuple[str, Turn]]) -> dict[str, Tombstone]:
    """Return the tombstones by which turns were taken back."""
    meant = {(session, turn.id) for session, turn in turns}
    return {
        tomb.id: tomb
        for tomb in tombstones.mask(ws).tombstones
        if not tomb.keyed and any((span.session, span.turn) in meant for span in tomb.spans)
    }
