"""Vectors in three files, scanned exactly.

Owns `.index/vectors/`: for each generation the codes (int8, each vector scaled by its own largest number), the same
vectors in half precision, and what each place is filtered by; promises that a scan reads every vector a filter allows,
that the best of it are scored again from the half precision (within 0.001 of the float32 cosine), that an append costs
what is appended, and that nothing beyond the size in the note is ever read; never decides which places count: that is
`index.placing`, which the caller keeps.

Order of an append, under the index lock: 1. the bytes after the last place of the note, whatever a crash left there.
2. sync. 3. the caller keeps the note with the new size, the checksums and the places. Before 3 nobody sees the bytes;
a crash leaves them to be written over. A tidying writes new files beside the old ones and ends with the same step 3;
what another process has mapped stays readable until it maps again.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from reverie.core.search.rows import Filter, Row
from reverie.errors import IndexUnavailable
from reverie.index.ground import is_ours, let_go_of_links
from reverie.index.protocol import Near, Tidied, Vectored
from reverie.index.vector_places import PLACE, PLACE_BYTES, encoded, mask

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reverie.index.protocol import Floats

LAYOUT: Final = 1  # of the files; part of `kind`
BLOCK: Final = 256  # vectors turned into floats at once; more no longer fit into a core's cache
RESCORED: Final = 200  # best of the scan that are scored again
FEW: Final = 0.25  # of all places: when a filter allows fewer, only those are read
_PARTS: Final = ("codes", "halves", "places")
_TIDY: Final = 0.25  # dead places, of all, that are worth writing everything anew
_TIDY_FROM: Final = 1_000
_READ: Final = 1 << 20


class _Map(NamedTuple):
    """The files of one generation up to one size."""

    generation: int
    size: int
    codes: npt.NDArray[np.int8]
    halves: npt.NDArray[np.float16]
    places: npt.NDArray[np.void]


class VectorFiles:
    """The vector files in one folder. One thread at a time."""

    kind = f"files.{LAYOUT}"

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which need not exist yet."""
        self._folder = folder
        self._map: _Map | None = None
        self._dead: npt.NDArray[np.bool_] | None = None
        self._buried = 0

    def close(self) -> None:
        """Let go of the maps."""
        self._map = self._dead = None
        self._buried = 0

    # -- writing, under the index lock

    def empty(self, *, fingerprint: str, dimension: int) -> Vectored:
        """Return the note of no vectors, in a generation without files."""
        self._make_folder()
        # Never one that was there before, not even one whose note was lost: a process may still have its files mapped.
        generation = time.time_ns()
        return Vectored(
            kind=self.kind,
            fingerprint=fingerprint,
            dimension=dimension,
            generation=generation,
            files=((0,),) * 3,
        )

    def add(
        self, about: Vectored, rows: Sequence[tuple[int, Row]], *, matrix: Floats
    ) -> tuple[Vectored, list[int]]:
        """Append vectors, synced, and return the note to keep and their places."""
        self._make_folder()
        parts = encoded(rows, matrix)
        return self._append(about, parts, count=len(rows)), list(range(about.size, about.size + len(rows)))

    def _append(self, about: Vectored, parts: Sequence[bytes], *, count: int) -> Vectored:
        files = []
        with _failing(self._folder):
            for part, width, noted, data in zip(
                _PARTS, _widths(about.dimension), about.files, parts, strict=True
            ):
                path = self._path(about.generation, part)
                stat = _write_at(path, about.size * width, data=data)
                files.append((zlib.crc32(data, noted[0]), stat.st_size, stat.st_mtime_ns))
        return msgspec.structs.replace(about, size=about.size + count, files=tuple(files))

    def tidy(self, about: Vectored, dead: Sequence[int]) -> Tidied | None:
        """Write the living places to new files once a quarter of all is dead; None when it is not worth it."""
        import numpy as np

        if len(dead) < max(_TIDY_FROM, about.size * _TIDY):
            return None
        seen = self._mapped(about, dead)
        alive = np.flatnonzero(~self._dead) if self._dead is not None else np.arange(seen.size)
        new = self.empty(fingerprint=about.fingerprint, dimension=about.dimension)
        for start in range(0, len(alive), BLOCK * 16):
            at = alive[start : start + BLOCK * 16]
            parts = [part[at].tobytes() for part in (seen.codes, seen.halves, seen.places)]
            new = self._append(new, parts, count=len(at))
        return Tidied(new, {int(old): place for place, old in enumerate(alive)})

    def sound(self, about: Vectored) -> bool:
        """Whether the files hold what was written up to the size of the note."""
        try:
            self._check(about)
        except IndexUnavailable:
            return False
        return True

    def keep_only(self, about: Vectored) -> None:
        """Remove the files of every other generation."""
        with _failing(self._folder):
            kept = {self._path(about.generation, part).name for part in _PARTS}
            for path in self._folder.iterdir():
                if path.name not in kept and path.suffix.removeprefix(".") in _PARTS:
                    path.unlink()

    # -- asking

    def search(
        self, about: Vectored, vector: Floats, *, where: Filter, depth: int, dead: Sequence[int]
    ) -> list[Near]:
        """Return the nearest places, best first."""
        import numpy as np

        if not about.size or vector.size != about.dimension:
            return []
        seen = self._mapped(about, dead)
        allowed = mask(seen.places, where)
        if self._dead is not None:
            allowed &= ~self._dead
        at = np.flatnonzero(allowed)
        if not at.size:
            return []
        # Where most are allowed, reading all in order is faster than picking.
        picked = at if at.size < seen.size * FEW else None
        scores = _scan(seen, vector, picked=picked)
        if picked is None:
            scores = scores[at]
        best = min(max(depth, RESCORED), at.size)
        at = at[np.argpartition(-scores, best - 1)[:best]]
        exact = self._exact(seen, at, vector=vector)
        order = np.lexsort((at, -exact))[:depth]
        at, exact = at[order], exact[order]
        return [*map(Near, seen.places["num"][at].tolist(), at.tolist(), exact.tolist())]

    def similarities(self, about: Vectored, vector: Floats, *, places: Mapping[int, int]) -> dict[int, float]:
        """Return the cosines of rows whose vectors lie at `places`."""
        import numpy as np

        if not about.size or vector.size != about.dimension:
            return {}
        seen = self._mapped(about, ())
        known = [(num, place) for num, place in places.items() if 0 <= place < seen.size]
        if not known:
            return {}
        exact = self._exact(seen, np.array([place for _, place in known]), vector=vector)
        return {num: float(one) for (num, _), one in zip(known, exact, strict=True)}

    def _exact(self, seen: _Map, at: npt.NDArray[np.intp], *, vector: Floats) -> Floats:
        """Return the cosines at some places; what is no number, in a file somebody changed, is as far as can be."""
        import numpy as np

        rough = seen.halves[at].astype(np.float32) @ vector
        found: Floats = np.nan_to_num(rough, nan=-1.0, posinf=-1.0, neginf=-1.0)
        return found

    # -- the files

    def _mapped(self, about: Vectored, dead: Sequence[int]) -> _Map:
        """Return the files up to the size of the note, mapped anew when another process wrote to them.

        `dead` are all dead places of the generation, or a first part of them.
        """
        import numpy as np

        if self._map is None or (self._map.generation, self._map.size) != (about.generation, about.size):
            if self._map is None or self._map.generation != about.generation:
                self._check(about)
                self._dead, self._buried = None, 0
            with _failing(self._folder):
                codes, halves, places = (self._path(about.generation, part) for part in _PARTS)
                shape = (about.size, about.dimension)
                # As plain arrays: a slice of a memmap costs as much as reading what it holds.
                self._map = _Map(
                    about.generation,
                    about.size,
                    np.asarray(np.memmap(codes, np.int8, mode="r", shape=shape)),
                    np.asarray(np.memmap(halves, np.float16, mode="r", shape=shape)),
                    np.asarray(np.memmap(places, np.dtype(list(PLACE)), mode="r", shape=(about.size,))),
                )
        if len(dead) > self._buried or (self._dead is not None and self._dead.size < about.size):
            grown = np.zeros(about.size, bool)
            if self._dead is not None:
                grown[: self._dead.size] = self._dead[: about.size]
            new = np.array(dead[self._buried :], np.int64)
            grown[new[(new >= 0) & (new < about.size)]] = True
            self._dead, self._buried = grown, max(self._buried, len(dead))
        return self._map

    def _check(self, about: Vectored) -> None:
        """Raise IndexUnavailable when a file is short, or its bytes are not those that were written.

        A file with the size and time of the note is not read.
        """
        with _failing(self._folder):
            if not is_ours(self._folder):
                raise IndexUnavailable(
                    f"{self._folder} is a link or not yours: remove it, and it is built anew"
                )
            let_go_of_links(self._path(about.generation, part) for part in _PARTS)
            for part, width, noted in zip(_PARTS, _widths(about.dimension), about.files, strict=True):
                path = self._path(about.generation, part)
                stat = path.stat()
                if (stat.st_size, stat.st_mtime_ns) == noted[1:]:
                    continue
                if stat.st_size < about.size * width or _crc(path, about.size * width) != noted[0]:
                    raise IndexUnavailable(f"{path} is damaged; run `reverie reindex`")

    def _path(self, generation: int, part: str) -> Path:
        return self._folder / f"{generation}.{part}"

    def _make_folder(self) -> None:
        with _failing(self._folder):
            if self._folder.is_file() or self._folder.is_symlink():
                self._folder.unlink()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _scan(seen: _Map, vector: Floats, *, picked: npt.NDArray[np.intp] | None) -> Floats:
    """Return the rough score of every place, or of those picked."""
    import numpy as np

    count = seen.size if picked is None else picked.size
    scores = np.empty(count, np.float32)
    block = np.empty((min(BLOCK, count), vector.size), np.float32)
    vector = np.ascontiguousarray(vector, np.float32)
    for start in range(0, count, BLOCK):
        end = min(start + BLOCK, count)
        part = block[: end - start]
        np.copyto(part, seen.codes[start:end] if picked is None else seen.codes[picked[start:end]])
        np.dot(part, vector, out=scores[start:end])
    scales = seen.places["scale"] if picked is None else seen.places["scale"][picked]
    scores *= scales
    found: Floats = np.nan_to_num(scores, nan=-1.0, posinf=-1.0, neginf=-1.0)
    return found


def _widths(dimension: int) -> tuple[int, int, int]:
    """Return how many bytes one place takes in each file."""
    return dimension, 2 * dimension, PLACE_BYTES


def _write_at(path: Path, offset: int, *, data: bytes) -> os.stat_result:
    """Make `data` what stands in the file from `offset` on, and nothing after it, synced."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        if os.fstat(descriptor).st_size < offset:
            raise IndexUnavailable(f"{path} is damaged; run `reverie reindex`")
        file.truncate(offset)
        file.seek(offset)
        file.write(data)
        file.flush()
        os.fsync(descriptor)
        return os.fstat(descriptor)


def _crc(path: Path, length: int) -> int:
    crc = 0
    with path.open("rb") as file:
        while length > 0:
            part = file.read(min(_READ, length))
            if not part:
                break
            crc = zlib.crc32(part, crc)
            length -= len(part)
    return crc


@contextmanager
def _failing(folder: Path) -> Iterator[None]:
    """Turn the errors of the file system, and of numpy where a file is short, into ours."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise IndexUnavailable(f"{folder} cannot be used: {error}") from error
