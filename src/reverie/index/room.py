"""Is there room on the disk for what SQLite keeps beside a database.

Owns the look before a database is opened to be written; promises that none is opened where the disk is full, which is
told as SQLite tells it; never writes.

SQLite maps a file of 32 kB into memory beside a database with a log. Where the file system has no block left for a page
of it, the system ends the whole process by SIGBUS, and no error reaches anybody.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

LEAST = 256_000  # bytes that have to be free


def demand_room(database: Path) -> None:
    """Return if a database can be opened to be written; raises OperationalError as SQLite does for a full disk."""
    with suppress(OSError):  # what is wrong with the folder is told by SQLite
        if shutil.disk_usage(database.parent).free >= LEAST:
            return
        refused = sqlite3.OperationalError("database or disk is full")
        refused.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise refused


def is_full(error: sqlite3.Error) -> bool:
    """Whether SQLite, or `demand_room`, found no room."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) == sqlite3.SQLITE_FULL
