"""What the log says of each request: the route and what became of it, never what was asked.

Owns one line a request; promises that neither an address as it was sent nor a query, header or body stands in it; never
changes a request or an answer.
"""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from reverie.surface.daemon.logs import Log

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_QUIET = ("/healthz", "/metrics")  # asked every few seconds by machines


class Access:
    """An ASGI application around another, which writes one line for each request that it answered."""

    def __init__(self, inner: ASGIApp, log: Log) -> None:
        """Stand around `inner`."""
        self._inner, self._log = inner, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered, and tell of it."""
        if scope["type"] != "http" or scope["path"] in _QUIET:
            await self._inner(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._inner(scope, receive, watched)
        finally:
            self._log(
                "request",
                method=scope["method"] if scope["method"].isalpha() else "?",
                route=_route(scope),
                status=status,
                seconds=time.monotonic() - began,
            )


def _route(scope: Scope) -> str:
    """Return the route that took a request, with its arguments' names in the place of their values."""
    return str(getattr(scope.get("route"), "path", "")) or "none"
