"""The real Claude Code as a person uses it, on a terminal: one session with a compaction in its midst."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from real_agents import LONGEST, Desk, killed
from screen import Screen
from scripted_api import Block, text

from reverie.store import sessions

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a home whose owner has met Claude Code, and trusts the project."""
    made = Desk(tmp_path)
    met = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [made.environment["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {str(made.project): {"hasTrustDialogAccepted": True}},
    }
    (tmp_path / ".claude.json").write_text(json.dumps(met))
    yield made
    made.close()


def test_a_compaction_costs_nothing(desk: Desk) -> None:
    """Before Claude Code condenses a session what it holds is extracted, after it the host is told what is known."""
    desk.install()
    found: list[str] = []

    def entries() -> list[str]:
        with desk.memory() as memory:
            return [one.entry.text for one in memory.list()]

    def condenses() -> list[Block]:
        found.extend(entries())
        return [text("They talked.")]

    def start(terminal: int) -> subprocess.Popen[str]:
        claude = desk.asking("")[0]
        return desk.start(claude, stdin=terminal, stdout=terminal, stderr=terminal)

    screen = Screen(start)
    try:
        screen.until(lambda: "ClaudeCode" in screen.shown(), "a welcome")
        screen.type("I moved to Lisbon.")
        screen.until(
            lambda: desk.said() == [[("user", "I moved to Lisbon."), ("assistant", "Noted.")]], "a turn"
        )
        assert entries() == []
        desk.api.script.append(condenses)
        screen.type("/compact")
        screen.until(lambda: "Compacted" in screen.shown(), "a compaction")
        assert found == ["User moved to Lisbon"]
        screen.type("I have a dog.")
        screen.until(lambda: len(desk.said()[0]) == 4, "two more turns")
        screen.type("/exit")
        assert screen.process.wait(LONGEST) == 0
    finally:
        if screen.process.poll() is None:
            killed(screen.process)
        screen.close()
    told = desk.api.seen()
    assert "They talked." in told
    assert "User moved to Lisbon" in told[told.index("SessionStart hook") :]
    ((*_, last),) = desk.said()
    assert last == ("assistant", "Noted.")
    with desk.memory() as memory:
        (state,) = sessions.states(memory.opened.ws)
    assert (state.turns, state.open) == (4, False)
