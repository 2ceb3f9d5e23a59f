"""A run that a host drives, as this process left it: between two calls its tools need not do again what was done.

Owns the one run that was driven here last; promises that a call begins where the steps on disk end, whoever wrote
them: what is kept holds only while their file is the one this process left, and is done anew from it otherwise; that
each call looks at the files as they are then, but for pages the run has written; never writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reverie.core.dreams.batch import Part
from reverie.store.dreams import dreaming
from reverie.store.dreams.dream_tools import RUN_READ, GuestTools, Seek
from reverie.store.dreams.dream_views import Veil
from reverie.store.dreams.staging import Staging
from reverie.store.workspace import Workspace


class DrivenTools(GuestTools):
    """The tools of one run, over several calls."""

    def go_on(self, batch: Sequence[Part], *, veil: Veil, known: Callable[[str], bool], seek: Seek) -> None:
        """Begin another call, with what lies around the run as it is now and no deeds yet."""
        self._parts = {part.key: part for part in batch}
        self._veil, self._known, self._seek = veil, known, seek
        self._staging.look_again(but=self._over)
        self._left, self.deeds = RUN_READ, []


class Driven:
    """The run driven last over one open workspace, from one thread at a time."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: tuple[str, dreaming.Mark, dreaming.Begun, DrivenTools] | None = None

    def take(self, ws: Workspace, run: str) -> tuple[dreaming.Begun, DrivenTools]:
        """Return how a run began, and its tools as its steps on disk left them, to `go_on`; raises Conflict.

        They are kept no longer: what a call that fails half-way did, the next one does not find.
        """
        kept, self._kept = self._kept, None
        if kept is not None and kept[:2] == (run, dreaming.mark(ws, run)):
            return kept[2:]
        begun, deeds = dreaming.load(ws, run)
        tools = DrivenTools(ws, Staging(ws), (), veil=Veil(), known=lambda _: False)
        for deed in deeds:
            tools.redo(deed)
        return begun, tools

    def keep(self, ws: Workspace, begun: dreaming.Begun, tools: DrivenTools) -> None:
        """Keep the tools of a run all of whose deeds are on disk; the dream lock is held."""
        mark = dreaming.mark(ws, begun.run)
        self._kept = None if mark is None else (begun.run, mark, begun, tools)

    def drop(self) -> None:
        """Let go of the run: it is to be ended."""
        self._kept = None
