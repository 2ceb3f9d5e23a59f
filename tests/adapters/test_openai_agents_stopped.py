"""Runs of the OpenAI Agents SDK that are stopped in the midst, and what the session holds then."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from reverie.store import sessions

agents = pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")

from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402

from reverie.adapters.openai_agents import ReverieSession  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie import Memory

CONFIG = agents.RunConfig(tracing_disabled=True)


@pytest.fixture
def session(memory: Memory) -> ReverieSession:
    """Return a session of an empty memory."""
    return ReverieSession("c7", memory)


def host(begins: Callable[[], Any]) -> tuple[Any, ScriptedModel]:
    """Return an agent whose tool tells when it begins, with its model."""

    @agents.function_tool
    async def brew(tea: str) -> str:
        """Brew a tea."""
        await begins()
        return f"{tea} is ready"

    model = ScriptedModel(
        [
            {"output": [function_call("brew", {"tea": "sencha"}, call_id="call_9")]},
            {"output": [assistant_message("Your sencha is ready.")]},
            {"output": [assistant_message("Fine.")]},
        ]
    )
    return agents.Agent(name="host", model=model, tools=[brew]), model


def whole(items: list[Any]) -> bool:
    """Whether each call among items has its output, and each output its call."""
    calls = {one["call_id"] for one in items if one.get("type") == "function_call"}
    return calls == {one["call_id"] for one in items if one.get("type") == "function_call_output"}


def test_a_run_that_is_cancelled_leaves_a_session_that_goes_on(
    memory: Memory, session: ReverieSession
) -> None:
    """Cancelled while its tool works, a run leaves its prompt, once, and the next run is answered."""

    async def story() -> list[Any]:
        begun = asyncio.Event()

        async def begins() -> None:
            begun.set()
            await asyncio.Event().wait()

        agent, _ = host(begins)
        task = asyncio.ensure_future(
            agents.Runner.run(agent, "Brew sencha.", session=session, run_config=CONFIG)
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = await session.get_items()
        fine = agents.Agent(name="host", model=ScriptedModel([{"output": [assistant_message("Fine.")]}]))
        result = await agents.Runner.run(fine, "Never mind.", session=session, run_config=CONFIG)
        assert result.final_output == "Fine."
        return left

    left = asyncio.run(story())
    assert left[0] == {"role": "user", "content": "Brew sencha."}
    turns = sessions.read(memory.opened.ws, "c7")
    assert [turn.content for turn in turns if turn.role == "user"] == ["Brew sencha.", "Never mind."]
    assert len({turn.id for turn in turns}) == len(turns)


@pytest.mark.parametrize("mode", ["immediate", "after_turn"])
def test_a_stream_that_is_cancelled_leaves_a_session_that_goes_on(session: ReverieSession, mode: str) -> None:
    """A streamed run that its reader stops leaves no call without its output, and the next run goes on."""

    async def nothing() -> None:
        return

    async def story() -> tuple[list[Any], list[Any]]:
        agent, model = host(nothing)
        result = agents.Runner.run_streamed(agent, "Brew sencha.", session=session, run_config=CONFIG)
        async for event in result.stream_events():
            if getattr(event, "name", "") == "tool_output":
                result.cancel(mode)
        left = await session.get_items()
        await agents.Runner.run(agent, "And now?", session=session, run_config=CONFIG)
        return left, model.calls[-1].input

    left, sent = asyncio.run(story())
    assert left[0]["content"] == "Brew sencha."
    assert whole(left)
    assert whole(sent)
    assert [one for one in sent if one.get("role") == "user"][-1]["content"] == "And now?"
