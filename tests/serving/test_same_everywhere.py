"""One table of cases, run through Python, the command line, MCP and HTTP: the same results, the same errors."""

from __future__ import annotations

import io
import json
import shutil
import sys
from typing import Any

import anyio
import msgspec
import pytest
from mcp import Client
from same_cases import CASES, Case, Ready
from starlette.testclient import TestClient

from reverie.core.records import Draft, Turn
from reverie.entrance import Opening
from reverie.errors import ReverieError
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.surface.cli.main import run
from reverie.surface.http.app import app
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.tokens import Tokens
from reverie.surface.mcp.answers import ERROR
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_server

FLAGS = {"zone": "UTC", "embedder": "none"}


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """One workspace for all cases, of which each surface gets a copy."""
    home = tmp_path_factory.mktemp("same")
    opening = Opening(path=home / "root" / "ready", config_dir=home / "config", flags=FLAGS)
    with Memory(make_workspace(opening)) as memory:
        tea = memory.remember(
            "User likes tea", Draft(category="preference", tags=("drink",), origin="user", key="k")
        ).id
        memory.remember(
            "Dana prefers calls before noon", Draft(category="preference", about="Dana", origin="user")
        )
        quote = memory.remember("Send Dana the quote", Draft(due="2030-07-10", origin="user")).id
        hidden = memory.remember("An old draft", Draft(tags=("draft",), origin="user")).id
        now = memory.opened.ws.clock()
        memory.capture("s1", Turn(role="user", content="I moved to Lisbon in May.", at=now))
        memory.capture("s1", Turn(role="assistant", content="Noted, you live in Lisbon.", at=now))
        memory.drain()
        memory.hide([hidden])
        memory.remember("The office is in Alfama", Draft(origin="user"))
    return Ready(home, tea, quote, hidden)


def by_python(case: Case, ready: Ready) -> tuple[Any, Any]:
    """Return what the verb returns as JSON, or its error."""
    opening = Opening(path=ready.copied("python"), config_dir=ready.home / "config", flags=FLAGS)
    try:
        with Memory(open_workspace(opening)) as memory:
            found = case.python(memory, ready)
    except ReverieError as error:
        return None, (type(error).__name__, error.exit_code, error.retryable)
    return msgspec.to_builtins(found, enc_hook=str, str_keys=True), None


def by_words(case: Case, ready: Ready, capsys: pytest.CaptureFixture[str]) -> tuple[Any, Any]:
    """Return what the command prints with `--json`, or its error."""
    told = ["-w", str(ready.copied("words")), "--config-dir", str(ready.home / "config"), "--json"]
    flags = [word for name, value in FLAGS.items() for word in ("--set", f"{name}={value}")]
    capsys.readouterr()
    code = run([*told, *flags, *case.words(ready)])
    value = json.loads(capsys.readouterr().out)
    if isinstance(value, dict) and "error" in value:
        error = value["error"]
        assert error["exit_code"] == code
        return None, (error["class"], error["exit_code"], error["retryable"])
    return value, None


def by_tool(case: Case, ready: Ready) -> tuple[Any, Any]:
    """Return what the tool returns as structured content, or its error."""
    assert case.tool is not None
    tool, arguments = case.tool(ready)
    bound = Bound(Opening(path=ready.copied("tool"), config_dir=ready.home / "config", flags=FLAGS))

    async def asked() -> Any:
        async with Client(make_server(bound)) as client:
            return await client.call_tool(tool, dict(arguments))

    try:
        result = anyio.run(asked)
    finally:
        bound.close()
    if result.is_error:
        error = result.meta[ERROR]
        return None, (error["class"], error["exit_code"], error["retryable"])
    return result.structured_content, None


def by_http(case: Case, ready: Ready) -> tuple[Any, Any]:
    """Return what the server answers as JSON, or its problem."""
    ready.copied("http")
    hosted = Hosted(ready.home / "root", opening=Opening(config_dir=ready.home / "config", flags=FLAGS))
    tokens = Tokens(ready.home / "config", ready.home / "root")
    headers = {"authorization": f"Bearer {tokens.first().read_text().strip()}"}
    client = TestClient(app(hosted, tokens), base_url="http://localhost", headers=headers)
    method, path, body = case.http(ready)
    try:
        response = client.request(
            method, f"/v1/workspaces/http{path}", **({} if body is None else {"json": body})
        )
    finally:
        hosted.close()
    value = response.json()
    if response.status_code != 200:
        assert value["status"] == response.status_code
        return None, (value["class"], value["exit_code"], value["retryable"])
    return value, None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_everywhere(
    case: Case, ready: Ready, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case gives the same result, or the same error, by every surface that offers it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    surfaces = {
        "python": by_python,
        "words": lambda case, ready: by_words(case, ready, capsys),
        "http": by_http,
    }
    surfaces |= {"tool": by_tool} if case.tool else {}
    found: dict[str, Any] = {}
    for name, ask in surfaces.items():
        value, error = ask(case, ready)
        found[name] = ("failed", error) if error else ("did", case.seen(value))
        shutil.rmtree(ready.home / "root" / name)
    expected = json.loads(json.dumps(found["python"]))
    for name, one in found.items():
        assert json.loads(json.dumps(one)) == expected, f"{case.name} differs by {name}"
