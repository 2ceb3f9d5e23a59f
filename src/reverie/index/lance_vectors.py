"""Vectors in LanceDB.

Owns the table of one workspace's vectors; promises exact search up to `MANY` vectors and, above, an index whose hits
are scored again from the vectors themselves; never decides which places count: that is `index.placing`.

A place is given out once. What was added and never noted, because a process was killed in between, is deleted by the
next append, and until then belongs to no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from reverie.core.search.rows import Filter, Row
from reverie.errors import IndexUnavailable
from reverie.index import documents
from reverie.index.lance import LAYOUT, Tables, condition, delete, failing, settle
from reverie.index.protocol import Near, Tidied, Vectored

if TYPE_CHECKING:
    import pyarrow as pa

    from reverie.index.protocol import Floats

MANY: Final = 200_000  # vectors above which reading all of them takes too long
_PROBED: Final = 32  # parts of the index that a search looks into
_RESCORED: Final = 8  # times as many hits scored again as asked for
_DEAD: Final = 50  # dead places worth a write


class LanceVectors:
    """The table of vectors that a note names."""

    def __init__(self, tables: Tables, *, many: int = MANY, parts: int | None = None) -> None:
        """Use `tables`; `many` is the number of vectors from which they are indexed, in `parts`.

        None leaves the number of parts to the engine, which makes about one of each 8,000 vectors.
        """
        self._tables, self._many, self._parts = tables, many, parts
        self._open: tuple[int, Any] | None = None

    @property
    def kind(self) -> str:
        """What it is, and where: at another address there are none."""
        return f"lance.{LAYOUT}:{self._tables.url}"

    def close(self) -> None:
        """Let go of the table."""
        self._open = None

    def empty(self, *, fingerprint: str, dimension: int) -> Vectored:
        """Make an empty table."""
        number, table = self._tables.make("vectors", _schema(dimension))
        self._open = number, table
        return Vectored(kind=self.kind, fingerprint=fingerprint, dimension=dimension, generation=number)

    def add(
        self, about: Vectored, rows: Sequence[tuple[int, Row]], *, matrix: Floats
    ) -> tuple[Vectored, list[int]]:
        """Add one vector for each numbered row and return the note to keep and their places."""
        import pyarrow as pa

        table = self._table(about)
        places = list(range(about.size, about.size + len(rows)))
        with failing(self._tables.url):
            if table.count_rows(f"place >= {about.size}"):
                table.delete(f"place >= {about.size}")
            columns = [
                pa.array([num for num, _ in rows], pa.int64()),
                pa.array(places, pa.int64()),
                pa.array([documents.ordinal(row.day) for _, row in rows], pa.int32()),
                pa.array([documents.facets(row) for _, row in rows], pa.list_(pa.string())),
                pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), about.dimension),
            ]
            table.add(pa.table(columns, schema=_schema(about.dimension)))
            settle(table, much=False)
        return msgspec.structs.replace(about, size=about.size + len(rows)), places

    def search(
        self, about: Vectored, vector: Floats, *, where: Filter, depth: int, dead: Sequence[int]
    ) -> list[Near]:
        """Return the nearest, best first."""
        gone = set(dead)
        found = self._nearest(about, vector, condition(where), limit=depth + min(len(gone), 1_000))
        return [one for one in found if one.place not in gone][:depth]

    def similarities(self, about: Vectored, vector: Floats, *, places: Mapping[int, int]) -> dict[int, float]:
        """Return the cosines of rows whose vectors lie at `places`."""
        if not places or vector.size != about.dimension:
            return {}
        wanted = ", ".join(map(str, places.values()))
        table = self._table(about)
        # Read and multiplied here: a search within a condition looks at every vector there is.
        with failing(self._tables.url):
            asked = table.search().where(f"place IN ({wanted})").select(["num", "place", "vector"])
            read = asked.limit(len(places)).to_arrow()
            rows = read["vector"].combine_chunks().flatten().to_numpy().reshape(-1, about.dimension)
        nums, cosines = read["num"].to_pylist(), (rows @ vector).tolist()
        found = zip(nums, read["place"].to_pylist(), cosines, strict=True)
        return {num: cosine for num, place, cosine in found if places.get(num) == place}

    def tidy(self, about: Vectored, dead: Sequence[int]) -> Tidied | None:
        """Delete dead vectors once they are some, and index what has become too much to read."""
        table = self._table(about)
        with failing(self._tables.url):
            if table.count_rows() >= self._many and not table.list_indices():
                _index(table, self._parts)
            if len(dead) < _DEAD:
                return None
            delete(table, "place", numbers=dead)
            settle(table, much=True)
        return Tidied(about, None)

    def sound(self, about: Vectored) -> bool:
        """Whether every vector can be read: a search without an index reads them all."""
        import numpy as np

        try:
            self._open = None
            table = self._table(about)
            with failing(self._tables.url):
                zero = np.zeros(about.dimension, np.float32)
                table.search(zero).bypass_vector_index().distance_type("dot").limit(1).to_arrow()
                return bool(table.count_rows() >= 0)
        except IndexUnavailable:
            return False

    def keep_only(self, about: Vectored) -> None:
        """Drop every other table of vectors of this workspace."""
        self._tables.keep_only("vectors", about.generation)

    def _nearest(self, about: Vectored, vector: Floats, limits: str, *, limit: int) -> list[Near]:
        if not about.size or vector.size != about.dimension:
            return []
        table = self._table(about)
        with failing(self._tables.url):
            asked = table.search(vector).distance_type("dot").select(["num", "place", "_distance"])
            asked = asked.nprobes(_PROBED).refine_factor(_RESCORED).limit(limit)
            if limits:
                asked = asked.where(limits, prefilter=True)
            hits = asked.to_arrow().to_pydict()
        return [
            Near(num, place, 1.0 - distance)
            for num, place, distance in zip(hits["num"], hits["place"], hits["_distance"], strict=True)
        ]

    def _table(self, about: Vectored) -> Any:  # noqa: ANN401 - lancedb's table
        if self._open is None or self._open[0] != about.generation:
            self._open = about.generation, self._tables.open("vectors", about.generation)
        return self._open[1]


def _schema(dimension: int) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("num", pa.int64()),
            pa.field("place", pa.int64()),
            pa.field("day", pa.int32()),
            pa.field("facets", pa.list_(pa.string())),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def _index(table: Any, parts: int | None) -> None:  # noqa: ANN401 - lancedb's table
    from lancedb.index import IvfSq

    table.create_index("vector", config=IvfSq(distance_type="dot", num_partitions=parts))
