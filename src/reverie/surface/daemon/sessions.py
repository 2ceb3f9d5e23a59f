"""How many sessions of MCP each token has open.

Owns the count; promises that one token's sessions keep no other's out, and that one that has rested as long as it may
counts no longer, as it is given up then; never ends one itself (the SDK does, when it has rested, or is told to).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from reverie.surface.http.problems import Refusal


class _Session(msgspec.Struct):
    """Whose it is, how many of its requests are under way, and since when there are none, by the monotonic clock."""

    holder: str
    busy: int
    since: float


class Sessions:
    """The sessions there are, by their ids; for one event loop."""

    def __init__(self, most: int, seconds: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Let a token have so many; one is given up once it has rested for so many seconds."""
        self._most, self._seconds, self._monotonic = most, seconds, monotonic
        self._open: dict[str, _Session] = {}
        self._coming: dict[str, int] = {}

    @contextmanager
    def coming(self, holder: str) -> Iterator[Callable[[str], None]]:
        """Count one that may be opened within, and yield what counts it by its id instead, from then on.

        Raises Refusal where the token has all that it may have.
        """
        now = self._monotonic()
        gone = [name for name, one in self._open.items() if not one.busy and now - one.since >= self._seconds]
        for name in gone:
            del self._open[name]
        own = sum(one.holder == holder for one in self._open.values()) + self._coming.get(holder, 0)
        if own >= self._most:
            told = f"the token has {own} sessions open, and may have no more"
            raise Refusal("TooManySessions", told)
        self._coming[holder] = self._coming.get(holder, 0) + 1
        given: list[str] = []

        def opened(session: str) -> None:
            self._open[session] = _Session(holder, 0, self._monotonic())
            if not given:
                self._came(holder)
            given.append(session)

        try:
            yield opened
        finally:
            if not given:
                self._came(holder)

    def _came(self, holder: str) -> None:
        self._coming[holder] -= 1
        if not self._coming[holder]:
            del self._coming[holder]

    @contextmanager
    def used(self, session: str) -> Iterator[None]:
        """Have a session not rest within."""
        found = self._open.get(session)
        if found is None:
            yield
            return
        found.busy += 1
        try:
            yield
        finally:
            found.busy -= 1
            found.since = self._monotonic()

    def ended(self, session: str, holder: str) -> None:
        """Count a session of this holder's no longer."""
        found = self._open.get(session)
        if found is not None and found.holder == holder:
            del self._open[session]

    @property
    def open(self) -> int:
        """How many there are."""
        return len(self._open)
