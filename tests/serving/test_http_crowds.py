"""How many connections there may be, of all callers and of one, over real sockets."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from speaking_http import ASKED, answer, asked, connect, ended, served

from reverie.surface.http.callers import Callers, caller_of, is_from_elsewhere

if TYPE_CHECKING:
    from pathlib import Path


def test_a_crowd_is_told_to_come_again(tmp_path: Path) -> None:
    """Past the connections it takes, a request is a problem with Retry-After; once others have gone it is answered."""
    with served(tmp_path, max_connections=3) as (world, port), ExitStack() as crowd:
        inside = [crowd.enter_context(connect(port)) for _ in range(3)]
        for one in inside:
            one.sendall(ASKED + b"\r\n")
            assert answer(one)[0] == 200
        with connect(port) as late:
            late.sendall(asked(world, "/v1/workspaces"))
            status, headers, told = answer(late)
            assert (status, told["class"], told["retryable"]) == (503, "Crowded", True)
            assert (headers["retry-after"], headers["connection"]) == ("1", "close")
            assert ended(late)
        inside[0].sendall(asked(world, "/v1/workspaces"))
        assert answer(inside[0])[0] == 200
        inside[1].close()
        inside[0].sendall(ASKED + b"\r\n")
        assert answer(inside[0])[0] == 200


def test_a_throng_is_not_let_in(tmp_path: Path) -> None:
    """Past twice the connections it takes, none is held open, and those inside are served."""
    with served(tmp_path, max_connections=2) as (_, port), ExitStack() as crowd:
        inside = crowd.enter_context(connect(port))
        inside.sendall(ASKED + b"\r\n")
        assert answer(inside)[0] == 200
        others = [crowd.enter_context(connect(port)) for _ in range(5)]
        assert ended(others[-1])
        inside.sendall(ASKED + b"\r\n")
        assert answer(inside)[0] == 200


def test_one_address_does_not_keep_others_out(tmp_path: Path) -> None:
    """Past the connections of one address its requests are a problem, past twice as many it is hung up on."""
    with served(tmp_path, max_connections_per_address=2) as (world, port), ExitStack() as crowd:
        inside = [crowd.enter_context(connect(port)) for _ in range(2)]
        for one in inside:
            one.sendall(ASKED + b"\r\n")
            assert answer(one)[0] == 200
        late, silent, last = (crowd.enter_context(connect(port)) for _ in range(3))
        late.sendall(asked(world, "/v1/workspaces"))
        status, headers, told = answer(late)
        assert (status, told["class"], headers["connection"]) == (503, "Crowded", "close")
        assert ended(last)
        other = crowd.enter_context(connect(port, "127.0.0.2"))
        other.sendall(asked(world, "/v1/workspaces"))
        assert answer(other)[0] == 200
        inside[0].close()
        silent.close()
        assert ended(late)
        inside[1].sendall(ASKED + b"\r\n")
        assert answer(inside[1])[0] == 200
        again = crowd.enter_context(connect(port))
        again.sendall(asked(world, "/v1/workspaces"))
        assert answer(again)[0] == 200


def test_a_crowd_does_not_make_the_server_look_ill(tmp_path: Path) -> None:
    """In a crowd `/healthz` is answered as ever, as the last answer of its connection."""
    with served(tmp_path, max_connections=1) as (_, port), connect(port) as inside, connect(port) as late:
        inside.sendall(ASKED + b"\r\n")
        assert answer(inside)[0] == 200
        late.sendall(ASKED + b"\r\n")
        status, headers, told = answer(late)
        assert (status, told, headers["connection"]) == (200, {"status": "ok"}, "close")
        assert ended(late)


@pytest.mark.parametrize(
    ("address", "caller"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("a socket", "a socket"),
    ],
)
def test_a_caller_is_a_host(address: str, caller: str) -> None:
    """An address counts as one caller, one of IPv6 with all of its network, and IPv4 in either spelling as one."""
    assert caller_of(address) == caller


def test_who_counts_and_for_how_long() -> None:
    """Callers of other machines count until they have gone, and this machine's do not."""
    here, there = (
        ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", ""),
        ("10.0.0.1", "::2", "fe80::1%eth0"),
    )
    assert not any(is_from_elsewhere(one) for one in here)
    assert all(is_from_elsewhere(one) for one in there)
    callers, come = Callers(), ("10.0.0.1", "10.0.0.1", "::1", "2001:db8::1", "2001:db8::2")
    assert [callers.enter(one) for one in come] == [1, 2, 0, 1, 2]
    for one in come:
        callers.leave(one)
    assert not callers._held  # noqa: SLF001 - what is held in memory
    assert callers.enter("10.0.0.1") == 1
