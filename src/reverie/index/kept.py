"""The derived state's file: opened, brought up to date with the canonical files, and made anew when it is damaged.

Owns the life of `.index/state.db`; promises that whatever becomes of the file, folding ends with a state that equals
the canonical files, in memory where nothing can be written; never says what the state means.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.entries import without_halves
from reverie.core.records import Entry
from reverie.errors import Busy
from reverie.index.folding import Folded, Folding
from reverie.index.places import Files
from reverie.index.schema import batches, discard, in_memory, is_busy, marks, open_database, transaction

_DAMAGE = (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Kept:
    """The database of one workspace's state, opened when first used; with no `root`, one in memory.

    `unread` says which parts of the journal's archive could not be opened when it was last brought up to date, and why.
    """

    def __init__(self, root: Path | None, files: Files, *, calendar: Calendar, notebook: str) -> None:
        """Bind to the workspace at `root`."""
        self.files = files
        self.calendar = calendar
        self.notebook = notebook
        self.unread: tuple[str, ...] = ()
        self._path = root / layout.STATE_DB if root is not None else None
        self._stamp = f"{calendar.zone} {calendar.day_starts_at} {notebook}"
        self._masked: Callable[[Entry], bool] = lambda _: False
        self._db: sqlite3.Connection | None = None
        self._walked: Sequence[tuple[str, Any]] | None = None

    def close(self) -> None:
        """Close the database; a later use opens it again."""
        if self._db is not None:
            self._db.close()
            self._db = None

    @property
    def db(self) -> sqlite3.Connection:
        """The open database."""
        if self._db is None:
            self._db = in_memory(stamp=self._stamp) if self._path is None else self._opened(self._path)
        return self._db

    def catch_up(self, masked: Callable[[Entry], bool]) -> Folded:
        """Fold what the files gained since last time, in one transaction, and return what changed.

        A database that turns out damaged is made anew and folded from the beginning; one that cannot be written is
        folded in memory. Raises Busy when another process keeps it too long.
        """
        self._masked = masked
        try:
            return self._fold()
        except _DAMAGE as error:
            return self._begin_anew(error)

    def walked(self) -> Sequence[tuple[str, Any]]:
        """Return path and status of every file of the notebook, as they were when it was last brought up to date."""
        return self._walked if self._walked is not None else list(self.files.walk_statuses(self.notebook))

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows of a query; a database that turns out damaged is made anew first.

        Half a character in a value is looked for as U+FFFD: SQLite takes none, and nothing stored holds one.
        """
        values = [without_halves(one) if isinstance(one, str) else one for one in values]
        try:
            return self.db.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            self._begin_anew(error)
            return self.db.execute(query, values).fetchall()

    def rows_of(self, query: str, ids: Iterable[str]) -> Iterator[Any]:
        """Yield the rows that a query ending in `IN` finds for `ids`, some hundreds of them at a time."""
        for part in batches(ids):
            yield from self.rows(f"{query} ({marks(part)})", part)

    def _opened(self, path: Path) -> sqlite3.Connection:
        with suppress(OSError):  # then it is kept in memory
            if path.parent.is_file():  # derived, like what belongs there
                path.parent.unlink()
            path.parent.mkdir(mode=0o700, exist_ok=True)
        return open_database(path, stamp=self._stamp)

    def _fold(self) -> Folded:
        db = self.db
        with transaction(db, stamp=self._stamp):
            folded = Folding(self.files, db, self.calendar, self.notebook, self._masked).run()
        self.unread, self._walked = tuple(folded.unread), folded.walked
        return folded

    def _begin_anew(self, error: Exception) -> Folded:
        """Fold everything into a new database, in memory when there can be no file; raises Busy for one in use."""
        if isinstance(error, sqlite3.Error) and is_busy(error):
            message = "the state is being brought up to date by another process; try again shortly"
            raise Busy(message) from error
        self.close()
        if self._path is not None:
            discard(self._path)
        try:
            return self._fold()
        except _DAMAGE:
            self.close()
            self._db = in_memory(stamp=self._stamp)
            return self._fold()
