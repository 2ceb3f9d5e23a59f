"""The MCP server under the official inspector's command line and the official conformance suite."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn

from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_app
from reverie.surface.mcp.table import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Place

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
def address(place: Place) -> Iterator[str]:
    """The address of the server over HTTP, in this process."""
    bound = Bound(place.opening)
    server = uvicorn.Server(uvicorn.Config(make_app(bound), log_level="error"))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join()
    listening.close()
    bound.close()


def inspect(programs: Path, place: Place, *words: str) -> dict[str, object]:
    """Ask a server of its own by the inspector's command line, and return its answer."""
    done = subprocess.run(
        [programs / "mcp-inspector-cli", "--cli", sys.executable, *place.words, "mcp", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_sees_what_is_offered(programs: Path, place: Place) -> None:
    """The official inspector lists every tool, resource, template and prompt."""
    tools = inspect(programs, place, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    assert inspect(programs, place, "--method", "resources/list")["resources"]
    assert len(inspect(programs, place, "--method", "resources/templates/list")["resourceTemplates"]) == 2
    assert len(inspect(programs, place, "--method", "prompts/list")["prompts"]) == 2


def test_the_inspector_calls_tools(programs: Path, place: Place) -> None:
    """The official inspector remembers and recalls, and holds each answer against its schema."""
    call = ("--method", "tools/call", "--tool-name")
    told = ("--tool-arg", "text=User likes tea", "--tool-arg", "significance=0.7")
    done = inspect(programs, place, *call, "memory_remember", *told)
    found = inspect(
        programs, place, *call, "memory_recall", "--tool-arg", "query=tea", "--tool-arg", "limit=3"
    )
    hit = found["structuredContent"]["hits"][0]
    assert (hit["id"], hit["text"]) == (done["structuredContent"]["id"], "User likes tea")
    failed = inspect(programs, place, *call, "memory_get", "--tool-arg", "id=ffff")
    assert failed["isError"]


def test_the_server_conforms(programs: Path, address: str) -> None:
    """Over HTTP the server passes each scenario of the official suite that does not ask for the suite's own tools."""
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
