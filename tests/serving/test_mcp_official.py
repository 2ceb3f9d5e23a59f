"""The MCP server under the official inspector's command line and the official conformance suite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from official import inspected, installed, listening, passes

from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_app
from reverie.surface.mcp.table import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Place

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of both programs."""
    return installed()


@pytest.fixture
def address(place: Place) -> Iterator[str]:
    """The address of the server over HTTP, in this process."""
    bound = Bound(place.opening)
    with listening(make_app(bound)) as address:
        yield address
    bound.close()


def inspect(programs: Path, place: Place, *words: str) -> Any:
    """Ask a server of its own by the inspector's command line, and return its answer."""
    return inspected(programs, sys.executable, *place.words, "mcp", *words)


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
    passes(programs, address)
