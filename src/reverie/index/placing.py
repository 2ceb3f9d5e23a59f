"""Which row's vector lies where, in the file of the search rows.

Owns the column `place` of `rows.db`, its table of places that no row owns any more, and the note of what the vectors
are; promises that a row has a place only when the vector of its present words lies there, and that places and note
change together, in one transaction, after the bytes they speak of were synced; never sees a vector.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from reverie.core.search.rows import Row
from reverie.index.documents import means_alike
from reverie.index.protocol import Vectored
from reverie.index.rows import Numbered, Rows

_NOTE = "vectors"
_LACKING = """
SELECT num, body, stale, known, place FROM row INDEXED BY row_placeless WHERE place < 0 AND num < ?
ORDER BY num DESC LIMIT ?
"""
_LAST = 1 << 62

_decode = msgspec.msgpack.Decoder(Row).decode


class Seen(NamedTuple):
    """What the vectors are, and the places that died since the last look, with the number of the newest of them."""

    about: Vectored
    dead: list[int]
    seq: int


class Placing:
    """The places of one workspace's vectors."""

    def __init__(self, rows: Rows) -> None:
        """Look into the file of `rows`."""
        self._rows = rows

    # -- reading

    def about(self) -> Vectored:
        """Return what the vectors are."""
        return _about(self._rows.meta(_NOTE))

    def look(self, seq: int) -> Seen:
        """Return what the vectors are and which places died after number `seq`, as of one instant."""
        with self._rows.work() as db:
            db.execute("BEGIN")
            try:
                note = db.execute("SELECT value FROM meta WHERE key = ?", (_NOTE,)).fetchone()
                dead = db.execute("SELECT seq, place FROM dead WHERE seq > ? ORDER BY seq", (seq,)).fetchall()
            finally:
                db.execute("COMMIT")
        newest = dead[-1][0] if dead else seq
        return Seen(_about(note[0] if note else ""), [place for _, place in dead], newest)

    def lacking(self, limit: int, *, below: int = _LAST) -> list[Numbered]:
        """Return at most `limit` rows without a vector whose number is below another, the newest first."""
        with self._rows.work() as db:
            return [
                Numbered(num, _decode(body), stale, bool(known), place)
                for num, body, stale, known, place in db.execute(_LACKING, (below, limit))
            ]

    def lack(self) -> int:
        """Return how many rows have no vector."""
        with self._rows.work() as db:
            count: int = db.execute(
                "SELECT count(*) FROM row INDEXED BY row_placeless WHERE place < 0"
            ).fetchone()[0]
            return count

    # -- writing, under the index lock

    def place(self, rows: Sequence[Numbered], places: Sequence[int], *, about: Vectored) -> None:
        """Keep the note and give each row its place; one that changed or went meanwhile gets none."""
        with self._rows.change() as db:
            _keep(db, about)
            for read, place in zip(rows, places, strict=True):
                now = db.execute("SELECT body, place FROM row WHERE num = ?", (read.num,)).fetchone()
                if now is not None and now[1] < 0 and means_alike(_decode(now[0]), read.row):
                    db.execute("UPDATE row SET place = ? WHERE num = ?", (place, read.num))
                else:
                    db.execute("INSERT INTO dead (place) VALUES (?)", (place,))

    def forget(self, about: Vectored) -> None:
        """Keep the note of vectors that begin anew: no row has one."""
        with self._rows.change() as db:
            _keep(db, about)
            db.execute("UPDATE row SET place = -1 WHERE place >= 0")
            db.execute("DELETE FROM dead")

    def move(self, places: Mapping[int, int], about: Vectored) -> None:
        """Keep the note of a new generation: a vector at an old place lies at a new one, and all others are gone."""
        with self._rows.change() as db:
            _keep(db, about)
            db.execute("CREATE TEMP TABLE IF NOT EXISTS moved (old INTEGER PRIMARY KEY, new INTEGER)")
            db.execute("DELETE FROM moved")
            db.executemany("INSERT INTO moved VALUES (?, ?)", places.items())
            db.execute(
                "UPDATE row SET place = coalesce((SELECT new FROM moved WHERE old = place), -1) WHERE place >= 0"
            )
            db.execute("DELETE FROM dead")
            db.execute("DELETE FROM moved")

    def bury(self, places: Iterable[int], about: Vectored) -> None:
        """Keep the note of vectors from which these dead places are gone, the others being where they were."""
        with self._rows.change() as db:
            _keep(db, about)
            db.executemany("DELETE FROM dead WHERE place = ?", [(place,) for place in places])


def _keep(db: sqlite3.Connection, about: Vectored) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_NOTE, msgspec.json.encode(about).decode()))


def _about(note: str) -> Vectored:
    """Return what a note says; one that cannot be read speaks of no vectors."""
    try:
        return msgspec.json.decode(note, type=Vectored) if note else Vectored()
    except (msgspec.MsgspecError, RecursionError):
        return Vectored()
