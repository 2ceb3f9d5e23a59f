"""Folding the canonical files into the derived state, from where it was last left.

Owns the positions up to which each file has been folded; promises that folding in any number of steps gives what one
fold of everything gives, and that the cost follows what was added; never writes outside its transaction.

Logs, events, outcomes and the journal archive are append-only, so a file that only grew is read from its old end. A
file whose older bytes changed is folded anew: a log by replacing its day, the streams by starting over. A file that
may not be opened is named in the problems, and the rest is folded.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.formats import framing
from reverie.core.formats.gzipped import unpack
from reverie.core.pages.plain import citing
from reverie.core.records import Entry, Event, Extraction, JournalRecord, Outcome
from reverie.core.text.names import is_day
from reverie.errors import InvalidRecord, UnsafePath
from reverie.index import entry_rows
from reverie.index.log_reading import LogReading
from reverie.index.places import Files, Position

T = TypeVar("T")

_POSITION = "size, mtime, inode, crc, context"
_BENEATH = "FROM position WHERE path > ? AND path < ?"  # the folder with "/", and with "0", which comes next
_MONTH = re.compile(rf"{re.escape(layout.JOURNAL_ARCHIVE)}/\d{{4}}-\d\d(\.jsonl\.gz)?")
_MARKING = b'"type":"extraction"'  # of the records that say how far something was read
_SEEN_BYTES = 64  # of a stream's end: they tell one that was cut and grew again from one that only grew
_SETTLED_NS = 2_000_000_000  # a folder changed later than this may change again without its time changing


@dataclass(slots=True)
class Folded:
    """What one fold added: ids of entries that are new or whose state changed, and what was wrong with files."""

    changed: set[str] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(
        default_factory=list
    )  # files of the journal's archive whose marks are unknown, and why
    walked: Sequence[tuple[str, Any]] | None = None  # the notebook's files, if it can be opened


@dataclass(slots=True)
class Folding:
    """One transaction that brings the state up to the files. `masked` says which entries a tombstone hides."""

    files: Files
    db: sqlite3.Connection
    calendar: Calendar
    notebook: str
    masked: Callable[[Entry], bool]
    done: Folded = field(default_factory=Folded)
    happened: set[str] = field(default_factory=set)  # ids that events name which came or were lost
    ended: set[str] = field(default_factory=set)  # ids that outcomes name which came or were lost

    def run(self) -> Folded:
        """Fold all that is new."""
        last: int = self.db.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0]
        for stage in (self._logs, self._events, self._outcomes, self._pages):
            with self._reported():
                stage()
        with self._reported(self.done.unread):
            self._archive()
        self.happened |= entry_rows.happened_before(self.db, last)
        entry_rows.refold(self.db, self.happened)
        entry_rows.settle(self.db, self.ended, last=last)
        self.done.changed |= self.happened | self.ended
        self.db.executemany(
            "INSERT OR REPLACE INTO dirty (entry) VALUES (?)", [(one,) for one in sorted(self.done.changed)]
        )
        return self.done

    @contextmanager
    def _reported(self, also: list[str] | None = None) -> Iterator[None]:
        """Note what may not be opened, in `also` too, and go on without it."""
        try:
            yield
        except UnsafePath as error:
            self.done.problems.append(str(error))
            if also is not None:
                also.append(str(error))

    # Daily logs

    def _logs(self) -> None:
        before = self._identities(layout.ARCHIVE)
        # Asked first, for this is all that is done about years of closed days.
        changed = [
            (path, status)
            for path, status in self.files.statuses(layout.ARCHIVE)
            if before.get(path) != (status.st_size, status.st_mtime_ns, status.st_ino)
        ]
        with entry_rows.filling(self.db, size=sum(status.st_size for _, status in changed)):
            for path, status in changed:
                day = path.removeprefix(f"{layout.ARCHIVE}/").removesuffix(".md")
                if path == layout.log_file(day) and is_day(day):
                    with self._reported():
                        self._log(day, self._position(path) if path in before else None, status)

    def _log(self, day: str, before: Position | None, status: Any) -> None:  # noqa: ANN401 - os.stat_result
        """Store what the log of `day` gained; ids of hand-written lines count from the top."""
        reading = LogReading(self.files, day, before=before, calendar=self.calendar)
        if not reading.goes_on:
            # Entries whose line vanished stay until the file is seen to hold them or a rebuild starts from nothing:
            # a log that was cut by accident must not silently take memories with it.
            self.db.execute("UPDATE entry SET line = -1 WHERE day = ? AND line > 0", (day,))
        for log, after in reading.logs():
            self._store_entries((item.entry, item.line) for item in log.entries)
            if before is not None or after is not None:
                self.happened.update(
                    item.entry.id for item in log.entries[: 1 if after is not None else None]
                )
            lines = after.line if after is not None else 0
            self.db.execute("DELETE FROM unparsed WHERE day = ? AND line > ?", (day, lines))
            rows = [(day, line, text) for line, text in log.unparsed]
            self.db.executemany("INSERT INTO unparsed VALUES (?, ?, ?)", rows)
        self._move_to(reading.path, reading.position(status))

    def _store_entries(self, entries: Iterable[tuple[Entry, int]]) -> None:
        """Insert entries, or give those known from the events their line."""
        rows = []
        for entry, line in entries:
            rows.append(entry_rows.row_of(entry, line, masked=self.masked(entry)))
            self.done.changed.add(entry.id)
            if entry.supersedes:
                self.done.changed.update(entry.supersedes)
        entry_rows.put(self.db, rows)

    # Streams

    def _events(self) -> None:
        for event in self._stream(layout.EVENTS, Event, "event"):
            if event.body is not None:
                self._store_entries([(event.body, 0)])
            self.db.execute(
                "INSERT OR IGNORE INTO event (id, kind, entry, other, undoes, body) VALUES (?, ?, ?, ?, ?, ?)",
                (event.id, event.kind, event.entry, event.other, event.of, msgspec.msgpack.encode(event)),
            )
            self.happened.update(name for name in (event.entry, event.other) if name)
            if event.of:
                undone = self.db.execute(
                    "SELECT entry, other FROM event WHERE id = ?", (event.of,)
                ).fetchone()
                self.happened.update(name for name in undone or () if name)

    def _outcomes(self) -> None:
        for outcome in self._stream(layout.OUTCOMES, Outcome, "outcome"):
            self.ended.add(outcome.entry)
            if (
                outcome.outcome == "pending"
            ):  # those before it are taken back, and a dream is to settle it again
                self.db.execute(
                    "DELETE FROM outcome WHERE entry = ? AND part = ?", (outcome.entry, outcome.part)
                )
                continue
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

    def _stream(self, path: str, kind: type[T], table: str) -> Iterator[T]:
        """Yield the records of a stream past its position; one that did not merely grow is folded anew."""
        before, status = self._position(path), self.files.stat(path)
        if status is None or self._unchanged(before, status):
            return
        size = before.size if before is not None else 0
        start = max(0, size - _SEEN_BYTES)
        data = self.files.read_from(path, start)
        grown = before is not None and status.st_ino == before.inode and len(data) >= size - start
        if before is not None and size and not (grown and zlib.crc32(data[: size - start]) == before.crc):
            self._forget_stream(path, table)
            start, size, data = 0, 0, self.files.read(path) or b""
        start, data, seen = size, data[size - start :], data[: size - start]
        lines, damage = framing.read(data, start=start)
        for line in lines:
            try:
                yield framing.decode(line, kind, path=path)
            except InvalidRecord as error:
                self.done.problems.append(f"{path}: {error}")
        end = lines[-1].end if lines else start
        self.done.problems += [f"{path}: {item.reason} at byte {item.offset}" for item in damage]
        seen = (seen + data[: end - start])[-_SEEN_BYTES:]
        self._move_to(path, Position(end, status.st_mtime_ns, status.st_ino, zlib.crc32(seen)))

    def _forget_stream(self, path: str, table: str) -> None:
        """Drop what came from a stream, all of which is about to be read again."""
        self.done.problems.append(f"{path} lost or changed what it had: compare it with a backup")
        changed, lost = (self.happened, "changed") if table == "event" else (self.ended, "settled")
        self.db.execute(f"DELETE FROM {table}")
        changed.update(row[0] for row in self.db.execute(f"SELECT id FROM entry WHERE {lost}"))
        if table == "event":
            # What stood in the events alone and never in a log: a promise taken back must not stay on the due list.
            self.done.changed.update(row[0] for row in self.db.execute("SELECT id FROM entry WHERE line = 0"))
            self.db.execute("DELETE FROM entry WHERE line = 0")

    # Journal archive: how far each session and note has been read

    def _archive(self) -> None:
        before = self._positions(layout.JOURNAL_ARCHIVE)
        for month, status in self.files.statuses(layout.JOURNAL_ARCHIVE):
            if not _MONTH.fullmatch(month) or self._unchanged(before.get(month), status):
                continue
            names = [] if month.endswith(".gz") else self.files.list(month)
            unread = len(self.done.unread)
            for path in [f"{month}/{name}" for name in names] or [month]:
                if path not in before or path == month:
                    with self._reported(self.done.unread):
                        self._archive_file(path)
            if unread == len(self.done.unread):
                self._move_to(month, self._settled(status))

    def _archive_file(self, path: str) -> None:
        """Take the marks from one archived segment, which never changes once it is there."""
        if not path.endswith((".gz", ".jsonl")):
            return
        data, lost = self.files.read(path) or b"", 0
        if path.endswith(".gz"):
            data, lost = unpack(data)
        if lost:
            self.done.problems.append(
                f"{path}: {lost} compressed bytes cannot be read; what they said was read is read again"
            )
        for line in framing.read(data)[0] if _MARKING in data else ():
            if _MARKING not in line.raw:
                continue
            try:
                record = framing.decode(line, JournalRecord, path=path)
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
            # Segments of several processes are met in any order: the latest reading of a note counts.
            self.db.execute(
                "INSERT INTO note VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET digest = excluded.digest,"
                " at = excluded.at WHERE excluded.at >= at",
                (record.note, record.digest, record.at.timestamp()),
            )

    # Notebook pages: who cites what

    def _pages(self) -> None:
        before, seen = self._identities(self.notebook), set()
        self.done.walked = walked = list(self.files.walk_statuses(self.notebook))
        for path, status in walked:
            if not layout.is_page(path.removeprefix(f"{self.notebook}/")):
                continue
            seen.add(path)
            if before.get(path) != (status.st_size, status.st_mtime_ns, status.st_ino):
                with self._reported():
                    self._page(path, self._position(path), status)
        for path in before.keys() - seen:
            self._uncite(path)
            self.db.execute("DELETE FROM position WHERE path = ?", (path,))

    def _page(self, path: str, before: Position | None, status: Any) -> None:  # noqa: ANN401 - os.stat_result
        """Store who is cited where; one whose bytes are those of last time, as `context` tells, is not parsed."""
        data = self.files.read(path) or b""
        content = hashlib.blake2b(data, digest_size=16).digest()
        self._move_to(path, self._settled(status)._replace(context=content))
        if before is not None and before.context == content:
            return
        found = citing(data.decode("utf-8", "replace"))
        now = dict.fromkeys((line, one) for line, _, ids in found for one in ids)
        rows = self.db.execute("SELECT line, entry, rowid FROM cite WHERE page = ?", (path,))
        was = {row[:2]: row[2:] for row in rows}
        self.db.executemany("DELETE FROM cite WHERE rowid = ?", [was[one] for one in was.keys() - now.keys()])
        new = [(path, *one) for one in now if one not in was]
        self.db.executemany("INSERT INTO cite VALUES (?, ?, ?)", new)
        # An entry cited on another line of the same page is in no other state than before.
        self.done.changed.update({one for _, one in was} ^ {one for _, one in now})
        self.done.pages.add(path)

    def _uncite(self, path: str) -> None:
        self.done.pages.add(path)
        self.done.changed.update(
            row[0] for row in self.db.execute("SELECT entry FROM cite WHERE page = ?", (path,))
        )
        self.db.execute("DELETE FROM cite WHERE page = ?", (path,))

    # Positions

    def _position(self, path: str) -> Position | None:
        row = self.db.execute(f"SELECT {_POSITION} FROM position WHERE path = ?", (path,)).fetchone()
        return Position(*row) if row else None

    def _positions(self, folder: str) -> dict[str, Position]:
        """Return the positions of everything beneath `folder`."""
        rows = self.db.execute(f"SELECT path, {_POSITION} {_BENEATH}", (f"{folder}/", f"{folder}0"))
        return {row[0]: Position._make(row[1:]) for row in rows}

    def _identities(self, folder: str) -> dict[str, tuple[int, int, int]]:
        """Return size, time and inode of everything beneath `folder`: all that is asked about most of many pages."""
        rows = self.db.execute(f"SELECT path, size, mtime, inode {_BENEATH}", (f"{folder}/", f"{folder}0"))
        return {row[0]: row[1:] for row in rows}

    @staticmethod
    def _unchanged(before: Position | None, status: Any) -> bool:  # noqa: ANN401 - os.stat_result
        return before is not None and before[:3] == (status.st_size, status.st_mtime_ns, status.st_ino)

    @staticmethod
    def _settled(status: Any) -> Position:  # noqa: ANN401 - os.stat_result
        """Return the position of a file or folder read whole, to be read again while its time may stand still.

        Two changes within one tick of the file system's clock leave the same time, and the second would stay unseen.
        """
        fresh = time.time_ns() - status.st_mtime_ns < _SETTLED_NS
        return Position(status.st_size, -1 if fresh else status.st_mtime_ns, status.st_ino, 0)

    def _move_to(self, path: str, position: Position) -> None:
        self.db.execute("INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?, ?, ?)", (path, *position))
