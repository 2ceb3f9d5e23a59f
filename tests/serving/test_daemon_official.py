"""MCP over the daemon's HTTP under the official inspector's command line and the official conformance suite."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from daemons import Estate

from reverie.entrance import Opening
from reverie.surface.daemon.mcp import McpRoutes, lifespan_of
from reverie.surface.http.app import app
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.tokens import Tokens
from reverie.surface.mcp.table import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NO_NPM = 3
# Those that a server of any purpose can pass; the others call tools, prompts and resources made for the suite alone.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of both programs, installed when they are not there yet."""
    done = subprocess.run([ROOT / ".ci/node"], capture_output=True, text=True, timeout=280, check=False)
    if done.returncode == NO_NPM:
        pytest.skip("npm is not installed")
    assert done.returncode == 0, done.stderr
    return ROOT / "build/node/node_modules/.bin"


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
    command = [programs / "mcp-inspector-cli", "--cli", estate.told["mcp"], "--transport", "http"]
    done = subprocess.run(
        [*command, "--header", f"Authorization: Bearer {estate.token}", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


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

    server = uvicorn.Server(uvicorn.Config(known, log_level="error", timeout_graceful_shutdown=5))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join()
    listening.close()
    hosted.close()


def test_the_daemon_conforms(programs: Path, address: str) -> None:
    """Each scenario of the official suite that does not ask for the suite's own tools passes through the door."""
    for scenario in SCENARIOS:
        done = subprocess.run(
            [programs / "conformance", "server", "--url", address, "--scenario", scenario],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (scenario, done.stdout, done.stderr)
        assert ", 0 failed" in done.stdout, (scenario, done.stdout)
