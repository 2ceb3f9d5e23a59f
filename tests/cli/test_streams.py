"""Commands whose standard streams are closed, full, or read by nobody: what is asked is done, and told in one line."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Shell

pytestmark = pytest.mark.slow  # a process for each

FULL = Path("/dev/full")
TELLING = [
    ("--version",),
    ("--help",),
    ("recall", "--help"),
    ("remember", "User likes cocoa"),
    ("capture", "s1", "user", "I like cocoa."),
    ("list",),
    ("status", "--json"),
    ("consolidate",),
]
EVENT = json.dumps({"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"})


def run(shell: Shell, words: tuple[str, ...], how: str) -> tuple[int, str, str]:
    """Run a command in a shell that arranges its streams as `how` says, and return its code and what it printed."""
    told = ("--workspace", str(shell.folder), "--config-dir", str(shell.config))
    alone = words[0].startswith("-")
    options = () if alone else told
    line = shlex.join([sys.executable, "-P", "-m", "reverie", *words, *options])
    script = f"exec {line} {how}" if "|" not in how else f"{line} {how}"
    done = subprocess.run(
        ["bash", "-c", script], input=EVENT, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def made(shell: Shell) -> Shell:
    """A workspace with something to tell."""
    shell.ok("remember", "User likes tea")
    shell.ok("drain")
    return shell


@pytest.mark.parametrize("words", TELLING, ids=" ".join)
def test_a_closed_output_ends_no_command(made: Shell, words: tuple[str, ...]) -> None:
    """With standard output closed a command does what it is asked, says nothing, and ends well."""
    assert run(made, words, ">&-") == (0, "", "")
    texts = [one["text"] for one in made.json("list")]
    assert ("User likes cocoa" in texts) == (words[0] == "remember")


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("words", TELLING, ids=" ".join)
def test_a_full_output_is_told_in_one_line(made: Shell, words: tuple[str, ...]) -> None:
    """An answer that finds no room is one line on standard error and exit code 1; what was asked is done."""
    code, _, err = run(made, words, f"> {FULL}")
    assert code == 1
    assert err.count("\n") == 1
    assert "the answer cannot be written (No space left on device)" in err
    texts = [one["text"] for one in made.json("list")]
    assert ("User likes cocoa" in texts) == (words[0] == "remember")


@pytest.mark.parametrize("how", ["2>&-", "<&-", "<&- >&- 2>&-", f"2> {FULL}"])
def test_no_stream_is_needed_to_store(made: Shell, how: str) -> None:
    """A text is stored whichever streams are closed, and no file of the memory holds what was meant for a stream."""
    assert run(made, ("remember", "User likes cocoa"), how)[0] == 0
    assert run(made, ("get", "ffff"), how)[0] == 66
    assert "User likes cocoa" in [one["text"] for one in made.json("list")]
    assert [one for one in made.json("check") if one["severity"] == "error"] == []
    assert not any(
        b"has the id ffff" in one.read_bytes()
        for one in made.folder.rglob("*")
        if one.is_file() and ".index" not in str(one)
    )


def test_a_text_on_a_closed_input_is_empty(made: Shell) -> None:
    """Where standard input is closed, a text that is to be read from it is empty: refused in one line."""
    code, _, err = run(made, ("remember", "-"), "<&-")
    assert code == 65
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("list",), ("--help",), ("status", "--json")], ids=" ".join)
def test_a_reader_that_leaves_ends_a_command_quietly(made: Shell, words: tuple[str, ...]) -> None:
    """A reader that has gone ends a command without a word, as it ends others."""
    code, _, err = run(made, words, "| true; exit ${PIPESTATUS[0]}")
    assert code in {0, 141}  # it may have written everything before the reader left
    assert err == ""


@pytest.mark.parametrize(
    "how", [">&-", "| true; exit ${PIPESTATUS[0]}", f"> {FULL}", "< /proc/self/mem", "<&- 2>&- >&-"]
)
@pytest.mark.parametrize("event", ["SessionStart", "Stop"])
def test_a_hook_ends_well_whatever_its_streams(made: Shell, event: str, how: str) -> None:
    """A coding agent's hook exits 0 without a traceback, whatever became of its streams."""
    code, _, err = run(made, ("hook", event), how)
    assert code == 0
    assert "Traceback" not in err
    assert "ignored" not in err
