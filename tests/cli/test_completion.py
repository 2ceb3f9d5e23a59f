"""Completion in bash, zsh and fish, by typer's own scripts."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import COMPLETE, run

if TYPE_CHECKING:
    from conftest import Shell

BIN = Path(sys.executable).parent
SHELLS = Path(__file__).parents[2] / ".ci" / "shells"
NAMES = {command.name for command in COMMANDS}


def asked(
    line: str, shell: str, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Ask as a shell's script does how `line` may go on, and return the exit code and what was printed."""
    patch.setenv(COMPLETE, f"complete_{shell}")
    patch.setenv("_TYPER_COMPLETE_ARGS", line)
    patch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    patch.setenv("COMP_WORDS", line)
    patch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    capsys.readouterr()
    code = run([])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_options_are_completed(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each shell is told every command, those that begin as typed, a command's options, and the commands in a group."""
    _, told = asked("reverie ", shell, monkeypatch, capsys)
    assert all(name in told for name in NAMES)
    _, told = asked("reverie cons", shell, monkeypatch, capsys)
    assert "consolidate" in told
    assert "recall" not in told
    _, told = asked("reverie consolidate --dr", shell, monkeypatch, capsys)
    assert "--drain-only" in told
    assert "--promote-only" not in told
    _, told = asked("reverie review a", shell, monkeypatch, capsys)
    assert "accept" in told


@pytest.mark.parametrize(
    "line", ["reverie frobnicate ", "reverie --workspace", "reverie 'unclosed ", "reverie recall -k "]
)
def test_a_line_that_is_wrong_is_left_alone(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing can be told, nothing is printed on standard error, and no command runs."""
    for shell in ("bash", "zsh", "fish"):
        asked(line, shell, monkeypatch, capsys)
        assert capsys.readouterr().err == ""


def test_an_unknown_shell_is_refused(shell: Shell) -> None:
    """A shell that is none of the three is a wrong call."""
    assert shell.raw("completion", "tcsh").code == 64


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("bash", ".bash_completions/reverie.sh"),
        ("zsh", ".zfunc/_reverie"),
        ("fish", ".config/fish/completions/reverie.fish"),
    ],
)
def test_it_is_shown_and_installed(
    shell: Shell, name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script is shown, and with `--install` put where the shell finds it, a second time without a change."""
    monkeypatch.setenv("HOME", str(tmp_path))
    script = shell.raw("completion", name).out
    assert "_REVERIE_COMPLETE" in script
    assert shell.raw("completion", name, "--json").value["script"] == script.rstrip("\n")
    told = shell.raw("completion", name, "--install", "--json")
    assert told.value["installed"] == str(tmp_path / place)
    files = {path: path.read_bytes().strip() for path in tmp_path.rglob("*") if path.is_file()}
    assert files[tmp_path / place].decode() == script.strip()
    assert shell.raw("completion", name, "--install").code == 0
    assert files == {path: path.read_bytes().strip() for path in tmp_path.rglob("*") if path.is_file()}


def completed(shell: str, line: str, script: Path) -> list[str]:
    """Return what the real shell offers for a line after it has read the script."""
    ask = "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _reverie_completion reverie"
    calls = {
        "bash": f"source {script}; {ask % line}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        "fish": f'source {script}; complete --do-complete "{line}"',
    }
    done = subprocess.run(
        [shell, "-c", calls[shell]],
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return [word.split("\t")[0] for word in done.stdout.split("\n") if word]


@pytest.fixture(scope="module")
def _shells() -> None:
    """Have zsh and fish, installed when they are not there."""
    if subprocess.run((SHELLS,), check=False, capture_output=True, timeout=600).returncode:
        pytest.skip("zsh and fish are neither installed nor installable here: see .ci/shells")


@pytest.mark.slow
@pytest.mark.usefixtures("_shells")
@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_real_shell_completes(shell: Shell, name: str, tmp_path: Path) -> None:
    """In the shell itself the script completes a command's name and an option, and the shell finds no fault in it."""
    if not (BIN / "reverie").exists():
        pytest.skip("the command `reverie` is not installed beside this Python")
    script = tmp_path / "script"
    script.write_text(shell.raw("completion", name).out)
    subprocess.run([name, "-n", str(script)], check=True, timeout=60)
    offered = typed_in_zsh if name == "zsh" else completed
    assert offered(name, "reverie conso", script) == ["consolidate"]
    assert "--drain-only" in offered(name, "reverie consolidate --drain-o", script)


def typed_in_zsh(shell: str, line: str, script: Path) -> list[str]:
    """Return the last word of a line to which the tabulator was typed, on a terminal with zsh."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "TERM": "dumb"}
    started = subprocess.Popen(
        (shell, "-f", "-i"), env=environment, stdin=theirs, stdout=theirs, stderr=theirs, cwd=script.parent
    )
    os.close(theirs)
    # The line is completed, and what it has become is printed in place of being run.
    setup = f"autoload -U compinit; compinit -u -D; source {script}\n"
    os.write(ours, f"{setup}{line}\t\x01print -r -- it is \n".encode())
    seen = b""
    while (found := re.search(rb"\nit is (reverie [^\r\n]*)", seen)) is None:
        assert select.select([ours], [], [], 60)[0], seen
        seen += os.read(ours, 4096)
    started.kill()
    started.wait(60)
    os.close(ours)
    return [found[1].decode().split()[-1]]
