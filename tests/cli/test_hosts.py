"""install, uninstall and hook: what stands in the host's settings, and that a hook never stops its host."""

from __future__ import annotations

import json
import os
import shlex
import stat
from typing import TYPE_CHECKING

import pytest

from reverie.adapters.claude_code_events import EVENTS

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Shell

MINE = """{
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"command": "say done"}]}
        ]
    }
}
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the user's settings of Claude Code lie; there is nothing yet."""
    folder = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    return folder / "settings.json"


def test_installing_keeps_everything_and_uninstalling_takes_only_ours(shell: Shell, settings: Path) -> None:
    """Hooks come in once, the file keeps its rights and a copy of how it was, and uninstalling gives it back."""
    settings.parent.mkdir()
    settings.write_text(MINE)
    settings.chmod(0o644)
    done = shell("install", "claude-code", "--json")
    assert (done.code, done.value["changed"], done.value["file"]) == (0, True, str(settings))
    held = json.loads(settings.read_text())
    assert list(held["hooks"]) == ["Stop", *(event for event in EVENTS if event != "Stop")]
    line = held["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    told = ["hook", "SessionStart", "--workspace", str(shell.folder), "--config-dir", str(shell.config)]
    assert shlex.split(line)[1:] == told
    assert stat.S_IMODE(settings.stat().st_mode) == 0o644
    assert settings.with_name("settings.json.before-reverie").read_text() == MINE
    before = settings.read_bytes()
    assert "stand already" in shell("install", "claude-code").out
    assert settings.read_bytes() == before
    assert shell("uninstall", "claude-code").code == 0
    assert settings.read_text() == MINE
    assert "there are no hooks" in shell("uninstall", "claude-code").out
    assert settings.read_text() == MINE


def test_a_first_installation_makes_settings_and_a_memory(
    shell: Shell, settings: Path, tmp_path: Path
) -> None:
    """Without settings and without a workspace both are made, private to their owner."""
    config = ("--config-dir", str(shell.config))
    done = shell.raw("install", "claude-code", "-w", str(tmp_path / "new"), *config)
    assert done.code == 0, done.err
    assert (tmp_path / "new" / "MEMORY.md").parent.is_dir()
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    assert set(json.loads(settings.read_text())["hooks"]) == set(EVENTS)
    assert shell.raw("uninstall", "claude-code").code == 0
    assert json.loads(settings.read_text()) == {}


def test_a_project_has_a_memory_of_its_own(
    shell: Shell, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's file names its own agent and no path of this machine; two folders of one name have two agents."""
    monkeypatch.setenv("HOME", str(tmp_path))
    agents = []
    for place in ("a", "b"):
        folder = tmp_path / place / "shop"
        folder.mkdir(parents=True)
        monkeypatch.chdir(folder)
        assert shell.raw("install", "claude-code", "--project").code == 0
        held = json.loads((folder / ".claude" / "settings.json").read_text())
        agents.append(held["hooks"]["Stop"][0]["hooks"][0]["command"])
    assert not settings.exists()
    assert agents[0] != agents[1]
    for line in agents:
        assert line.startswith("reverie hook Stop --agent-id shop-")
        assert str(tmp_path) not in line


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": {"Stop": 1}}', '{"a": \xff}'])
def test_broken_settings_are_left_alone(shell: Shell, settings: Path, text: str) -> None:
    """What cannot be read as settings is named and not touched, by install and by uninstall."""
    settings.parent.mkdir()
    settings.write_bytes(text.encode("latin-1"))
    done = shell("install", "claude-code")
    assert done.code == 64
    assert str(settings) in done.err
    shell("uninstall", "claude-code")
    assert settings.read_bytes() == text.encode("latin-1")
    assert [one.name for one in settings.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("kind", ["symbolic", "hard", "folder", "read-only", "pipe"])
def test_settings_that_are_not_ours_to_replace_are_left_alone(
    shell: Shell, settings: Path, tmp_path: Path, kind: str
) -> None:
    """A link, a folder, a pipe and a read-only file get a clear error, and what they lead to stays."""
    settings.parent.mkdir()
    target = tmp_path / "dotfiles.json"
    target.write_text(MINE)
    if kind == "symbolic":
        settings.symlink_to(target)
    elif kind == "hard":
        os.link(target, settings)
    elif kind == "folder":
        settings.mkdir()
    elif kind == "pipe":
        os.mkfifo(settings)
    else:
        settings.write_text(MINE)
        settings.chmod(0o444)
    done = shell("install", "claude-code")
    assert done.code in {71, 73}
    assert done.err.startswith("reverie: ")
    assert target.read_text() == MINE
    assert settings.is_symlink() == (kind == "symbolic")
    assert [one.name for one in settings.parent.iterdir()] == ["settings.json"]


def test_a_host_without_hooks_is_refused(shell: Shell) -> None:
    """A host that is not known is told with those that are."""
    assert "claude-code" in shell("install", "emacs").err


def test_a_hook_prints_what_the_protocol_wants(shell: Shell, tmp_path: Path) -> None:
    """A start prints one JSON object with context, and a stop nothing at all; both end with 0."""
    shell("remember", "Dana prefers calls before noon")
    given = {"session_id": "s1", "transcript_path": str(tmp_path / "none"), "source": "startup"}
    start = shell("hook", "SessionStart", stdin=json.dumps(given).encode())
    assert (start.code, start.err) == (0, "")
    told = start.value["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert "Dana prefers calls before noon" in told["additionalContext"]
    assert start.out.isascii()
    stop = shell("hook", "Stop", stdin=json.dumps(given).encode())
    assert (stop.code, stop.out, stop.err) == (0, "", "")


@pytest.mark.parametrize("stdin", [b"", b"junk", b"\xff\xfe", b'{"hook_event_name": "Stop"}', b"[" * 9_000])
def test_trouble_does_not_stop_the_host_and_is_told(shell: Shell, stdin: bytes) -> None:
    """Whatever a hook is given it ends with 0, and `status` names what was wrong until one goes well."""
    done = shell("hook", "SessionStart", stdin=stdin)
    assert done.code == 0
    assert done.err.startswith("reverie: ")
    assert "Reverie" in json.loads(done.out)["systemMessage"]
    assert "the hook SessionStart failed" in shell("status").out
    assert shell("hook", "SessionStart", stdin=b"{}").code == 0
    assert "the hook SessionStart failed" not in shell("status").out


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "PreToolUse", "\x1b[2J"])
def test_a_hook_without_a_memory_ends_well(shell: Shell, tmp_path: Path, event: str) -> None:
    """Where there is no workspace, or the event is unknown, the agent goes on; only a start says so to the person."""
    done = shell.raw(
        "hook", event, "-w", str(tmp_path / "none"), "--config-dir", str(shell.config), stdin=b"{}"
    )
    assert done.code == 0
    assert "reverie init" in done.err
    assert (done.out != "") == (event == "SessionStart")
    assert not (tmp_path / "none").exists()


def test_a_hook_with_a_broken_configuration_ends_well(shell: Shell) -> None:
    """A setting that is none does not stop the host either."""
    done = shell("hook", "Stop", "--set", "nonsense=1", stdin=b"{}")
    assert done.code == 0
    assert "nonsense" in done.err


def test_a_workspace_that_cannot_be_written_ends_well(shell: Shell, tmp_path: Path) -> None:
    """With the files in the way of being written, a hook ends with 0 all the same."""
    shell("status")
    (shell.folder / ".state" / "counters").mkdir(exist_ok=True)
    (shell.folder / ".state" / "counters" / "hooks.json").mkdir()
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n")
    given = json.dumps({"session_id": "s1", "transcript_path": str(transcript)}).encode()
    assert shell("hook", "Stop", stdin=given).code == 0


def test_an_unexpected_failure_ends_well(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of our own, whatever it is, is noted and the host goes on."""

    def broken(*_: object) -> None:
        message = "a fault"
        raise ZeroDivisionError(message)

    monkeypatch.setattr("reverie.adapters.claude_code.hook", broken)
    assert shell("hook", "Stop", stdin=b"{}").code == 0
    assert "the hook Stop failed" in shell("status").out
