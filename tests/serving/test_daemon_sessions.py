"""How many MCP sessions there may be over HTTP, and that those which are over cost nothing."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest
from daemons import PATIENCE, Estate
from official import HELLO

from reverie.surface.daemon.sessions import Sessions
from reverie.surface.http.problems import Refusal
from reverie.surface.http.tokens import Tokens

ACCEPT = {"accept": "application/json, text/event-stream"}


def test_a_token_has_so_many_and_no_more() -> None:
    """Sessions of one token are counted from the request that opens them; another's, ended and rested ones are not."""
    now = [0.0]
    sessions = Sessions(2, 10, monotonic=lambda: now[0])
    with sessions.coming("mine") as opened:
        opened("a")
        with sessions.coming("mine") as other:  # while the first is still being answered: it counts once
            other("b")
    with pytest.raises(Refusal, match="2 sessions open"), sessions.coming("mine"):
        pass
    with sessions.coming("theirs"):
        pass
    sessions.ended("a", "theirs")
    with pytest.raises(Refusal), sessions.coming("mine"):
        pass
    sessions.ended("a", "mine")
    with sessions.coming("mine"), pytest.raises(Refusal), sessions.coming("mine"):
        pass
    with sessions.used("b"), sessions.used("unknown"):
        now[0] += 100
        with sessions.coming("theirs"):
            assert sessions.open == 1
    now[0] += 9
    with sessions.coming("theirs"):
        assert sessions.open == 1
    now[0] += 1
    with sessions.coming("theirs"):
        assert sessions.open == 0


def limited(estate: Estate, **limits: float) -> None:
    """Start a daemon within these limits."""
    told = {"requests_per_minute": 0, **limits}
    lines = "".join(f"{name} = {value}\n" for name, value in told.items())
    estate.config.mkdir(exist_ok=True)
    (estate.config / "config.toml").write_text(f"[http]\n{lines}")
    estate.start("--no-schedule")


@pytest.mark.slow
def test_one_token_does_not_take_every_session(estate: Estate) -> None:
    """Past its sessions a token is told so by 429; another token opens one, and so does the first that ended one."""
    limited(estate, max_sessions_per_token=2)
    other = Tokens(estate.config, estate.root).add("other", "read")
    with httpx2.Client(base_url=estate.told["mcp"], headers=ACCEPT, timeout=PATIENCE) as http:
        mine, theirs = ({"authorization": f"Bearer {one}"} for one in (estate.token, other))
        begun = [http.post("/agent", json=HELLO, headers=mine) for _ in range(3)]
        assert [one.status_code for one in begun] == [200, 200, 429]
        told = begun[2].json()
        assert (told["class"], told["retryable"]) == ("TooManySessions", True)
        assert http.post("/agent", json=HELLO, headers=theirs).status_code == 200
        session = {"mcp-session-id": begun[0].headers["mcp-session-id"]}
        assert http.delete("/agent", headers=theirs | session).status_code == 404
        assert http.delete("/agent?user=Dana", headers=mine | session).status_code == 404
        assert http.post("/agent", json=HELLO, headers=mine).status_code == 429
        twice = [
            *mine.items(),
            ("mcp-protocol-version", "2025-06-18"),
            ("mcp-protocol-version", "2099-01-01"),
        ]
        assert http.post("/agent", json=HELLO, headers=twice).status_code == 429
        assert http.delete("/agent", headers=mine | session).status_code == 200
        assert http.post("/agent", json=HELLO, headers=mine).status_code == 200


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list descriptors")
def test_what_begins_without_a_greeting_is_no_session(estate: Estate) -> None:
    """Thousands of requests that open no session, or one that rests at once, leave as much as was there before."""
    limited(estate, max_sessions_per_token=50, session_seconds=0.2)
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    with httpx2.Client(base_url=estate.told["mcp"], headers=ACCEPT, timeout=PATIENCE) as http:
        http.headers["authorization"] = f"Bearer {estate.token}"
        http.headers["content-type"] = "application/json"

        def flood(count: int) -> None:
            for _ in range(count):
                assert http.post("/agent", content=asked).status_code == 400
            opened = 0
            while opened < count // 10:
                opened += http.post("/agent", json=HELLO).status_code == 200

        flood(150)
        before = _held(estate)
        flood(700)
        memory, files = _held(estate)
        assert files <= before[1] + 2
        assert memory < before[0] + 20_000


def _held(estate: Estate) -> tuple[int, int]:
    """Return the kilobytes of memory and the descriptors that the daemon holds."""
    assert estate.daemon
    place = Path(f"/proc/{estate.daemon.pid}")
    lines = (place / "status").read_text(encoding="ascii").splitlines()
    memory = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return memory, len(list((place / "fd").iterdir()))
