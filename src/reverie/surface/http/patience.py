"""What one connection may cost: how long it may say nothing, take nothing, and how many there are.

Owns uvicorn's protocol with these limits; promises that a client which sends its headers byte by byte, or none, or the
rest of a body after its answer, or does not take its answer, holds a connection no longer than the settings say, that
headers have an end, that no address of another machine keeps all others out, and that what is refused here is a problem
like any other; never counts the time of a request whose headers have arrived, which `guard` does.
"""

from __future__ import annotations

import sys
from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reverie.core.settings.http import HttpSettings
from reverie.surface.http.callers import Callers
from reverie.surface.http.guard import OPEN
from reverie.surface.http.problems import KINDS, Refusal, messages

if TYPE_CHECKING:
    from h11 import Connection
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.protocols.http.h11_impl import H11Protocol

_THRONG = 2  # times the connections there may be, past which none is held open even for a word


def patient(limits: HttpSettings, callers: Callers) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol within these limits, for as many connections as all of the `callers` may hold."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol

    class Patient(Protocol):
        """Closes a connection on which a request does not begin or end, or an answer is not taken."""

        _address = ""

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._line = _Line(transport, limits, loop=self.loop)
            self._address, *_ = self.client or ("",)
            crowd = max(
                len(self.connections) / limits.max_connections,
                callers.enter(self._address) / limits.max_connections_per_address,
            )
            if crowd > _THRONG:
                transport.abort()
                return
            self.app = self.app if crowd <= 1 else _Crowded(self.app)
            self._line.look(self.conn)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._line.look(self.conn)

        def connection_lost(self, exc: Exception | None) -> None:
            self._line.ended()
            callers.leave(self._address)
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._line.look(self.conn)  # what comes next may have begun to come already

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            self._line.give_up_later()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._line.give_up_later()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._line.taken()

        def send_400_response(self, msg: str) -> None:
            del msg
            if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
                for event in _unreadable():
                    self.transport.write(self.conn.send(event) or b"")
            self._line.hang_up()

    return Patient


class _Line:
    """One connection, and what is waited for on it: something to come, or that what was sent is taken."""

    def __init__(self, transport: Transport, limits: HttpSettings, *, loop: AbstractEventLoop) -> None:
        self._transport, self._limits, self._loop = transport, limits, loop
        self._coming: TimerHandle | None = None
        self._taking: TimerHandle | None = None

    def look(self, state: Connection) -> None:
        """Wait from now on, or no longer, as there is something to come that nobody times, or it has arrived.

        That is headers, and what is left of a body whose request was answered without it; or the last to be taken.
        """
        import h11

        answered = state.their_state is h11.SEND_BODY and state.our_state is h11.DONE
        if self._transport.is_closing():
            self.give_up_later()
        elif state.their_state is h11.IDLE or answered:
            self._coming = self._coming or self._loop.call_later(self._limits.header_seconds, self.hang_up)
        else:
            self._coming = _stopped(self._coming)

    def hang_up(self) -> None:
        """Send what there is to send, and end the connection."""
        self._transport.close()
        self.give_up_later()

    def give_up_later(self) -> None:
        """End the connection with what it was sent and does not take, unless it takes it in time."""
        self._taking = self._taking or self._loop.call_later(self._limits.send_seconds, self._transport.abort)

    def taken(self) -> None:
        """Wait no longer, except at the end: there is a rest still, which nobody may ever take."""
        if not self._transport.is_closing():
            self._taking = _stopped(self._taking)

    def ended(self) -> None:
        """Wait for nothing any more."""
        self._coming, self._taking = _stopped(self._coming), _stopped(self._taking)


def _stopped(timer: TimerHandle | None) -> TimerHandle | None:
    """Stop a timer, and return what stands in its place: none."""
    if timer is not None:
        timer.cancel()
    return None


class _Crowded:
    """The ASGI application for requests for which there is no room now.

    What needs no token is answered by `inner` all the same: a server in a crowd is as well as before, and whoever
    starts what is not well again would only help the crowd.
    """

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say so, and end the connection."""
        if scope["path"] in OPEN:
            await self._inner(scope, receive, _last(send))
            return
        told = Refusal(
            "Crowded", "there are more connections than this server takes, or takes from one address"
        )
        for message in messages(told, head=scope["method"] == "HEAD"):
            await send(message)


def _last(send: Send) -> Send:
    """Return what sends an answer as the last one of its connection."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return sent


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
