"""A set of digests that takes little room, for telling what of millions of things was met before.

Owns one table of digests of 16 bytes; promises some 30 to 60 bytes for each, a fourth of what a `set` takes; never
forgets one.
"""

from __future__ import annotations

SIZE = 16  # bytes of a digest; what two things share by accident does not happen with so many
_NONE = bytes(SIZE)
_LEAST = 8  # places of the smallest table


class Met:
    """Digests that were added, of 16 bytes that are as good as drawn."""

    __slots__ = ("_number", "_table")

    def __init__(self) -> None:
        """Begin with none."""
        self._table, self._number = bytearray(SIZE * _LEAST), 0

    def __len__(self) -> int:
        """Return how many there are."""
        return self._number

    def add(self, digest: bytes) -> bool:
        """Add a digest; return whether it was new."""
        if digest == _NONE:
            digest = _NONE[1:] + b"\1"
        place = self._place(digest)
        if self._table[place : place + SIZE] == digest:
            return False
        self._table[place : place + SIZE] = digest
        self._number += 1
        if self._number * SIZE * 2 > len(self._table):
            self._grow()
        return True

    def _place(self, digest: bytes) -> int:
        """Return the byte where the digest stands, or else the free place for it."""
        table, size = self._table, len(self._table)
        place = int.from_bytes(digest[:8], "little") * SIZE % size
        while (found := table[place : place + SIZE]) != digest and found != _NONE:
            place = (place + SIZE) % size
        return place

    def _grow(self) -> None:
        """Make the table twice as large."""
        before, self._table = self._table, bytearray(len(self._table) * 2)
        for at in range(0, len(before), SIZE):
            if (digest := bytes(before[at : at + SIZE])) != _NONE:
                place = self._place(digest)
                self._table[place : place + SIZE] = digest
