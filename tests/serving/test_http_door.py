"""The door: the host named, the page a request comes from, the token, and the size and pace of a body."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from http_world import BASE, world_at
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from reverie.core.settings.http import HttpSettings
from reverie.surface.http.app import app
from reverie.surface.http.guard import grant_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from http_world import World

RECALL = "/v1/workspaces/support/recall"
ENDLESS = {"type": "http.request", "body": b"[" * 10_000, "more_body": True}


def send(world: World, messages: Sequence[Any], **given: Any) -> tuple[int, dict[bytes, bytes], bytes]:
    """Send one request as a server would hand it over, whose body is these messages; "wait" never comes."""
    headers = {b"host": b"localhost:8765", b"authorization": f"Bearer {world.first}".encode()}
    headers |= given.pop("headers", {})
    scope = {
        "type": "http", "method": "POST", "path": RECALL, "raw_path": RECALL.encode(), "query_string": b"",
        "http_version": "1.1", "scheme": "http", "root_path": "", "client": ("127.0.0.1", 1), "server": ("x", 1),
        "headers": list(headers.items()),
    } | given  # fmt: skip
    waiting = iter(messages)
    last: Any = None
    sent: list[Any] = []

    async def receive() -> Any:
        nonlocal last
        last = next(waiting, last)
        if last == "wait":
            await asyncio.Event().wait()
        return last

    async def answered(message: Any) -> None:
        sent.append(message)

    asyncio.run(world.app(scope, receive, answered))
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.nip.io", "0.0.0.1", "192.168.0.2",
     "localhost@evil.example", "evil.example#localhost", "", "[::1].evil", "localhost:8765:80", "127.0.0.2", "xlocal"],
)  # fmt: skip
def test_a_name_pointed_here_from_outside_is_refused(world: World, host: str) -> None:
    """A request that names another host than this machine's own is refused, a valid token notwithstanding."""
    response = world.client(host=host).get("/v1/workspaces")
    assert response.status_code == 421
    assert response.json()["class"] == "WrongHost"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8765", "[::1]", "[::1]:8765"])
def test_this_machine_is_served(world: World, host: str) -> None:
    """A request that names this machine is answered, on any port."""
    assert world.client(host=host).get("/v1/workspaces").status_code == 200


def test_two_hosts_are_refused(world: World) -> None:
    """A request with two host headers is refused, for what checks and what acts might read different ones."""
    status, _, _ = send(
        world,
        [{"type": "http.request", "body": b""}],
        headers={},
        path="/v1/workspaces",
        method="GET",
    )
    assert status == 200
    both = [
        (b"host", b"localhost"),
        (b"host", b"evil.example"),
        (b"authorization", f"Bearer {world.first}".encode()),
    ]
    scope = {"type": "http", "method": "GET", "path": "/v1/workspaces", "headers": both, "query_string": b""}
    sent: list[Any] = []

    async def answered(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    asyncio.run(world.app(scope, receive, answered))
    assert sent[0]["status"] == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:3000", "https://127.0.0.1:1", "file://", "http://localhost:8765.evil",
     "chrome-extension://abc", "http://[", ""],
)  # fmt: skip
def test_a_page_of_another_site_is_refused(world: World, origin: str) -> None:
    """A browser's request from any page but this server's own is refused, and no header allows it to look."""
    response = world.client(origin=origin).get("/v1/workspaces")
    assert response.status_code == 403
    assert not any(name.startswith("access-control") for name in response.headers)


def test_there_is_no_cors(world: World) -> None:
    """A preflight is not answered with any permission, and the server's own origin gets none either."""
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    found = [
        world.client(origin="http://evil.example", **asked).options(RECALL),
        world.client(origin=BASE).get("/v1/workspaces"),
    ]
    assert [one.status_code for one in found] == [403, 200]
    assert not any(name.startswith("access-control") for one in found for name in one.headers)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer wrong",
        "Token {}",
        "{}",
        "Bearer {}x",
        "bearer\t{}",
        "Bearer {} {}",
    ],
)
def test_a_wrong_token_is_refused(world: World, value: str) -> None:
    """Whatever is not exactly a bearer's valid token is answered by 401 and by what to send."""
    response = world.client("", authorization=value.replace("{}", world.first)).get("/v1/workspaces")
    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert "Authorization" in response.json()["remedy"]


@pytest.mark.parametrize(
    "path", ["/v1/workspaces", "/v1/openapi.json", "/metrics", "/", "/mcp", "/nothing", "/healthz/", RECALL]
)
def test_nothing_is_told_without_a_token(world: World, path: str) -> None:
    """Without a token even an address that is not there is answered by 401."""
    assert world.client("").get(path).status_code == 401


def test_the_specification_is_found_where_others_keep_theirs(world: World) -> None:
    """`/openapi.json` leads to the specification, for whoever has a token."""
    response = world.client().get("/openapi.json", follow_redirects=True)
    assert response.status_code == 200
    assert response.json()["openapi"].startswith("3.1")
    assert world.client("").get("/openapi.json").status_code == 401


def test_health_needs_no_token_and_says_nothing(world: World) -> None:
    """`/healthz` is for whoever restarts the server: it answers everybody and tells nothing."""
    assert world.client("").get("/healthz").json() == {"status": "ok"}
    assert world.client("", host="evil.example").get("/healthz").status_code == 421


def test_an_expired_and_a_removed_token_are_refused(world: World) -> None:
    """A running server refuses a token from the moment it expires or is removed."""
    token = world.tokens.add("guest", "read")
    assert world.client(token).get("/v1/workspaces").status_code == 200
    world.tokens.remove("guest")
    assert world.client(token).get("/v1/workspaces").status_code == 401


@pytest.mark.parametrize("length", [b"9999999999", b"-1", b"x", b"1e3", b"9" * 5_000, b""])
def test_a_body_that_says_it_is_too_large_is_not_read(world: World, length: bytes) -> None:
    """A length beyond the limit, or one that is none, is refused before a byte of the body is read."""
    status, headers, _ = send(world, ["wait"], headers={b"content-length": length})
    assert status == 413
    assert headers[b"connection"] == b"close"


def test_an_endless_body_is_cut_off(world: World) -> None:
    """A body without a length that never ends is refused once it is larger than the limit."""
    status, headers, body = send(world, [ENDLESS], headers={b"content-type": b"application/json"})
    assert status == 413
    assert headers[b"connection"] == b"close"
    assert b"TooLarge" in body


@pytest.mark.parametrize("before", [[], [{"type": "http.request", "body": b"{", "more_body": True}]])
def test_a_slow_client_is_not_waited_for(tmp_path: Path, before: list[Any]) -> None:
    """A body that stops coming is given up after its time, which the answer names."""
    with world_at(tmp_path, limits=HttpSettings(body_seconds=0.2)) as world:
        status, headers, body = send(world, [*before, "wait"])
    assert status == 408
    assert headers[b"connection"] == b"close"
    assert b"0.2 seconds" in body


def test_a_slow_upload_is_not_waited_for(tmp_path: Path) -> None:
    """An upload that stops coming is given up after its time, and nothing of it stays on the disk."""
    with world_at(tmp_path, limits=HttpSettings(upload_seconds=0.2)) as world:
        path = "/v1/workspaces/support/import"
        piece = {"type": "http.request", "body": b"x" * 3_000_000, "more_body": True}
        status, _, _ = send(world, [piece, "wait"], path=path, raw_path=path.encode())
        assert status == 408
        assert list((world.root / ".transit").iterdir()) == []


def test_an_answer_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    """A request is answered by 503 when its verb takes too long, and what was begun is finished."""
    with world_at(tmp_path, limits=HttpSettings(answer_seconds=0.0)) as world:
        response = world.ask("POST", "/entries", json={"text": "Mira has a cat"})
        assert response.status_code == 503
        assert response.json()["retryable"]
        found = world.hosted.call("support", lambda memory: memory.list()).result()
        assert {one.entry.text for one in found} == {"Dana prefers tea", "Mira has a cat"}


def test_a_websocket_is_closed(world: World) -> None:
    """A websocket, which carries no checked header, is closed at once."""
    sent: list[Any] = []

    async def answered(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    asyncio.run(world.app({"type": "websocket", "path": "/mcp", "headers": []}, receive, answered))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_what_others_add_stands_behind_the_same_door(tmp_path: Path) -> None:
    """A route that was added sees no request without a token, and can ask what a token opens."""

    async def added(request: Any) -> PlainTextResponse:
        return PlainTextResponse(grant_of(request.scope).name)

    with world_at(tmp_path) as world:
        world.app = app(world.hosted, world.tokens, more=[Route("/mcp", added)])
        assert world.client("").get("/mcp").status_code == 401
        assert world.client().get("/mcp").text == "first"


def test_every_answer_carries_its_safety(world: World) -> None:
    """Answers and problems alike are kept by no cache and taken for no page."""
    for response in (
        world.ask("GET", "/status"),
        world.client("").get("/v1/workspaces"),
        world.ask("GET", "/x"),
    ):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert response.headers["cache-control"] in {"no-store", "private, no-cache"}
