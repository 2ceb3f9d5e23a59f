"""A command line to call in this process, with a workspace, a configuration and standard input of its own."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from reverie.surface.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Answer:
    """What a command answered: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value on standard output."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


@dataclass
class Shell:
    """Calls commands on one workspace, made when first used."""

    folder: Path
    config: Path
    capsys: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def raw(self, *words: str, stdin: bytes = b"") -> Answer:
        """Call the command line as it is."""
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capsys.readouterr()
        code = run(words)
        out, err = self.capsys.readouterr()
        return Answer(code, out, err)

    def __call__(self, *words: str, stdin: bytes = b"") -> Answer:
        """Call a command on the workspace."""
        if not self.folder.exists():
            assert (
                self.raw("init", str(self.folder), "--zone", "UTC", "--config-dir", str(self.config)).code
                == 0
            )
        told = ("--workspace", str(self.folder), "--config-dir", str(self.config))
        return self.raw(*told, *words, stdin=stdin)

    def ok(self, *words: str, stdin: bytes = b"") -> Answer:
        """Call a command on the workspace that has to succeed."""
        answer = self(*words, stdin=stdin)
        assert answer.code == 0, answer
        return answer

    def json(self, *words: str, stdin: bytes = b"") -> Any:
        """Call a command on the workspace that has to succeed, and return its JSON value."""
        return self.ok(*words, "--json", stdin=stdin).value


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A command line of its own."""
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path / "memory", tmp_path / "config", capsys, monkeypatch)
