"""A workspace to serve, and a real client of the official SDK that asks for it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from daemons import Estate
from http_world import World, world_at
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from reverie.core.records import Draft
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_server

T = TypeVar("T")
Talk = Callable[[Client], Awaitable[T]]


@dataclass
class Place:
    """A home with one workspace, which may be served in this process or in another."""

    home: Path

    def __post_init__(self) -> None:
        """Make the workspace."""
        Memory(make_workspace(self.opening)).close()

    @property
    def root(self) -> Path:
        """The workspace's folder."""
        return self.home / "agent"

    @property
    def opening(self) -> Opening:
        """How the server opens it."""
        return Opening(path=self.root, config_dir=self.home / "config", flags={"zone": "UTC"})

    @property
    def words(self) -> list[str]:
        """The arguments of `python` that start the command line on it."""
        return ["-m", "reverie", "-w", str(self.root), "--config-dir", str(self.home / "config")]

    def memory(self) -> Memory:
        """Open it beside the server, as another process would."""
        return Memory(open_workspace(self.opening))

    def remember(self, text: str, **draft: Any) -> str:
        """Remember a text of the user's without the server, and return its id."""
        with self.memory() as memory:
            return memory.remember(text, Draft(**{"origin": "user", **draft})).id

    def talk(self, said: Talk[T], bound: Bound | None = None) -> T:
        """Connect a client to a server in this process, and return what the talk returns."""
        bound = bound or Bound(self.opening)

        async def run() -> T | MCPError:
            async with Client(make_server(bound)) as client:
                try:
                    return await said(client)
                except MCPError as error:  # raised here, the SDK would wrap it in groups
                    return error

        try:
            result = anyio.run(run)
        finally:
            bound.close()
        if isinstance(result, MCPError):
            raise result
        return result

    def use(self, tool: str, **arguments: Any) -> Any:
        """Call one tool of a server in this process, and return its result."""
        return self.talk(lambda client: client.call_tool(tool, arguments))

    def value(self, tool: str, **arguments: Any) -> Any:
        """Call one tool that has to succeed, and return its structured content."""
        result = self.use(tool, **arguments)
        assert not result.is_error, result
        return result.structured_content

    def said(self, tool: str, **arguments: Any) -> str:
        """Call one tool and return its text."""
        return self.use(tool, **arguments).content[0].text

    def talk_apart(self, said: Talk[T], *, mode: Any = "auto", more: Sequence[str] = ()) -> T:
        """Connect a client to `reverie mcp`, with `more` words, in a process of its own."""
        command = StdioServerParameters(
            command=sys.executable, args=[*self.words, "mcp", *more], env={"REVERIE_EMBEDDER": "none"}
        )

        async def run() -> T:
            async with Client(command, mode=mode, read_timeout_seconds=120) as client:
                return await said(client)

        return anyio.run(run)


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[Estate]:
    """A home with one workspace; its daemon is ended."""
    made = Estate(tmp_path)
    made.make("agent")
    yield made
    if made.daemon is not None:
        made.end(signal.SIGKILL)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A workspace to serve."""
    return Place(tmp_path)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A root served over HTTP."""
    with world_at(tmp_path) as served:
        yield served
