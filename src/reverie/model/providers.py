"""Models of any provider, by name: `openai:…`, `anthropic:…`, `ollama:…`, or one behind a server of one's own.

Owns the call to a provider through Pydantic AI; promises that nothing of it is imported before the first question,
that each answer comes back as it was written, and that whatever goes wrong is a ModelFailed with its kind and remedy;
never logs or keeps a key, a prompt or a reply, and never tries again (`reverie.models` does).
"""

from __future__ import annotations

import json
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reverie.model.access import Access
from reverie.model.asking import Model, Reply, Request, Usage
from reverie.model.building import built
from reverie.model.failures import RAISED, failed, refused, unusable, without_key

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as PydanticModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

NONE = ("", "none")
_OLLAMA = "http://127.0.0.1:11434/v1"  # where Ollama listens unless it is told otherwise


def open_model(name: str, access: Access | None = None) -> Model | None:
    """Return the model that settings call `name`, `provider:name`; None for `none`. Nothing is contacted yet.

    With `access.base_url` a name needs no provider: it is what the OpenAI-compatible server there calls the model.
    """
    if name in NONE:
        return None
    return Provided(name, access_of(name, access or Access()))


def access_of(name: str, access: Access) -> Access:
    """Return the access completed by what a name says about where its model is."""
    if name.startswith("ollama:") and not access.base_url:
        return replace(access, base_url=_OLLAMA)
    return access


class Provided:
    """One model of a provider; `complete` may be called from any thread, inside a running event loop too."""

    def __init__(self, name: str, access: Access) -> None:
        """Remember which model is meant and how it is reached."""
        self.name, self._access = name, access

    def complete(self, request: Request) -> Reply:
        """Ask once and return the reply; raises ModelFailed."""
        if self._access.key_variable and not self._access.key:
            raise without_key(self.name, self._access.key_variable)
        try:
            return _run(_ask(self.name, self._access, request=request))
        except RAISED as error:
            raise failed(error, self.name, access=self._access) from error


def _run(asking: Coroutine[Any, Any, Reply]) -> Reply:
    """Return what a coroutine gives, on an event loop of its own."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asking)
    with ThreadPoolExecutor(1) as thread:  # a loop cannot be run within another
        return thread.submit(asyncio.run, asking).result()


async def _ask(name: str, access: Access, *, request: Request) -> Reply:
    async with built(name, access) as model:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        instructions, parameters = _form(model, request)
        message = ModelRequest(parts=[UserPromptPart(request.text)], instructions=instructions)
        response = await model_request(
            model,
            [message],
            model_settings=_settings(access, request),
            model_request_parameters=parameters,
        )
    return _reply(name, response)


def _form(model: PydanticModel, request: Request) -> tuple[str, ModelRequestParameters]:
    """Return the instructions and the form of the reply: held to the schema where the model can be, else told of it."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if request.schema is None:
        return request.instructions, ModelRequestParameters()
    schema = dict(request.schema)
    if not model.profile.get("supports_json_schema_output", False):
        told = (
            f"Answer with one JSON value, and nothing else, that follows this schema:\n{json.dumps(schema)}"
        )
        return f"{request.instructions}\n\n{told}", ModelRequestParameters()
    form = OutputObjectDefinition(json_schema=schema, name="reply")
    return request.instructions, ModelRequestParameters(output_mode="native", output_object=form)


def _settings(access: Access, request: Request) -> ModelSettings:
    """Return the limits of one call; trying again is left to the rule that counts it."""
    from pydantic_ai.settings import ModelSettings

    limits = ModelSettings(
        max_tokens=request.max_tokens,
        timeout=access.timeout,
        request_timeout=access.timeout,
        max_retries=0,
    )
    if access.base_url:
        limits["temperature"] = 0.0  # a small model of one's own wanders; some large ones refuse the setting
    return limits


def _reply(name: str, response: ModelResponse) -> Reply:
    """Return a provider's answer as text; raises ModelFailed where there is none."""
    from pydantic_ai.messages import TextPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if response.finish_reason == "content_filter":
        raise refused(name)
    finished = response.finish_reason != "length"
    if not text.strip():
        why = "gave an empty answer" if finished else "reached its limit of tokens before it answered"
        raise unusable(name, why)
    return Reply(text=text, usage=usage_of(response), finished=finished)


def usage_of(response: ModelResponse) -> Usage:
    """Return what one answer used; its price where the price list knows the model."""
    cost = 0.0
    with suppress(LookupError, ValueError, AssertionError):
        cost = float(response.cost().total_price)
    return Usage(
        calls=1,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        cost=cost,
    )
