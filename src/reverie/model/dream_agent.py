"""A model as the dreamer: an agent of Pydantic AI with the tools of a dream, and nothing else.

Owns the conversation with one model over one batch; promises that the agent can do what the tools it is given can do
and no more, that it is stopped when its time is up or it goes in circles, and that every way it can end is told apart
by what may be concluded from it; never judges what it did, and never reads or writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from reverie.errors import ModelFailed
from reverie.model.agents import AgentModel
from reverie.model.dream_prompt import TOOLS

if TYPE_CHECKING:
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import ModelMessage

Given = AbstractAsyncContextManager[AgentModel]

OWN_FAULT = frozenset({"unusable", "refused"})  # what says something about what was asked
TOO_MUCH = frozenset({"ceiling", "timeout"})  # what a smaller batch may come to an end with
CALLS = 2_000  # of tools in one run
WRONG = 8  # calls in a row that no tool understands
_NAMED = 50  # unsettled entries that a reminder names
_KEPT = 4_000  # characters of one part of a transcript
_TRANSCRIPT = 400_000


class Desk(Protocol):
    """The tools over one batch."""

    def use(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer of a tool."""

    def unsettled(self) -> list[str]:
        """Return what has no outcome yet."""


class Asked(Protocol):
    """What an agent is told: its instructions, the data, and the names of the tools it has."""

    @property
    def instructions(self) -> str:
        """What is asked."""

    @property
    def text(self) -> str:
        """The data it is asked about."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Which of the tools it is given."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended: cleanly, or with a `problem`, which is the batch's `own_fault` or was `too_much` for a ceiling.

    `said` is its transcript, a line a part.
    """

    clean: bool
    problem: str = ""
    own_fault: bool = False
    too_much: bool = False
    said: tuple[Mapping[str, object], ...] = ()


class _Heard(msgspec.Struct):
    """What was said so far, by both sides."""

    messages: list[Any] = msgspec.field(default_factory=list)


def dream_with(given: Given, task: Asked, *, desk: Desk, seconds: float) -> Ended:
    """Let a model work on a batch for at most so many seconds, and return how it ended."""
    heard = _Heard()
    try:
        _run(_dream(given, task, desk, seconds=seconds, heard=heard))
    except ModelFailed as failure:
        answered = any(one.kind == "response" for one in heard.messages)
        return Ended(
            clean=False,
            problem=str(failure),
            own_fault=failure.kind in OWN_FAULT,
            too_much=failure.kind in TOO_MUCH and answered,
            said=tuple(_transcript(heard.messages)),
        )
    return Ended(clean=True, said=tuple(_transcript(heard.messages)))


async def _dream(given: Given, task: Asked, desk: Desk, *, seconds: float, heard: _Heard) -> None:
    """Run the agent, and once more where it ended with something unsettled; raises ModelFailed."""
    from pydantic_ai import exceptions as known

    try:
        async with given as model:
            agent = _agent(model, task, desk)
            await _ask(agent, task.text, seconds=seconds, heard=heard)
            if left := desk.unsettled():
                names = ", ".join(left[:_NAMED])
                await _ask(
                    agent,
                    f"{len(left)} are still unsettled: {names}. Settle them, or say that you are done.",
                    seconds=seconds,
                    heard=heard,
                )
    except (known.RunTimedOut, known.UsageLimitExceeded) as error:
        late = isinstance(error, known.RunTimedOut)
        message = (
            f"the dreamer came to no end within {seconds:,.0f} seconds or {CALLS:,} calls; nothing is changed"
        )
        raise ModelFailed(message, kind="timeout" if late else "ceiling") from error
    except known.ModelAPIError as error:
        message = f"the model could not be asked ({type(error).__name__}); nothing is changed"
        raise ModelFailed(message, kind="down") from error
    except known.AgentRunError as error:
        message = f"what the dreamer did cannot be used ({type(error).__name__}); nothing is changed"
        raise ModelFailed(message, kind="unusable") from error


async def _ask(agent: Agent[None, str], text: str, *, seconds: float, heard: _Heard) -> None:
    from pydantic_ai import UsageLimits, capture_run_messages

    limits = UsageLimits(request_limit=None, tool_calls_limit=CALLS)
    before = list(heard.messages)
    with capture_run_messages() as heard.messages:
        await agent.run(text, message_history=before or None, usage_limits=limits, timeout=seconds)


def _agent(model: AgentModel, task: Asked, desk: Desk) -> Agent[None, str]:
    from pydantic_ai import Agent, Tool

    def tool(name: str) -> Tool[None]:
        def use(**arguments: Any) -> str:  # noqa: ANN401 - whatever the model sent, which the tool looks at
            return desk.use(name, arguments)

        told = TOOLS[name]
        return Tool.from_schema(use, name, told.says, told.schema, sequential=True)

    return Agent(
        model, instructions=task.instructions, tools=[tool(name) for name in task.tools], retries=WRONG
    )


def _transcript(messages: Sequence[ModelMessage]) -> Iterator[Mapping[str, object]]:
    """Yield what was said, a line a part, long ones cut, up to a size that a person can look through."""
    size = 0
    for message in messages:
        for part in message.parts:
            content = getattr(part, "args", None) or getattr(part, "content", "")
            text = (
                content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
            )
            if size > _TRANSCRIPT:
                return
            size += min(len(text), _KEPT)
            line = {"type": part.part_kind, "tool": getattr(part, "tool_name", ""), "text": text[:_KEPT]}
            yield {name: value for name, value in line.items() if value}


def _run(working: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end on an event loop of its own."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(working)
        return
    with ThreadPoolExecutor(1) as thread:  # a loop cannot be run within another
        thread.submit(asyncio.run, working).result()
