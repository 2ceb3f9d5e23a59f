"""What reaches a real terminal, by every command, from a workspace in which everything is hostile."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import sys
import termios
import threading
import tty
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import COMPLETE, run
from reverie.surface.render import clean

if TYPE_CHECKING:
    from pathlib import Path

# Each would act on a terminal or hide: colours and a blink, a title, a link, the clipboard, C1, erasing backwards, the
# beginning of the line, the other reading direction, nothing visible, invisible tags.
BAD = (
    "\x1b[5;41mred\x1b]0;owned\x07\x1b]8;;x:\x1b\\y\x1b]52;c;ZQ==\x07\x9b2J\x9d0;c1\x9c\x08\x08\rover"
    "\u202egnp\u202c\u2066\u200b\ufeff\U000e0041"
)
NAMED = BAD.replace("\r", "")  # as a file may be called
OURS = re.compile(r"\x1b\[(?:0|1|2|3|22|[39][0-7]|39)(?:;(?:1|2|[39][0-7]))*m")
BAR = re.compile(r"\x1b\[\?25[lh]|\x1b\[\d*[AKG]|\x1b\[(?:38;5;\d+|\d+)(?:;38;5;\d+)*m|\r")

LENT = ("--set", "mcp.host_model=true")

# What has no terminal to write to, or is held elsewhere, each with the reason.
APART = {
    "mcp": "its output is JSON-RPC alone: tests/serving/test_mcp_apart.py",
    "serve": "its log is JSON alone: tests/serving/test_tricks_http.py",
    "demo": "it shows its own sample alone",
    "reindex": "it shows counts alone, and bars of counts",
}


@dataclass
class Screen:
    """A terminal, and the command line on it."""

    home: Path
    patch: pytest.MonkeyPatch

    @property
    def folder(self) -> Path:
        """The workspace, which is called as badly as all in it."""
        return self.home / f"work{NAMED}"

    def __call__(self, *words: str, stdin: bytes = b"") -> tuple[str, str]:
        """Run a command, and return what reached the terminal on standard output and on standard error."""
        told = ("--workspace", str(self.folder), "--config-dir", str(self.home / "config"))
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with self.patch.context() as patch:
            shown = [_Pane(), _Pane()]
            patch.setattr(sys, "stdout", shown[0].stream)
            patch.setattr(sys, "stderr", shown[1].stream)
            self.code = run([*words, *told] if "--" not in words else [*told, *words])
            return shown[0].end(), shown[1].end()

    def json(self, *words: str) -> object:
        """Run a command that has to succeed, and return its value."""
        out, err = self(*words, "--json")
        assert self.code == 0, (words, out, err)
        return json.loads(out)


class _Pane:
    """One pseudo-terminal: a stream to write to, and what came out at the other side."""

    def __init__(self) -> None:
        self.master, slave = pty.openpty()
        tty.setraw(slave, termios.TCSANOW)
        self.stream = os.fdopen(slave, "w", encoding="utf-8", newline="")
        self.seen = bytearray()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self.master, 65_536)
            except OSError:  # the other side was closed
                return
            if not data:
                return
            self.seen += data

    def end(self) -> str:
        self.stream.close()
        self.reader.join()
        os.close(self.master)
        return self.seen.decode("utf-8")


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal, and a workspace in which every text and name is hostile."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made = Screen(tmp_path, monkeypatch)
    made("init", "--zone", "UTC")
    for words in (
        ("remember", f"User likes tea {BAD}", "--about", BAD, "--who", BAD, "--tag", BAD),
        ("remember", f"Send the quote {BAD}", "--due", "2126-08-01"),
        ("remember", f"For a person {BAD}", "--user", BAD),
        ("capture", f"s{BAD}", "user", f"I moved to Lisbon {BAD}"),
        ("capture", f"s{BAD}", "assistant", f"Noted {BAD}"),
        ("note", f"A note {BAD}"),
        ("exclude", f"topic {BAD}"),
        ("token", "add", BAD, "--right", "read", "--agent", BAD, "--person", BAD),
        ("drain",),
        ("extract",),
        ("dream", "--now"),
    ):
        made(*words)
    pages = made.folder / "notebook" / "2_Wiki" / "Concepts"
    (pages / f"{NAMED}.md").write_text(
        f"---\ntitle: x{NAMED}\ntype: {NAMED}\n---\n# {BAD}\n\n[[gone{NAMED}]] {BAD}\n"
    )
    (made.folder / "skills" / NAMED).mkdir(parents=True)
    (made.folder / "skills" / NAMED / "SKILL.md").write_text(f"---\nname: {NAMED}\n---\n{BAD}\n")
    (made.folder / f"2026-07-01{NAMED}.md").write_text(BAD)
    (tmp_path / f"talk{NAMED}.jsonl").write_text(
        json.dumps({"role": "user", "content": BAD})
        + "\n"
        + json.dumps({"role": BAD, "content": 1})
        + "\n{"
        + BAD
    )
    return made


def lines_of(screen: Screen) -> dict[str, list[tuple[str, ...]]]:
    """Return how each command is called, rightly and wrongly: by a hostile word in each place."""
    listed = screen.json("list")
    assert isinstance(listed, list)
    entry = listed[0]["id"]
    return {**_writing(entry), **_reading(entry), **_running(screen)}


def _writing(entry: str) -> dict[str, list[tuple[str, ...]]]:
    return {
        "capture": [("s1", BAD, "hi"), (BAD, "user", BAD, "--id", BAD, "--at", BAD)],
        "end": [(f"s{BAD}",), (BAD,)],
        "pause": [(f"s{BAD}",)],
        "resume": [(f"s{BAD}",), ()],
        "remember": [
            (BAD, "--category", BAD),
            (BAD, "--due", BAD),
            (BAD, "--origin", BAD),
            ("x", "--key", BAD),
        ],
        "note": [(BAD,)],
        "correct": [
            (entry, BAD, "--why", "change"),
            (BAD, BAD, "--why", "change"),
            (entry, BAD, "--why", BAD),
        ],
        "feedback": [(entry, BAD), (BAD, "helpful")],
        "judge": [(entry, BAD), (BAD, "0.5"), (entry, "0.5", "--why", BAD)],
        "used": [(BAD,)],
        "pin": [(entry,), (BAD,)],
        "due": [()],
        "done": [(BAD,), (entry, "--until", BAD)],
        "take-back": [(BAD,)],
    }


def _reading(entry: str) -> dict[str, list[tuple[str, ...]]]:
    return {
        "recall": [
            ("tea",),
            ("Lisbon",),
            (BAD,),
            ("tea", "--since", BAD),
            ("tea", "--tag", BAD),
            ("tea", "--kind", BAD),
        ],
        "context": [("tea",), (BAD, "--session", f"s{BAD}")],
        "list": [(), ("--about", BAD), ("--since", BAD)],
        "get": [(entry,), (BAD,)],
        "why": [(entry,), (BAD,)],
        "hide": [(BAD,), ("--tag", BAD, "--dry-run")],
        "forget": [(BAD,), (entry, "--dry-run"), ("--tag", BAD, "--dry-run")],
        "erase": [(BAD, "--yes"), (entry, "--dry-run")],
        "exclude": [(BAD, "--preview"), ()],
    }


def _running(screen: Screen) -> dict[str, list[tuple[str, ...]]]:
    return {
        "extract": [()],
        "drain": [()],
        "compact": [(f"s{BAD}",), ("s1", "--budget", BAD), ()],
        "digest": [()],
        "dream": [("--now",), ("--now", "--dry-run")],
        "publish": [()],
        "lint": [(), ("--fix",)],
        "consolidate": [(), ("--people",)],
        "dream-start": [("--now", *LENT)],
        "dream-step": [(BAD, BAD, *LENT)],
        "dream-finish": [(BAD, *LENT)],
        "extract-start": [LENT],
        "extract-submit": [(BAD, BAD, *LENT), (BAD, "[]", *LENT)],
        "install": [(BAD,)],
        "uninstall": [(BAD,)],
        "hook": [(BAD,), ("Stop",)],
        "token": [("list",), ("add", BAD), ("remove", BAD), ("remove", f"no{BAD}")],
        "log": [()],
        "diff": [(BAD,)],
        "undo": [(BAD,)],
        "restore": [(BAD,)],
        "review": [("list",), ("show", BAD), ("accept", BAD)],
        "init": [("--schedule", BAD), ()],
        "trust": [()],
        "status": [(), ("--user", BAD)],
        "doctor": [()],
        "check": [()],
        "members": [(), ("--add", BAD), ("--remove", BAD)],
        "export": [(str(screen.folder),), (f"out{NAMED}",)],
        "import": [(f"talk{NAMED}.jsonl",), (f"none{NAMED}",), (f"talk{NAMED}.jsonl", "--session", BAD)],
        "completion": [(BAD,)],
    }


@pytest.mark.slow
def test_nothing_that_acts_reaches_a_terminal(screen: Screen) -> None:
    """By every command, rightly and wrongly called, what comes out is text, line ends, tabs and our own colours."""
    lines = lines_of(screen)
    assert lines.keys() | APART.keys() == {one.name for one in COMMANDS}
    wrong, shown = [], 0
    for name, calls in lines.items():
        for words in [*calls, (*calls[0], "--set", f"{BAD}={BAD}"), (*calls[0], f"--no{BAD}")]:
            out, err = screen(name, *words)
            left = OURS.sub("", out) + OURS.sub("", BAR.sub("", err))
            if left != clean(left):
                wrong.append((name, words, left))
            shown += "␛" in out + err
            assert "Traceback" not in err
    assert wrong == []
    assert shown > 50


@pytest.mark.slow
def test_what_programs_read_has_it_as_escapes(screen: Screen) -> None:
    """With `--json` the same commands write ASCII controls, tags and turned directions as escapes alone."""
    for name, calls in lines_of(screen).items():
        for words in calls:
            out, _ = screen(name, *words, "--json")
            for one in out.splitlines():
                json.loads(one)
            assert out == clean(out), (name, words, out)


def test_a_setting_in_a_file_acts_as_little(screen: Screen) -> None:
    """A settings file of hostile keys and values is refused in words that are harmless, by every command."""
    for text in (
        f'zone = "{BAD}"',
        f'"{BAD}" = 1',
        f"{BAD}",
        f'[dream]\n"{BAD}" = "x"',
        f'notes.globs = ["{BAD}"]',
    ):
        shown = json.dumps(text)[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\u001b", "\\u001B")
        (screen.folder / "reverie.toml").write_text(re.sub(r"\\ud\w{3}\\ud\w{3}", "", shown))
        for name in ("status", "list", "doctor"):
            out, err = screen(name)
            left = OURS.sub("", out + err)
            assert left == clean(left), (name, text)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completed_line_acts_as_little(shell: str, screen: Screen) -> None:
    """What a shell is told of how a hostile line may go on holds nothing that acts."""
    for line in (
        f"reverie {BAD}",
        f"reverie recall {BAD}",
        f"reverie -w {screen.folder} get ",
        "reverie list --",
    ):
        screen.patch.setenv(COMPLETE, f"complete_{shell}")
        screen.patch.setenv("_TYPER_COMPLETE_ARGS", line)
        screen.patch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        screen.patch.setenv("COMP_WORDS", line)
        screen.patch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        out, err = screen()
        assert out + err == clean(out + err)
