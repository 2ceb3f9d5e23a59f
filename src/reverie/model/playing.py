"""Steps written in advance, as a model that an agent of Pydantic AI runs on.

Owns the form of such steps; promises that the agent sees real tool calls and real texts; never decides on anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reverie.errors import ModelFailed
from reverie.model.agents import AgentModel
from reverie.model.failures import without_package

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart
    from pydantic_ai.models.function import AgentInfo

ToolCall = tuple[str, Mapping[str, Any]]
Step = str | ToolCall | Sequence[ToolCall] | ModelFailed


def played(next_step: Callable[[Sequence[ModelMessage]], Step], *, name: str) -> AgentModel:
    """Return a model whose every answer is the step that `next_step` gives for the messages so far.

    A text ends the agent's run, tool calls go on with it, a ModelFailed is raised. Raises ModelFailed while Pydantic AI
    is not installed.
    """
    try:
        from pydantic_ai import messages as said
        from pydantic_ai.models.function import FunctionModel
    except ImportError as error:
        raise without_package(name) from error

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        step = next_step(messages)
        if isinstance(step, ModelFailed):
            raise step
        if isinstance(step, str):
            return said.ModelResponse(parts=[said.TextPart(step)])
        calls: list[Any] = [step] if isinstance(step, tuple) and isinstance(step[0], str) else list(step)
        parts: list[ModelResponsePart] = [said.ToolCallPart(tool, dict(given)) for tool, given in calls]
        return said.ModelResponse(parts=parts)

    return FunctionModel(answer, model_name=name)
