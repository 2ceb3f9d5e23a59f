"""Models as Pydantic AI's agents take them, each of their requests under the same rule as every other question.

Owns the wrapper around a Pydantic AI model; promises that nothing is imported before an agent runs, and that what goes
wrong reaches the agent's caller as ModelFailed; never decides when to wait or what a run may use.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from reverie.errors import ModelFailed
from reverie.model.access import Access
from reverie.model.asking import Usage
from reverie.model.building import built
from reverie.model.failures import RAISED, failed, without_key, without_package
from reverie.model.providers import access_of, usage_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as PydanticModel
    from pydantic_ai.settings import ModelSettings

# Asks once: gives whatever came, and what it used. The rule calls it as often as it sees fit.
Once = Callable[[], Awaitable[tuple[Any, Usage]]]
Rule = Callable[[Once], Awaitable[Any]]


# Pydantic AI's own model object, named here for those who may not import its library.
AgentModel: TypeAlias = "PydanticModel"


@runtime_checkable
class Agentic(Protocol):
    """Something that can serve an agent, such as a scripted one of `reverie.testing`."""

    @property
    def name(self) -> str:
        """The model as settings name it."""

    def agent_model(self) -> PydanticModel:
        """Return the model object for an agent."""


@asynccontextmanager
async def agent_model(name: str, access: Access, *, rule: Rule) -> AsyncIterator[PydanticModel]:
    """Give the model `name` for an agent, every request of which goes through `rule`; close it afterwards.

    Raises ModelFailed at the beginning, and out of the agent's run for whatever its model does.
    """
    access = access_of(name, access)
    if access.key_variable and not access.key:
        raise without_key(name, access.key_variable)
    async with AsyncExitStack() as opened:
        try:
            model = await opened.enter_async_context(built(name, access))
        except RAISED as error:
            raise failed(error, name, access=access) from error
        # What the agent's own caller raises meanwhile is theirs and goes through unchanged.
        yield ruled(model, name, access=access, rule=rule)


def ruled(model: PydanticModel, name: str, *, access: Access, rule: Rule) -> PydanticModel:
    """Return the model with every request of an agent put through `rule`; raises ModelFailed."""
    try:
        from pydantic_ai.models.wrapper import WrapperModel
    except ImportError as error:
        raise without_package(name) from error

    class Ruled(WrapperModel):
        """A model whose requests are counted, capped and tried again as the workspace's rule says."""

        @property
        def settings(self) -> ModelSettings:
            """The wrapped model's settings within the limits of the access."""
            limits: ModelSettings = {
                "timeout": access.timeout,
                "request_timeout": access.timeout,
                "max_retries": 0,
            }
            return {**(super().settings or {}), **limits}

        async def request(self, *asked: Any, **named: Any) -> ModelResponse:  # noqa: ANN401 - handed on as they are
            async def once() -> tuple[ModelResponse, Usage]:
                try:
                    response = await self.wrapped.request(*asked, **named)
                except ModelFailed:
                    raise
                except RAISED as error:
                    raise failed(error, name, access=access) from error
                return response, usage_of(response)

            given: ModelResponse = await rule(once)
            return given

    return Ruled(model)
