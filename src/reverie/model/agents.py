"""Models as Pydantic AI's agents take them, each of their requests under the same rule as every other question.

Owns the wrapper around a Pydantic AI model; promises that nothing is imported before an agent runs, and that what goes
wrong reaches the agent's caller as ModelFailed; never decides when to wait or what a run may use.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from reverie.errors import ModelFailed
from reverie.model.access import Access
from reverie.model.asking import Usage
from reverie.model.building import built
from reverie.model.failures import RAISED, failed, refused, unusable, without_key
from reverie.model.providers import access_of, usage_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as PydanticModel
    from pydantic_ai.settings import ModelSettings


class Books(Protocol):
    """The account of one model in one run, which decides whether it is asked and when it is asked again."""

    @property
    def name(self) -> str:
        """The model as settings name it."""

    def admit(self) -> datetime:
        """Return the instant at which a question begins; raises ModelFailed where none may be asked."""

    def answered(self, began: datetime, used: Usage, *, wrong: ModelFailed | None = None) -> None:
        """Record an answer and what it used; `wrong` says why it cannot be used."""

    def failed(self, began: datetime, failure: ModelFailed, *, tried: int, waited: float) -> float:
        """Record that a question failed; return the seconds until it is asked again, or raise the failure."""


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
async def agent_model(
    books: Books, access: Access, *, given: Agentic | None = None
) -> AsyncIterator[AgentModel]:
    """Give the model that `books` are about for an agent, every request of which they decide; close it afterwards.

    `given` serves the agent in its place. Raises ModelFailed at the beginning, and out of the agent's run for whatever
    its model does.
    """
    if given is not None:
        yield _ruled(given.agent_model(), books, access=access)
        return
    name = books.name
    access = access_of(name, access)
    if access.key_variable and not access.key:
        raise without_key(name, access.key_variable)
    async with AsyncExitStack() as opened:
        try:
            model = await opened.enter_async_context(built(name, access))
        except RAISED as error:
            raise failed(error, name, access=access) from error
        # What the agent's own caller raises meanwhile is theirs and goes through unchanged.
        yield _ruled(model, books, access=access)


def _ruled(model: PydanticModel, books: Books, *, access: Access) -> PydanticModel:
    """Return the model with every request of an agent decided by `books`."""
    import asyncio

    from pydantic_ai.models.wrapper import WrapperModel

    class Ruled(WrapperModel):
        """A model whose requests are counted, capped and tried again as the workspace's rule says."""

        @property
        def settings(self) -> ModelSettings:
            """The wrapped model's settings within the limits of the access."""
            limits: ModelSettings = {"timeout": access.timeout, "max_retries": 0}
            return {**(super().settings or {}), **limits}

        async def request(self, *asked: Any, **named: Any) -> ModelResponse:  # noqa: ANN401 - handed on as they are
            async def once() -> ModelResponse:
                try:
                    # Here, where the books hear of it: by the setting `request_timeout` the agent would end it above.
                    async with asyncio.timeout(access.timeout):
                        return await self.wrapped.request(*asked, **named)
                except RAISED as error:
                    raise failed(error, books.name, access=access) from error

            return await _by_the_rule(once, books)

    return Ruled(model)


async def _by_the_rule(once: Callable[[], Awaitable[ModelResponse]], books: Books) -> ModelResponse:
    """Ask as often as the books have it and return the answer; raises ModelFailed."""
    import asyncio

    waited, tried = 0.0, 0
    while True:
        began = books.admit()
        tried += 1
        try:
            response = await once()
        except ModelFailed as failure:
            pause = books.failed(began, failure, tried=tried, waited=waited)
            await asyncio.sleep(pause)
            waited += pause
            continue
        wrong = _wrong(books.name, response)
        books.answered(began, usage_of(response), wrong=wrong)
        if wrong is not None and wrong.kind == "refused":
            raise wrong
        return response  # an empty one too: the agent asks again, some times


def _wrong(name: str, response: ModelResponse) -> ModelFailed | None:
    """Return why a response neither calls a tool nor says anything; None when it does one of them."""
    if response.tool_calls or (response.text or "").strip():
        return None
    return (
        refused(name)
        if response.finish_reason == "content_filter"
        else unusable(name, "gave an empty answer")
    )
