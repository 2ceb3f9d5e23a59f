"""Commands in a locale that knows ASCII alone: no character of what is given, stored or printed is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # a process for each

SUSHI, TEA, DOG, CITY = (
    "\u6211\u559c\u6b22\u5bff\u53f8 \U0001f363",
    "\u7528\u6237\u559c\u6b22\u8336",
    "\u72d7 \U0001f436",
    "\u5317\u4eac",
)


class Plain:
    """A home whose locale is POSIX, with Python's own ways around that switched off."""

    def __init__(self, folder: Path) -> None:
        """Make a workspace whose name and place are no ASCII."""
        self.folder, self.config = folder / "\u5de5\u4f5c \U0001f5c2", folder / "config"
        told = {name: value for name, value in os.environ.items() if name not in {"LANG", "PYTHONIOENCODING"}}
        self.environment = {**told, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        assert "is the memory of \u5de5\u4f5c" in self.run("init", str(self.folder))

    def run(self, *words: str, stdin: str = "", code: int = 0) -> str:
        """Run a command in a process of its own and return what it printed, on either stream."""
        where = ["--config-dir", str(self.config)]
        where += [] if words[0] == "init" else ["--workspace", str(self.folder)]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "reverie", *words, *where],
            input=stdin.encode(),
            capture_output=True,
            env=self.environment,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done
        return (done.stdout + done.stderr).decode()


def test_every_character_goes_in_and_comes_out(tmp_path: Path) -> None:
    """Arguments, standard input, names of files and sessions, answers and errors hold Chinese and emoji."""
    plain = Plain(tmp_path)
    plain.run("remember", SUSHI)
    plain.run("remember", "-", stdin=TEA)
    plain.run("note", DOG)
    assert DOG in plain.run("capture", DOG, "user", DOG)
    talk = tmp_path / f"{CITY} \U0001f388.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": f"I live in {CITY}"}) + "\n", encoding="utf-8")
    assert "1 turn in 1 session" in plain.run("import", str(talk))
    plain.run("consolidate")
    assert SUSHI in plain.run("recall", SUSHI[3:5])
    listed = plain.run("list", "--json")
    assert {SUSHI, TEA} <= {one["text"] for one in json.loads(listed)}
    assert CITY in plain.run("recall", CITY, "--json")
    assert TEA in plain.run("context")
    assert f"no entry has the id {DOG}" in plain.run("get", DOG, code=66)
    out = tmp_path / f"{TEA}-out"
    assert str(out) in plain.run("export", str(out))
    assert DOG in next((out / "notes").iterdir()).read_text(encoding="utf-8")
    assert "Everything holds" in plain.run("check")
