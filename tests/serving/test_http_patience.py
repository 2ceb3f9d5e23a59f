"""What one connection, one token and one address may cost the server, over real sockets."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from http_world import world_at
from speaking_http import (
    ASKED,
    WAIT,
    Leaving,
    answer,
    answered,
    asked,
    connect,
    ended,
    first_words,
    served,
)

from reverie.surface.http.rates import AT_ONCE, MOST, Rates

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("before", [b"", b"G", ASKED, ASKED + b"X-Slow: " + b"y" * 1000])
def test_headers_that_never_end_are_not_waited_for(tmp_path: Path, before: bytes) -> None:
    """A connection that sends nothing, or headers without an end, is closed without an answer."""
    with served(tmp_path, header_seconds=0.5) as (_, port), connect(port) as client:
        client.sendall(before)
        assert first_words(client) == b""


@pytest.mark.slow
def test_a_second_request_is_waited_for_as_long(tmp_path: Path) -> None:
    """On a connection that was answered, the headers of the next request have the same time and no more."""
    with served(tmp_path, header_seconds=1) as (_, port):
        with answered(port, ASKED + b"\r\n") as (client, status):
            assert status == 200
            with suppress(ConnectionResetError, BrokenPipeError):  # where the time had run out
                client.sendall(ASKED)
            assert first_words(client) == b""
        with answered(port, ASKED + b"\r\n" + ASKED) as (client, status):
            assert status == 200
            assert first_words(client) == b""


def test_a_request_whose_headers_arrived_is_answered(tmp_path: Path) -> None:
    """Headers that arrive in pieces within their time are answered."""
    with served(tmp_path, header_seconds=WAIT) as (_, port), connect(port) as client:
        for byte in ASKED + b"\r\n":
            client.sendall(bytes([byte]))
        assert answer(client)[0] == 200


@pytest.mark.parametrize(
    "more",
    [b"X-Long: " + b"y" * 5_000 + b"\r\n\r\n", b"X-Long: " + b"y" * 70_000, b"X: y\r\n" * 1_000 + b"\r\n"],
    ids=["at once", "without an end", "many"],
)
def test_headers_have_an_end(tmp_path: Path, more: bytes) -> None:
    """Headers beyond their bytes, whole or not, are a problem that says so, and the connection ends."""
    with served(tmp_path, max_header_bytes=4_000) as (_, port), connect(port) as client:
        client.sendall(ASKED + more)
        status, headers, told = answer(client)
        assert (status, told["class"], told["retryable"]) == (431, "HeadersTooLarge", False)
        assert headers["content-type"] == "application/problem+json"
        assert ended(client)


def test_an_address_counts_as_headers(tmp_path: Path) -> None:
    """What stands in the address and its query is limited with the headers."""
    with served(tmp_path, max_header_bytes=4_000) as (world, port):
        for path in (f"/v1/{'x' * 5_000}", f"/v1/workspaces?cursor={'y' * 5_000}"):
            with connect(port) as client:
                client.sendall(asked(world, path))
                assert answer(client)[0] == 431


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"HELO x\r\n\r\n"])
def test_bytes_that_are_no_request_are_a_problem(tmp_path: Path, data: bytes) -> None:
    """Another protocol's bytes are answered by a problem, and the server goes on."""
    with served(tmp_path) as (_, port):
        with connect(port) as client:
            client.sendall(data)
            status, headers, told = answer(client)
        assert (status, told["class"]) == (400, "BadRequest")
        assert headers["connection"] == "close"
        with connect(port) as client:
            client.sendall(ASKED + b"\r\n")
            assert answer(client)[0] == 200


def test_a_chunk_that_is_none_ends_the_connection(tmp_path: Path) -> None:
    """A body that turns out to be no HTTP ends its connection and no other one."""
    with served(tmp_path) as (world, port), connect(port) as other:
        with connect(port) as client:
            head = asked(world, "/v1/workspaces/support/recall").replace(b"GET", b"POST", 1)[:-2]
            client.sendall(head + b"transfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n")
            assert ended(client)
        other.sendall(ASKED + b"\r\n")
        assert answer(other)[0] == 200


@pytest.mark.slow
def test_a_client_that_takes_nothing_is_hung_up_on(tmp_path: Path) -> None:
    """A client that asks and does not read holds its connection no longer than it may."""
    callers = Leaving()
    with served(tmp_path, callers=callers, send_seconds=0.5) as (world, port), socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(WAIT)
        client.connect(("127.0.0.1", port))
        client.sendall(asked(world, "/v1/openapi.json"))
        assert callers.left.wait(WAIT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [b"content-length: 1000000\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"],
    ids=["long", "chunked"],
)
def test_a_body_behind_its_answer_is_not_waited_for(tmp_path: Path, body: bytes) -> None:
    """Who was refused, and goes on with a body byte by byte, is hung up on as soon as headers would be."""
    refused = ASKED.replace(b"GET /healthz", b"POST /v1/workspaces") + body
    with served(tmp_path, header_seconds=1) as (_, port), answered(port, refused) as (client, status):
        assert status == 401
        piece, sent = (b"1\r\nx\r\n" if b"chunked" in body else b"x"), 0
        client.settimeout(0.05)
        while True:
            try:
                client.sendall(piece)
                assert client.recv(1) == b""
            except TimeoutError:
                sent += 1
                assert sent < WAIT / 0.05
                continue
            except (ConnectionResetError, BrokenPipeError):
                pass
            break


@pytest.mark.slow
def test_an_answer_that_is_not_taken_does_not_outlive_its_connection(tmp_path: Path) -> None:
    """Who asks for much, takes nothing and goes on to say nothing is hung up on, however little is left to send."""
    callers, limits = Leaving(), {"send_seconds": 0.5, "header_seconds": 0.5}
    with served(tmp_path, callers=callers, **limits) as (_, port), socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(WAIT)
        client.connect(("127.0.0.1", port))
        client.sendall((ASKED + b"\r\n") * 200 + ASKED)
        assert callers.left.wait(WAIT)


def test_a_token_that_is_used_too_often_waits(tmp_path: Path) -> None:
    """A token's requests beyond its rate are 429 with the seconds to wait; another token's are answered."""
    with served(tmp_path, requests_per_minute=12) as (world, port), connect(port) as client:
        other = world.tokens.add("other", "read")
        let_in, status = 0, 200
        while status == 200:  # where the machine stands still its share grows meanwhile
            client.sendall(asked(world, "/v1/workspaces"))
            status, headers, told = answer(client)
            let_in += status == 200
        assert let_in >= 12 // AT_ONCE
        assert (status, told["class"], told["retryable"]) == (429, "TooMany", True)
        assert headers["content-type"] == "application/problem+json"
        assert 1 <= int(headers["retry-after"]) <= 5
        with connect(port) as again:
            again.sendall(asked(world, "/v1/workspaces", other))
            assert answer(again)[0] == 200


def test_guesses_are_counted_and_hinder_nobody(tmp_path: Path) -> None:
    """Wrong tokens of an address are 429 after a while; who has a right one is served from the same address."""
    with served(tmp_path, refusals_per_minute=1) as (world, port):
        seen = []
        for number in range(4):
            with connect(port) as client:
                client.sendall(asked(world, "/v1/workspaces", f"rev_wrong{number}"))
                seen.append(answer(client)[0])
        assert seen == [401, 429, 429, 429]
        with connect(port) as client:
            client.sendall(asked(world, "/v1/workspaces"))
            assert answer(client)[0] == 200


def test_a_bucket_fills_as_time_goes_by() -> None:
    """Who waits as long as told is let in; a caller at rest gathers no more than comes at once; 0 is without end."""
    now = [0.0]
    rates = Rates(60, monotonic=lambda: now[0])
    assert [rates.take("a") for _ in range(10)] == [0.0] * 10
    wait = rates.take("a")
    assert wait == pytest.approx(1.0)
    now[0] += wait
    assert rates.take("a") == 0.0
    assert rates.take("a") > 0
    assert rates.take("b") == 0.0
    now[0] += 3_600
    assert [rates.take("a") == 0.0 for _ in range(11)] == [True] * 10 + [False]
    assert not any(Rates(0).take("a") for _ in range(1_000))


def test_callers_without_end_take_no_memory_without_end() -> None:
    """However many callers come, no more than MOST are remembered, and who used up its share is among them."""
    rates = Rates(60, monotonic=lambda: 0.0)
    while not rates.take("greedy"):
        continue
    for number in range(3 * MOST):
        rates.take(f"caller {number}")
    assert len(rates._buckets) <= MOST  # noqa: SLF001 - what is held in memory
    assert rates.take("greedy") > 0


def test_the_daemon_reads_its_limits_from_the_users_own_settings(tmp_path: Path) -> None:
    """`[http]` holds in the user's configuration, and is refused in a workspace's own file."""
    with world_at(tmp_path) as world:
        (world.home / "config" / "config.toml").write_text("[http]\nmax_connections = 7\n")
        told = world.hosted.opening("support").settings_of_the_user()
        assert told.http.max_connections == 7
        refused = world.ask("PATCH", "/settings", json={"settings": {"http.max_connections": "9"}})
        assert (refused.status_code, refused.json()["class"]) == (400, "BadSettings")
