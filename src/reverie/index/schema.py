"""The derived state's tables.

Owns the SQLite file `.index/state.db`: its schema, its version, how it is opened, and how much one statement may ask
for; promises that a file of another version, or one that is no database, is made anew; never holds anything that the
canonical files do not.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from reverie.errors import Busy, IndexUnavailable
from reverie.index.ground import is_ours, let_go_of_links
from reverie.index.room import demand_room, is_full

VERSION = 11
BUSY_MS = 5_000
LOG_BYTES = 64_000_000

ValueT = TypeVar("ValueT")

_AT_ONCE = 500  # values of one statement; SQLite takes at least 999
_SUFFIXES = ("", "-wal", "-shm", "-journal")
_TABLES = """
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    day TEXT NOT NULL,
    at REAL NOT NULL,
    line INTEGER NOT NULL,              -- of its daily log; 0 while it stands in the events alone
    category TEXT NOT NULL,
    session TEXT NOT NULL,
    about TEXT NOT NULL,
    sig REAL NOT NULL,
    due TEXT NOT NULL,
    current INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    promised INTEGER NOT NULL,          -- an open commitment
    forgotten INTEGER NOT NULL,
    masked INTEGER NOT NULL,            -- a tombstone hides it
    shown INTEGER NOT NULL,             -- may stand in MEMORY.md
    standing INTEGER NOT NULL,          -- how firmly, as `core.glance.standing` has it
    fades INTEGER NOT NULL,             -- time takes weight from it
    confirmed REAL NOT NULL,
    observed INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    until TEXT NOT NULL,                -- when it ends; empty for an episode, which is remembered because it is over
    changed INTEGER NOT NULL,           -- events have happened to it
    settled INTEGER NOT NULL,           -- every part of it has an outcome
    body BLOB NOT NULL,
    state BLOB NOT NULL
);
CREATE INDEX entry_day ON entry (day, line);
CREATE INDEX entry_current ON entry (sig) WHERE current;
CREATE INDEX entry_shown ON entry (standing, sig, fades, confirmed, observed, uses, promised, until, id) WHERE shown;
CREATE INDEX entry_promised ON entry (due) WHERE promised;
CREATE INDEX entry_pinned ON entry (seq) WHERE pinned;
CREATE INDEX entry_session ON entry (session, at);
CREATE INDEX entry_pending ON entry (day, line)
    WHERE line != 0 AND NOT settled AND NOT masked AND NOT forgotten;
CREATE INDEX entry_masked ON entry (seq) WHERE masked;
CREATE INDEX entry_changed ON entry (seq) WHERE changed;
CREATE TABLE event (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, entry TEXT NOT NULL, other TEXT NOT NULL,
    undoes TEXT NOT NULL, body BLOB NOT NULL
);
CREATE INDEX event_entry ON event (entry);
CREATE INDEX event_other ON event (other) WHERE other != '';
CREATE INDEX event_undoes ON event (undoes) WHERE undoes != '';
CREATE INDEX event_conflict ON event (seq) WHERE kind = 'conflict';
CREATE TABLE outcome (
    entry TEXT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL, kind TEXT NOT NULL, run TEXT NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (entry, part)
);
CREATE INDEX outcome_run ON outcome (run);
CREATE INDEX outcome_failed ON outcome (entry, part) WHERE kind = 'unprocessable';
CREATE TABLE cite (page TEXT NOT NULL, line INTEGER NOT NULL, entry TEXT NOT NULL);
CREATE INDEX cite_entry ON cite (entry);
CREATE INDEX cite_page ON cite (page);
CREATE TABLE mark (session TEXT PRIMARY KEY, mark INTEGER NOT NULL);
CREATE TABLE note (path TEXT PRIMARY KEY, digest TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE position (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, inode INTEGER NOT NULL, crc INTEGER NOT NULL,
    context BLOB NOT NULL               -- of a daily log: what a parse of the lines behind must know
);
CREATE TABLE dirty (                   -- changed since the search rows were last made from it
    entry TEXT PRIMARY KEY,
    change INTEGER NOT NULL DEFAULT (random())  -- tells a change from one that comes while the rows are made
);
CREATE TABLE unparsed (day TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL);
-- How many there are, kept by the triggers: counting a million rows anew would take longer than a status may.
CREATE TABLE tally (
    entries INTEGER NOT NULL, current INTEGER NOT NULL, promises INTEGER NOT NULL, pins INTEGER NOT NULL,
    forgotten INTEGER NOT NULL
);
INSERT INTO tally VALUES (0, 0, 0, 0, 0);
CREATE TABLE outcome_tally (kind TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE pending_tally (day TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TRIGGER pending_added AFTER INSERT ON entry
    WHEN NEW.line != 0 AND NOT NEW.settled AND NOT NEW.masked AND NOT NEW.forgotten BEGIN
    INSERT INTO pending_tally VALUES (NEW.day, 1) ON CONFLICT (day) DO UPDATE SET number = number + 1; END;
CREATE TRIGGER pending_moved AFTER UPDATE OF line, settled, masked, forgotten ON entry
    WHEN (NEW.line != 0 AND NOT NEW.settled AND NOT NEW.masked AND NOT NEW.forgotten)
    != (OLD.line != 0 AND NOT OLD.settled AND NOT OLD.masked AND NOT OLD.forgotten) BEGIN
    INSERT INTO pending_tally VALUES
    (NEW.day, iif(NEW.line != 0 AND NOT NEW.settled AND NOT NEW.masked AND NOT NEW.forgotten, 1, -1))
    ON CONFLICT (day) DO UPDATE SET number = number + excluded.number; END;
CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN UPDATE tally SET entries = entries + 1,
    current = current + NEW.current, promises = promises + NEW.promised, pins = pins + NEW.pinned,
    forgotten = forgotten + (NEW.forgotten OR NEW.masked); END;
CREATE TRIGGER entry_moved AFTER UPDATE OF current, promised, pinned, forgotten, masked ON entry BEGIN UPDATE tally SET
    current = current + NEW.current - OLD.current, promises = promises + NEW.promised - OLD.promised,
    pins = pins + NEW.pinned - OLD.pinned,
    forgotten = forgotten + (NEW.forgotten OR NEW.masked) - (OLD.forgotten OR OLD.masked); END;
CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN UPDATE tally SET entries = entries - 1,
    current = current - OLD.current, promises = promises - OLD.promised, pins = pins - OLD.pinned,
    forgotten = forgotten - (OLD.forgotten OR OLD.masked); UPDATE pending_tally SET number = number - 1
    WHERE day = OLD.day AND OLD.line != 0 AND NOT OLD.settled AND NOT OLD.masked AND NOT OLD.forgotten; END;
CREATE TRIGGER outcome_added AFTER INSERT ON outcome WHEN NEW.part = 0 BEGIN INSERT INTO outcome_tally VALUES
    (NEW.kind, 1) ON CONFLICT (kind) DO UPDATE SET number = number + 1; END;
CREATE TRIGGER outcome_moved AFTER UPDATE OF kind ON outcome WHEN NEW.part = 0 AND NEW.kind != OLD.kind BEGIN
    UPDATE outcome_tally SET number = number - 1 WHERE kind = OLD.kind; INSERT INTO outcome_tally VALUES
    (NEW.kind, 1) ON CONFLICT (kind) DO UPDATE SET number = number + 1; END;
CREATE TRIGGER outcome_gone AFTER DELETE ON outcome WHEN OLD.part = 0 BEGIN
    UPDATE outcome_tally SET number = number - 1 WHERE kind = OLD.kind; END;
CREATE TABLE identity (version INTEGER NOT NULL, stamp TEXT NOT NULL);
"""


def open_database(path: Path, *, stamp: str) -> sqlite3.Connection:
    """Open the state at `path`, made anew when it is missing, damaged, or built by another version or `stamp`.

    Where the folder cannot be written, or is a link, the state is built in memory for as long as it is open: slower,
    equally right.
    Raises Busy when another process keeps the file too long.
    """
    if not is_ours(path.parent):
        return in_memory(stamp=stamp)
    let_go_of_links(path.with_name(path.name + suffix) for suffix in _SUFFIXES)
    for _ in range(2):
        inode = _inode(path)
        try:
            return _prepared(_connect(path), stamp)
        except sqlite3.Error as error:
            if is_busy(error):
                message = "the state is being built by another process; try again shortly"
                raise Busy(message) from error
            if is_full(error):  # the file may be sound
                return in_memory(stamp=stamp)
        if _inode(path) == inode:  # else another process has just made it anew
            discard(path)
    return in_memory(stamp=stamp)


def in_memory(*, stamp: str) -> sqlite3.Connection:
    """Return an empty state that lives as long as the connection."""
    return _prepared(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False), stamp)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the file is sound and merely kept by another process."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@contextmanager
def transaction(connection: sqlite3.Connection, *, stamp: str) -> Iterator[None]:
    """Write all of it or nothing, into tables of this version and `stamp`: those of another are dropped first."""
    connection.execute("BEGIN IMMEDIATE")
    with ExitStack() as undo:
        undo.callback(_roll_back, connection)
        if not _fits(connection, stamp):
            _remake(connection, stamp)
        yield
        connection.execute("COMMIT")
        undo.pop_all()


def discard(path: Path) -> None:
    """Remove the database and its side files, whatever they are; what cannot be removed is left."""
    for suffix in _SUFFIXES:
        file = path.with_name(path.name + suffix)
        with suppress(OSError):
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)


def _inode(path: Path) -> int:
    """Return what the path leads to, 0 for nothing."""
    try:
        return path.lstat().st_ino
    except OSError:
        return 0


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file in write-ahead mode, so that readers never wait for a writer."""
    demand_room(path)
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # Derived data: after a power loss SQLite's own recovery may drop the last commits, and they are folded again.
        connection.execute("PRAGMA synchronous = NORMAL")
        # Else the log of a first fold would stay as large as the file.
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prepared(connection: sqlite3.Connection, stamp: str) -> sqlite3.Connection:
    """Return the connection with tables of this version and `stamp`."""
    try:
        if not _fits(connection, stamp):
            with transaction(connection, stamp=stamp):
                pass
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _fits(connection: sqlite3.Connection, stamp: str) -> bool:
    """Whether the tables are there, and were made by this version under this stamp."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'identity'").fetchone() is None:
        return False
    found: tuple[int, str] | None = connection.execute("SELECT version, stamp FROM identity").fetchone()
    return found == (VERSION, stamp)


def written_elsewhere(connection: sqlite3.Connection) -> int:
    """Return a number that changes whenever another connection has written to the database."""
    count: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return count


def _remake(connection: sqlite3.Connection, stamp: str) -> None:
    """Drop whatever tables there are and make ours, within the open transaction.

    Dropped and not unlinked: a file that another process has open must keep its name, or their side files mix.
    """
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    for (name,) in names.fetchall():
        connection.execute(f'DROP TABLE "{name}"')
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO identity VALUES (?, ?)", (VERSION, stamp))


def _roll_back(connection: sqlite3.Connection) -> None:
    """Take the open transaction back; SQLite has done so itself after some errors."""
    with suppress(sqlite3.Error):
        connection.execute("ROLLBACK")


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all of it or nothing, and turn a refusal of SQLite (a full disk, a folder become read-only) into ours."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        with ExitStack() as undo:
            undo.callback(_roll_back, connection)
            yield
            connection.execute("COMMIT")
            undo.pop_all()
    except sqlite3.Error as error:
        message = f"the derived state cannot be written ({error}); the files are unaffected"
        raise IndexUnavailable(message) from error


def batches(values: Iterable[ValueT]) -> Iterator[list[ValueT]]:
    """Yield values in lists that one statement takes."""
    rest = iter(values)
    while part := list(islice(rest, _AT_ONCE)):
        yield part


def marks(values: Sequence[object]) -> str:
    """Return as many marks as there are values to bind."""
    return ",".join("?" * len(values))
