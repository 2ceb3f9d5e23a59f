"""Models for agents of Pydantic AI: each request counted, capped and retried by the same rule as every question."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from speaking import Server, completion, fails, says

import reverie
from reverie.core.ledger import Call
from reverie.errors import ModelFailed
from reverie.opening import Opening
from reverie.store import usage
from reverie.testing import FixedClock, ScriptedAgent, ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.memory import Memory
    from reverie.model.asking import Model


def home(folder: Path, *, model: Model | None = None, **flags: str) -> Memory:
    """Return a new memory in a folder."""
    opening = Opening(
        path=folder / "agent",
        config_dir=folder / "config",
        environment={},
        flags={"zone": "UTC", **flags},
        clock=FixedClock(datetime(2026, 7, 1, 12, tzinfo=UTC)),
        model=model,
    )
    return reverie.init(opening)


def run(memory: Memory, asked: str = "Dream.", run: str = "dream:1") -> str:
    """Run an agent with one tool on the memory's model for dreams, and return its last words."""
    from pydantic_ai import Agent

    given = memory.opened.models.agent("dream", run=run)
    assert given is not None

    async def dream() -> str:
        async with given as model:
            agent = Agent(model, instructions="You fold entries into pages.")

            @agent.tool_plain
            def read(path: str) -> str:
                """Read a page."""
                return f"the text of {path}"

            return (await agent.run(asked)).output

    return asyncio.run(dream())


def calls(memory: Memory) -> list[Call]:
    """Return the calls in the books."""
    return [line for line in usage.read(memory.opened.ws) if isinstance(line, Call)]


def test_a_scripted_agent_takes_its_steps(tmp_path: Path) -> None:
    """Tool calls run, their results are seen by the next step, a text is the end, and each step is in the books."""
    script = ScriptedAgent(
        [("read", {"path": "a.md"}), lambda seen: str("the text of a.md" in str(seen[-1]))]
    )
    with home(tmp_path, model=script) as memory:
        assert run(memory) == "True"
        assert [(call.purpose, call.run, call.calls) for call in calls(memory)] == [
            ("dream", "dream:1", 1)
        ] * 2
        assert len(script.messages) == 2
        assert all(call.input_tokens for call in calls(memory))


def test_a_ceiling_ends_a_run(tmp_path: Path) -> None:
    """An agent that would go on for ever is stopped by the steps of a dream, with the remedy as its error."""
    script = ScriptedAgent([("read", {"path": "a.md"})] * 9)
    with home(tmp_path, model=script, **{"dream.max_steps": "3"}) as memory:
        with pytest.raises(ModelFailed, match=r"dream\.max_steps") as raised:
            run(memory)
        assert raised.value.kind == "ceiling"
        assert len(script.messages) == 3


def test_a_failure_leaves_the_run_as_it_is(tmp_path: Path) -> None:
    """What goes wrong at a step reaches the caller of the agent with its kind."""
    script = ScriptedAgent([("read", {"path": "a.md"}), ModelFailed("no: wait", kind="limit")])
    with home(tmp_path, model=script) as memory:
        with pytest.raises(ModelFailed) as raised:
            run(memory)
        assert raised.value.kind == "limit"
        assert [call.kind for call in calls(memory)] == ["", "limit"]


def test_steps_too_many_fail_the_test(tmp_path: Path) -> None:
    """A step that was not written fails the test that needed it."""
    with home(tmp_path, model=ScriptedAgent([])) as memory, pytest.raises(AssertionError, match="has 0"):
        run(memory)


def test_a_model_that_serves_no_agent_leaves_dreams_to_rules(tmp_path: Path) -> None:
    """A model handed over that only answers questions gives no agent, and neither does `none`."""
    with home(tmp_path / "a", model=ScriptedModel(["x"])) as memory:
        assert memory.opened.models.agent("dream") is None
    with home(tmp_path / "b") as memory:
        assert memory.opened.models.agent("dream") is None


def calls_tool(name: str, **arguments: Any) -> bytes:
    """Return a completion that calls a tool."""
    call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return completion(None, finish="tool_calls", tool_calls=[call])


def test_an_agent_on_a_server(tmp_path: Path) -> None:
    """By its address a model serves an agent; a passing error at a step is tried again without the agent noticing."""
    with Server(
        lambda call: call.send(calls_tool("read", path="a.md")),
        fails(503, retry_after="0"),
        says("Done."),
    ) as server:
        flags = {"dream.model": "openai:small", "models.base_url": server.url}
        with home(tmp_path, **flags) as memory:
            assert run(memory) == "Done."
            assert [call.kind for call in calls(memory)] == ["", "down", ""]
            assert memory.status().models["dream"].tokens == 36
    assert server.asked[0]["tools"][0]["function"]["name"] == "read"


def test_a_wrong_key_reaches_the_agents_caller(tmp_path: Path) -> None:
    """An error of the provider leaves the agent as the failure with the remedy, once."""
    with Server(fails(401)) as server:
        flags = {"dream.model": "openai:small", "models.base_url": server.url}
        with home(tmp_path, **flags) as memory:
            with pytest.raises(ModelFailed, match="refused the key") as raised:
                run(memory)
            assert raised.value.kind == "auth"
    assert len(server.asked) == 1


def test_a_name_that_is_none_reaches_the_caller(tmp_path: Path) -> None:
    """A model that no provider has is told when the agent is to begin."""
    with (
        home(tmp_path, **{"dream.model": "nowhere:x"}) as memory,
        pytest.raises(ModelFailed, match="write it as provider:name"),
    ):
        run(memory)


def test_an_error_of_the_callers_own_is_left_alone(tmp_path: Path) -> None:
    """What a caller raises while it holds the model is not taken for the model's failure."""
    flags = {"dream.model": "openai:small", "models.base_url": "http://127.0.0.1:9/v1"}
    with home(tmp_path, **flags) as memory:
        given = memory.opened.models.agent("dream")
        assert given is not None

        async def dream() -> None:
            async with given:
                message = "mine"
                raise ValueError(message)

        with pytest.raises(ValueError, match="mine"):
            asyncio.run(dream())
