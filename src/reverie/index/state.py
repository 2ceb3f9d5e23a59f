"""The derived state: every entry with what happened to it, caught up with the files on each use.

Owns `.index/state.db`; promises that its answers equal a fold of the canonical files plus the records still queued, and
that deleting it costs time alone; never writes anything canonical.

Records the drain has not stored yet are given by `overlay`, so that a write is found from the moment it is
acknowledged.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from reverie.core.days import Calendar, day_after
from reverie.core.entries import is_id
from reverie.core.fold import EntryState
from reverie.core.records import Entry, Event, JournalRecord, Outcome
from reverie.core.where import Where
from reverie.errors import AmbiguousId, NotFound, UnsafePath
from reverie.index import by_day
from reverie.index.entry_rows import events_of, refold, state_of
from reverie.index.folding import Folded
from reverie.index.kept import Kept
from reverie.index.overlaid import Overlaid
from reverie.index.places import Files
from reverie.index.schema import marks, writing

_VISIBLE = "NOT masked AND NOT forgotten"
_TOLD = "id, day, line, sig, due, current, pinned, promised, forgotten, body"
_PENDING = f"line != 0 AND NOT settled AND {_VISIBLE}"  # the words of the index `entry_pending`


class State:
    """The state of one workspace, open for reading. Safe to use from one thread at a time."""

    def __init__(self, root: Path | None, files: Files, *, calendar: Calendar, notebook: str) -> None:
        """Bind to the workspace at `root`, or, with none, keep the state in memory; nothing is opened yet."""
        self._kept = Kept(root, files, calendar=calendar, notebook=notebook)
        self._rows, self._rows_of = self._kept.rows, self._kept.rows_of
        self.walked = self._kept.walked  # files of the notebook as a catch-up found them
        self._overlaid = Overlaid(self._among, lambda one: events_of(self.db, one))
        self.version = 0  # counts the overlays
        self._dirty: dict[str, int] = {}

    def close(self) -> None:
        """Close the database; a later use opens it again."""
        self._kept.close()

    @property
    def db(self) -> sqlite3.Connection:
        """The open database."""
        return self._kept.db

    # Catching up

    def catch_up(self, masked: Callable[[Entry], bool]) -> Folded:
        """Fold what the files gained since last time, and return what changed; raises Busy."""
        return self._kept.catch_up(masked)

    def overlay(
        self,
        queued: Iterable[JournalRecord],
        masked: Callable[[Entry], bool],
        *,
        changed: set[str] | None = None,
    ) -> None:
        """Show records that wait for the drain as if they were stored already.

        `changed` are the ids whose states alone may be other than at the last overlay, whose mask was the same.
        """
        self.version += 1
        self._overlaid.lay(tuple(queued), masked, changed=changed)

    # Reading

    def get(self, prefix: str) -> EntryState:
        """Return the entry whose id begins with `prefix`, unless it is forgotten; raises NotFound or AmbiguousId."""
        rows = self._rows(
            f"SELECT id FROM entry WHERE id >= ? AND id < ? AND {_VISIBLE} LIMIT 3",
            (prefix, f"{prefix}g"),
        )
        ids = [row[0] for row in rows] if prefix else []
        ids += [one for one in self._overlaid.states if prefix and one.startswith(prefix) and one not in ids]
        if not ids:
            message = f"no entry has the id {prefix or '(empty)'}: `reverie recall` shows ids"
            raise NotFound(message)
        if len(ids) > 1:
            message = f"{prefix} begins the ids of several entries ({', '.join(ids[:3])}): give more digits"
            raise AmbiguousId(message)
        return self.find(ids)[ids[0]]

    def find(self, ids: Iterable[str]) -> dict[str, EntryState]:
        """Return the states of those of `ids` that exist and are not forgotten."""
        wanted = [one for one in dict.fromkeys(ids) if is_id(one)]
        query = f"SELECT id, body, state FROM entry WHERE {_VISIBLE} AND id IN"
        stored = {name: state_of(body, state) for name, body, state in self._rows_of(query, wanted)}
        both = ((one, stored.get(one) or self._overlaid.states.get(one)) for one in wanted)
        return {entry_id: state for entry_id, state in both if state is not None}

    def weights(self, ids: Iterable[str]) -> dict[str, tuple[bool, float, float]]:
        """Return pinned, significance and when confirmed (seconds) of those of `ids` that MEMORY.md may show."""
        query = "SELECT id, pinned, sig, confirmed FROM entry WHERE shown AND id IN"
        rows = self._rows_of(query, dict.fromkeys(ids))
        return {name: (bool(pinned), sig, confirmed) for name, pinned, sig, confirmed in rows}

    def known(self, entry_id: str) -> Entry | None:
        """Return the entry with that full id wherever it stands, forgotten or not; None when there is none."""
        return self.known_of((entry_id,)).get(entry_id)

    def known_of(self, ids: Sequence[str]) -> dict[str, Entry]:
        """Return the entries with these full ids, wherever they stand, forgotten or not."""
        found = {one.entry.id: one.entry for one in self.queued(ids)}
        rows = self._rows_of("SELECT id, body FROM entry WHERE id IN", ids)
        return found | {name: msgspec.msgpack.decode(body, type=Entry) for name, body in rows}

    def states(self, where: Where | None = None) -> list[EntryState]:
        """Return the states of all entries that are not forgotten, or of those `where` admits, by day and time."""
        clauses, values = [_VISIBLE], list[str]()
        for column, named in where.exact.items() if where is not None else ():
            clauses.append(f"{column} IN ({marks(named)})")
            values += named
        if where is not None:
            clauses.append("day BETWEEN ? AND ?")
            values += [where.since, where.until or "9999-99-99"]
        asked = " AND ".join(clauses)
        rows = self._rows(f"SELECT body, state FROM entry WHERE {asked} ORDER BY day, at, id", values)
        found = self._and_queued(rows, lambda _: True)
        if self._overlaid.states:  # they come last, whatever day they belong to
            found.sort(key=lambda state: (state.entry.day, state.entry.at, state.entry.id))
        if where is None:
            return found
        found = [state for state in found if where.admits(state)]
        return found[-where.limit :] if where.limit else found

    def each(self, since: str, until: str) -> Iterator[EntryState]:
        """Yield those of the days from `since` to `until` without holding all: what waits, then what is stored."""
        waiting = dict(self._overlaid.states)
        yield from (one for one in waiting.values() if since <= one.entry.day <= until)
        found = by_day.stored(self._rows, _VISIBLE, since=since, until=until)
        yield from (one for one in found if one.entry.id not in waiting)

    def queued(self, ids: Iterable[str] | None = None) -> list[EntryState]:
        """Return the entries that wait for the drain, or those of `ids` that do."""
        states = self._overlaid.states
        return list(states.values()) if ids is None else [states[one] for one in ids if one in states]

    def is_empty(self) -> bool:
        """Tell whether no entry is stored, whatever waits."""
        return not self._rows("SELECT 1 FROM entry LIMIT 1")

    def masked(self) -> list[Entry]:
        """Return the stored entries that a tombstone hides, by day and time."""
        rows = self._rows("SELECT body FROM entry WHERE masked ORDER BY day, at, id")
        return [msgspec.msgpack.decode(row[0], type=Entry) for row in rows]

    def promises(self) -> list[EntryState]:
        """Return the open commitments, by due date."""
        rows = self._rows(f"SELECT body, state FROM entry WHERE promised AND {_VISIBLE} ORDER BY due, id")
        return self._and_queued(rows, lambda state: state.open_commitment)

    def pins(self) -> list[EntryState]:
        """Return the pinned entries, oldest first."""
        rows = self._rows(f"SELECT body, state FROM entry WHERE pinned AND {_VISIBLE} ORDER BY day, at, id")
        return self._and_queued(rows, lambda state: state.pinned)

    def _and_queued(
        self, rows: Iterable[tuple[bytes, bytes]], admit: Callable[[EntryState], bool]
    ) -> list[EntryState]:
        """Return the stored states, then the queued ones that are admitted.

        Another process may have drained and folded a record since it was found waiting: each id comes once.
        """
        found = [state_of(*row) for row in rows]
        ids = {state.entry.id for state in found}
        return found + [
            one for one in self._overlaid.states.values() if one.entry.id not in ids and admit(one)
        ]

    def pending(self, before: str) -> Iterator[EntryState]:
        """Yield entries of days before `before` that lack an outcome for some part, oldest first.

        Hidden and forgotten ones are no work for a dream.
        """
        return by_day.stored(self._rows, _PENDING, since="", until=day_after(before, -1))

    def pending_days(self, before: str) -> dict[str, int]:
        """Return how many entries `pending` would yield, by day."""
        query = "SELECT day, number FROM pending_tally WHERE day < ? AND number ORDER BY day"
        return dict(self._rows(query, (before,)))

    def events(self, entry_id: str) -> list[Event]:
        """Return all events on the entry, in the order they were written."""
        return events_of(self.db, entry_id)

    def conflicts(self) -> list[Event]:
        """Return the standing conflicts between two entries that are both shown as current."""
        rows = self._rows(
            "SELECT event.body FROM event JOIN entry AS new ON new.id = event.entry"
            " JOIN entry AS old ON old.id = event.other"
            " WHERE event.kind = 'conflict' AND new.current AND old.current AND NOT EXISTS"
            " (SELECT 1 FROM event AS undo WHERE undo.undoes = event.id AND undo.undoes != '') ORDER BY event.seq"
        )
        return [msgspec.msgpack.decode(row[0], type=Event) for row in rows]

    def outcomes(self, entry_id: str) -> list[Outcome]:
        """Return the standing outcomes of the entry, one a part."""
        rows = self._rows("SELECT body FROM outcome WHERE entry = ? ORDER BY part", (entry_id,))
        return [msgspec.msgpack.decode(row[0], type=Outcome) for row in rows]

    def unprocessable(self) -> list[Outcome]:
        """Return the outcomes of what no dream could process, of entries that may be seen."""
        rows = self._rows("SELECT body FROM outcome WHERE kind = 'unprocessable' ORDER BY entry, part")
        found = [msgspec.msgpack.decode(row[0], type=Outcome) for row in rows]
        seen = self.find({one.entry for one in found})
        return [one for one in found if one.entry in seen]

    def unprocessable_records(self) -> list[Outcome]:
        """Return the same of what is no entry: records of the history, whose text it has."""
        where = "kind = 'unprocessable' AND entry NOT IN (SELECT id FROM entry)"
        rows = self._rows(f"SELECT body FROM outcome WHERE {where} ORDER BY entry, part")
        return [msgspec.msgpack.decode(row[0], type=Outcome) for row in rows]

    def cited_on(self, entry_id: str) -> list[tuple[str, int]]:
        """Return the pages (workspace-relative) and lines that cite the entry now."""
        return list(
            self._rows("SELECT page, line FROM cite WHERE entry = ? ORDER BY page, line", (entry_id,))
        )

    def lines(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the line of each of `ids` in its daily log; one that is not there yet is left out."""
        return dict(self._rows_of("SELECT id, line FROM entry WHERE line > 0 AND id IN", ids))

    def cited(self) -> dict[str, str]:
        """Return the first citing page of every cited entry."""
        return dict(self._rows("SELECT entry, min(page) FROM cite GROUP BY entry"))

    def mark(self, session: str) -> int:
        """Return the ordinal up to which the session has been extracted."""
        self._demand_marks()
        rows = self._rows("SELECT mark FROM mark WHERE session = ?", (session,))
        return max(rows[0][0] if rows else 0, self._overlaid.marks.get(session, 0))

    def _demand_marks(self) -> None:
        """Raise UnsafePath when part of the journal cannot be opened: what it says was read would be read again."""
        if self._kept.unread:
            message = f"it is not known how far sessions were read: {self._kept.unread[0]}"
            raise UnsafePath(message)

    def note_digest(self, path: str) -> str:
        """Return the SHA-256 of the note as it was last extracted, or nothing."""
        self._demand_marks()
        rows = self._rows("SELECT at, digest FROM note WHERE path = ?", (path,))
        found = [(at, digest) for at, digest in rows]
        if path in self._overlaid.notes:
            at, digest = self._overlaid.notes[path]
            found.append((at.timestamp(), digest))
        return max(found, default=(0.0, ""))[1]

    def dangling_outcomes(self) -> list[str]:
        """Return the ids that outcomes name and no entry has."""
        rows = self._rows("SELECT DISTINCT entry FROM outcome WHERE entry NOT IN (SELECT id FROM entry)")
        return [row[0] for row in rows]

    def dangling_citations(self) -> list[tuple[str, int, str]]:
        """Return page, line and id of each citation that leads to no entry."""
        return list(
            self._rows("SELECT page, line, entry FROM cite WHERE entry NOT IN (SELECT id FROM entry)")
        )

    def digest(self) -> str:
        """Return a hash of everything the state says, for comparing it with another fold of the same files."""
        found = hashlib.sha256()
        for query in (
            # Less what is kept though its line vanished, which no other fold can know of.
            f"SELECT {_TOLD} FROM entry WHERE line >= 0 ORDER BY id",
            "SELECT id, kind, entry, other, undoes FROM event ORDER BY id",
            "SELECT entry, part, parts, kind, run FROM outcome ORDER BY entry, part",
            "SELECT page, line, entry FROM cite ORDER BY page, line, entry",
            "SELECT session, mark FROM mark ORDER BY session",
            "SELECT path, digest FROM note ORDER BY path",
        ):
            for row in self._rows(query):
                found.update(repr(row).encode())
        return found.hexdigest()

    @contextmanager
    def afresh(self) -> Iterator[State]:
        """Give a state folded from nothing in memory, with what this one masks masked."""
        masked = {row[0] for row in self._rows("SELECT id FROM entry WHERE masked")}
        kept = self._kept
        fresh = State(None, kept.files, calendar=kept.calendar, notebook=kept.notebook)
        fresh.catch_up(lambda entry: entry.id in masked)
        yield fresh
        fresh.close()

    def unparsed(self) -> list[tuple[str, int, str]]:
        """Return the lines of daily logs that are no entries: day, line number and text."""
        return list(self._rows("SELECT day, line, text FROM unparsed ORDER BY day, line"))

    def counts(self) -> dict[str, int]:
        """Return how many entries there are in all, current, promised, pinned, forgotten, queued, and per outcome.

        An entry of several parts counts under the outcome of its first.
        """
        row = self._rows("SELECT entries, current, promises, pins, forgotten FROM tally")[0]
        names = ("entries", "current", "promises", "pins", "forgotten")
        counted = dict(zip(names, row, strict=True))
        counted["queued"] = len(self._overlaid.states)
        for kind, number in self._rows("SELECT kind, number FROM outcome_tally WHERE number"):
            counted[f"outcome_{kind}"] = number
        return counted

    def unsearched(self) -> bool:
        """Tell whether a stored entry changed since the search rows were last made."""
        return bool(self._rows("SELECT 1 FROM dirty JOIN entry ON entry.id = dirty.entry LIMIT 1"))

    def dirty(self, limit: int) -> dict[str, EntryState | None]:
        """Return at most `limit` entries changed since `clean` was last told of them; None for one not to be shown."""
        self._dirty = dict(self._rows("SELECT entry, change FROM dirty LIMIT ?", (limit,)))
        found = self.find(self._dirty)
        return {one: found.get(one) for one in self._dirty}

    def clean(self, ids: Iterable[str]) -> None:
        """Note that the search rows of these entries are as `dirty` gave them; one that changed since stays dirty."""
        with writing(self.db):
            done = [(one, self._dirty.get(one)) for one in ids]
            self.db.executemany("DELETE FROM dirty WHERE entry = ? AND change = ?", done)

    def all_dirty(self) -> None:
        """Note that no entry has search rows: they were lost, or are made in another way now."""
        with writing(self.db):
            self.db.execute("DELETE FROM dirty")  # all at once, which replacing them one by one is not
            self.db.execute("INSERT INTO dirty (entry) SELECT id FROM entry ORDER BY seq")

    def remask(self, ids: Sequence[str], *, masked: bool) -> None:
        """Hide or show entries that a tombstone reaches, or reached before it was lifted."""
        with writing(self.db):
            self.db.executemany("UPDATE entry SET masked = ? WHERE id = ?", [(masked, one) for one in ids])
            refold(self.db, ids)
            self.db.executemany("INSERT OR REPLACE INTO dirty (entry) VALUES (?)", [(one,) for one in ids])

    def _among(self, query: str, ids: Iterable[str]) -> set[str]:
        """Return those of `ids` that a query ending in `IN` finds."""
        return {row[0] for row in self._rows_of(query, ids)}
