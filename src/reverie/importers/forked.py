"""Sessions that go on from another one: their transcripts begin with a copy of what was said there.

Owns telling such a copy by the ids of its turns, which the host keeps; promises that only a turn counts as one that
another session has, its words erased or not; never reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from reverie.core.records import Turn
from reverie.importers.taken import Passed

# Ids that hosts count up, or make from words, say nothing across sessions.
_UNIQUE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?::|$)")
COPY = Passed("said in the session that this one goes on from")


class Forked:
    """The turns of other sessions that one transcript repeats, found while it is read."""

    def __init__(
        self,
        begun: Mapping[str, str],
        ids_of: Callable[[str], Iterable[str]],
        *,
        sources: Iterable[str] = (),
    ) -> None:
        """Begin with the sessions by their first turn's id, what ids each has, and the sources that are known."""
        self._begun, self._ids_of = begun, ids_of
        self.sources: tuple[str, ...] = ()
        self._ids: set[str] = set()
        for name in sources:
            self._add(name)

    def copied(self, turn: Turn) -> bool:
        """Whether another session has the turn; one that is copied whole is met by its first."""
        if _UNIQUE.match(turn.id) is None:
            return False
        name = self._begun.get(turn.id)
        if name is not None and name != turn.session and name not in self.sources:
            self._add(name)
        return turn.id in self._ids

    def _add(self, name: str) -> None:
        self.sources = (*self.sources, name)
        self._ids.update(self._ids_of(name))
