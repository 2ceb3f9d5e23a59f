"""A minute of mixed traffic on one workspace: two clients, the daemon's own schedule, and commands beside it."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from daemons import Estate

from reverie import errors
from reverie.errors import ReverieError
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mcp import Client

pytestmark = pytest.mark.slow

SECONDS = 40.0
DOCUMENTED = {
    one.__name__ for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ReverieError)
}


class Traffic:
    """What everybody said and was told, until the time is up."""

    def __init__(self, estate: Estate) -> None:
        """Begin the time."""
        self.estate, self.end = estate, time.monotonic() + SECONDS
        self.entries: dict[str, str] = {}
        self.turns: set[str] = set()
        self.troubles: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.done: Counter[str] = Counter()

    @property
    def goes_on(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() < self.end

    def trouble(self, name: str, said: str) -> None:
        """Take note of an error: a documented one that may be tried again is one's own, any other is wrong."""
        kind = getattr(errors, name, None)
        if name in DOCUMENTED and kind is not None and kind.retryable:
            self.troubles[name] += 1
        else:
            self.wrong.append(f"{name}: {said}")

    def by_mcp(self) -> None:
        """Remember and find by MCP."""

        async def go(client: Client) -> None:
            step = 0
            while self.goes_on:
                step += 1
                text = f"The MCP client stored item {step} in cupboard {step % 7}"
                done = await client.call_tool("memory_remember", {"text": text, "origin": "user"})
                if done.is_error:
                    told: Any = done.meta or {}
                    name = next(
                        (one.get("class", "?") for one in told.values() if isinstance(one, dict)), "?"
                    )
                    self.trouble(name, done.content[0].text)  # type: ignore[union-attr]
                    continue
                self.entries[done.structured_content["id"]] = text
                found = await client.call_tool("memory_recall", {"query": f"item {step} MCP cupboard"})
                hits = [hit["id"] for hit in found.structured_content["hits"]] if not found.is_error else []
                if done.structured_content["id"] not in hits and not found.is_error:
                    self.wrong.append(f"the MCP client did not find its own item {step}")
                self.done["mcp"] += 1

        self.estate.talk(go, "/agent")

    def by_http(self) -> None:
        """Capture, remember and find by HTTP."""
        step = 0
        while self.goes_on:
            step += 1
            base = "/v1/workspaces/agent"
            text = f"The HTTP client moved box {step} to shelf {step % 5}"
            turn = {"session": f"http-{step % 3}", "role": "user", "content": text, "id": f"t-{step}"}
            for path, body in ((f"{base}/turns", turn), (f"{base}/entries", {"text": text})):
                status, told = self.estate.http("POST", path, body)
                if status >= 400:
                    self.trouble(told.get("class", "?"), told.get("detail", ""))
                elif path.endswith("entries"):
                    self.entries[told["id"]] = text
                else:
                    self.turns.add(text)
            status, told = self.estate.http("POST", f"{base}/recall", {"query": f"box {step} shelf"})
            if status >= 400:
                self.trouble(told.get("class", "?"), told.get("detail", ""))
            if step % 10 == 0:
                status, told = self.estate.http("POST", f"{base}/consolidate", {})
                if status >= 400:
                    self.trouble(told.get("class", "?"), told.get("detail", ""))
            self.done["http"] += 1

    def by_commands(self) -> None:
        """Remember, capture, drain and consolidate by commands, each in a process of its own."""
        step = 0
        while self.goes_on:
            step += 1
            text = f"The command line wrote note {step} on page {step % 4}"
            words = ("remember", text), ("capture", "cli", "user", text), ("drain",), ("consolidate",)
            done = self._call(*words[step % 4])
            if done is not None and step % 4 == 0:
                self.entries[done["id"]] = text
            elif done is not None and step % 4 == 1:
                self.turns.add(text)
            self.done["commands"] += 1

    def _call(self, *words: str) -> Any:
        root = str(self.estate.root / "agent")
        done: subprocess.CompletedProcess[str] = self.estate.call("--workspace", root, "--json", *words)
        told = json.loads(done.stdout)
        if done.returncode == 0:
            return told
        self.trouble(told["error"]["class"], told["error"]["message"])
        return None


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[Estate]:
    """A home with one workspace that is looked after every minute; its daemon is ended."""
    made = Estate(tmp_path)
    made.make("agent")
    (made.root / "agent" / "reverie.toml").write_text('zone = "UTC"\n[dream]\ninterval_seconds = 60\n')
    yield made
    if made.daemon is not None:
        made.end(signal.SIGKILL)


def test_a_minute_of_mixed_traffic_loses_nothing(estate: Estate) -> None:
    """Two clients, the daemon and commands write one workspace: all of it is there, and no error is undocumented."""
    estate.start()
    traffic = Traffic(estate)
    parts: list[Callable[[], None]] = [traffic.by_mcp, traffic.by_http, traffic.by_commands]
    threads = [threading.Thread(target=part) for part in parts]
    for one in threads:
        one.start()
    for one in threads:
        one.join(SECONDS + 120)
    assert not any(one.is_alive() for one in threads)
    assert estate.end() == 0
    assert traffic.wrong == []
    assert set(traffic.done) == {"mcp", "http", "commands"}
    with estate.memory("agent") as memory:
        memory.drain()
        held = {one.entry.id: one.entry.text for one in memory.list()}
        talks = memory.opened.sessions()
        said = {turn.content for name in talks for turn in sessions.read(memory.opened.ws, name)}
        assert traffic.entries.items() <= held.items()
        assert traffic.turns <= said
        assert memory.check() == ()
    print(dict(traffic.done), dict(traffic.troubles))  # noqa: T201 - how much was done, for whoever reads along
