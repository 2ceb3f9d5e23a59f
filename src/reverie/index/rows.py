"""The rows of the search index, in SQLite.

Owns `.index/rows.db`: every row, the read positions of the files they came from, and which rows the text index has
not taken in yet; promises that a source is replaced as a whole or not at all (the new rows stand before the old ones
go), that an unchanged row costs nothing, that a damaged file, or one of an older layout, is begun anew and says so
(`fresh`), and that where nothing can be written there is a copy in memory (`in_memory`) to go on with; refuses one of
a newer layout; never holds anything that cannot be read again from the files.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from reverie.core.search.rank import REACH
from reverie.core.search.rows import Row
from reverie.errors import Busy, IndexUnavailable
from reverie.index import rows_file
from reverie.index.documents import means_alike
from reverie.index.ground import is_unwritable
from reverie.index.schema import batches, marks

_TURNS = "SELECT body FROM row WHERE session = ? AND n >= 0 AND n BETWEEN ? AND ? ORDER BY n"
# Without `INDEXED BY` SQLite walks the whole table in the order asked for, to find that nothing is stale.
_STALE = "SELECT num, body, stale, known, place FROM row INDEXED BY"
_TOGETHER = (
    f"{_STALE} row_stale WHERE stale > 0 AND (session, n, num) > (?, ?, ?) ORDER BY session, n, num LIMIT ?"
)
_NEWEST = f"{_STALE} row_newest WHERE stale > 0 ORDER BY num DESC LIMIT ?"
_PUT = """
INSERT INTO row (id, source, session, n, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET source = excluded.source, session = excluded.session, n = excluded.n,
    body = excluded.body, stale = row.stale + 1, place = CASE WHEN ? THEN row.place ELSE -1 END
"""
_FIRST = ("", -2, 0)  # before the place of every row: its session, its ordinal there, its number
_LAST = 1 << 62  # beyond every number
_PLACES = "SELECT id, num, place FROM row WHERE place >= 0 AND id IN"

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Row).decode


class Numbered(NamedTuple):
    """A row with its number, how many of its changes the text index has not taken in, and where its vector lies.

    `place` is -1 while the words it holds now have no vector.
    """

    num: int
    row: Row
    stale: int
    known: bool
    place: int = -1


class Rows:
    """The rows of one workspace, safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        """Open or make `rows.db` in `folder`; raises IndexUnavailable when it cannot be used or is newer."""
        self._path = folder / rows_file.NAME
        self._mutex = threading.RLock()
        self.in_memory = False
        self._openings = 0
        self._db, self.fresh = self._opened()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._mutex:
            self._db.close()

    def reset(self) -> None:
        """Forget every row and position, so that the files are read again from their start."""
        with self._mutex:
            self._db.close()
            self._openings += 1
            if self.in_memory:
                self._db, self.fresh = rows_file.empty()
                return
            rows_file.remove(self._path)
            self._db, self.fresh = self._opened()

    def retreat(self) -> None:
        """Go on in memory with what there is, because nothing can be written; the file stays as it is."""
        with self._mutex:
            if not self.in_memory:
                self.in_memory = True
                self._openings += 1
                held, (self._db, self.fresh) = self._db, rows_file.in_memory(self._path)
                held.close()

    # -- reading

    def get(self, ids: Iterable[str]) -> dict[str, Row]:
        """Return the rows with these ids; an unknown id is left out."""
        return {row.row.id: row.row for row in self._select("row.id", list(ids))}

    def places(self, ids: Iterable[str]) -> dict[str, tuple[int, int]]:
        """Return the number and the vector's place of rows with these ids, undecoded; without those that have none."""
        with self.work() as db:
            found = [row for part in batches(ids) for row in db.execute(f"{_PLACES} ({marks(part)})", part)]
        return {name: (num, place) for name, num, place in found}

    def numbered(self, nums: Sequence[int]) -> dict[int, Numbered]:
        """Return the rows with these numbers; a number whose row is gone is left out."""
        return {row.num: row for row in self._select("row.num", nums)}

    def turns(self, session: str, ordinals: range) -> list[Row]:
        """Return the turns of a session with these ordinals (a range without steps), in order."""
        with self.work() as db:
            asked = (session, ordinals.start, ordinals.stop - 1)
            return [_decode(body) for (body,) in db.execute(_TURNS, asked)]

    def version(self) -> tuple[int, int, int]:
        """Return what is another value whenever anything here changed since, whoever changed it."""
        with self.work() as db:
            others: int = db.execute("PRAGMA data_version").fetchone()[0]
            return self._openings, others, db.total_changes

    def stale(self, limit: int, *, after: Numbered | None = None) -> list[Numbered]:
        """Return at most `limit` rows the text index has not taken in, those behind `after`; sessions stay together."""
        place = (after.row.session, after.row.n, after.num) if after is not None else _FIRST
        with self.work() as db:
            return [_numbered(*columns) for columns in db.execute(_TOGETHER, (*place, limit))]

    def newest(self, limit: int) -> list[Numbered]:
        """Return the `limit` rows added last of those the text index has not taken in."""
        with self.work() as db:
            return [_numbered(*columns) for columns in db.execute(_NEWEST, (limit,))]

    def behind(self) -> int:
        """Return how many rows the text index has not taken in."""
        with self.work() as db:
            count: int = db.execute(
                "SELECT count(*) FROM row INDEXED BY row_newest WHERE stale > 0"
            ).fetchone()[0]
            return count

    def count(self) -> int:
        """Return how many rows there are."""
        with self.work() as db:
            count: int = db.execute("SELECT count(*) FROM row").fetchone()[0]
            return count

    def sample(self, limit: int) -> list[Row]:
        """Return the `limit` rows added last, from which lengths are estimated."""
        with self.work() as db:
            found = db.execute("SELECT body FROM row ORDER BY num DESC LIMIT ?", (limit,))
            return [_decode(body) for (body,) in found]

    def positions(self) -> dict[str, str]:
        """Return each source with the stamp its reader left (what it means is the reader's affair)."""
        with self.work() as db:
            return dict(db.execute("SELECT source, stamp FROM position").fetchall())

    def gone(self) -> list[int]:
        """Return the numbers of removed rows that the text index may still hold."""
        with self.work() as db:
            return [num for (num,) in db.execute("SELECT num FROM gone")]

    # -- writing

    def upsert(self, rows: Iterable[Row], *, position: tuple[str, str] | None = None) -> None:
        """Add rows, or replace those with the same ids, and note `(source, stamp)`, all in one transaction."""
        with self.change() as db:
            self._put(db, rows)
            self._note(db, position)

    def replace_source(self, source: str, rows: Iterable[Row], *, stamp: str = "") -> None:
        """Make `rows` the only rows of `source`; an empty `stamp` forgets the source's position."""
        with self.change() as db:
            new = list(rows)
            self._put(db, new)
            kept = {row.id for row in new}
            old = [
                id_
                for (id_,) in db.execute("SELECT id FROM row WHERE source = ?", (source,))
                if id_ not in kept
            ]
            self._drop(db, old)
            self._note(db, (source, stamp))

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the rows with these ids; an unknown id is no error."""
        with self.change() as db:
            self._drop(db, list(ids))

    def taken(self, rows: Iterable[Numbered], gone: Iterable[int]) -> None:
        """Note that the text index holds `rows` as they were read and has let go of `gone`.

        A row changed since it was read stays stale.
        """
        with self.change() as db:
            db.executemany(
                "UPDATE row SET known = 1, stale = CASE WHEN stale = ? THEN 0 ELSE stale END WHERE num = ?",
                [(row.stale, row.num) for row in rows],
            )
            db.executemany("DELETE FROM gone WHERE num = ?", [(num,) for num in gone])

    def all_stale(self) -> None:
        """Note that the text index holds nothing."""
        with self.change() as db:
            db.execute("UPDATE row SET stale = stale + 1, known = 0")
            db.execute("DELETE FROM gone")

    def meta(self, key: str) -> str:
        """Return a note of the text index about itself, empty when there is none."""
        with self.work() as db:
            found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            return found[0] if found else ""

    def set_meta(self, key: str, value: str) -> None:
        """Keep a note of the text index about itself."""
        with self.change() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # -- for those who keep more in this file: `index.placing`

    @contextmanager
    def work(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread, inside no transaction, and turn SQLite's errors into ours."""
        with self._mutex:
            try:
                yield self._db
            except sqlite3.OperationalError as error:
                if "locked" in str(error) or "busy" in str(error):
                    raise Busy("another process is writing the search index; try again shortly") from error
                unwritable = rows_file.is_unwritable(error)
                if unwritable:
                    self.retreat()
                message = f"{self._path} cannot be used ({error}); run `reverie reindex`"
                raise IndexUnavailable(message, unwritable=unwritable) from error
            except (sqlite3.Error, msgspec.DecodeError) as error:
                raise IndexUnavailable(f"{self._path} is damaged ({error}); run `reverie reindex`") from error

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction that is kept when the block ends well."""
        with self.work() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    # -- inside

    def _opened(self) -> tuple[sqlite3.Connection, bool]:
        folder = self._path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return rows_file.connect(self._path)
        except OSError as error:
            if not is_unwritable(error):
                raise IndexUnavailable(f"the index folder {folder} cannot be made: {error}") from error
        except IndexUnavailable as error:
            if not error.unwritable:
                raise
        self.in_memory = True
        return rows_file.in_memory(self._path)

    def _put(self, db: sqlite3.Connection, rows: Iterable[Row]) -> None:
        """Insert or replace rows, leaving equal ones alone; the neighbours of a changed turn change with it."""
        new = {row.id: (row, body) for row, body in map(_writable, rows)}
        known = {found.row.id: found for found in self._select("row.id", list(new))}
        added = [one for id_, one in new.items() if id_ not in known]
        before: int = db.execute("SELECT coalesce(max(num), 0) FROM row").fetchone()[0]
        db.executemany(_PUT, [(row.id, row.source, row.session, row.n, body, False) for row, body in added])
        for row, _ in added:
            _touch_neighbours(db, row, up_to=before)  # those added with it are stale as they are
        for id_, found in known.items():
            row, body = new[id_]
            old = found.row
            if old == row:
                continue
            keeps = means_alike(old, row)
            if found.place >= 0 and not keeps:
                db.execute("INSERT INTO dead (place) VALUES (?)", (found.place,))
            db.execute(_PUT, (row.id, row.source, row.session, row.n, body, keeps))
            _touch_neighbours(db, row)
            if (old.session, old.n) != (row.session, row.n):
                _touch_neighbours(db, old)

    def _drop(self, db: sqlite3.Connection, ids: list[str]) -> None:
        for found in self._select("row.id", ids):
            db.execute("DELETE FROM row WHERE num = ?", (found.num,))
            if found.place >= 0:
                db.execute("INSERT INTO dead (place) VALUES (?)", (found.place,))
            if found.known:
                db.execute("INSERT OR IGNORE INTO gone VALUES (?)", (found.num,))
            _touch_neighbours(db, found.row)

    def _note(self, db: sqlite3.Connection, position: tuple[str, str] | None) -> None:
        if position is not None and position[1]:
            db.execute("INSERT OR REPLACE INTO position VALUES (?, ?)", position)
        elif position is not None:
            db.execute("DELETE FROM position WHERE source = ?", position[:1])

    def _select(self, column: str, values: Sequence[str] | Sequence[int]) -> list[Numbered]:
        found: list[Numbered] = []
        with self.work() as db:
            for part in batches(values):
                query = f"SELECT num, body, stale, known, place FROM row WHERE {column} IN ({marks(part)})"
                found += [_numbered(*columns) for columns in db.execute(query, part)]
        return found


def _numbered(num: int, body: bytes, stale: int, known: int, place: int) -> Numbered:
    return Numbered(num, _decode(body), stale, bool(known), place)


def _touch_neighbours(db: sqlite3.Connection, row: Row, *, up_to: int = _LAST) -> None:
    """Make the turns around a changed one stale, of the numbers `up_to`, since their windows hold its words."""
    if row.n >= 0 and row.session:
        db.execute(
            "UPDATE row SET stale = stale + 1"
            " WHERE session = ? AND n >= 0 AND n BETWEEN ? AND ? AND id != ? AND num <= ?",
            (row.session, row.n - REACH, row.n + REACH, row.id, up_to),
        )


def _writable(row: Row) -> tuple[Row, bytes]:
    """Return `row` as it is stored; lone surrogates, which SQLite cannot hold, become question marks."""
    try:
        return row, _encode(row)
    except UnicodeEncodeError:
        changed: dict[str, str | tuple[str, ...]] = {
            name: value.encode("utf-8", "replace").decode()
            for name, value in msgspec.structs.asdict(row).items()
            if isinstance(value, str)
        }
        changed["tags"] = tuple(tag.encode("utf-8", "replace").decode() for tag in row.tags)
        row = msgspec.structs.replace(row, **changed)
        return row, _encode(row)
