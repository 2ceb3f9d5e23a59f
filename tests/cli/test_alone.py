"""Reverie asks nobody: no command opens a connection that was not asked for, and `init` asks its user nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reverie.surface.cli.main import load, run

if TYPE_CHECKING:
    from pathlib import Path


# A day with a memory: every command that a host, a person or a schedule calls where no model is set.
DAY = [
    ["init", "--zone", "UTC"],
    ["capture", "s1", "user", "I like green tea.", "--at", "2026-07-01T09:00:00Z"],
    ["remember", "Dana prefers calls before noon"],
    ["end", "s1"],
    ["consolidate"],
    ["dream", "--now"],
    ["recall", "when to call Dana?"],
    ["context", "tea"],
    ["publish"],
    ["lint"],
    ["status"],
    ["check"],
    ["reindex"],
    ["doctor"],
]
PROBE = """
import json, sys
asked = []

def watch(event, args):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        asked.append([event, repr(args[1:])])

sys.addaudithook(watch)
from reverie.surface.cli.main import run

codes = [run(words) for words in json.loads(sys.argv[1])]
print(json.dumps({"codes": codes, "asked": asked}), file=sys.stderr)
"""


@pytest.mark.slow
def test_no_command_connects_to_anybody(tmp_path: Path) -> None:
    """A day of every common command, with what is installed and nothing configured, opens no connection at all."""
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        (sys.executable, "-c", PROBE, json.dumps(DAY)),
        cwd=tmp_path, env=environment, check=True, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    told = json.loads(done.stderr.splitlines()[-1])
    assert told == {"codes": [0] * len(DAY), "asked": []}, done.stderr


class Nobody:
    """Standard input at which nobody sits."""

    def readline(self, *_: object) -> str:
        """Fail: somebody was asked."""
        raise AssertionError("init asked something")

    read = __iter__ = readline

    def isatty(self) -> bool:
        """Say that somebody might be asked."""
        return True


def test_init_asks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`init` makes a workspace and says what to do next without reading a word, whatever is not said."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Nobody())
    assert run(["init"]) == 0
    assert "is the memory of" in capsys.readouterr().out
    assert not any(getattr(one, "prompt", None) for one in load("init").params)
