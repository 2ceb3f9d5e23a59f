"""A connection that does not say what it wants is given up, over a real socket."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn
from http_world import world_at

from reverie.surface.http.patience import patient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASKED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def serving(folder: Path, seconds: float) -> Iterator[int]:
    """Serve at a port where headers are waited for so many seconds."""
    with world_at(folder) as world, socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            world.app, http=patient(seconds), log_config=None, lifespan="off", timeout_keep_alive=60
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A port at which a server waits half a second for headers."""
    with serving(tmp_path, 0.5) as found:
        yield found


@pytest.mark.parametrize("before", [b"", b"G", ASKED, ASKED + b"X-Slow: " + b"y" * 1000])
def test_headers_that_never_end_are_not_waited_for(port: int, before: bytes) -> None:
    """A connection that sends nothing, or headers without an end, is closed without an answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(before)
        assert client.recv(1000) == b""


def test_a_second_request_is_waited_for_as_long(tmp_path: Path) -> None:
    """On a connection that was answered, the headers of the next request have the same time and no more."""
    with serving(tmp_path, 5) as port, socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(ASKED + b"\r\n")
        answer = b""
        while b'{"status":"ok"}' not in answer:
            more = client.recv(1000)
            assert more
            answer += more
        client.sendall(ASKED)
        assert client.recv(1000) == b""


def test_a_request_whose_headers_arrived_is_answered(tmp_path: Path) -> None:
    """Headers that arrive in pieces within their time are answered."""
    with serving(tmp_path, 60) as port, socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        for byte in ASKED + b"\r\n":
            client.sendall(bytes([byte]))
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
