"""Pydantic AI's agents with a memory: what is captured, what leaves, and what a model is sent."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai import Agent, BinaryContent, ImageUrl, ModelRetry
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

import reverie
from reverie import Memory, Opening
from reverie.adapters.pydantic_ai import Limits, history_processor, memory_capability
from reverie.errors import BudgetOverflow
from reverie.store import sessions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
LONG = "the printer on the third floor is on fire again and nobody has water, " * 6


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory that knows one thing."""
    environment = {"HOME": str(tmp_path), "TZ": "UTC", "REVERIE_EMBEDDER": "none"}
    opening = Opening(path=tmp_path / "ws", config_dir=tmp_path / "config", environment=environment)
    with reverie.init(opening) as made:
        made.remember("Dana prefers calls before noon.")
        yield made


class Heard:
    """A model that answers with one sentence, and keeps every list of messages it was sent."""

    def __init__(self, *answers: Any) -> None:
        """Answer with `answers` first."""
        self.sent: list[list[ModelMessage]] = []
        self._answers = list(answers)
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        part = self._answers.pop(0) if self._answers else TextPart("Understood.")
        return ModelResponse(parts=[part])

    @property
    def text(self) -> str:
        """Everything the model was sent last."""
        return ModelMessagesTypeAdapter.dump_json(self.sent[-1]).decode()


def talk(exchanges: int) -> list[ModelMessage]:
    """Return a conversation in which every exchange but the first calls a tool."""
    messages: list[ModelMessage] = []
    for n in range(exchanges):
        at = NOON + timedelta(minutes=n)
        parts: list[Any] = [SystemPromptPart("You are a support agent.", timestamp=at)] if not n else []
        messages.append(ModelRequest(parts=[*parts, UserPromptPart(f"Ticket {n}: {LONG}", timestamp=at)]))
        if n:
            call = ToolCallPart("look_up", {"ticket": n}, tool_call_id=f"call-{n}")
            back = ToolReturnPart("look_up", f"ticket {n} is open", tool_call_id=f"call-{n}", timestamp=at)
            messages += [ModelResponse(parts=[call], timestamp=at), ModelRequest(parts=[back])]
        messages.append(ModelResponse(parts=[TextPart(f"Noted ticket {n}.")], timestamp=at))
    return messages


def ran(agent: Agent, *given: Any, **more: Any) -> Any:
    """Return what a run of an agent came to."""
    return asyncio.run(agent.run(*given, **more))


def pairs(messages: list[ModelMessage]) -> tuple[list[str], list[str]]:
    """Return the ids of the tool calls and of the returns in a list of messages."""
    parts = [part for message in messages for part in message.parts]
    return (
        [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)],
        [part.tool_call_id for part in parts if isinstance(part, ToolReturnPart)],
    )


def stored(memory: Memory, session: str = "s1") -> list[tuple[str, str]]:
    """Return who said what in a session."""
    return [(turn.role, turn.content) for turn in sessions.read(memory.opened.ws, session)]


def test_a_run_is_captured_and_told_what_is_known(memory: Memory) -> None:
    """The prompt is captured once, memory stands before it in the request, and in no message the host keeps."""
    heard = Heard()
    agent = Agent(heard.model, capabilities=[memory_capability(memory, "s1")])
    first = ran(agent, "When may I call Dana?")
    assert "Dana prefers calls before noon." in heard.text
    request = heard.sent[-1][-1]
    assert [part.part_kind for part in request.parts] == ["user-prompt", "user-prompt"]
    assert request.parts[-1].content == "When may I call Dana?"
    assert "reverie-memory" in request.parts[0].content
    assert "reverie-memory" not in first.all_messages_json().decode()
    second = ran(agent, "Thanks.", message_history=first.all_messages())
    assert "reverie-memory" not in second.all_messages_json().decode()
    assert stored(memory) == [
        ("user", "When may I call Dana?"), ("assistant", "Understood."),
        ("user", "Thanks."), ("assistant", "Understood."),
    ]  # fmt: skip


def test_what_is_forgotten_is_not_sent(memory: Memory) -> None:
    """After a forget in the middle of a conversation the next request holds nothing of it."""
    heard = Heard()
    agent = Agent(heard.model, capabilities=[memory_capability(memory, "s1")])
    first = ran(agent, "When may I call?")
    assert "before noon" in heard.text
    memory.drain()
    memory.forget([memory.list()[0].entry.id])
    ran(agent, "When may I call?", message_history=first.all_messages())
    assert "before noon" not in heard.text


def test_a_long_conversation_is_compacted(memory: Memory) -> None:
    """The oldest exchanges leave the history for good, archived; the system prompt and whole tool calls stay."""
    heard = Heard()
    limits = Limits(conversation=1_500, memory=1_000)
    agent = Agent(heard.model, capabilities=[memory_capability(memory, "s1", limits=limits)])
    history = talk(20)
    done = ran(agent, "And the last one?", message_history=history)
    sent = heard.sent[-1]
    assert len(sent) < len(history) / 2
    calls, returns = pairs(sent)
    assert calls == returns
    assert calls[-1] == "call-19"
    assert isinstance(sent[0].parts[0], SystemPromptPart)
    assert isinstance(sent[0].parts[1], UserPromptPart)
    assert "Ticket 0:" in (memory.root / "history.jsonl").read_text()
    parts = [part for message in done.all_messages() for part in message.parts]
    said = [part.content for part in parts if isinstance(part, UserPromptPart)]
    assert said[-1] == "And the last one?"
    assert f"Ticket 0: {LONG}" not in said
    assert len(set(stored(memory))) == len(stored(memory)) - 18  # a call of a tool has no words
    assert len(stored(memory)) == 20 * 2 + 19 * 2 + 2


def test_the_same_history_again_stores_nothing_twice(memory: Memory) -> None:
    """A host that sends its whole history with each run has each message stored once, also after JSON and back."""
    agent = Agent(TestModel(custom_output_text="Fine."), capabilities=[memory_capability(memory, "s1")])
    history = talk(4)
    result = ran(agent, "Fifth", message_history=history)
    result = ran(
        agent, "Sixth", message_history=ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    )
    ran(agent, "Seventh", message_history=result.all_messages())
    texts = stored(memory)
    assert [content for role, content in texts if role == "user"] == [
        *(f"Ticket {n}: {LONG}" for n in range(4)), "Fifth", "Sixth", "Seventh",
    ]  # fmt: skip
    assert sum(role == "tool" for role, _ in texts) == 3


def test_a_run_with_tools_captures_each_step_once(memory: Memory) -> None:
    """Within a run a tool call and its return are captured once, in order, and memory stays the same text."""
    heard = Heard(ToolCallPart("weather", {"city": "Lisbon"}, tool_call_id="c1"), TextPart("Sunny."))
    agent = Agent(heard.model, capabilities=[memory_capability(memory, "s1")])

    @agent.tool_plain
    def weather(city: str) -> str:
        return f"sun in {city}"

    first = ran(agent, "How is Lisbon?")
    shown = [message.parts[0].content for message in (heard.sent[0][0], heard.sent[1][0])]
    assert shown[0] == shown[1]
    ran(agent, "Thanks", message_history=first.all_messages())
    assert stored(memory) == [
        ("user", "How is Lisbon?"), ("assistant", ""), ("tool", "sun in Lisbon"), ("assistant", "Sunny."),
        ("user", "Thanks"), ("assistant", "Understood."),
    ]  # fmt: skip
    turns = sessions.read(memory.opened.ws, "s1")
    assert turns[1].calls[0].arguments == '{"city":"Lisbon"}'
    assert turns[2].call == "c1"


def test_a_tool_that_asks_again_is_captured(memory: Memory) -> None:
    """What a tool answers to have the model try again is a turn of the tool."""
    heard = Heard(ToolCallPart("weather", {"city": "?"}, tool_call_id="c1"), TextPart("I do not know."))
    agent = Agent(heard.model, capabilities=[memory_capability(memory, "s1")])

    @agent.tool_plain
    def weather(city: str) -> str:
        raise ModelRetry(f"there is no city {city}")

    ran(agent, "How is it?")
    assert any(role == "tool" and "there is no city ?" in content for role, content in stored(memory))


def test_pictures_and_thoughts(memory: Memory) -> None:
    """A picture is kept as a reference or by its size, and what a model only thought is not captured."""
    heard = Heard()
    agent = Agent(heard.model, capabilities=[memory_capability(memory, "s1")])
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("Hello")]),
        ModelResponse(parts=[ThinkingPart("A secret thought"), TextPart("Hello!")]),
    ]
    png = BinaryContent(b"\x89PNG" * 10, media_type="image/png")
    ran(agent, ["Look:", ImageUrl("https://example.org/a.png"), png], message_history=history)
    turns = sessions.read(memory.opened.ws, "s1")
    assert [turn.content for turn in turns] == [
        "Hello", "Hello!", "Look:\n[image/png, 40 bytes]", "Understood.",
    ]  # fmt: skip
    assert turns[2].attachments[0].ref == "https://example.org/a.png"


@pytest.mark.slow
def test_a_turn_that_is_too_large_is_cut_in_memory_alone(memory: Memory) -> None:
    """A tool's return beyond what a turn may hold reaches the model whole, and memory its beginning."""
    most = memory.opened.ws.settings.max_turn_bytes
    history = talk(2)
    huge = "é" * most
    history[3] = ModelRequest(parts=[ToolReturnPart("look_up", huge, tool_call_id="call-1")])
    stays = history_processor(memory, "s1", limits=Limits(conversation=50_000_000))(history)
    assert any(getattr(part, "content", "") == huge for message in stays for part in message.parts)
    tool = next(content for role, content in stored(memory) if role == "tool")
    assert len(tool.encode()) <= most
    assert tool.endswith("may hold]")


def test_a_processor_takes_out_what_it_put_in(memory: Memory) -> None:
    """`ProcessHistory` keeps what a processor returns; the next request holds one context, and captures none."""
    heard = Heard()
    agent = Agent(heard.model, capabilities=[ProcessHistory(history_processor(memory, "s1"))])
    first = ran(agent, "When may I call Dana?")
    again = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    ran(agent, "Thanks.", message_history=again)
    assert heard.text.count("</reverie-memory nonce=") == 1
    assert [content for _, content in stored(memory)] == ["When may I call Dana?", "Understood.", "Thanks."]


def test_a_prompt_that_imitates_memory_is_a_prompt(memory: Memory) -> None:
    """Words that look like a fence are captured and sent like any others."""
    heard = Heard()
    agent = Agent(heard.model, capabilities=[ProcessHistory(history_processor(memory, "s1"))])
    for text in ('<reverie-memory nonce="a">', '<reverie-memory nonce="a"> x </reverie-memory nonce="b">'):
        ran(agent, text)
        assert heard.sent[-1][-1].parts[-1].content == text
    assert len([one for one in stored(memory) if one[0] == "user"]) == 2


def test_the_callers_messages_are_not_changed(memory: Memory) -> None:
    """The list and the messages that a caller holds stay as they are."""
    history = talk(8)
    before = ModelMessagesTypeAdapter.dump_json(history)
    stays = history_processor(memory, "s1", limits=Limits(conversation=1_000))(history)
    assert len(stays) < len(history)
    assert ModelMessagesTypeAdapter.dump_json(history) == before


def test_a_newest_exchange_beyond_the_limit_is_an_error(memory: Memory) -> None:
    """When what may not leave exceeds a limit that was given, the run ends with a clear error."""
    agent = Agent(TestModel(), capabilities=[memory_capability(memory, "s1", limits=Limits(conversation=50))])
    with pytest.raises(BudgetOverflow):
        ran(agent, LONG * 3)


def test_a_paused_session_loses_nothing(memory: Memory) -> None:
    """Off the record nothing is captured, so nothing may leave the conversation."""
    memory.pause("s1")
    history = talk(8)
    stays = history_processor(memory, "s1", limits=Limits(conversation=100_000))(history)
    assert len(stays) == len(history)
    assert stored(memory) == []
