"""The real Claude Code, at the version pinned in `.ci/node`, with the hooks of `reverie install claude-code`."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING

import pytest
from real_agents import LONGEST, Desk, ended, killed
from scripted_api import Block, text, use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

NOTED = ("assistant", "Noted.")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a home with Claude Code and a scripted model."""
    made = Desk(tmp_path)
    yield made
    made.close()


def test_sessions_are_remembered(desk: Desk) -> None:
    """What one session says the next is told; a resumed one is not doubled, a file written by it adds nothing."""
    mine = {"Stop": [{"hooks": [{"type": "command", "command": "echo mine >> stopped.txt"}]}]}
    settings = desk.install(model="opus", hooks=mine)
    before = settings.with_name("settings.json.before-reverie").read_bytes()
    desk.api.script += [[text("Let me look."), use("Bash", command="echo found-it")], [text("It is there.")]]
    assert (
        desk.ask("Look for it. I prefer tea over coffee.", "--allowedTools", "Bash(echo *)")
        == "It is there.\n"
    )
    desk.reverie("remember", "Send Dana the offer", "--due", "2026-01-02", "--at", "2026-01-01T12:00:00Z")
    desk.ask("What do I prefer, tea or coffee?")
    told = desk.api.seen()
    start, prompt = told.index("SessionStart hook"), told.index("UserPromptSubmit hook")
    assert "# Memory" in told[start:prompt]
    assert "User prefers tea over coffee" in told[start:prompt]
    assert "Send Dana the offer" in told[start:prompt]
    assert "User prefers tea over coffee" in told[prompt:]
    desk.ask("And what does Dana wait for?", "--continue")
    first, second = desk.turns().values()
    assert [(turn.role, turn.content) for turn in first] == [
        ("user", "Look for it. I prefer tea over coffee."),
        ("assistant", "Let me look."),
        ("assistant", ""),
        ("tool", "found-it"),
        ("assistant", "It is there."),
    ]
    assert [(call.name, json.loads(call.arguments)) for call in first[2].calls] == [
        ("Bash", {"command": "echo found-it"})
    ]
    assert first[3].call == first[2].calls[0].id
    asked = ("user", "What do I prefer, tea or coffee?"), ("user", "And what does Dana wait for?")
    assert [(turn.role, turn.content) for turn in second] == [asked[0], NOTED, asked[1], NOTED]
    assert json.loads(desk.reverie("import", desk.claude / "projects", "--json"))["turns"] == 0
    assert (desk.project / "stopped.txt").read_text() == "mine\n" * 3
    desk.reverie("uninstall", "claude-code")
    assert settings.read_bytes() == before
    assert desk.api.others == []
    assert "hook" not in desk.reverie("status")


def test_a_fork_repeats_nothing(desk: Desk) -> None:
    """A session that goes on from another, and helpers within one, add what was said there and nothing else."""
    desk.install()
    helper = use(
        "Agent", description="look", prompt="Find it", subagent_type="Explore", run_in_background=False
    )
    desk.api.script += [[helper], [text("It is in the attic.")], [text("In the attic.")]]
    desk.ask("Where is it?", "--allowedTools", "Agent")
    desk.ask("I moved to Porto.", "--continue", "--fork-session")
    assert len(desk.transcripts()) == 2
    first, second = desk.said()
    assert (first[0], first[1], first[3]) == (
        ("user", "Where is it?"),
        ("assistant", ""),
        ("assistant", "In the attic."),
    )
    assert (first[2][0], "It is in the attic." in first[2][1], len(first)) == ("tool", True, 4)
    assert second == [("user", "I moved to Porto."), NOTED]
    assert json.loads(desk.reverie("import", desk.claude / "projects", "--json"))["turns"] == 0


def test_a_killed_session_is_not_lost(desk: Desk) -> None:
    """Of a session killed while the model thinks, the next one's start stores what its transcript has (R-43)."""
    desk.install()
    asked, over = threading.Event(), threading.Event()

    def thinks() -> list[Block]:
        written(desk, "I moved to Lisbon.")
        asked.set()
        over.wait(LONGEST)
        return []

    desk.api.script.append(thinks)
    process = desk.start(*desk.asking("I moved to Lisbon."))
    assert asked.wait(LONGEST)
    killed(process)
    over.set()
    desk.ask("Where do I live, in Lisbon?")
    assert desk.said() == [[("user", "I moved to Lisbon.")], [("user", "Where do I live, in Lisbon?"), NOTED]]
    assert "I moved to Lisbon." in desk.api.seen().partition("UserPromptSubmit hook")[2]


def written(desk: Desk, words: str) -> None:
    """Wait until a prompt stands in a transcript: the host writes it some moments after it has sent it."""
    pause = threading.Event()
    for _ in range(2_400):
        lines = (line for path in desk.transcripts() for line in path.read_text().splitlines())
        if any('"type":"user"' in line and words in line for line in lines):
            return
        pause.wait(0.05)
    pytest.fail("the prompt is in no transcript")


def test_two_sessions_at_once(desk: Desk) -> None:
    """Two sessions that run at the same time are stored apart, each whole."""
    desk.install()
    prompts = ("I moved to Lisbon.", "I prefer tea.")
    for process in [desk.start(*desk.asking(prompt)) for prompt in prompts]:
        assert ended(process) == "Noted.\n"
    assert sorted(desk.said()) == [[("user", prompt), NOTED] for prompt in prompts]


def test_a_memory_that_fails_keeps_nobody_waiting(desk: Desk) -> None:
    """With the memory locked, or hooks that hang or are gone, the agent answers, and it is taken in later."""
    settings = desk.install()
    desk.environment["REVERIE_LOCK_WAIT_SECONDS"] = "1"
    with desk.memory() as memory, memory.opened.writable.writing("test"):
        assert desk.ask("I moved to Lisbon.") == "Noted.\n"
    installed = settings.read_text()
    broken = installed.replace("reverie hook S", "gone-program hook S").replace(
        '"command": "', '"command": "sleep 60; ', 1
    )
    settings.write_text(re.sub('"timeout": [0-9]+', '"timeout": 1', broken))
    assert desk.ask("I prefer tea.") == "Noted.\n"
    settings.write_text(installed)
    desk.ask("Hello.", "--continue")
    assert desk.said() == [
        [("user", "I moved to Lisbon."), NOTED],
        [("user", "I prefer tea."), NOTED, ("user", "Hello."), NOTED],
    ]


def test_the_model_uses_the_memory(desk: Desk) -> None:
    """Through the MCP server the model remembers, recalls and forgets; what memory answered is not captured as said."""
    desk.install()
    claude = desk.asking("")[0]
    desk.run(claude, "mcp", "add", "reverie", "--", "reverie", "mcp")
    names = [f"mcp__reverie__memory_{verb}" for verb in ("remember", "recall", "forget")]
    remember, recall, forget = names
    found: list[str] = []

    def forgets() -> list[Block]:
        with desk.memory() as memory:
            found.extend(one.entry.id for one in memory.list())
        return [use(forget, ids=found)]

    desk.api.script += [
        [use("ToolSearch", query=f"select:{','.join(names)}")],
        [use(remember, text="Ada's favourite colour is green")],
        [use(recall, query="favourite colour")],
        forgets,
        [use(recall, query="favourite colour")],
        [text("Gone.")],
    ]
    assert desk.ask("Use your memory.", "--allowedTools", "mcp__reverie") == "Gone.\n"
    answers = [
        json.dumps(part["content"])
        for message in desk.api.requests[-1]["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else ())
        if part.get("type") == "tool_result"
    ]
    assert len(found) == 1
    assert found[0] in answers[1]
    assert "favourite colour is green" in answers[2]
    assert "favourite colour is green" not in answers[4]
    ((said, *rest),) = desk.said()
    assert (said, [one for one in rest if one != ("assistant", "")]) == (
        ("user", "Use your memory."),
        [("assistant", "Gone.")],
    )
    with desk.memory() as memory:
        assert not [hit for hit in memory.recall("favourite colour").hits if "green" in hit.text]
