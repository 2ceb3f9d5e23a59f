"""Where the pages of a dream stand: in the folders that are there, and where people moved them.

Owns following a page that a person gave another name or folder; promises that a page which no run ever wrote is looked
for nowhere else, that none is followed to where a dream may not write, and that the outcomes are read only for one that
is gone; never moves a page.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cached_property

from reverie.core.dreams.rights import may_change
from reverie.core.pages.moves import moves
from reverie.store.dreams import runs
from reverie.store.dreams.staging import Staging
from reverie.store.workspace import Workspace


class Whereabouts:
    """Where pages stand in one night; `written` are those that some run wrote."""

    def __init__(
        self,
        ws: Workspace,
        staging: Staging,
        *,
        written: AbstractSet[str],
        cited_on: Callable[[str], list[tuple[str, int]]],
    ) -> None:
        """Look for nothing yet; `cited_on` returns the pages (in the workspace) and lines that cite an entry."""
        self._ws, self._staging, self._written, self._cited_on = ws, staging, written, cited_on

    def of(self, base: str) -> str:
        """Return where the page of a base stands, both without `.md`; the base itself where there is none."""
        here = self._staging.spelled(base)
        page = f"{here}.md"
        if page not in self._written or page in self._staging.paths:
            return here
        moved = self._moved(here)
        return moved if moved and may_change(f"{moved}.md") else here

    @cached_property
    def _moved(self) -> Callable[[str], str]:
        return moves(
            self._staging.paths,
            runs.standing(self._ws),
            cited_on=self._cited_on,
            notebook=self._ws.notebook,
        )
