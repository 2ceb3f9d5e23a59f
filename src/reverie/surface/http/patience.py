"""How long a connection may take to say what it wants: a request that never gets past its headers is given up.

Owns that time; promises that a client which sends its headers byte by byte, or none, holds a connection no longer than
that; never counts the time of a request whose headers have arrived, which `guard` does.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0


def patient(seconds: float = SECONDS) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol, which waits so many seconds for the headers of each request."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol

    class Patient(Protocol):
        """Closes a connection on which a request does not begin."""

        _waiting: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _look(self) -> None:
            """Wait from now on, or no longer, as headers are still to come or have arrived."""
            if self.conn.their_state is not h11.IDLE:
                self._stop()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

    return Patient
