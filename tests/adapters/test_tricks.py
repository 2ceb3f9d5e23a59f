"""Path tricks in every argument of every adapter (P-18): nothing outside is read, changed or told."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tricks import CANARY, Outside

from reverie.adapters.anthropic_memory import handle
from reverie.adapters.claude_code import hook
from reverie.adapters.claude_code_events import event_of, take_in
from reverie.errors import ReverieError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reverie import Memory

HOOKS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
COMMANDS = {
    "view": {"path": "/memories"},
    "create": {"path": "/memories/a.md", "file_text": "Likes tea"},
    "str_replace": {"path": "/memories/a.md", "old_str": "tea", "new_str": "milk"},
    "insert": {"path": "/memories/a.md", "insert_line": 0, "insert_text": "x"},
    "delete": {"path": "/memories/a.md"},
    "rename": {"old_path": "/memories/a.md", "new_path": "/memories/b.md"},
}


@pytest.fixture
def outside(memory: Memory, tmp_path: Path) -> Outside:
    """What lies outside of the memory, with links to it planted within."""
    (memory.root / "files").mkdir(exist_ok=True)
    made = Outside(tmp_path, memory.root)
    (memory.root / "files" / "planted.md").symlink_to(made.canary)
    (memory.root / "files" / "linked").symlink_to(tmp_path)
    return made


def tried(
    outside: Outside, attempt: Callable[[str], object], *, allowed: type[Exception] = ReverieError
) -> None:
    """Try something with every trick: it answers or raises what may be, and nothing outside is told or touched."""
    for trick in outside.tricks:
        try:
            said = str(attempt(trick))
        except (ReverieError, allowed) as error:
            said = str(error)
        assert outside.told(said) == "", (trick, said)
    assert outside.stands() == outside.before


@pytest.mark.parametrize(
    ("command", "name"), [(command, name) for command, given in COMMANDS.items() for name in given]
)
def test_the_memory_tool_takes_no_path_outside(
    memory: Memory, outside: Outside, command: str, name: str
) -> None:
    """Whatever path stands in an argument of a command, alone or behind `/memories/`, it stays within `files/`."""
    for before in ("", "/memories/", "/memories/linked/"):
        handle(memory, {"command": "create", "path": "/memories/a.md", "file_text": "tea"})

        def attempt(trick: str) -> str:
            return handle(memory, {"command": command, **COMMANDS[command], name: before + trick}).text  # noqa: B023

        tried(outside, attempt)
    beneath = {path.relative_to(memory.root / "files") for path in (memory.root / "files").rglob("*")}
    assert all(".." not in path.parts for path in beneath)


@pytest.mark.slow
@pytest.mark.parametrize("event", HOOKS)
@pytest.mark.parametrize(
    "name", ["session_id", "transcript_path", "cwd", "prompt", "source", "reason", "trigger"]
)
def test_a_hook_takes_no_path_outside(memory: Memory, outside: Outside, event: str, name: str) -> None:
    """Whatever path stands in what Claude Code hands to a hook, no file but a transcript's own is read."""

    def attempt(trick: str) -> str:
        given = {"session_id": "s1", "hook_event_name": event, "prompt": "hi", "cwd": "/", name: trick}
        told = event_of(event, json.dumps(given).encode())
        return hook(memory, told) + str(take_in(memory.opened.ws, told))

    tried(outside, attempt)
    assert not any(CANARY in path.read_text("utf-8") for path in (memory.root / "sessions").rglob("*.jsonl"))


def test_a_store_takes_no_path_outside(memory: Memory, outside: Outside) -> None:
    """LangGraph's namespaces, keys, values, filters and queries are names and texts, whatever they look like."""
    langgraph = pytest.importorskip("reverie.adapters.langgraph")
    pytest.importorskip("langgraph")
    store = langgraph.ReverieStore(memory)

    def attempt(trick: str) -> str:
        store.put(("a",), trick, {"text": trick})
        found = [
            store.get(("a",), trick),
            *store.search(("a",), query=trick),
            *store.search(("a",), filter={trick: 1}),
        ]
        said = str(found) + str(store.list_namespaces(prefix=(trick,)))
        store.put((trick, "b"), "k", {trick: "v"})
        store.delete(("a",), trick)
        return said + str(store.search((trick,)))

    tried(outside, attempt, allowed=ValueError)


def test_a_session_takes_no_path_outside(memory: Memory, outside: Outside) -> None:
    """The id of a session of the OpenAI Agents SDK, and of one of Pydantic AI, is a name, whatever it looks like."""
    agents = pytest.importorskip("reverie.adapters.openai_agents")
    pytest.importorskip("agents")

    async def talk(trick: str) -> str:
        session = agents.ReverieSession(trick, memory)
        await session.add_items([{"role": "user", "content": trick}])
        said = str(await session.get_items())
        said += str(await session.pop_item())
        await session.clear_session()
        return said

    tried(outside, lambda trick: asyncio.run(talk(trick)), allowed=ValueError)
    assert all(path.parent == memory.root / "sessions" for path in (memory.root / "sessions").rglob("*"))


def test_a_history_takes_no_path_outside(memory: Memory, outside: Outside) -> None:
    """The session of a history processor of Pydantic AI is a name, whatever it looks like."""
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from reverie.adapters.pydantic_ai import history_processor

    def attempt(trick: str) -> str:
        process = history_processor(memory, trick)
        return str(process([ModelRequest(parts=[UserPromptPart(content=trick)])]))

    tried(outside, attempt, allowed=ValueError)
