"""Folding the canonical files into the derived state, from where it was last left.

Owns the positions up to which each file has been folded; promises that folding in any number of steps gives what one
fold of everything gives, and that the cost follows what was added; never writes outside its transaction.

Logs, events, outcomes and the journal archive are append-only, so a file that only grew is read from its old end. A
file whose older bytes changed is folded anew: a log by replacing its day, the streams by starting over.
"""

from __future__ import annotations

import gzip
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from reverie import layout
from reverie.core import daylog, framing
from reverie.core.citations import citing_lines
from reverie.core.days import Calendar
from reverie.core.fold import fold
from reverie.core.names import is_day
from reverie.core.records import Entry, Event, Extraction, JournalRecord, Outcome
from reverie.errors import InvalidRecord

T = TypeVar("T")


class Files(Protocol):
    """What folding reads files through: `store.disk.Disk`, or a test's. Paths are relative to the workspace."""

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes, or None when it is absent."""

    def read_from(self, path: str, offset: int) -> bytes:
        """Return the bytes from `offset` on."""

    def list(self, path: str) -> list[str]:
        """Return the sorted names in a folder."""

    def walk(self, path: str) -> Iterator[str]:
        """Yield the paths of all files beneath a folder."""

    def stat(self, path: str) -> Any:  # noqa: ANN401 - os.stat_result or None
        """Return the file's status, or None when it is absent."""


class Position(NamedTuple):
    """How far a file was folded: bytes, and what tells whether those bytes are still the same."""

    size: int
    mtime: int
    inode: int
    crc: int


@dataclass(slots=True)
class Folded:
    """What one fold added: ids of entries that are new or whose state changed, and what was wrong with files."""

    changed: set[str] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Folding:
    """One transaction that brings the state up to the files. `masked` says which entries a tombstone hides."""

    files: Files
    db: sqlite3.Connection
    calendar: Calendar
    notebook: str
    masked: Callable[[Entry], bool]
    done: Folded = field(default_factory=Folded)

    def run(self) -> Folded:
        """Fold all that is new."""
        self._logs()
        self._events()
        self._outcomes()
        self._archive()
        self._pages()
        self._refold(self.done.changed)
        self.db.executemany("INSERT OR IGNORE INTO dirty VALUES (?)", [(one,) for one in self.done.changed])
        return self.done

    # Daily logs

    def _logs(self) -> None:
        for name in self.files.list(layout.ARCHIVE):
            day = name.removesuffix(".md")
            if name.endswith(".md") and is_day(day):
                self._log(day)

    def _log(self, day: str) -> None:
        path = layout.log_file(day)
        before, status = self._position(path), self.files.stat(path)
        if status is None or self._unchanged(before, status):
            return
        data = self.files.read(path) or b""
        grown = (
            before is not None and len(data) >= before.size and zlib.crc32(data[: before.size]) == before.crc
        )
        whole = data.rfind(b"\n") + 1
        if before is None or not grown:
            # Entries whose line vanished stay until the file is seen to hold them or a rebuild starts from nothing:
            # a log that was cut by accident must not silently take memories with it.
            self.db.execute("UPDATE entry SET line = -1 WHERE day = ?", (day,))
            self.db.execute("DELETE FROM unparsed WHERE day = ?", (day,))
        # Ids of hand-written lines count occurrences from the top, so a day is always parsed whole; only lines past
        # the old end are stored.
        start = before.size if before is not None and grown else 0
        log = daylog.parse(data[:whole].decode("utf-8", "surrogateescape"), day, calendar=self.calendar)
        located = [item for item in log.entries if item.end > start]
        self._store_entries((item.entry, item.line) for item in located)
        rows = [(day, line, text) for line, text in log.unparsed]
        self.db.execute("DELETE FROM unparsed WHERE day = ?", (day,))
        self.db.executemany("INSERT INTO unparsed VALUES (?, ?, ?)", rows)
        self._move_to(path, Position(whole, status.st_mtime_ns, status.st_ino, zlib.crc32(data[:whole])))

    def _store_entries(self, entries: Iterable[tuple[Entry, int]]) -> None:
        """Insert entries, or give those known from the events their line; the first text under an id stays."""
        rows = []
        for entry, line in entries:
            rows.append((*_columns(entry), line, self.masked(entry)))
            self.done.changed.add(entry.id)
            if entry.supersedes:
                self.done.changed.update(entry.supersedes)
        self.db.executemany(
            "INSERT INTO entry (id, day, at, category, session, about, body, line, masked, sig, due, current, pinned,"
            " promised, forgotten, changed, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, 0, 0, 0, 0, x'')"
            " ON CONFLICT (id) DO UPDATE SET line = max(line, excluded.line)",
            rows,
        )

    # Streams

    def _events(self) -> None:
        for event in self._stream(layout.EVENTS, Event, ("event",)):
            if event.body is not None:
                self._store_entries([(event.body, 0)])
            self.db.execute(
                "INSERT OR IGNORE INTO event (id, kind, entry, other, undoes, body) VALUES (?, ?, ?, ?, ?, ?)",
                (event.id, event.kind, event.entry, event.other, event.of, msgspec.msgpack.encode(event)),
            )
            self.done.changed.update(name for name in (event.entry, event.other) if name)
            if event.of:
                undone = self.db.execute(
                    "SELECT entry, other FROM event WHERE id = ?", (event.of,)
                ).fetchone()
                self.done.changed.update(name for name in undone or () if name)

    def _outcomes(self) -> None:
        for outcome in self._stream(layout.OUTCOMES, Outcome, ("outcome",)):
            self.db.execute(
                "INSERT INTO outcome (entry, part, parts, kind, run, body) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (entry, part) DO UPDATE SET parts = excluded.parts, kind = excluded.kind,"
                " run = excluded.run, body = excluded.body",
                (
                    outcome.entry,
                    outcome.part,
                    outcome.parts,
                    outcome.outcome,
                    outcome.run,
                    msgspec.msgpack.encode(outcome),
                ),
            )
            self.done.changed.add(outcome.entry)

    def _stream(self, path: str, kind: type[T], tables: tuple[str, ...]) -> Iterator[T]:
        """Yield the records of a stream past its position; one that shrank is folded from its beginning again."""
        before, status = self._position(path), self.files.stat(path)
        if status is None or self._unchanged(before, status):
            return
        start = before.size if before is not None and status.st_size >= before.size else 0
        if before is not None and start == 0 and before.size:
            self.done.problems.append(f"{path} is shorter than it was: compare it with a backup")
            for table in tables:
                self.db.execute(f"DELETE FROM {table}")
            self.done.changed.update(row[0] for row in self.db.execute("SELECT id FROM entry WHERE changed"))
        lines, damage = framing.read(self.files.read_from(path, start), start=start)
        for line in lines:
            try:
                yield framing.decode(line, kind)
            except InvalidRecord as error:
                self.done.problems.append(f"{path}: {error}")
        end = lines[-1].end if lines else start
        self.done.problems += [f"{path}: {item.reason} at byte {item.offset}" for item in damage]
        self._move_to(path, Position(end, status.st_mtime_ns, status.st_ino, 0))

    # Journal archive: how far each session and note has been read

    def _archive(self) -> None:
        for name in self.files.list(layout.JOURNAL_ARCHIVE):
            folder = f"{layout.JOURNAL_ARCHIVE}/{name}"
            status = self.files.stat(folder)
            if status is None or self._unchanged(self._position(folder), status):
                continue
            names = (
                [folder] if name.endswith(".gz") else [f"{folder}/{one}" for one in self.files.list(folder)]
            )
            for path in names:
                self._archive_file(path)
            self._move_to(folder, Position(status.st_size, status.st_mtime_ns, status.st_ino, 0))

    def _archive_file(self, path: str) -> None:
        """Take the marks from one archived segment, which never changes once it is there."""
        if not path.endswith(".gz") and self._position(path) is not None:
            return
        data = self.files.read(path) or b""
        lines, _ = framing.read(gzip.decompress(data) if path.endswith(".gz") else data)
        for line in lines:
            if b'"type":"extraction"' not in line.raw:
                continue
            try:
                record = framing.decode(line, JournalRecord)
            except InvalidRecord:
                continue
            if isinstance(record, Extraction):
                self._mark(record)
        if not path.endswith(".gz"):
            self._move_to(path, Position(len(data), 0, 0, 0))

    def _mark(self, record: Extraction) -> None:
        if record.session:
            self.db.execute(
                "INSERT INTO mark VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET mark = max(mark, excluded.mark)",
                (record.session, record.stop),
            )
        if record.note:
            self.db.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (record.note, record.digest))

    # Notebook pages: who cites what

    def _pages(self) -> None:
        seen = set()
        for path in self.files.walk(self.notebook):
            name = path.rsplit("/", 1)[-1]
            if not name.endswith(".md") or name in layout.NAVIGATION or "/." in path:
                continue
            seen.add(path)
            before, status = self._position(path), self.files.stat(path)
            if status is not None and not self._unchanged(before, status):
                self._page(path)
                self._move_to(path, Position(status.st_size, status.st_mtime_ns, status.st_ino, 0))
        folded = self.db.execute("SELECT path FROM position WHERE path LIKE ?", (f"{self.notebook}/%",))
        known = {row[0] for row in folded}
        for path in known - seen:
            self._uncite(path)
            self.db.execute("DELETE FROM position WHERE path = ?", (path,))

    def _page(self, path: str) -> None:
        self._uncite(path)
        text = (self.files.read(path) or b"").decode("utf-8", "replace")
        for line, _, ids in citing_lines(text):
            self.db.executemany("INSERT INTO cite VALUES (?, ?, ?)", [(path, line, one) for one in ids])
            self.done.changed.update(ids)

    def _uncite(self, path: str) -> None:
        self.done.pages.add(path)
        self.done.changed.update(
            row[0] for row in self.db.execute("SELECT entry FROM cite WHERE page = ?", (path,))
        )
        self.db.execute("DELETE FROM cite WHERE page = ?", (path,))

    # State

    def _refold(self, ids: set[str]) -> None:
        """Fold the events of each of `ids` again, and store what its state is now."""
        for entry_id in ids:
            row = self.db.execute("SELECT body FROM entry WHERE id = ?", (entry_id,)).fetchone()
            if row is None:
                continue
            entry = msgspec.msgpack.decode(row[0], type=Entry)
            events = events_of(self.db, entry_id)
            state = fold(entry, events)
            self.db.execute(
                "UPDATE entry SET sig = ?, due = ?, current = ? AND NOT masked, pinned = ? AND NOT masked,"
                " promised = ? AND NOT masked, forgotten = ?, changed = ?, state = ? WHERE id = ?",
                (
                    state.sig,
                    state.due,
                    state.current,
                    state.pinned,
                    state.open_commitment,
                    state.forgotten,
                    bool(events),
                    msgspec.msgpack.encode(state) if events else b"",
                    entry_id,
                ),
            )

    # Positions

    def _position(self, path: str) -> Position | None:
        row = self.db.execute(
            "SELECT size, mtime, inode, crc FROM position WHERE path = ?", (path,)
        ).fetchone()
        return Position(*row) if row else None

    @staticmethod
    def _unchanged(before: Position | None, status: Any) -> bool:  # noqa: ANN401 - os.stat_result
        return before is not None and before[:3] == (status.st_size, status.st_mtime_ns, status.st_ino)

    def _move_to(self, path: str, position: Position) -> None:
        self.db.execute("INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?, ?)", (path, *position))


def _columns(entry: Entry) -> tuple[str, str, float, str, str, str, bytes]:
    """Return what of an entry stands in columns of its own, and the entry itself."""
    return (
        entry.id,
        entry.day,
        entry.at.timestamp(),
        entry.category,
        entry.session,
        entry.about,
        msgspec.msgpack.encode(entry),
    )


def events_of(db: sqlite3.Connection, entry_id: str) -> list[Event]:
    """Return all events that name the entry, and those that undo one of them."""
    rows = db.execute(
        "WITH RECURSIVE chain (id, body) AS ("
        " SELECT id, body FROM event WHERE entry = ?1 OR other = ?1"
        " UNION SELECT event.id, event.body FROM event JOIN chain ON event.undoes = chain.id AND event.undoes != '')"
        " SELECT body FROM chain",
        (entry_id,),
    )
    return [msgspec.msgpack.decode(row[0], type=Event) for row in rows]
