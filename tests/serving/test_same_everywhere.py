"""One table of cases, run through Python, the command line, MCP and HTTP: the same results, the same errors."""

from __future__ import annotations

import errno
import inspect
import io
import json
import re
import shutil
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import pytest
import same_care
import same_cases
import same_errors
from dream_world import entry, log
from mcp import Client
from refusing import provider
from same_care import CARE
from same_cases import CASES, FLAGS, Case, Ready
from same_errors import ERRORS, OUTSIDE
from starlette.testclient import TestClient

from reverie import errors
from reverie.core.records import Draft, Turn
from reverie.entrance import Opening
from reverie.errors import ReverieError
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.recall import Ask
from reverie.store.filesystem.syscalls import Syscalls
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import run
from reverie.surface.http.app import app
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.table import OPERATIONS
from reverie.surface.http.tokens import Tokens
from reverie.surface.mcp.answers import ERROR
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_server
from reverie.surface.mcp.table import ON_DEMAND, TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reverie.surface.http.operations import Operation

EVERY = (*CASES, *CARE, *ERRORS, *OUTSIDE)
PAST = [
    entry(3, "Bo moved to another house", category="event", day="2020-01-01"),
    entry(1, "User works at Google", day="2020-01-01"),
    entry(0xAAAA << 48, "Bo is tall", day="2020-01-01"),
]
LATER = [entry((0xAAAA << 48) + 1, "Bo likes figs", day="2020-01-02")]

# What has no row in the table, each with the reason.
NO_COMMAND = {
    **dict.fromkeys(
        ("mcp", "serve", "hook", "install", "uninstall", "token", "completion", "doctor", "demo"), "no verb"
    ),
    "init": "it makes what the others need",
    "trust": "as above",
    "export": "over HTTP a stream; test_http_moving holds both against each other",
}
NO_VERB = {
    "close": "every case does it",
    "export": "as the command",
    "forgotten": "`get` of what is forgotten asks it",
}
NO_OPERATION = {"files": "files are resources over MCP, and open to whoever has a shell", "file": "as above",
                "settings": "a person edits reverie.toml", "set": "as above"}  # fmt: skip
NO_TOOL = {"search": "it is memory_recall for clients that know only this name", "fetch": "as above"}


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """One workspace for all cases, of which each surface gets a copy."""
    home = tmp_path_factory.mktemp("same")
    (home / "talk.jsonl").write_text('{"role": "user", "content": "I like bees."}\n{"role": "nobody"}\n')
    opening = Opening(path=home / "root" / "ready", config_dir=home / "config", flags=FLAGS)
    with Memory(make_workspace(opening)) as memory:
        log(memory.opened.ws, PAST)
        run = memory.dream(now=True).run
        log(memory.opened.ws, LATER)
        draft = Draft(category="preference", tags=("drink",), origin="user", key="k")
        tea = memory.remember("User likes tea", draft).id
        memory.remember(
            "Dana prefers calls before noon", Draft(category="preference", about="Dana", origin="user")
        )
        quote = memory.remember("Send Dana the quote", Draft(due="2030-07-10", origin="user")).id
        hidden = memory.remember("An old draft", Draft(tags=("draft",), origin="user")).id
        gone = memory.remember("The cellar is damp", Draft(origin="user")).id
        now = memory.opened.ws.clock()
        memory.capture("s1", Turn(role="user", content="I moved to Lisbon in May.", at=now))
        memory.capture("s1", Turn(role="assistant", content="Noted, you live in Lisbon.", at=now))
        memory.drain()
        memory.hide([hidden])
        memory.forget([gone])
        memory.exclude("walnuts")
        memory.pin(tea)
        with memory.person("Dana") as own:
            own.remember("Prefers the train", Draft(origin="user"))
        memory.publish()
        page = memory.root / "MEMORY.md"
        page.write_text(
            page.read_text(encoding="utf-8").replace("# Memory\n", "# Memory\n\nMine.\n", 1), encoding="utf-8"
        )
        memory.publish()
        memory.remember("The office is in Alfama", Draft(origin="user"))
        (turn, *_) = memory.ask(Ask(query="Lisbon", kinds=("turn",))).hits
        (item, *_) = memory.review()
        event = memory.history(tea)[-1].id
    return Ready(home, tea, quote, hidden, gone, event, turn.id, run, item.id)


def config_of(case: Case, ready: Ready) -> Path:
    """Return the user's configuration: one in which nothing is trusted where a case wants that."""
    return ready.home / ("another" if case.stranger else "config")


def by_python(case: Case, ready: Ready, flags: dict[str, str]) -> tuple[Any, Any]:
    """Return what the verb returns as JSON, or its error."""
    opening = Opening(path=ready.copied("python", case), config_dir=config_of(case, ready), flags=flags)
    try:
        with Memory(open_workspace(opening)) as memory:
            found = case.python(memory, ready)
    except ReverieError as error:
        return None, (type(error).__name__, error.exit_code, error.retryable)
    return msgspec.to_builtins(found, enc_hook=str, str_keys=True), None


def by_words(
    case: Case, ready: Ready, flags: dict[str, str], *, capsys: pytest.CaptureFixture[str]
) -> tuple[Any, Any]:
    """Return what the command prints with `--json`, or its error."""
    told = ["-w", str(ready.copied("words", case)), "--config-dir", str(config_of(case, ready)), "--json"]
    settings = [word for name, value in flags.items() for word in ("--set", f"{name}={value}")]
    capsys.readouterr()
    code = run([*told, *settings, *case.words(ready)])
    value = json.loads(capsys.readouterr().out)
    if isinstance(value, dict) and "error" in value:
        error = value["error"]
        assert error["exit_code"] == code
        return None, (error["class"], error["exit_code"], error["retryable"])
    return value, None


def by_tool(case: Case, ready: Ready, flags: dict[str, str]) -> tuple[Any, Any]:
    """Return what the tool returns as structured content, or its error."""
    assert case.tool is not None
    tool, arguments = case.tool(ready)
    bound = Bound(Opening(path=ready.copied("tool", case), config_dir=config_of(case, ready), flags=flags))

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


def by_http(case: Case, ready: Ready, flags: dict[str, str]) -> tuple[Any, Any]:
    """Return what the server answers as JSON, or its problem."""
    ready.copied("http", case)
    hosted = Hosted(ready.home / "root", opening=Opening(config_dir=config_of(case, ready), flags=flags))
    tokens = Tokens(config_of(case, ready), ready.home / "root")
    headers = {"authorization": f"Bearer {tokens.first().read_text().strip()}"}
    client = TestClient(app(hosted, tokens), base_url="http://localhost", headers=headers)
    method, path, body = case.http(ready)
    try:
        response = client.request(
            method,
            f"/v1/workspaces/http{path}",
            **({} if body is None else {"content": body} if isinstance(body, bytes) else {"json": body}),
        )
    finally:
        hosted.close()
    value = response.json()
    if response.status_code != 200:
        assert value["status"] == response.status_code == getattr(errors, value["class"]).http_status
        return None, (value["class"], value["exit_code"], value["retryable"])
    return value, None


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    """The address of a provider that refuses everything."""
    with provider() as url:
        yield url


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_the_same_everywhere(
    case: Case,
    ready: Ready,
    *,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    refusing: str,
) -> None:
    """A case gives the same result, or the same error, by every surface that offers it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    raised = heard(monkeypatch, case.told) if case.told else []
    surfaces: dict[str, Callable[..., tuple[Any, Any]]] = {
        "python": by_python,
        "words": partial(by_words, capsys=capsys),
        "http": by_http,
    }
    surfaces |= {"tool": by_tool} if case.tool else {}
    found: dict[str, Any] = {}
    for name, ask in surfaces.items():
        try:
            with filled(monkeypatch) if case.full else nullcontext():
                value, error = ask(case, ready, case.flags(refusing))
        finally:
            shutil.rmtree(ready.home / "root" / name, ignore_errors=True)
        assert bool(raised) == bool(case.told), f"{case.name} by {name}"
        raised.clear()
        found[name] = ("failed", error) if error else ("did", case.seen(value))
    expected = json.loads(json.dumps(found["python"]))
    if case.error:
        assert expected[1][0] == case.error
    for name, one in found.items():
        assert json.loads(json.dumps(one)) == expected, f"{case.name} differs by {name}"


def heard(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """Return what is said from now on by each error of that name that is made."""
    kind, said = getattr(errors, name), list[str]()
    make = kind.__init__

    def told(error: ReverieError, message: str, **given: Any) -> None:
        said.append(message)
        make(error, message, **given)

    monkeypatch.setattr(kind, "__init__", told)
    return said


@contextmanager
def filled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing more be written into any workspace for a while."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Syscalls, "write", full)
        yield


def test_every_error_has_a_case() -> None:
    """Each error of the tree is what a case ends with, or what is told in its answer."""
    there = {
        one.__name__
        for one in vars(errors).values()
        if isinstance(one, type) and issubclass(one, ReverieError)
    }
    assert there - {"ReverieError"} == {case.error or case.told for case in EVERY} - {""}


def test_every_verb_has_a_case(ready: Ready) -> None:
    """Each verb of Memory, each command, each operation and each tool stands in the table, or apart with the reason."""
    source = "".join(inspect.getsource(one) for one in (same_cases, same_care, same_errors))
    verbs = {name for name in dir(Memory) if not name.startswith("_") and callable(getattr(Memory, name))}
    assert verbs - set(re.findall(r"memory\.(\w+)\(", source)) - {"ask", "extract_start"} == set(NO_VERB)
    called = {case.words(ready)[0] for case in EVERY}
    assert {one.name for one in COMMANDS} - called == set(NO_COMMAND)
    asked = [case.http(ready)[:2] for case in EVERY]
    missing = {one.id for one in OPERATIONS if not any(_asks(one, method, path) for method, path in asked)}
    assert missing == set(NO_OPERATION)
    used = {case.tool(ready)[0] for case in EVERY if case.tool}
    assert {tool.name for tool in (*TOOLS, *ON_DEMAND)} - used == set(NO_TOOL)


def _asks(one: Operation, method: str, path: str) -> bool:
    form = re.sub(r"{\w+(:path)?}", lambda found: ".+" if found[1] else "[^/]+", one.path)
    return one.method == method.lower() and re.fullmatch(form, path.partition("?")[0]) is not None
