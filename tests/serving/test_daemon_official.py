"""MCP over the daemon's HTTP under the official inspector's command line and the official conformance suite."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from daemons import Estate
from official import inspected, installed, listening, passes

from reverie.entrance import Opening
from reverie.surface.daemon.mcp import McpRoutes, lifespan_of
from reverie.surface.http.app import app
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.tokens import Tokens
from reverie.surface.mcp.table import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of both programs."""
    return installed()


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[Estate]:
    """A home with one workspace and its daemon."""
    made = Estate(tmp_path)
    made.make("agent")
    made.start("--no-schedule")
    yield made
    made.end(signal.SIGTERM)


def inspect(programs: Path, estate: Estate, *words: str) -> Any:
    """Ask the daemon by the inspector's command line, and return its answer."""
    door = ("--transport", "http", "--header", f"Authorization: Bearer {estate.token}")
    return inspected(programs, estate.told["mcp"], *door, *words)


def test_the_inspector_uses_the_daemon(programs: Path, estate: Estate) -> None:
    """By HTTP and a token the official inspector lists every tool, remembers and recalls."""
    tools = inspect(programs, estate, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    call = ("--method", "tools/call", "--tool-name")
    done = inspect(programs, estate, *call, "memory_remember", "--tool-arg", "text=User likes tea")
    found = inspect(programs, estate, *call, "memory_recall", "--tool-arg", "query=tea")
    assert found["structuredContent"]["hits"][0]["id"] == done["structuredContent"]["id"]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The daemon's application in this process, and before it what puts a token into each request, as the suite cannot.

    Nothing else of a request is changed, so the door judges hosts and origins as it always does.
    """
    estate = Estate(tmp_path)
    estate.make("agent")
    hosted = Hosted(estate.root, opening=Opening(config_dir=estate.config))
    tokens = Tokens(estate.config, estate.root)
    token = tokens.first().read_bytes().strip()
    mcp = McpRoutes(hosted)
    inner = app(hosted, tokens, more=mcp.routes, lifespan=lifespan_of(mcp))

    async def known(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + token)]}
        await inner(scope, receive, send)

    with listening(known) as address:
        yield address
    hosted.close()


def test_the_daemon_conforms(programs: Path, address: str) -> None:
    """Each scenario of the official suite that does not ask for the suite's own tools passes through the door."""
    passes(programs, address)
