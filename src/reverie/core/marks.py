"""A set of digests that takes little room, for telling what of millions of things was met before.

Owns one table of digests of 16 bytes; promises some 30 to 60 bytes for each, a fourth of what a `set` takes; never
forgets one.
"""

from __future__ import annotations

SIZE = 16  # bytes of a mark; what two things share by accident does not happen with so many
_NONE = bytes(SIZE)
_LEAST = 8  # places of the smallest table


class Marks:
    """Marks that were added: digests of 16 bytes, whose bytes are as good as drawn."""

    __slots__ = ("_number", "_table")

    def __init__(self) -> None:
        """Begin with none."""
        self._table, self._number = bytearray(SIZE * _LEAST), 0

    def __len__(self) -> int:
        """Return how many there are."""
        return self._number

    def add(self, mark: bytes) -> bool:
        """Add a mark; return whether it was new."""
        if mark == _NONE:
            mark = _NONE[1:] + b"\1"
        place = self._place(mark)
        if self._table[place : place + SIZE] == mark:
            return False
        self._table[place : place + SIZE] = mark
        self._number += 1
        if self._number * SIZE * 2 > len(self._table):
            self._grow()
        return True

    def _place(self, mark: bytes) -> int:
        """Return the byte where the mark stands, or else the free place for it."""
        table, size = self._table, len(self._table)
        place = int.from_bytes(mark[:8], "little") * SIZE % size
        while (found := table[place : place + SIZE]) != mark and found != _NONE:
            place = (place + SIZE) % size
        return place

    def _grow(self) -> None:
        """Make the table twice as large."""
        before, self._table = self._table, bytearray(len(self._table) * 2)
        for at in range(0, len(before), SIZE):
            if (mark := bytes(before[at : at + SIZE])) != _NONE:
                place = self._place(mark)
                self._table[place : place + SIZE] = mark
