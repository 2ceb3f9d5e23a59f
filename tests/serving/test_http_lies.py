"""Requests that lie about themselves, over real sockets, and names of others pointed at every address."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from http_world import BASE, World, world_at
from speaking_http import ASKED, WAIT, Leaving, answer, asked, connect, ended, first_words, served
from starlette.testclient import TestClient

from reverie.surface.daemon.mcp import McpRoutes, lifespan_of
from reverie.surface.http.app import app
from reverie.surface.http.openapi import written

if TYPE_CHECKING:
    from collections.abc import Iterator

POST = ASKED.replace(b"GET /healthz", b"POST /v1/workspaces/support/recall")
JSON = b"Content-Type: application/json\r\n"
BODY = b'{"query": "tea"}'
UPGRADE = (
    b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
LIES = {
    "half closed": (POST + b"Content-Length: 100\r\n\r\n" + BODY, True),
    "a body shorter than told": (POST + b"Content-Length: 1000\r\n\r\n" + BODY, True),
    "a body longer than told": (POST + b"Content-Length: 3\r\n\r\n" + BODY * 50, False),
    "two lengths": (POST + b"Content-Length: 16\r\nContent-Length: 17\r\n\r\n" + BODY, False),
    "a length and chunks": (
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        False,
    ),
    "no length that is a number": (POST + b"Content-Length: -1\r\n\r\n", False),
    "a length in other digits": (POST + b"Content-Length: \xd9\xa1\r\n\r\n", False),
    "two codings": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", False),
    "a chunk of a huge size": (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\nx", True),
    "a folded header": (ASKED + b"X: a\r\n b\r\n\r\n", False),
    "a header without a name": (ASKED + b": x\r\n\r\n", False),
    "a bare line end in a header": (ASKED + b"X: a\nY: b\r\n\r\n", False),
    "a NUL in a header": (ASKED + b"X: a\0b\r\n\r\n", False),
    "a whole address": (b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "an older HTTP": (b"GET /v1/workspaces HTTP/1.0\r\n\r\n", False),
    "HTTP/2 without asking": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", False),
    "a tunnel": (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "an echo": (b"TRACE /v1/workspaces HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "a web socket": (
        UPGRADE,
        False,
    ),
    "another protocol": (
        ASKED + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n",
        False,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_costs_its_own_connection_at_most(tmp_path: Path, lie: str) -> None:
    """Whatever a request says of itself, it is answered or hung up on, and its neighbour is served."""
    callers = Leaving()
    data, closes = LIES[lie]
    with served(tmp_path, callers=callers) as (world, port):
        with connect(port) as client:
            client.sendall(data)
            if closes:
                client.shutdown(socket.SHUT_WR)
            first = first_words(client)
            assert first == b"" or first.startswith(b"HTTP/1.1 ")
            assert b" 101 " not in first
            assert not first.startswith(b"HTTP/1.1 5")
        assert callers.left.wait(WAIT)
        with connect(port) as other:
            other.sendall(asked(world, "/v1/workspaces"))
            assert answer(other)[0] == 200


def test_a_body_is_asked_for_only_from_who_may_send_it(tmp_path: Path) -> None:
    """`Expect: 100-continue` is answered by 401 without a token, by 413 for too much, and else by the word to go on."""
    with served(tmp_path) as (world, port):
        expects = POST + JSON + b"Expect: 100-continue\r\n"
        with connect(port) as client:
            client.sendall(expects + b"Content-Length: 16\r\n\r\n")
            assert client.recv(65_536).startswith(b"HTTP/1.1 401 ")
        told = expects + f"Authorization: Bearer {world.first}\r\n".encode()
        with connect(port) as client:
            client.sendall(told + b"Content-Length: 999999999\r\n\r\n")
            assert client.recv(65_536).startswith(b"HTTP/1.1 413 ")
        with connect(port) as client:
            client.sendall(told + b"Content-Length: 16\r\n\r\n")
            assert client.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(BODY)
            assert answer(client)[0] == 200


@pytest.mark.slow
def test_chunks_without_an_end_have_one(tmp_path: Path) -> None:
    """A body of chunks that never ends is 413 past its bytes, and 408 past its time, and the connection ends."""
    large = b"1000\r\n" + b"x" * 4096 + b"\r\n" + b"2000\r\n" + b"x" * 8192 + b"\r\n"
    for body, seconds, status in ((large, WAIT, 413), (b"1\r\nx\r\n", 1.0, 408)):
        home = tmp_path / f"{status}"
        home.mkdir()
        with (
            served(home, max_body_bytes=10_000, body_seconds=seconds) as (world, port),
            connect(port) as client,
        ):
            token = f"Authorization: Bearer {world.first}\r\n".encode()
            client.sendall(POST + JSON + token + b"Transfer-Encoding: chunked\r\n\r\n" + body)
            assert answer(client)[0] == status
            assert ended(client)


def test_requests_sent_at_once_are_answered_in_turn(tmp_path: Path) -> None:
    """Hundreds of requests in one piece on one connection are each answered, in the order they came."""
    with served(tmp_path) as (world, port), connect(port) as client:
        pairs = asked(world, "/v1/workspaces") + asked(world, "/v1/nothing")
        client.sendall(pairs * 100)
        data = b""
        while data.count(b"HTTP/1.1 ") < 200 or not data.endswith(b"}"):
            more = client.recv(65_536)
            assert more
            data += more
        statuses = [one.partition(b" ")[0] for one in data.split(b"HTTP/1.1 ")[1:]]
        assert statuses == [b"200", b"404"] * 100


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list descriptors")
def test_no_connection_is_left_behind(tmp_path: Path) -> None:
    """After hundreds of connections that were cut at any point, as many descriptors are open as before."""
    callers = Leaving()
    with served(tmp_path, callers=callers) as (world, port):
        whole = asked(world, "/v1/workspaces")
        before = _sockets()
        for cut in range(0, len(whole), 3):
            with connect(port) as client:
                client.sendall(whole[:cut])
        with connect(port) as client:
            client.sendall(whole)
            assert answer(client)[0] == 200
        while callers._held:  # noqa: SLF001 - whose connections there are
            callers.left.clear()
            if callers._held:  # noqa: SLF001 - as above
                assert callers.left.wait(WAIT)
        assert _sockets() <= before + 2


def _sockets() -> int:
    """Return how many sockets this process holds."""
    held = [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]  # noqa: PTH115
    return sum(one.startswith("socket:") for one in held)


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[tuple[World, TestClient]]:
    """A root served over HTTP and MCP, as the daemon does."""
    with world_at(tmp_path) as world:
        mcp = McpRoutes(world.hosted)
        inner = app(world.hosted, world.tokens, more=mcp.routes, lifespan=lifespan_of(mcp))
        with TestClient(inner, base_url=BASE, raise_server_exceptions=False) as client:
            client.headers["authorization"] = f"Bearer {world.first}"
            yield world, client


def addresses() -> Iterator[tuple[str, str]]:
    """Yield each method and address there is."""
    for path, methods in json.loads(written())["paths"].items():
        for method in methods:
            yield method, path.replace("{workspace}", "support").replace("{", "").replace("}", "")
    yield from (
        ("get", one) for one in ("/healthz", "/metrics", "/openapi.json", "/mcp", "/mcp/support", "/nothing")
    )
    yield from (("post", one) for one in ("/mcp", "/mcp/support"))
    yield from (("delete", one) for one in ("/mcp", "/mcp/support"))


@pytest.mark.slow
def test_no_address_answers_to_another_name(whole: tuple[World, TestClient]) -> None:
    """Every address refuses a host that this server is not by 421, and a page of another site by 403."""
    _, client = whole
    for method, path in addresses():
        for host in (
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8765",
            "0.0.0.0",  # noqa: S104 - as a page may name this machine
            "[::ffff:7f00:1]",
        ):
            response = client.request(method, path, headers={"host": host})
            assert response.status_code == 421, (method, path, host)
        for origin in (
            "http://evil.example",
            "null",
            "http://localhost:9",
            "https://localhost.evil.example",
            "file://",
        ):
            response = client.request(method, path, headers={"origin": origin})
            assert response.status_code == 403, (method, path, origin)
            assert "access-control-allow-origin" not in response.headers


BOMBS: dict[str, Any] = {
    "deep": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 300_000,
    "deep and closed": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    + b"[" * 5_000
    + b"]" * 5_000
    + b"}",
    "a long number": b'{"jsonrpc":"2.0","id":' + b"9" * 1_000_000 + b',"method":"ping"}',
    "a huge exponent": b'{"jsonrpc":"2.0","id":1e999999999,"method":"ping"}',
    "half a pair": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    "twice": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"initialize"}',
    "not a number": b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    "many keys": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{'
    + b",".join(b'"%d":1' % n for n in range(150_000))
    + b"}}",
    "a batch": b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 20_000) + b"]",
    "not UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "too much": b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 2_100_000 + b'"}',
    "nothing": b"",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_for_mcp_is_only_a_bad_request(whole: tuple[World, TestClient], bomb: str) -> None:
    """A message of MCP made to blow a parser up is refused, begins no session, and the next one is answered."""
    _, client = whole
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    response = client.post("/mcp/support", content=BOMBS[bomb], headers=headers)
    assert response.status_code < 500, response.text[:300]
    assert response.status_code >= 400 or '"error":' in response.text, response.text[:300]
    assert "Traceback" not in response.text
    assert client.get("/healthz").status_code == 200
