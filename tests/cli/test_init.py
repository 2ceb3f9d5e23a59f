"""A workspace is made, kept as it is when it is made again, and trusted when it came from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Shell


@pytest.fixture
def tea(shell: Shell) -> str:
    """The id of an entry."""
    return str(shell.json("remember", "User likes tea")["id"])


def test_init_keeps_what_is_there(shell: Shell, tea: str) -> None:
    """`init` on a workspace keeps every entry, and writes the settings that were asked for beside the comments."""
    answer = shell.ok("init", "--budget-preset", "lean", "--zone", "Asia/Shanghai")
    assert "is the memory of" in answer.out
    assert shell.json("list")[0]["id"] == tea
    settings = (shell.folder / "reverie.toml").read_text()
    assert 'budget_preset = "lean"' in settings.split("\n")
    assert 'zone = "Asia/Shanghai"' in settings.split("\n")
    assert shell.json("status")["memory"]["limits"] == {"characters": 12_000}
    assert shell("init", "--budget-preset", "enormous").code == 64
    assert shell("init", "--zone", "Mars/Olympus").code == 78


def test_init_by_the_agents_name(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`init --agent-id` makes the agent's folder beneath the user's home, where every command then finds it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    told = shell.raw("init", "--agent-id", "support-bot", "--json").value
    assert told["agent"] == "support-bot"
    assert told["workspace"].startswith(str(tmp_path / ".reverie/agents/support-bot"))
    assert shell.raw("remember", "x", "--agent-id", "support-bot").code == 0


def test_a_foreign_workspace_is_read_only_until_trusted(shell: Shell, tea: str, tmp_path: Path) -> None:
    """A workspace that another configuration made can be read and not written, until `trust`."""
    place = ("-w", str(shell.folder), "--config-dir", str(tmp_path / "another"))
    assert shell.raw("list", *place, "--json").value[0]["id"] == tea
    assert shell.raw("remember", "x", *place).code == 77
    assert any(
        "not made here" in one["what"] for one in shell.raw("status", *place, "--json").value["problems"]
    )
    assert shell.raw("trust", str(shell.folder), "--config-dir", str(tmp_path / "another")).code == 0
    assert shell.raw("remember", "x", *place).code == 0
