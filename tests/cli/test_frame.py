"""The frame of the command line: help, options, exit codes, errors in one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reverie import errors
from reverie.errors import ReverieError
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import _ELSEWHERE, load, run

if TYPE_CHECKING:
    from conftest import Shell

HELP_MODULES = 250  # 158 with CPython 3.11, 33 of them its own
PROGRAM = (sys.executable, "-m", "reverie")
ERRORS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ReverieError)]


def test_the_table_is_the_commands() -> None:
    """The table of `reverie --help` lists each command once, in the module that holds it, and leaves none out."""
    listed = {(command.module, command.name) for command in COMMANDS}
    assert len(listed) == len(COMMANDS)
    modules = {command.module for command in COMMANDS}
    found = set()
    for module in modules:
        app = import_module(f"reverie.surface.cli.{module}").app
        found |= {(module, command.name) for command in app.registered_commands}
        found |= {(module, group.name) for group in app.registered_groups}
    assert found == listed


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_each_command_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command has a help with its options and at least one example."""
    assert run([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"Usage: reverie {name}" in told
    examples = told if not hasattr(load(name), "commands") else ""
    for inner in getattr(load(name), "commands", {}):
        assert run([name, inner, "--help"]) == 0
        examples += capsys.readouterr().out
    assert re.search(rf"(?:  |\| )reverie {name}", examples.partition("Examples:")[2])
    assert "--json" in examples


def test_help_comes_quickly_and_loads_no_memory() -> None:
    """P-20: `reverie --help` imports few modules, no step and no heavy library among them."""
    probe = (
        "import sys, time; from reverie.surface.cli.main import run; code = run(['--help']);"
        " print(code, time.process_time(), *sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run((sys.executable, "-c", probe), capture_output=True, text=True, check=True)
    code, seconds, *modules = done.stderr.split()
    assert code == "0"
    assert not {"reverie.memory", "reverie.config", "rich", "tantivy", "msgspec", "dulwich"}.intersection(
        modules
    )
    print(f"reverie --help: {float(seconds) * 1000:.0f} ms of processor time, {len(modules)} modules")  # noqa: T201
    assert len(modules) < HELP_MODULES


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The help names each command in its group, and is what a call without arguments prints."""
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    assert run([]) == 0
    assert capsys.readouterr().out == told
    for command in COMMANDS:
        assert re.search(rf"^  {command.name} +{re.escape(command.summary)}$", told, re.MULTILINE)
    group, listed = "", dict[str, str]()
    for line in told.splitlines():
        group = line.rstrip(":") if line and not line.startswith(" ") else group
        listed |= {line.split()[0]: group} if line.startswith("  ") else {}
    assert {command.name: command.group for command in COMMANDS}.items() <= listed.items()


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """`reverie --version` prints the version."""
    assert run(["--version"]) == 0
    assert re.fullmatch(r"reverie \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "words",
    [
        ("frobnicate",),
        ("statsu",),
        ("recall",),
        ("recall", "tea", "--frobnicate"),
        ("recall", "tea", "-k", "many"),
        ("recall", "tea", "-k", "0"),
        ("recall", "tea", "--since", "yesterday"),
        ("recall", "tea", "--as-of", "2026-07-01"),
        ("recall", "tea", "--kind", "dream"),
        ("recall", "tea", "--user", ""),
        ("consolidate", "--drain-only", "--promote-only"),
        ("capture", "s1"),
        ("capture", "s1", "nobody", "hello"),
        ("capture", "-", "user"),
        ("remember", "x", "--stare", "1,2"),
        ("remember", "x", "--scope", "everybody"),
        ("correct", "0", "x", "--why", "whim"),
        ("forget",),
        ("forget", "0", "--tag", "x"),
        ("erase", "--tag", "x"),
        ("log", "--limit", "0"),
        ("status", "--set", "zone"),
        ("--bad",),
    ],
)
def test_a_wrong_call_exits_64(shell: Shell, words: tuple[str, ...]) -> None:
    """A call that is wrong as written exits 64 with one line on standard error that says what to do."""
    answer = shell(*words)
    assert (answer.code, answer.out) == (64, "")
    assert re.fullmatch(r"reverie: .+\n", answer.err)


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_wrong_call_is_told_as_json(shell: Shell, place: str) -> None:
    """With `--json`, before the command or after, an error is one object on standard output and a line beside it."""
    words = ("--json", "recall") if place == "before" else ("recall", "--json")
    answer = shell(*words)
    assert answer.code == 64
    assert answer.value["error"]["class"] == "UsageError"
    assert answer.value["error"]["exit_code"] == 64
    assert answer.value["error"]["retryable"] is False
    assert answer.err.startswith("reverie: ")


@pytest.mark.parametrize("error", ERRORS)
def test_each_error_has_its_exit_code(
    error: type[ReverieError], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each class of the error tree ends a command with its exit code, one line, and the same words as JSON."""
    module = import_module("reverie.surface.cli.read")

    def broken(_context: object) -> None:
        message = "this\nis what to do"
        raise error(message)

    monkeypatch.setattr(module, "opened", broken)
    answer = shell("list", "--json")
    assert answer.code == error.exit_code
    assert answer.err == "reverie: this is what to do\n"
    assert answer.value["error"] == {
        "class": error.__name__,
        "message": "this\nis what to do",
        "exit_code": error.exit_code,
        "retryable": error.retryable,
    }


def test_an_unexpected_error_is_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw exits 70 with one line that says how to see more, and its trace only when asked for."""
    module = import_module("reverie.surface.cli.read")

    def broken(_context: object) -> None:
        message = "a \x1b[31mbug"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(module, "opened", broken)
    answer = shell("list")
    assert answer.code == 70
    assert answer.err.count("\n") == 1
    assert "\x1b" not in answer.err
    assert "REVERIE_TRACEBACK=1" in answer.err
    monkeypatch.setenv("REVERIE_TRACEBACK", "1")
    assert "Traceback" in shell("list").err


def test_an_interrupt_exits_130(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command with 130 and no trace."""
    module = import_module("reverie.surface.cli.read")

    def stopped(_context: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "opened", stopped)
    answer = shell("list")
    assert (answer.code, answer.out, answer.err) == (130, "", "")


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    """When the reader of a pipe has gone, nothing is said on standard error."""
    reading, writing = os.pipe()
    os.close(reading)
    started = subprocess.Popen((*PROGRAM, "--help"), cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, said = started.communicate(timeout=60)
    assert said == b""
    assert started.returncode == 141


def test_no_workspace_is_told(shell: Shell, tmp_path: Path) -> None:
    """A folder that is no workspace, and one that is not there, exit 68 and say how to make one."""
    (tmp_path / "plain").mkdir()
    for name in ("plain", "absent"):
        answer = shell.raw("-w", str(tmp_path / name), "--config-dir", str(shell.config), "status")
        assert answer.code == 68
        assert "reverie init" in answer.err
        assert answer.err.count("\n") == 1
    assert not (tmp_path / "absent").exists()


def test_an_unknown_setting_is_told(shell: Shell) -> None:
    """An unknown setting exits 78 and names the one it resembles, whether a flag or a file holds it."""
    answer = shell("status", "--set", "dream.min_fact=3")
    assert answer.code == 78
    assert "dream.min_facts" in answer.err
    (shell.folder / "reverie.toml").write_text("[dream]\nmin_fact = 3\n")
    answer = shell("status")
    assert answer.code == 78
    assert "reverie.toml" in answer.err
    assert answer.err.count("\n") == 1


def test_options_may_stand_before_or_after(shell: Shell) -> None:
    """The global options mean the same before the command and after it, and the later of two wins."""
    shell.ok("remember", "User likes tea")
    places = ("-w", str(shell.folder), "--config-dir", str(shell.config))
    before = shell.raw("--json", *places, "list")
    after = shell.raw("list", "--json", *places)
    both = shell.raw("-w", "elsewhere", "--json", "list", *places)
    assert before.value == after.value == both.value
    assert before.value[0]["text"] == "User likes tea"


def test_a_setting_holds_for_one_call(shell: Shell) -> None:
    """`--set` changes a setting for its call alone."""
    limits = shell.json("status", "--set", "publish.budget_preset=lean")["memory"]["limits"]
    assert limits == {"characters": 12_000}
    assert shell.json("status")["memory"]["limits"] == {"characters": 25_000}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write in a read-only folder")
def test_a_read_only_folder_is_told(shell: Shell) -> None:
    """A folder that may not be written exits 73 in one line, and what was stored before can be read again later."""
    shell.ok("remember", "User likes tea")
    journal = shell.folder / ".journal/segments"
    journal.chmod(0o500)
    answer = shell("remember", "User likes coffee")
    journal.chmod(0o700)
    assert answer.code == 73
    assert answer.err.count("\n") == 1
    assert [one["text"] for one in shell.json("list")] == ["User likes tea"]


def test_a_folder_in_the_place_of_a_file_is_told(shell: Shell) -> None:
    """A write that the file system refuses exits with a code of the tree in one line, and loses nothing."""
    shell.ok("remember", "User likes tea")
    (shell.folder / ".state/events.jsonl").mkdir()
    answer = shell("remember", "Send the quote", "--due", "2126-08-01")
    (shell.folder / ".state/events.jsonl").rmdir()
    assert answer.code in {71, 73}
    assert answer.err.count("\n") == 1
    assert [one["text"] for one in shell.json("list")] == ["User likes tea"]


def test_memory_text_cannot_act_on_the_terminal(shell: Shell) -> None:
    """A text with control sequences is stored whole, printed harmless, and escaped in JSON."""
    text = "tea \x1b]0;owned\x07 \u202eeet"
    shell.ok("remember", text)
    for words in (("list",), ("recall", "tea"), ("get", shell.json("list")[0]["id"])):
        told = shell.ok(*words).out
        assert "\x1b" not in told
        assert "\u202e" not in told
        assert "␛" in told
    answer = shell.ok("list", "--json")
    assert answer.value[0]["text"] == text
    assert "\u202e" not in answer.out


def test_a_turn_of_another_zone_is_taken(shell: Shell) -> None:
    """`--at` takes any offset, and the turn is stored at that instant."""
    shell.ok("capture", "s1", "user", "hello", "--at", "2026-07-01T14:05:00+02:00")
    shell.ok("capture", "s1", "assistant", "hi", "--at", "2026-07-01T12:05:01Z")
    hits = shell.json("recall", "hello", "--kind", "turn")["hits"]
    assert hits[0]["at"] == "2026-07-01T12:05:00Z"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("search", "recall"),
        ("add", "remember"),
        ("delete", "forget"),
        ("help", "--help"),
        ("remeber", "remember"),
    ],
)
def test_a_command_by_another_name_is_led_to_ours(shell: Shell, said: str, meant: str) -> None:
    """A misspelled command, or one that other programs have, is answered by the one meant."""
    answer = shell.raw(said, "tea")
    assert answer.code == 64
    assert f"did you mean `reverie {meant}`?" in answer.err


def test_no_command_is_explained_as_another() -> None:
    """What other programs call a command is never the name of one here, and leads to one that there is."""
    names = {command.name for command in COMMANDS}
    assert not names & _ELSEWHERE.keys()
    assert {meant for meant in _ELSEWHERE.values() if not meant.startswith("-")} <= names


def test_serving_without_the_packages_names_the_extra_that_has_all(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`serve` where the SDK of MCP is missing too says to install `server`, which brings it, and no other extra."""
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    told = (
        "--config-dir",
        str(tmp_path / "config"),
        "serve",
        "--root",
        str(tmp_path / "agents"),
        "--port",
        "0",
    )
    answer = shell.raw(*told)
    assert answer.code == 64
    assert "reverie[server]" in answer.err
    assert "reverie[mcp]" not in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("review", "show", ""),
        ("token", "add", "a\udcff", "--right", "read"),
        ("import", "a" * 5_000),
        ("remember", "a\udcff"),
    ],
)
def test_words_that_are_none_are_told(shell: Shell, words: tuple[str, ...]) -> None:
    """An empty id, bytes that are no UTF-8 and a path that cannot be one are one line each, and no fault of ours."""
    answer = shell(*words)
    assert answer.code in {64, 65}, answer.err
    assert answer.err.count("\n") == 1
    assert "unexpected" not in answer.err
