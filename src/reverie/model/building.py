"""Pydantic AI's own model objects, made from a name and an access.

Owns which class serves a name, the HTTP client beneath it and the cap on what that reads; promises that nothing of
Pydantic AI is imported before the first call, and that a key meant for one server is not sent to another; never asks
a model anything.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from reverie.errors import ModelFailed
from reverie.model.failures import too_large, web_page, without_package

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as PydanticModel
    from pydantic_ai.providers import Provider

    from reverie.model.access import Access

_COMPATIBLE = {"", "openai", "openai-chat"}  # what a server of one's own is called by


def split(name: str) -> tuple[str, str]:
    """Return the provider and the model's own name; the provider is empty where none is written."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("", name)


@asynccontextmanager
async def built(name: str, access: Access) -> AsyncIterator[PydanticModel]:
    """Give the model object for `name`, and close its connections afterwards.

    Raises ModelFailed when Pydantic AI is not installed or the address is none; what its constructors raise otherwise
    is for `failures.failed` to read.
    """
    try:
        from pydantic_ai.models import create_async_httpx2_client
    except ImportError as error:
        raise without_package(name) from error
    if access.base_url and not access.base_url.startswith(("http://", "https://")):
        message = "models.base_url is no address: write it like http://127.0.0.1:8080/v1"
        raise ModelFailed(message, kind="down")
    client = create_async_httpx2_client(timeout=access.timeout)
    client.headers["accept-encoding"] = "identity"  # a packed answer could unfold to any size
    client.event_hooks = {**client.event_hooks, "response": [_watch(name, access)]}
    async with client, _model(name, access, client=client) as model:
        yield model


def _model(name: str, access: Access, *, client: httpx2.AsyncClient) -> PydanticModel:
    """Return the model object, which closes what it opened itself when it is left as a context."""
    from pydantic_ai.models import infer_model

    provider, own = split(name)
    if access.base_url and provider in _COMPATIBLE:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        # Not OpenAI's own provider, which would send OpenAI's key from the environment to this server.
        serving = OpenAICompatibleProvider(
            "openai-compatible", base_url=access.base_url, api_key=access.key or None, http_client=client
        )
        return OpenAIChatModel(own, provider=serving)

    def provided(wanted: str) -> Provider[Any]:
        return _provider(wanted, access, client=client)

    return infer_model(name, provider_factory=provided)


def _provider(wanted: str, access: Access, *, client: httpx2.AsyncClient) -> Provider[Any]:
    """Return the provider called `wanted`, with as much of the access as it takes."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.providers import infer_provider, infer_provider_class

    if wanted.startswith("gateway/"):
        return infer_provider(wanted)
    try:
        kind = infer_provider_class(wanted)
    except ValueError as error:
        raise UserError("no such provider") from error
    takes = inspect.signature(kind).parameters
    given: dict[str, Any] = {}
    if access.key and "api_key" in takes:
        given["api_key"] = access.key
    place = next((one for one in ("base_url", "api_base", "azure_endpoint") if one in takes), "")
    if access.base_url and place:
        given[place] = access.base_url
    # Some libraries still want the older client, of which they make one themselves.
    if "http_client" in takes and not str(takes["http_client"].annotation).startswith("httpx."):
        given["http_client"] = client
    return kind(**given)


def _watch(name: str, access: Access) -> Callable[[httpx2.Response], Any]:
    """Return the hook that looks at each response before it is read, and reads no more of it than is allowed."""
    import httpx2

    class Capped(httpx2.AsyncByteStream):
        """A response's bytes, up to the largest number."""

        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self.inner, self.left = inner, access.largest

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in self.inner:
                self.left -= len(piece)
                if self.left < 0:
                    raise too_large(name, access)
                yield piece

        async def aclose(self) -> None:
            await self.inner.aclose()

    async def look(response: httpx2.Response) -> None:
        if response.is_success and "html" in response.headers.get("content-type", "").lower():
            raise web_page(name, access)
        stream = response.stream
        if isinstance(stream, httpx2.AsyncByteStream):
            response.stream = Capped(stream)

    return look
