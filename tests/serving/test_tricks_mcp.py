"""Path tricks in every argument of every tool, prompt and address of MCP, over HTTP and standard input (P-18)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from daemons import PATIENCE, Estate
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from tricks import Outside

from reverie import errors
from reverie.surface.mcp.answers import ERROR

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.slow

GOOD = {
    "origin": "user",
    "query": "tea",
    "text": "User likes tea",
    "day": "2026-07-01",
    "outcome": "declined",
}


class Trying:
    """Every text argument that a server tells of, tried with every trick."""

    def __init__(self, outside: Outside, entry: str) -> None:
        """Begin with nothing wrong; every trick in `step` is tried in an argument of a tool, each in some."""
        self.step = 1
        self.outside, self.good = outside, {**GOOD, "id": entry, "ids": [entry]}
        self.wrong: list[str] = []
        self.tried = 0

    async def all(self, client: Client) -> None:
        """Try them all, and have the server answer afterwards."""
        for tool in (await client.list_tools()).tools:
            for name, told in tool.input_schema["properties"].items():
                await self._argument(client, tool, name, kind=told.get("type"), item=told.get("items", {}))
        for prompt in (await client.list_prompts()).prompts:
            for one in prompt.arguments or ():
                for trick in self.outside.tricks:
                    await self._asked(lambda: client.get_prompt(prompt.name, {one.name: trick}), trick)  # noqa: B023
        for trick in self.outside.tricks:
            for before in (
                "",
                "file://",
                "reverie://memory/",
                "reverie://memory/notebook/",
                "reverie://memory/archive/",
            ):
                await self._asked(lambda: client.read_resource(before + trick), trick)  # noqa: B023
            await self._asked(lambda: client.call_tool(trick, {}), trick)  # noqa: B023
        found = await client.call_tool("memory_status", {})
        assert not found.is_error, found

    async def _argument(self, client: Client, tool: Any, name: str, *, kind: Any, item: Any) -> None:
        """Try one argument: as a text, and where it is a list in a list, where of objects in each of their texts."""
        wanted = {one: self.good.get(one, "x") for one in tool.input_schema.get("required", ())}
        if kind not in {"string", "array"}:
            return
        for trick in self.outside.tricks[len(tool.name + name) % self.step :: self.step]:
            values: list[Any] = [trick] if kind == "string" else [[trick]]
            if item.get("type") == "object":
                texts = [
                    key for key, told in item.get("properties", {}).items() if told.get("type") == "string"
                ]
                values = [[{**dict.fromkeys(texts, "x"), one: trick}] for one in texts]
            for value in values:
                await self._called(client, tool.name, {**wanted, name: value})

    async def _called(self, client: Client, tool: str, given: dict[str, Any]) -> None:
        self.tried += 1
        done = await client.call_tool(tool, given)
        said = done.model_dump_json()
        kind = (done.meta or {}).get(ERROR, {}).get("class", "") if done.is_error else ""
        leaked = self.outside.told(said)
        if leaked or (done.is_error and kind not in vars(errors)):
            self.wrong.append(f"{tool} {json.dumps(given)[:200]}: {kind} {leaked} {said[:300]}")

    async def _asked(self, ask: Callable[[], Awaitable[Any]], trick: str) -> None:
        """Ask for what is no tool: there an error is one of the protocol."""
        self.tried += 1
        try:
            said = (await ask()).model_dump_json()
        except MCPError as error:
            said = f"{error} {error.error.model_dump_json()}"
        if leaked := self.outside.told(said):
            self.wrong.append(f"{trick[:100]!r}: {leaked} {said[:300]}")


@pytest.fixture
def estate(estate: Estate) -> Estate:
    """A home with one workspace whose server lets the client's model dream."""
    (estate.config / "config.toml").write_text(
        "[http]\nrequests_per_minute = 0\n[mcp]\nhost_model = true\nconsolidate = false\n"
    )
    return estate


@pytest.fixture
def trying(estate: Estate) -> Trying:
    """What is tried on it."""
    entry = estate.remember("agent", "User likes tea")
    outside = Outside(
        estate.home, estate.root / "agent", (estate.root / "agent", estate.root / ".reverie", estate.config)
    )
    return Trying(outside, entry)


def test_no_argument_over_http_is_a_path(estate: Estate, trying: Trying) -> None:
    """Over streamable HTTP no argument leads outside, tells a folder or ends in an error that is not documented."""
    estate.start("--no-schedule")
    trying.step = 12
    estate.talk(trying.all, "/agent")
    assert trying.wrong == []
    assert trying.tried > 200
    assert estate.http("GET", "/healthz", token="")[0] == 200
    assert estate.end() == 0
    log = json.dumps([one for one in estate.log if one["event"] not in {"serving", "stopped"}])
    assert trying.outside.told(log) == ""
    assert trying.outside.stands() == trying.outside.before


def test_no_argument_on_standard_input_is_a_path(estate: Estate, trying: Trying) -> None:
    """With `reverie mcp` on standard input and output it is the same, and the process answers to the end."""
    command, *told = estate.command("--workspace", str(estate.root / "agent"), "mcp")
    server = StdioServerParameters(command=command, args=told, env=estate.environment)

    async def run() -> None:
        async with Client(server, read_timeout_seconds=PATIENCE) as client:
            await trying.all(client)

    anyio.run(run)
    assert trying.wrong == []
    assert trying.tried > 2_000
    assert trying.outside.stands() == trying.outside.before
