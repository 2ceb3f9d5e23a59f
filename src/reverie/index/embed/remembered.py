"""An embedder that asks another one only for texts it has not seen.

Owns `.index/embedded.db`: for each model the vectors of the texts it was asked for, known by a hash of the text;
promises that deleting or damaging the file costs time and nothing else, that it stays within `MOST_BYTES` of vectors
(the oldest go first), that two models' vectors never mix, and that a vector is the same the first time and from the
file; never holds a text, and never fails where the embedder would not.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reverie.errors import EmbedderFailed
from reverie.index.embedder import BATCH, Embedder, same_model, shortened
from reverie.index.ground import is_ours, let_go_of_links
from reverie.index.room import demand_room

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reverie.index.embedder import Vectors

LAYOUT: Final = 1
MOST_BYTES: Final = 1 << 30  # of vectors: a million of 512 numbers
QUERIES: Final = 128  # asked lately, kept in memory alone
_WAIT_SECONDS: Final = 1.0  # for another process that writes; then it is done without
_ASKED: Final = 500  # hashes of one statement
_LOSS: Final = 0.01  # how far from one the length of a kept vector may be; a damaged one is mostly farther

_TABLES = """
CREATE TABLE model (num INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE vector (
    seq INTEGER PRIMARY KEY,  -- in order of age
    model INTEGER NOT NULL,
    text BLOB NOT NULL,       -- a hash of it
    body BLOB NOT NULL,       -- 16-bit floats, little-endian
    UNIQUE (model, text)
);
"""


class Remembered:
    """An embedder with the vectors it made before; safe to use from several threads and processes."""

    def __init__(self, embedder: Embedder, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        """Bind to `embedder` and to the file of its vectors, opened when first needed."""
        self.embedder = embedder
        self._path, self._most_bytes = path, most_bytes
        self._queries: OrderedDict[str, Vectors] = OrderedDict()
        self._mutex = threading.Lock()  # of the file
        self._asking = threading.Lock()  # of the questions, which do not wait until a large batch is stored
        self._db: sqlite3.Connection | None = None
        self._usable = True

    @property
    def name(self) -> str:
        """The name of the embedder."""
        return self.embedder.name

    @property
    def dimension(self) -> int:
        """How long each vector is."""
        return self.embedder.dimension

    def fingerprint(self) -> str:
        """Return the fingerprint of the embedder."""
        return self.embedder.fingerprint()

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._mutex:
            if self._db is not None:
                self._db.close()
            self._db, self._usable = None, True
        with self._asking:
            self._queries.clear()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row of length one for each text, made now only where it was not before.

        Raises EmbedderFailed as the embedder does; what it had made by then is kept.
        """
        if query:
            with self._asking:
                return self._asked(texts)
        with self._mutex:
            return self._stored(texts)

    def _asked(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of questions; they are kept in memory, for a person's questions are not written down."""
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._queries]
        found = {text: self._queries[text] for text in texts if text in self._queries}
        if new:
            found |= zip(new, self.embedder.embed(new, query=True), strict=True)
        for text in texts:
            self._queries[text] = found[text]
            self._queries.move_to_end(text)
        while len(self._queries) > QUERIES:
            self._queries.popitem(last=False)
        rows: Vectors = np.array([found[text] for text in texts], dtype=np.float32)
        return rows.reshape(len(texts), -1) if texts else self.embedder.embed(())

    def _stored(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        prepared = shortened(texts)
        keys = [blake2b(text.encode(), digest_size=16).digest() for text in prepared]
        if not keys:
            return self.embedder.embed(())
        rows = np.empty((len(keys), self.dimension), dtype=np.float32)
        model = self._model()
        known = self._read(model, dict.fromkeys(keys))
        new = {key: text for key, text in zip(keys, prepared, strict=True) if key not in known}
        faulty: set[bytes] = set()
        reason: EmbedderFailed | None = None
        for first in range(0, len(new), BATCH):
            batch = dict(list(new.items())[first : first + BATCH])
            made, error = _embedded(self.embedder, batch)
            if error is not None:
                reason = error
                faulty |= batch.keys() - made.keys()
            self._write(model, made)
            known |= {key: np.frombuffer(body, dtype="<f2") for key, body in made.items()}
        if reason is not None:
            at = tuple(place for place, key in enumerate(keys) if key in faulty)
            raise EmbedderFailed(str(reason), kind=reason.kind, at=at) from reason
        for place, key in enumerate(keys):
            rows[place] = known[key]
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    # -- the file

    def _model(self) -> int:
        """Return the number under which the file knows the embedder's vectors, 0 when there is no file."""
        mine = self.fingerprint()
        db = self._opened()
        if db is None:
            return 0
        try:
            for num, fingerprint in db.execute("SELECT num, fingerprint FROM model"):
                if same_model(fingerprint, mine):
                    return int(num)
            return int(db.execute("INSERT INTO model (fingerprint) VALUES (?)", (mine,)).lastrowid or 0)
        except sqlite3.Error as error:
            self._without(error)
            return 0

    def _read(self, model: int, keys: Iterable[bytes]) -> dict[bytes, npt.NDArray[np.float16]]:
        """Return the vectors that the file holds and that are sound."""
        import numpy as np

        found: dict[bytes, npt.NDArray[np.float16]] = {}
        wanted = list(keys)
        try:
            for first in range(0, len(wanted) if self._db is not None else 0, _ASKED):
                some = wanted[first : first + _ASKED]
                marks = ",".join("?" * len(some))
                query = f"SELECT text, body FROM vector WHERE model = ? AND text IN ({marks})"
                for key, body in self._db.execute(query, (model, *some)) if self._db is not None else ():
                    if isinstance(body, bytes) and len(body) == 2 * self.dimension:
                        found[key] = np.frombuffer(body, dtype="<f2")
        except sqlite3.Error as error:
            self._without(error)
        if not found:
            return {}
        with np.errstate(invalid="ignore", over="ignore"):  # damage may have made any number of them
            lengths = np.linalg.norm(np.stack(list(found.values())).astype(np.float32), axis=1)
            sound = np.abs(lengths - 1) < _LOSS
        return {key: row for (key, row), good in zip(found.items(), sound, strict=True) if good}

    def _write(self, model: int, made: dict[bytes, bytes]) -> None:
        """Keep vectors, and let the oldest go where there are too many."""
        if self._db is None or not made:
            return
        most = max(1, self._most_bytes // (2 * self.dimension))
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(
                "INSERT OR REPLACE INTO vector (model, text, body) VALUES (?, ?, ?)",
                [(model, key, body) for key, body in made.items()],
            )
            self._db.execute("DELETE FROM vector WHERE seq <= (SELECT max(seq) FROM vector) - ?", (most,))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._without(error)

    def _opened(self) -> sqlite3.Connection | None:
        if self._db is None and self._usable:
            try:
                self._db = _connected(self._path)
            except (sqlite3.Error, OSError) as error:
                self._without(error)
        return self._db

    def _without(self, error: Exception) -> None:
        """Go on without the file until it is closed; one that is no database of ours is removed for the next time."""
        if self._db is not None:
            self._db.close()
        self._db, self._usable = None, False
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            for file in _files(self._path):
                with suppress(OSError):
                    file.unlink()


def _embedded(
    embedder: Embedder, batch: dict[bytes, str]
) -> tuple[dict[bytes, bytes], EmbedderFailed | None]:
    """Return the vectors of a batch as they are kept, and why some are missing; raises when all are."""
    keys = list(batch)
    error: EmbedderFailed | None = None
    while keys:
        try:
            rows = embedder.embed([batch[key] for key in keys])
        except EmbedderFailed as failed:
            if not failed.at:
                raise
            error = failed
            keys = [key for place, key in enumerate(keys) if place not in set(failed.at)]
            continue
        return {key: row.astype("<f2").tobytes() for key, row in zip(keys, rows, strict=True)}, error
    return {}, error


def _files(path: Path) -> list[Path]:
    return [path, *(path.with_name(f"{path.name}-{part}") for part in ("wal", "shm", "journal"))]


def _connected(path: Path) -> sqlite3.Connection:
    """Open the file, making its tables when it is new; raises OSError, and DatabaseError when it is none of ours."""
    if not is_ours(path.parent):
        raise PermissionError(f"{path.parent} is a link or not yours")
    path.parent.mkdir(mode=0o700, exist_ok=True)
    let_go_of_links(_files(path))
    demand_room(path)
    db = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is embedded again
        if db.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
            _lay_out(db)
        path.chmod(0o600)
    except (sqlite3.Error, OSError):
        db.close()
        raise
    return db


def _lay_out(db: sqlite3.Connection) -> None:
    """Make the tables in an empty file; raises OperationalError for one to be left alone, else DatabaseError."""
    db.execute("BEGIN IMMEDIATE")
    layout = db.execute("PRAGMA user_version").fetchone()[0]
    if layout > LAYOUT:
        raise sqlite3.OperationalError("made by a newer Reverie")
    if layout < LAYOUT:  # else another process was faster
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError("another layout")
        for statement in _TABLES.split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {LAYOUT}")
    db.execute("COMMIT")
