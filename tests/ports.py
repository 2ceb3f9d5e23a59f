"""Ports of this machine that stay a test's own while whoever serves at them is gone for a while."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def held_port() -> Iterator[int]:
    """Yield a port at which a server that takes addresses again may listen, and which the system gives to nobody."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
