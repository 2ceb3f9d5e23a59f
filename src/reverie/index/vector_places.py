"""What the vector files hold of a row: its vector in two precisions, and what it is filtered by.

Owns the record of one place; promises that a filter allows every place whose row passes it, and, because values are
kept as hashes, a few more at most; never touches the disk.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from reverie.core.search.rows import Filter, Row
from reverie.index import documents

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from reverie.index.protocol import Floats

PLACE: Final = (
    ("num", "<i8"),
    ("scale", "<f4"),
    ("day", "<i4"),
    ("tags", "<u8"),
    ("kind", "<u4"),
    ("session", "<u4"),
    ("person", "<u4"),
    ("category", "<u4"),
    ("scope", "<u4"),
)
PLACE_BYTES: Final = 44
_LARGEST: Final = 127.0


def encoded(rows: Sequence[tuple[int, Row]], matrix: Floats) -> list[bytes]:
    """Return the bytes of the three files for these vectors."""
    import numpy as np

    largest = np.abs(matrix).max(axis=1)
    scales = np.where(largest > 0, largest / _LARGEST, 1.0).astype(np.float32)
    codes = np.rint(matrix / scales[:, None]).astype(np.int8)
    places = np.zeros(len(rows), np.dtype(list(PLACE)))
    for at, (num, row) in enumerate(rows):
        places[at] = (
            num,
            scales[at],
            documents.ordinal(row.day),
            _tag_bits(row.tags),
            *(hashed(value) for value in (row.kind, row.session, row.person, row.category, row.scope)),
        )
    return [codes.tobytes(), matrix.astype(np.float16).tobytes(), places.tobytes()]


def mask(places: npt.NDArray[np.void], where: Filter) -> npt.NDArray[np.bool_]:
    """Return which places a filter may allow; by hashes, so a few more than it does."""
    import numpy as np

    allowed = np.ones(places.size, bool)
    for name, values in where.alternatives.items():
        allowed &= np.isin(places[name], np.array([hashed(value) for value in values], np.uint32))
    if where.tags:
        bits = np.uint64(_tag_bits(where.tags))
        allowed &= (places["tags"] & bits) == bits
    if where.since:
        allowed &= places["day"] >= documents.ordinal(where.since)
    if where.until:
        allowed &= places["day"] <= documents.ordinal(where.until, documents.DAY_LAST)
    return allowed


def hashed(value: str) -> int:
    """Return what a filter value is compared by; 0 stands for none."""
    return zlib.crc32(value.encode("utf-8", "replace")) if value else 0


def _tag_bits(tags: Sequence[str]) -> int:
    bits = 0
    for tag in tags:
        bits |= 1 << (hashed(tag) & 63)
    return bits
