"""The SQLite file of the search rows: its tables, and how it is opened or begun anew.

Owns the layout of `.index/rows.db`; promises that a file that is no database, is damaged at its root, or has an
older layout is replaced by an empty one, that one of a newer layout is refused untouched, and that where nothing can
be written what it holds can be had in memory; never follows a link.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from reverie.errors import IndexUnavailable
from reverie.index.ground import is_ours, is_plain, let_go_of_links
from reverie.index.room import demand_room

NAME: Final = "rows.db"
LAYOUT: Final = 2  # of the tables and of `Row`; another value in the file means other tables
WAIT_SECONDS: Final = 5.0

_UNWRITABLE: Final = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}

_TABLES = """
CREATE TABLE row (
    num INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: the text index knows a row by it
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    session TEXT NOT NULL,
    n INTEGER NOT NULL,
    stale INTEGER NOT NULL DEFAULT 1,       -- changes the text index has not taken in; 0 when it is up to date
    known INTEGER NOT NULL DEFAULT 0,       -- 1 once the text index holds some version of it
    place INTEGER NOT NULL DEFAULT -1,      -- where the vector of its present words lies; -1 when it has none
    body BLOB NOT NULL
);
CREATE INDEX row_source ON row (source);
CREATE INDEX row_turn ON row (session, n) WHERE n >= 0;
CREATE INDEX row_stale ON row (session, n, num) WHERE stale > 0;
CREATE INDEX row_newest ON row (num) WHERE stale > 0;
CREATE INDEX row_placeless ON row (num) WHERE place < 0;
CREATE TABLE gone (num INTEGER PRIMARY KEY);
CREATE TABLE dead (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    place INTEGER NOT NULL                  -- of a vector that no row owns any more
);
CREATE TABLE position (source TEXT PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


def connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the file and return the connection, and whether it was begun anew (it then holds nothing).

    Raises IndexUnavailable when the folder is a link or another user's, or the file cannot be opened.
    """
    if not is_ours(path.parent):
        raise IndexUnavailable(f"{path.parent} is a link or not yours: remove it, and it is built anew")
    let_go_of_links(_all(path))
    try:
        return _connect(path)
    except sqlite3.OperationalError as error:
        if "no such" not in str(error) and "malformed" not in str(error):
            message = f"{path} cannot be opened: {error}"
            raise IndexUnavailable(message, unwritable=is_unwritable(error)) from error
    except sqlite3.DatabaseError:
        pass  # not a database, or of an older layout: nothing in it is worth keeping
    remove(path)
    try:
        return _connect(path)
    except sqlite3.Error as error:
        message = f"{path} cannot be made anew: {error}"
        raise IndexUnavailable(message, unwritable=is_unwritable(error)) from error


def in_memory(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Return a copy in memory of what the file holds, and whether that is nothing, as `connect` does.

    For when nothing can be written: the file is only read, and left as it is.
    """
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    if is_ours(path.parent) and is_plain(path):
        log = path.with_name(f"{path.name}-wal")
        # Where nothing can be written SQLite reads a file with a log only if its companions are there, and one
        # without a log only as `immutable`, which would overlook a log.
        ways = ["mode=ro"] if log.exists() and log.stat().st_size else ["mode=ro", "mode=ro&immutable=1"]
        for way in ways:
            with (
                suppress(sqlite3.Error),
                closing(sqlite3.connect(f"{path.as_uri()}?{way}", uri=True)) as held,
            ):
                if held.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
                    break
                held.backup(db)
                db.execute("SELECT id, body FROM row ORDER BY num DESC LIMIT 1").fetchone()
                return db, False
    db.close()
    return empty()


def empty() -> tuple[sqlite3.Connection, bool]:
    """Return an empty database in memory, as `connect` does."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    return db, _lay_out(db, Path(NAME))


def is_unwritable(error: sqlite3.Error) -> bool:
    """Whether SQLite says that nothing can be written: a full disk, a read-only folder, a failing device."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _UNWRITABLE


def remove(path: Path) -> None:
    """Remove the file and SQLite's companions, whatever stands in their places."""
    for one in _all(path):
        with suppress(FileNotFoundError):
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one)
            else:
                one.unlink()


def _all(path: Path) -> list[Path]:
    """Return the file and SQLite's companions."""
    return [path, *(path.with_name(f"{path.name}-{part}") for part in ("wal", "shm", "journal"))]


def _connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the file, making its tables when it is new; raises DatabaseError when it must be begun anew."""
    if path.is_symlink() or path.is_dir():
        raise sqlite3.DatabaseError("something else stands in its place")
    demand_room(path)
    db = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # the files are the truth: a lost last commit is read again
        fresh = _lay_out(db, path)
        db.execute("SELECT id, body FROM row ORDER BY num DESC LIMIT 1").fetchone()
        with suppress(OSError):  # on a read-only file system it is as it is
            path.chmod(0o600)
    except (sqlite3.Error, IndexUnavailable, OSError):
        db.close()
        raise
    return db, fresh


def _lay_out(db: sqlite3.Connection, path: Path) -> bool:
    """Make the tables in an empty file and return whether it was empty."""
    layout = db.execute("PRAGMA user_version").fetchone()[0]
    if layout == LAYOUT:
        return False
    if layout > LAYOUT:
        raise IndexUnavailable(f"{path} was made by a newer Reverie; upgrade, or delete the folder it is in")
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] == LAYOUT:  # another process was faster
        db.execute("COMMIT")
        return False
    if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise sqlite3.DatabaseError("another layout")
    for statement in _TABLES.split(";\n"):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {LAYOUT}")
    db.execute("COMMIT")
    return True
