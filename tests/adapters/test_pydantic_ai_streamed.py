"""Runs of Pydantic AI that are streamed, or left before their end, with the capability that remembers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from reverie.store import sessions

pytest.importorskip("pydantic_ai", reason="the extra `models` is not installed")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from reverie.adapters.pydantic_ai import memory_capability

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.messages import ModelMessage

    from reverie import Memory


class Streaming:
    """A model that calls a tool and then speaks, in pieces, and keeps what it was sent."""

    def __init__(self) -> None:
        """Have heard nothing."""
        self.heard: list[list[ModelMessage]] = []
        self.model = FunctionModel(stream_function=self._answer)

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        self.heard.append(messages)
        last = messages[-1]
        returned = isinstance(last, ModelRequest) and any(
            isinstance(part, ToolReturnPart) for part in last.parts
        )
        if info.function_tools and not returned:
            yield {0: DeltaToolCall(name="brew", json_args="{}", tool_call_id="c1")}
        else:
            for piece in ("Your ", "sencha ", "is ready."):
                yield piece


def agent(memory: Memory, model: Streaming) -> Agent[None, str]:
    """Return an agent with a tool and the memory."""
    made = Agent(model.model, capabilities=[memory_capability(memory, "s1")])

    @made.tool_plain
    def brew() -> str:
        """Brew a tea."""
        return "sencha"

    return made


def said(memory: Memory) -> list[tuple[str, str]]:
    """Return who said what in the session."""
    return [(turn.role, turn.content) for turn in sessions.read(memory.opened.ws, "s1")]


def test_a_streamed_run_is_captured(memory: Memory) -> None:
    """A streamed run leaves its prompt, call, return and answer, each once, as one that is not."""
    memory.remember("Dana likes sencha.")
    model = Streaming()

    async def talk() -> list[str]:
        async with agent(memory, model).run_stream("Brew sencha for Dana.") as result:
            return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]

    assert "".join(asyncio.run(talk())) == "Your sencha is ready."
    assert said(memory) == [
        ("user", "Brew sencha for Dana."),
        ("assistant", ""),
        ("tool", "sencha"),
        ("assistant", "Your sencha is ready."),
    ]
    assert all("Dana likes sencha." in str(messages) for messages in model.heard)


def test_a_stream_that_is_left_goes_on(memory: Memory) -> None:
    """A reader who leaves after the first piece costs the prompt nothing, and the next run is captured behind it."""
    model = Streaming()

    async def talk() -> str:
        host = agent(memory, model)
        async with host.run_stream("Brew sencha.") as result:
            async for _ in result.stream_text(delta=True, debounce_by=None):
                break
        return (
            await Agent(FunctionModel(_fine), capabilities=[memory_capability(memory, "s1")]).run("And now?")
        ).output

    assert asyncio.run(talk()) == "Fine."
    turns = said(memory)
    assert turns[0] == ("user", "Brew sencha.")
    assert turns[-2:] == [("user", "And now?"), ("assistant", "Fine.")]
    assert len(turns) == len(set(turns))


def _fine(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart("Fine.")])
