"""A host whose own model may dream and read turns, served in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from dream_agent import TEAS, Standing, body, cite
from dream_world import DAY, NIGHT, log

from reverie.core.records import Turn
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.surface.mcp.bound import Bound
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from conftest import Place

PAGE = body("Preferences", *map(cite, DAY))
IDS = [one.id for one in DAY]
SECRET = "SOUL words that no guest reads"


class Host:
    """A workspace with four entries of yesterday, served to a host whose model may work, at an instant that stands."""

    def __init__(self, place: Place) -> None:
        """Let the settings allow it, and log the entries."""
        self.place, self.clock = place, FixedClock(NIGHT)
        flags = {**(place.opening.flags or {}), "mcp.host_model": "true"}
        self.opening = msgspec.structs.replace(place.opening, flags=flags, clock=self.clock)
        with self.memory() as memory:
            log(memory.opened.ws, DAY)
            (memory.root / "SOUL.md").write_text(f"# Soul\n\n{SECRET}\n", encoding="utf-8")

    def memory(self) -> Memory:
        """Open it beside the server."""
        from reverie.memory import Memory

        return Memory(open_workspace(self.opening))

    def use(self, tool: str, **arguments: Any) -> Any:
        """Call one tool, each time of a server of its own."""
        bound = Bound(self.opening)
        return self.place.talk(lambda client: client.call_tool(tool, arguments), bound)

    def value(self, tool: str, **arguments: Any) -> Any:
        """Call one tool that has to succeed, and return its value."""
        result = self.use(tool, **arguments)
        assert not result.is_error, result
        return result.structured_content

    def begin(self) -> str:
        """Begin a run."""
        return str(self.value("memory_dream_start", now=True, model="claude")["run"])

    def work(self, run: str, text: str = PAGE, ids: list[str] | None = None) -> None:
        """Write a page and settle entries as cited there."""
        self.value("memory_dream_edit", run=run, path=f"notebook/{TEAS}", text=text)
        self.value("memory_dream_settle", run=run, entries=ids or IDS, outcome="cited", page=TEAS)

    def accepted(self) -> None:
        """Let a person accept what waits."""
        with self.memory() as memory:
            for one in memory.review():
                memory.review(one.id, accept=True)

    def stands(self) -> Standing:
        """Return what stands in the store."""
        with self.memory() as memory:
            return Standing(memory.opened.ws)

    def say(self, *words: str, session: str = "s9") -> None:
        """Let a user say something that nobody reads yet."""
        with self.memory() as memory:
            for one in words:
                memory.capture(session, Turn(role="user", content=one, at=self.clock()))
