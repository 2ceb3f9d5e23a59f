"""The entry table: what the state says of each entry, after what happened to it.

Owns the columns of `entry` that events and outcomes decide; promises that an entry has them from the moment it is put,
and the same ones in whatever order it, its events and its outcomes come; never reads a file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import msgspec

from reverie.core.categories import category
from reverie.core.entries import readable, without_halves
from reverie.core.fold import EntryState, fold
from reverie.core.glance.standing import may_stand, standing
from reverie.core.records import Entry, Event
from reverie.core.significance import decays
from reverie.errors import AmbiguousId, NotFound
from reverie.index.schema import batches

_PUT = (
    "INSERT INTO entry (id, day, at, category, session, about, body, line, masked, sig, due, current, promised,"
    " shown, standing, fades, confirmed, until, observed, uses, pinned, forgotten, changed, settled, state)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0, 0, 0, 0, x'')"
    " ON CONFLICT (id) DO UPDATE SET line = CASE WHEN line > 0 THEN line ELSE excluded.line END, "
    + ", ".join(
        f"{name} = CASE WHEN day = excluded.day AND line IN (-1, excluded.line) THEN excluded.{name} ELSE {name} END"
        for name in ("at", "category", "session", "about", "body")
    )
    + " WHERE excluded.line > 0"
)
_EARLY = (
    "SELECT id FROM entry WHERE seq > ? AND EXISTS (SELECT 1 FROM event"
    " WHERE event.entry = entry.id OR (event.other = entry.id AND event.other != ''))"
)
_SETTLE = (
    "UPDATE entry SET settled = EXISTS (SELECT 1 FROM outcome WHERE outcome.entry = entry.id AND kind != 'pending'"
    " GROUP BY outcome.entry HAVING count(*) >= max(parts)) WHERE"
)
_REFOLD = (
    "UPDATE entry SET sig = ?, due = ?, current = ? AND NOT masked, pinned = ? AND NOT masked,"
    " promised = ? AND NOT masked, shown = ? AND NOT masked, standing = ?, fades = ?, confirmed = ?, until = ?,"
    " observed = ?, uses = ?, forgotten = ?, changed = ?, state = ? WHERE id = ?"
)

_MANY = 1_000_000  # bytes of logs; below, making the indexes anew is no quicker
# All but the one by which a log whose older lines changed finds them, which grows at its end and costs little.
_INDEXES = (
    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'entry' AND sql NOT NULL"
    " AND name != 'entry_day'"
)

_entry = msgspec.msgpack.Decoder(Entry).decode
_state = msgspec.msgpack.Decoder(EntryState).decode


def state_of(body: bytes, state: bytes) -> EntryState:
    """Return a stored state; an entry to which nothing happened is folded from itself."""
    return _state(state) if state else fold(_entry(body), ())


def row_of(entry: Entry, line: int, *, masked: bool) -> tuple[Any, ...]:
    """Return the row of an entry to which nothing has happened yet, for `put`."""
    try:
        body = msgspec.msgpack.encode(entry)
    except UnicodeEncodeError:
        entry = readable(entry)
        body = msgspec.msgpack.encode(entry)
    state = fold(entry, ())
    return (
        entry.id,
        entry.day,
        entry.at.timestamp(),
        entry.category,
        entry.session,
        entry.about,
        body,
        line,
        masked,
        state.sig,
        state.due,
        not masked,
        state.open_commitment and not masked,
        may_stand(state) and not masked,
        *_weighed(state),
    )


def put(db: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows, or give those whose entry is known their line; the first text under an id stays.

    Only what stands on the very line read before, which gained evidence or was edited, replaces what was read there.
    """
    db.executemany(_PUT, rows)


@contextmanager
def filling(db: sqlite3.Connection, *, size: int) -> Iterator[None]:
    """Put entries from `size` bytes of logs; into an empty table without most indexes, which are then made at once.

    Within the caller's transaction, so that nobody ever sees the table without them.
    """
    many = size > _MANY and db.execute("SELECT 1 FROM entry LIMIT 1").fetchone() is None
    away = db.execute(_INDEXES).fetchall() if many else []
    for name, _ in away:
        db.execute(f"DROP INDEX {name}")
    yield
    for _, made_by in away:
        db.execute(made_by)


def happened_before(db: sqlite3.Connection, last: int) -> set[str]:
    """Return the ids of the entries past row `last` that had events before they came."""
    return {row[0] for row in db.execute(_EARLY, (last,))}


def refold(db: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Fold the events of these entries anew, and store what their state is now."""
    for entry_id in ids:
        row = db.execute("SELECT body FROM entry WHERE id = ?", (entry_id,)).fetchone()
        if row is None:
            continue
        events = events_of(db, entry_id)
        state = fold(_entry(row[0]), events)
        values = (
            state.sig,
            state.due,
            state.current,
            state.pinned,
            state.open_commitment,
            may_stand(state),
            *_weighed(state),
            state.observations,
            state.uses,
            state.forgotten,
            bool(events),
            msgspec.msgpack.encode(state) if events else b"",
        )
        db.execute(_REFOLD, (*values, entry_id))


def _weighed(state: EntryState) -> tuple[int, bool, float, str]:
    """Return what decides how much it weighs: its standing, whether it fades and since when, until when it holds."""
    until = "" if category(state.entry.category).name == "episode" else state.entry.until
    return standing(state), decays(state), state.confirmed.timestamp(), until


def settle(db: sqlite3.Connection, ids: Iterable[str], *, last: int) -> None:
    """Note of these entries, and of those past row `last`, whether every part of them has an outcome."""
    if db.execute("SELECT 1 FROM outcome LIMIT 1").fetchone() is not None:
        db.execute(f"{_SETTLE} seq > ?", (last,))
    db.executemany(f"{_SETTLE} id = ? AND seq <= ?", [(one, last) for one in ids])


def events_of(db: sqlite3.Connection, entry_id: str) -> list[Event]:
    """Return all events that name the entry, and those that undo one of them."""
    # SQLite uses a partial index only where its condition is repeated; else this would read every event there is.
    rows = db.execute(
        "WITH RECURSIVE chain (id, body) AS ("
        " SELECT id, body FROM event WHERE entry = ?1 OR (other = ?1 AND other != '')"
        " UNION SELECT event.id, event.body FROM chain CROSS JOIN event"
        " ON event.undoes = chain.id AND event.undoes != '')"
        " SELECT body FROM chain",
        (entry_id,),
    )
    return [msgspec.msgpack.decode(row[0], type=Event) for row in rows]


def cites_wrong(db: sqlite3.Connection) -> bool:
    """Whether a page cites an entry that was found never to be true."""
    query = "SELECT body, state FROM entry WHERE NOT current AND id IN (SELECT entry FROM cite)"
    return any(state_of(*row).wrong for row in db.execute(query))


def said_at(db: sqlite3.Connection, turns: Iterable[tuple[str, datetime]]) -> list[str]:
    """Return the ids of the entries of sessions that were said at the instants of turns, each a session and instant."""
    found: list[str] = []
    for part in batches(turns):
        values = ", ".join(["(?, ?)"] * len(part))
        query = f"WITH turn (session, at) AS (VALUES {values}) SELECT id FROM turn CROSS JOIN entry USING (session, at)"
        given = [value for session, at in part for value in (session, at.timestamp())]
        found += [row[0] for row in db.execute(query, given)]
    return found


def event_named(db: sqlite3.Connection, prefix: str) -> Event:
    """Return the event whose id begins with `prefix`; raises NotFound, AmbiguousId."""
    wanted = without_halves(prefix)
    query = "SELECT body FROM event WHERE id >= ? AND id < ? LIMIT 2"
    found = db.execute(query, (wanted, f"{wanted}g")).fetchall() if prefix else []
    if len(found) != 1:
        said = "several events begin with" if found else "no event has the id"
        message = f"{said} {prefix or '(empty)'}: `reverie get ENTRY` shows what happened to an entry"
        raise (AmbiguousId if found else NotFound)(message)
    return msgspec.msgpack.decode(found[0][0], type=Event)
