"""A host whose own model may dream and read turns, served in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from dream_agent import TEAS, Standing, body, cite
from dream_world import DANA, DAY, NIGHT, log

from reverie.core.records import Turn
from reverie.core.where import Where
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.store.dreams import reviews, runs
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


DANAS = "2_Wiki/Entities/Dana.md"
PEOPLE = body("Dana", *map(cite, DANA))
HALF = dict.fromkeys((one.id for one in DANA), "cited")


def known_host(place: Place) -> Host:
    """Return a host whose model may work, and whose work a person has accepted here before."""
    made = Host(place)
    with made.memory() as memory:
        ws = memory.opened.ws
        item = reviews.propose(ws, reviews.GUEST_EXTRACTION, "extract:0", text="an earlier reading")
        reviews.settle(ws, item, accepted=True)
    return made


class Work:
    """A run under way, the store before it, and what its tools refused."""

    def __init__(self, host: Host) -> None:
        """Begin it."""
        self.host, self.before, self.run = host, host.stands(), host.begin()
        self.refused: list[str] = []

    def use(self, tool: str, **arguments: Any) -> str:
        """Use a tool, and return what it said."""
        said = self.host.value(f"memory_dream_{tool}", run=self.run, **arguments)
        self.refused += [said["text"]] if said["refused"] else []
        return str(said["text"])

    def cited(self, *ids: str, page: str = TEAS) -> None:
        """Settle entries as cited on a page."""
        self.use("settle", entries=list(ids), outcome="cited", page=page)

    def people(self) -> None:
        """Do the other half of the work as it should be done."""
        self.use("edit", path=DANAS, text=PEOPLE)
        self.cited(*(one.id for one in DANA), page=DANAS)

    def end(self, files: dict[str, str], outcomes: dict[str, str], proposed: tuple[Any, ...] = ()) -> Any:
        """End the run: these files are new or changed, these entries settled, this proposed, and nothing else."""
        done = self.host.value("memory_dream_finish", run=self.run)
        after: Standing = self.host.stands()
        assert after.since(self.before) == {f"notebook/{path}": text for path, text in files.items()}
        assert after.outcomes == outcomes
        assert after.reviews == list(proposed)
        with self.host.memory() as memory:
            ws, every = memory.opened.ws, len(memory.list(Where(include_faded=True)))
            assert sum(memory.status().pending.values()) == every - len(outcomes)
            assert runs.watermark(ws) == ("2026-07-01" if len(outcomes) == every else "")
            assert ws.disk.size(f".state/dreams/{self.run.replace(':', '-')}/steps.jsonl") is None
            assert not ws.disk.size(".state/lease.json")
        if not outcomes:
            assert after == self.before
        return done
