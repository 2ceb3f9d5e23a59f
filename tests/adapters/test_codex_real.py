"""The real Codex, at the version pinned in `.ci/node`: the memory's MCP server in it, and its rollouts imported."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from real_agents import Desk
from scripted_api import text, use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

NOTED = ("assistant", "Noted.")
MEMORY = "mcp__reverie"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a home with Codex and a scripted model."""
    made = Desk(tmp_path)
    made.reverie("init")
    yield made
    made.close()


def test_the_model_uses_the_memory_and_its_rollout_comes_in(desk: Desk) -> None:
    """Codex offers the tools and runs them; its rollout gives each turn once, at its time, without memory's answers."""
    before = datetime.now(UTC)
    desk.api.script += [
        [text("Let me look."), use("exec_command", cmd="echo found-it")],
        [use("memory_remember", of=MEMORY, text="Ada's favourite colour is green")],
        [use("memory_recall", of=MEMORY, query="favourite colour")],
        [text("It is green.")],
    ]
    desk.codex("Look for it. I moved to Lisbon.")
    (offered,) = [tool for tool in desk.api.requests[0]["tools"] if tool.get("name") == MEMORY]
    assert {"memory_remember", "memory_recall", "memory_forget"} <= {
        tool["name"] for tool in offered["tools"]
    }
    outputs = [
        one["output"] for one in desk.api.requests[3]["input"] if one["type"] == "function_call_output"
    ]
    assert "found-it" in outputs[0]
    assert "favourite colour is green" in outputs[2]
    desk.codex("resume", "--last", "And my cat is called Tom.")
    rollouts = desk.home / ".codex" / "sessions"
    done = json.loads(desk.reverie("import", rollouts, "--json"))
    assert (done["turns"], done["unread"], done["passed"]["what memory itself answered"]) == (9, 0, 2)
    assert json.loads(desk.reverie("import", rollouts, "--json"))["turns"] == 0
    (turns,) = desk.turns().values()
    said = [(turn.role, turn.content) for turn in turns if turn.content and turn.role != "tool"]
    assert said == [
        ("user", "Look for it. I moved to Lisbon."),
        ("assistant", "Let me look."),
        ("assistant", "It is green."),
        ("user", "And my cat is called Tom."),
        NOTED,
    ]
    assert [call.name for turn in turns for call in turn.calls] == [
        "exec_command",
        "memory_remember",
        "memory_recall",
    ]
    assert ["found-it" in turn.content for turn in turns if turn.role == "tool"] == [True]
    times = [turn.at for turn in turns]
    assert times == sorted(times)
    assert before - timedelta(seconds=1) <= times[0] <= times[-1] <= datetime.now(UTC)
    assert desk.api.others == []
