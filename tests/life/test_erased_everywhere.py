"""One secret said through every door of a real life, then forgotten and erased: nobody gets it, no file holds it."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

import reverie
from reverie import ContextRequest, Draft, Memory, Opening, Turn, Where
from reverie.adapters.anthropic_memory import handle
from reverie.adapters.claude_code import hook
from reverie.adapters.claude_code_events import event_of
from reverie.core.text.phrases import phrase
from reverie.errors import ReverieError
from reverie.recall import Ask
from reverie.testing import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NUTS = "User is severely allergic to macadamia nuts"
SAID = "I am severely allergic to macadamia nuts"
BIKE = "User rides a green bicycle"
EVERYTHING = Where(include_hidden=True, include_previous=True, include_faded=True)
ASKED = ("macadamia nuts", "severely allergic", "green bicycle")


class Home:
    """An agent's memory, one of a person beneath it, and one of a team that it shares with."""

    def __init__(self, root: Path) -> None:
        """Make all three."""
        self.root, self.clock = root, FixedClock(datetime(2026, 7, 1, 9, tzinfo=UTC))
        (root / "config").mkdir()
        (root / "config" / "config.toml").write_text(
            f'[shared]\nteam = "{root / "team"}"\n[workspace."{root / "agent"}"]\nsubscriptions = ["team"]\n'
        )
        self.team = reverie.init(self.opening("team"))
        self.agent = reverie.init(self.opening("agent"))
        self.team.members(add=str(root / "agent"))
        self.dana = self.agent.person("Dana")

    def opening(self, name: str) -> Opening:
        """Return how to open one of them."""
        return Opening(
            path=self.root / name,
            config_dir=self.root / "config",
            environment={"HOME": str(self.root), "TZ": "UTC", "REVERIE_EMBEDDER": "none"},
            flags={"zone": "UTC"},
            clock=self.clock,
            embedder=ToyEmbedder(),
        )

    def again(self) -> None:
        """Open the agent's memory anew."""
        self.agent.close()
        self.agent = reverie.open(self.opening("agent"))

    def close(self) -> None:
        """Close all of them."""
        for memory in (self.dana, self.agent, self.team):
            memory.close()


def fire(home: Home, event: str, **more: Any) -> str:
    """Call a hook of Claude Code as its program does."""
    told = {
        "session_id": "coding", "transcript_path": str(home.root / "t.jsonl"), "cwd": "/", "hook_event_name": event,
        **more,
    }  # fmt: skip
    return hook(home.agent, event_of(event, json.dumps(told).encode()))


def lived(home: Home) -> str:
    """Say the secret by every way in, let every stage see it, and return the entry it was remembered as first."""
    agent = home.agent
    for text in (SAID + ".", "I ride a green bicycle.", "What is the weather like?"):
        agent.capture("talk", Turn(role="user", content=text, at=home.clock()))
        agent.capture("talk", Turn(role="assistant", content=f"Noted: {text}", at=home.clock()))
        home.clock.advance(minutes=1)
    entry = agent.remember(NUTS, Draft(origin="user", sig=0.9, tags=("health",), scope="team")).id
    agent.remember(BIKE, Draft(origin="user", sig=0.9, scope="team"))
    agent.remember(f"{NUTS}, so order no cake", Draft(origin="user", due="2026-07-09"))
    with suppress(ReverieError):  # what is refused is set aside
        agent.remember(NUTS, Draft(due="someday"))
    agent.note(f"{NUTS}.")
    agent.end("talk")
    agent.consolidate()
    agent.feedback(entry, "helpful", why=f"since {NUTS}")
    agent.judge(entry, 0.4, why=f"everybody knows that {NUTS}")
    agent.correct(agent.remember("User eats anything", Draft(origin="user")).id, NUTS, why="mistake")
    handled = handle(
        agent,
        {"command": "create", "path": "/memories/diet.md", "file_text": f"# Diet\n\n- {NUTS}\n- Soup."},
    )
    assert not handled.is_error
    by_frameworks(agent)
    line = {
        "type": "user", "sessionId": "coding", "uuid": "u1", "timestamp": "2026-07-01T10:00:00Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": f"{NUTS}\n"}]},
    }  # fmt: skip
    said = {**line, "uuid": "u2", "message": {"role": "user", "content": f"Remember: {SAID}."}}
    (home.root / "t.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(said)}\n")
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        fire(home, event, prompt=f"Do you know that {NUTS}?")
    (home.root / "t.jsonl").unlink()
    agent.context(ContextRequest(query="macadamia nuts", session="talk"))
    home.dana.context(ContextRequest(query="macadamia nuts allergic", session="lunch"))
    home.dana.capture("lunch", Turn(role="assistant", content=f"I know that {NUTS}.", at=home.clock()))
    agent.compact("talk", budget=200)
    agent.publish()
    text = (agent.root / "MEMORY.md").read_text()
    (agent.root / "MEMORY.md").write_text(text.replace(NUTS, f"{NUTS}, I say"))
    agent.publish()
    for _ in range(3):
        home.clock.advance(days=1)
        for memory in (agent, home.team, home.dana):
            memory.consolidate()
            memory.dream(now=True)
    run = agent.log()[0].run
    agent.undo(run)
    agent.consolidate()
    agent.dream(now=True)
    agent.lint()
    return entry


def by_frameworks(agent: Memory) -> None:
    """Say it through the frameworks that are installed."""
    if find_spec("langgraph"):
        from reverie.adapters.langgraph import ReverieStore

        store = ReverieStore(agent)
        store.put(("users", NUTS), "diet", {"notes": [NUTS, "Soup"], "deep": json.dumps({"text": [NUTS]})})
        store.put(("users",), NUTS, {"since": "May"})
    if find_spec("agents"):
        from reverie.adapters.openai_agents import ReverieSession

        call = {
            "type": "function_call",
            "call_id": "c",
            "name": "note",
            "arguments": json.dumps({"text": NUTS}),
        }
        told = {"role": "assistant", "content": [{"type": "output_text", "text": f"Noted. {NUTS}."}]}
        asyncio.run(ReverieSession("sdk", agent).add_items([{"role": "user", "content": SAID}, call, told]))


def readers(home: Home, memory: Memory) -> Iterator[str]:
    """Yield every text that anybody gets from one memory, outside of a person's own files."""
    for query in ASKED:
        for kinds in ((), ("turn",), ("page",), ("history",), ("core",)):
            found = memory.ask(Ask(query=query, k=50, kinds=kinds, where=EVERYTHING))  # type: ignore[arg-type]
            yield from (f"{hit.text} {hit.evidence} {hit.heading}" for hit in found.hits)
        yield memory.context(ContextRequest(query=query, session="talk", budget=30_000)).text
    yield from (state.entry.text + state.judged_why for state in memory.list(EVERYTHING))
    yield from (due.line for due in memory.due().lines)
    yield from (f"{item.text} {item.why}" for item in memory.review())
    for run in memory.log():
        yield str(run)
        yield memory.diff(run.run)
    for name in ("MEMORY.md", "digests/today.md", "digests/week.md", "digests/longterm.md"):
        yield (memory.root / name).read_text() if (memory.root / name).exists() else ""
    for state in memory.list():
        yield str(memory.why(state.entry.id))
        yield str(memory.history(state.entry.id))
    if memory is home.agent:
        yield fire(home, "SessionStart")
        yield fire(home, "UserPromptSubmit", prompt="macadamia nuts?")
        yield handle(memory, {"command": "view", "path": "/memories/diet.md"}).text
        yield from of_frameworks(memory)


def of_frameworks(agent: Memory) -> Iterator[str]:
    """Yield what the frameworks get."""
    if find_spec("langgraph"):
        from reverie.adapters.langgraph import ReverieStore

        store = ReverieStore(agent)
        yield from (str(item.dict()) for item in store.search((), limit=50))
        yield str(store.list_namespaces())
    if find_spec("agents"):
        from reverie.adapters.openai_agents import ReverieSession

        yield from map(str, asyncio.run(ReverieSession("sdk", agent).get_items()))


def says(text: str) -> bool:
    """Whether a text says the secret, in whatever spelling."""
    return "macadamia" in " ".join(phrase(text.replace("\\n", " ")))


def holders(root: Path) -> list[str]:
    """Return the files that hold the telling word: in their names, bytes, streams, objects or tables."""
    found = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file():
            continue
        data = path.read_bytes()
        readings = [name.encode(), data]
        for unpack in (gzip.decompress, zlib.decompress):
            with suppress(OSError, zlib.error, EOFError):
                readings.append(unpack(data))
        if data.startswith(b"SQLite format 3"):
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                readings.append("\n".join(db.iterdump()).encode())
            db.close()
        if any(b"macadamia" in one.lower() for one in readings):
            found.append(name)
    return found


@pytest.mark.slow
def test_what_is_forgotten_and_erased_is_nowhere(tmp_path: Path) -> None:
    """After a forget no reader of agent, person or team gets the words; after an erase no file or object holds them."""
    home = Home(tmp_path)
    try:
        entry = lived(home)
        agent = home.agent
        assert sum(map(says, readers(home, agent))) > 20
        agent.export(tmp_path / "export")
        before = agent.log()[-1].ended
        similar = agent.forget([entry]).similar
        agent.forget(similar)
        told = [text for memory in (agent, home.team) for text in readers(home, memory) if says(text)]
        assert not told, told[:3]
        assert "green bicycle" in "".join(readers(home, agent))
        done = agent.erase([entry, *similar])
        assert not done.leftovers
        home.again()
        home.agent.consolidate()
        assert not holders(tmp_path / "agent")
        assert not holders(tmp_path / "team")
        with suppress(ReverieError):
            home.agent.restore(before.isoformat())
        home.agent.reindex()
        told = [
            text
            for memory in (home.agent, home.team, home.dana)
            for text in readers(home, memory)
            if says(text)
        ]
        assert not told, told[:3]
        assert not holders(tmp_path / "agent")
        assert any("green bicycle" in text for text in readers(home, home.agent))
    finally:
        home.close()
