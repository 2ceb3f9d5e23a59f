"""What one connection may cost: how long it may say nothing, take nothing, and how many there are.

Owns uvicorn's protocol with these limits; promises that a client which sends its headers byte by byte, or none, or does
not take its answer, holds a connection no longer than the settings say, that headers have an end, and that what is
refused here is a problem like any other; never counts the time of a request whose headers have arrived, which `guard`
does.
"""

from __future__ import annotations

import sys
from asyncio import TimerHandle, Transport
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reverie.core.settings.http import HttpSettings
from reverie.surface.http.problems import KINDS, Refusal, messages

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send
    from uvicorn.protocols.http.h11_impl import H11Protocol


def patient(limits: HttpSettings) -> type[H11Protocol]:  # noqa: C901 - one class, made where uvicorn is imported
    """Return uvicorn's HTTP protocol within these limits."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol

    class Patient(Protocol):
        """Closes a connection on which a request does not begin, or an answer is not taken."""

        _waiting: TimerHandle | None = None
        _stuck: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > 2 * limits.max_connections:
                transport.abort()
                return
            if len(self.connections) > limits.max_connections:
                self.app = _Crowded()
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            self.resume_writing()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._stuck is None:
                self._stuck = self.loop.call_later(limits.send_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None

        def send_400_response(self, msg: str) -> None:
            del msg
            if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
                for event in _unreadable():
                    self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def _look(self) -> None:
            """Wait from now on, or no longer, as headers are still to come or have arrived."""
            if self.conn.their_state is not h11.IDLE:
                self._stop()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(limits.header_seconds, self.transport.close)

        def _stop(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

    return Patient


class _Crowded:
    """The ASGI application for requests for which there is no room now."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say so."""
        del receive
        told = Refusal("Crowded", "there are more connections than this server takes")
        for message in messages(told, head=scope["method"] == "HEAD"):
            await send(message)


def _unreadable() -> Iterator[Any]:
    """Yield the events of h11 that answer bytes which are no request, by the error that they just raised."""
    import h11

    error = Refusal("BadRequest", "this is no HTTP request")
    if getattr(sys.exception(), "error_status_hint", 0) == KINDS["HeadersTooLarge"].status:
        error = Refusal("HeadersTooLarge", "the headers are longer than this server takes")
    begin, rest = messages(error)
    fields = {**dict(begin["headers"]), b"connection": b"close"}
    yield h11.Response(status_code=begin["status"], headers=list(fields.items()))
    yield h11.Data(data=rest["body"])
    yield h11.EndOfMessage()
