"""A server on a real socket, as the daemon has it, and clients that speak to it byte by byte."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from http_world import World, world_at

from reverie.core.settings.http import HttpSettings
from reverie.surface.daemon.serve import _server
from reverie.surface.http.callers import Callers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASKED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
WAIT = 60.0
PATIENT = ("header_seconds", "body_seconds", "send_seconds")


@contextmanager
def served(folder: Path, *, callers: Callers | None = None, **limits: Any) -> Iterator[tuple[World, int]]:
    """Serve a root, as the daemon does, within these limits; yield it and the port.

    No other limit of time ends anything before a test would be given up, however busy the machine is.
    """
    told = HttpSettings(**dict.fromkeys(PATIENT, 2 * WAIT) | limits)
    with world_at(folder, limits=told) as world, socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096
        )  # so that what is not taken is noticed soon
        # Each test calls from this machine, whose addresses share what there is: here they count like any other.
        server = _server(world.app, told, callers=callers or Callers(lambda _: True))
        server.config.timeout_keep_alive = int(2 * WAIT)  # the time for headers ends what rests
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield world, listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def connect(port: int, address: str = "127.0.0.1") -> socket.socket:
    """Open a connection from an address of this machine."""
    return socket.create_connection(("127.0.0.1", port), timeout=WAIT, source_address=(address, 0))


class Leaving(Callers):
    """Callers, of whom it is told when one has left."""

    def __init__(self) -> None:
        """Count this machine's too."""
        super().__init__(lambda _: True)
        self.left = threading.Event()

    def leave(self, address: str) -> None:
        """Count a connection no longer."""
        super().leave(address)
        self.left.set()


def answer(client: socket.socket, data: bytes = b"") -> tuple[int, dict[str, str], Any]:
    """Read one whole answer, of which `data` was read: its status, headers and JSON."""
    while b"\r\n\r\n" not in data:
        more = client.recv(65_536)
        assert more, data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers["content-length"]):
        more = client.recv(65_536)
        assert more, data
        body += more
    return int(first.split()[1]), headers, json.loads(body)


def asked(world: World, path: str, token: str | None = None, **headers: str) -> bytes:
    """Return the bytes of a GET with a token, the first one if none is given."""
    told = {"host": "localhost", "authorization": f"Bearer {world.first if token is None else token}"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in (told | headers).items())
    return f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode()


def first_words(client: socket.socket) -> bytes:
    """Return what the server says first, nothing when it hung up."""
    try:
        return client.recv(65_536)
    except ConnectionResetError:
        return b""


def ended(client: socket.socket) -> bool:
    """Wait until the server hung up, with or without a word."""
    while first_words(client):
        continue
    return True


@contextmanager
def answered(port: int, data: bytes) -> Iterator[tuple[socket.socket, int]]:
    """Yield a connection whose first request was answered, and the answer's status.

    Where a machine stands still the time for headers may run out on a connection, and another one is opened.
    """
    for _ in range(20):
        with connect(port) as client:
            client.sendall(data)
            begun = first_words(client)
            if begun:
                yield client, answer(client, begun)[0]
                return
    raise AssertionError("the server hung up on every connection")
