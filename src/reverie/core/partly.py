"""A look at many things that goes on where one of them cannot be had.

Owns which errors end one part of a look and not the whole; promises that each of them is told, once; never hides any
other error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from reverie.errors import DamagedFile, StoreUnwritable, UnsafePath

# What stands in the way of one file: it may not be opened, it is damaged, or the medium does not give it.
UNREADABLE = (UnsafePath, DamagedFile, StoreUnwritable)

_T = TypeVar("_T")


class Partly:
    """One look; `missing` says, in words, what could not be had."""

    def __init__(self) -> None:
        """Begin with nothing missing."""
        self.missing: list[str] = []

    def get(self, part: Callable[[], _T], instead: _T) -> _T:
        """Return what a part of the look gives, or `instead` where it cannot be had."""
        try:
            return part()
        except UNREADABLE as error:
            self._miss(error)
            return instead

    def each(self, part: Callable[[], Iterable[_T]]) -> list[_T]:
        """Return what a part of the look yields, up to where something in it cannot be had."""
        found: list[_T] = []
        try:
            found.extend(part())
        except UNREADABLE as error:
            self._miss(error)
        return found

    def _miss(self, error: Exception) -> None:
        if str(error) not in self.missing:
            self.missing.append(str(error))
