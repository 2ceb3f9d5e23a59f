"""Tests of what a command loads before it does its work, and of how it takes what it is given."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reverie import steps

if TYPE_CHECKING:
    from conftest import Shell

# What is loaded for what few commands do: terminal, network, Markdown, YAML, and the steps of the night.
_HEAVY = {"asyncio", "markdown_it", "numpy", "pydantic", "rich", "ruamel.yaml"}
_STEPS = {f"reverie.{step}" for step in steps.__all__}
_CALL = f"""
import atexit, sys
found = {_HEAVY | _STEPS | {"tantivy"}!r}
atexit.register(lambda: print(*sorted(found & set(sys.modules)), len(sys.modules), file=sys.stderr))
from reverie.surface.cli.entry import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "also", "most"),
    [
        (("capture", "s1", "user", "I like tea."), "", 470),
        (("remember", "User likes tea", "--category", "fact"), "", 470),
        (("due",), "", 470),
        (("list",), "", 470),
        (("recall", "tea"), "reverie.indexing tantivy", 500),
        (("context", "tea"), "reverie.indexing tantivy", 520),
        (("status",), "reverie.check reverie.status", 540),
    ],
)
def test_a_command_loads_what_it_needs(shell: Shell, words: tuple[str, ...], also: str, most: int) -> None:
    """What an agent runs at every turn loads no library and no step but those it takes, and few modules in all."""
    shell.ok("recall", "tea", "--set", "embedder=none")  # the first reads the pages there are into the index
    folders = ("--workspace", str(shell.folder), "--config-dir", str(shell.config))
    done = subprocess.run(
        [sys.executable, "-c", _CALL, *words, *folders, "--set", "embedder=none"],
        check=True,
        capture_output=True,
        text=True,
    )
    *loaded, number = done.stderr.split()
    assert loaded == also.split()
    assert int(number) <= most


# The forms of what may be injected, and their folders: `reverie.entrance` names them.
_PROTOCOLS = {"reverie.index", "reverie.index.embedder", "reverie.model", "reverie.model.asking"}
_GREET = """
import atexit, sys
from reverie.surface.cli.entry import main
atexit.register(lambda: print(*sorted(set(sys.modules)), file=sys.stderr))
main()
"""


@pytest.mark.slow
def test_a_client_is_greeted_before_memory_is_loaded(shell: Shell) -> None:
    """`reverie mcp` answers `initialize`, and a client that asks for no more has loaded no memory, index or model."""
    shell.ok("status")
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    folders = ("--workspace", str(shell.folder), "--config-dir", str(shell.config))
    done = subprocess.run(
        [sys.executable, "-c", _GREET, *folders, "mcp"],
        input=f"{json.dumps(hello)}\n",
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "reverie"
    loaded = set(done.stderr.split())
    assert "mcp.server.lowlevel" in loaded
    rooms = ("memory", "opening", "index", "model", "surface.http", "surface.mcp.table")
    found = {one for one in loaded if any(f"{one}.".startswith(f"reverie.{room}.") for room in rooms)}
    assert found <= _PROTOCOLS


def test_a_number_is_converted(shell: Shell) -> None:
    """A number given as text is taken as the number, and what is none is a wrong call."""
    shell("remember", "User likes tea")
    assert shell("recall", "tea", "-k", "1").code == 0
    assert shell("recall", "tea", "-k", "one").code == 64


def test_what_is_required_is_asked_for(shell: Shell) -> None:
    """A text that is required and missing is a wrong call that names it."""
    answer = shell("remember")
    assert answer.code == 64
    assert "missing argument" in answer.err


@pytest.mark.parametrize("option", ["--workspace", "--config-dir", "--agent-id", "--user"])
def test_an_empty_option_is_refused(shell: Shell, option: str) -> None:
    """A global option with an empty text, as an unset variable gives, is a wrong call and no current folder."""
    answer = shell.raw("status", option, "")
    assert answer.code == 64
    assert f"{option} is empty" in answer.err


def test_the_next_command_reaches_what_init_made(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `init` suggests names the folder or the agent that was given, so that it means what was made."""
    monkeypatch.setenv("HOME", str(shell.folder.parent))
    monkeypatch.delenv("REVERIE_WORKSPACE", raising=False)
    told, place = ("--config-dir", str(shell.config)), str(shell.folder)
    said = shell.raw(*told, "init", place, "--agent-id", "coder").out
    assert f"next: reverie -w {shlex.quote(place)} remember" in said
    assert "next: reverie --agent-id other remember" in shell.raw(*told, "init", "--agent-id", "other").out
    assert "next: reverie remember" in shell.raw(*told, "init").out
