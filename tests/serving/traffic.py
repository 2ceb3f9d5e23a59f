"""Mixed traffic on one workspace, of several clients at once, and what each of them was told.

It takes its time, and on a slow machine longer: until each of them has done what it is there for.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from daemons import PATIENCE, Estate
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from reverie import errors
from reverie.core.records import Draft
from reverie.errors import ReverieError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ALL = frozenset({"mcp", "stdio", "http", "commands", "dreams", "accepted"})
LONGEST = 180.0
LONG_AGO = datetime(2020, 1, 1, 12, tzinfo=UTC)
_A_FEW = 5
GONE = (OSError, http.client.HTTPException, httpx2.HTTPError, MCPError, anyio.ClosedResourceError)
DOCUMENTED = {
    one.__name__ for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ReverieError)
}


class Traffic:
    """What everybody said and was told, until the time is up and everything has happened that is to happen."""

    def __init__(self, estate: Estate, seconds: float, *, awaited: frozenset[str] = ALL) -> None:
        """Begin the time."""
        self.estate, self.awaited = estate, awaited
        self.end, self.latest = time.monotonic() + seconds, time.monotonic() + LONGEST
        self.entries: dict[str, str] = {}
        self.gone: set[str] = set()
        self.turns: set[str] = set()
        self.troubles: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.done: Counter[str] = Counter()
        self.under_way = threading.Event()

    @property
    def goes_on(self) -> bool:
        """Whether there is time left, or something to wait for."""
        now = time.monotonic()
        return now < self.end or (now < self.latest and not self.awaited <= self.done.keys())

    def trouble(self, name: str, said: str) -> None:
        """Take note of an error: a documented one that may be tried again is one's own, any other is wrong."""
        kind = getattr(errors, name, None)
        if name in DOCUMENTED and kind is not None and kind.retryable:
            self.troubles[name] += 1
        else:
            self.wrong.append(f"{name}: {said}")

    def again(self, part: Callable[[], None]) -> Callable[[], None]:
        """Return a part that begins anew when what it speaks to was killed: what was not answered does not count."""

        def go() -> None:
            while self.goes_on:
                try:
                    part()
                except* GONE:
                    self.done["broken off"] += 1

        return go

    def by_mcp(self) -> None:
        """Remember and find by MCP."""

        async def go(client: Client) -> None:
            step = 0
            while self.goes_on:
                step += 1
                text = f"The MCP client stored item {step} in cupboard {step % 7}"
                done = await client.call_tool("memory_remember", {"text": text, "origin": "user"})
                if done.is_error:
                    self._failed(done)
                    continue
                self.entries[done.structured_content["id"]] = text
                found = await client.call_tool("memory_recall", {"query": f"item {step} MCP cupboard"})
                hits = [hit["id"] for hit in found.structured_content["hits"]] if not found.is_error else []
                if done.structured_content["id"] not in hits and not found.is_error:
                    self.wrong.append(f"the MCP client did not find its own item {step}")
                self.done["mcp"] += 1

        self.estate.talk(go, "/agent")

    def _failed(self, done: Any) -> None:
        """Take note of the error of a tool."""
        told: Any = done.meta or {}
        name = next((one.get("class", "?") for one in told.values() if isinstance(one, dict)), "?")
        self.trouble(name, done.content[0].text)

    def by_stdio(self) -> None:
        """Remember, correct, forget and dream by a server of one's own, on standard input and output."""

        async def go(client: Client) -> None:
            async def use(tool: str, **arguments: Any) -> Any:
                done = await client.call_tool(tool, arguments)
                if done.is_error:
                    self._failed(done)
                    return None
                return done.structured_content

            step, mine = 0, list[str]()
            while self.goes_on:
                step += 1
                text = f"The second client put jar {step} into pantry {step % 3}"
                if (done := await use("memory_remember", text=text, origin="user")) is not None:
                    self.entries[done["id"]] = text
                    mine.append(done["id"])
                if step % 4 == 0 and mine:
                    new = f"The second client took jar {step} out of the pantry"
                    done = await use("memory_correct", id=mine.pop(0), text=new, why="change", origin="user")
                    if done is not None:
                        self.entries[done["id"]] = new
                if step % 6 == 0 and mine and await use("memory_forget", ids=[mine[-1]]) is not None:
                    self.gone.add(mine[-1])
                    self.entries.pop(mine.pop())
                if step % 5 == 0:
                    self._remember_long_ago(step)
                    await self._dream(use, step)
                self.done["stdio"] += 1

        words = ["--workspace", str(self.estate.root / "agent"), "mcp", "--host-model"]
        command, *told = self.estate.command(*words)
        server = StdioServerParameters(command=command, args=told, env=self.estate.environment)

        async def run() -> None:
            async with Client(server, read_timeout_seconds=PATIENCE) as client:
                await go(client)

        anyio.run(run)

    def _remember_long_ago(self, step: int) -> None:
        """Store an entry of a day that is closed, as a program in Python does, so that there is something to dream."""
        text = f"The library put book {step} on a shelf long ago"
        try:
            with self.estate.memory("agent") as memory:
                self.entries[memory.remember(text, Draft(origin="user", at=LONG_AGO)).id] = text
                self.done["long ago"] += 1
                memory.drain()
        except ReverieError as error:
            self.trouble(type(error).__name__, str(error))

    async def _dream(self, use: Callable[..., Awaitable[Any]], step: int) -> None:
        """Dream as a host's model does: begin, write a page that cites every entry, settle them, and end the run."""
        run = await use("memory_dream_start", now=True)
        if not run or not run["run"]:
            return
        place = f"3_Personal/Library {step}.md"
        known = [(one, self.entries[one]) for one in run["entries"] if one in self.entries]
        said = "".join(f"- {text} [[archive/2020-01-01#^{one}]]\n" for one, text in known)
        page = f"---\ntype: personal\ntitle: Library\n---\n\n# Library\n\n{said}"
        await use("memory_dream_read", run=run["run"], path="archive/2020-01-01.md")
        await use("memory_dream_edit", run=run["run"], path=f"notebook/{place}", text=page)
        for one, _ in known:
            settled = {"entries": [one], "outcome": "cited", "page": place}
            await use("memory_dream_settle", run=run["run"], **settled)
        if await use("memory_dream_finish", run=run["run"], give_up=step % 2 == 0) is not None:
            self.done["dreams"] += 1
        self._accept()

    def _accept(self) -> None:
        """Give a person's word on the dream that waits for it, if one does: no other begins before."""
        try:
            with self.estate.memory("agent") as memory:
                for one in memory.review():
                    memory.review(one.id, accept=True)
                    self.done["accepted"] += 1
        except ReverieError as error:
            self.trouble(type(error).__name__, str(error))

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
            if self.done["http"] > _A_FEW and self.done["mcp"]:
                self.under_way.set()

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
