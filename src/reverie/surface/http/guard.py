"""The door of the server: what every request passes before anything else looks at it.

Owns, in this order: how long the headers are, the host named, the page it comes from, the token, how often it is used,
and how large and how slow a body may be; promises that nothing behind it runs for a request without a valid token
(`/healthz` aside, which says nothing), that a name which was pointed at this machine from outside does not reach it,
that nobody without a token can use up what one with a token may send, and that no body is held in memory or waited for
beyond its limits; never looks into a memory.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reverie.core.settings.http import HttpSettings
from reverie.errors import NotAWorkspace, ReverieError
from reverie.surface.http.callers import caller_of
from reverie.surface.http.hosted import Hosted, candidates
from reverie.surface.http.problems import Refusal, messages
from reverie.surface.http.rates import Rates
from reverie.surface.http.tokens import AGENT, Grant, Right, Tokens

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
OPEN = ("/healthz",)  # what needs no token
_AROUND = 4  # bytes of a header besides its name and value
GRANT = "reverie.grant"  # where in the scope the grant of a request stands

_SAFETY: Headers = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


class Guard:
    """An ASGI application around another, which only sees what may come in."""

    def __init__(
        self,
        inner: ASGIApp,
        tokens: Tokens,
        *,
        hosts: Collection[str] = LOOPBACK,
        limits: HttpSettings | None = None,
        uploads: Callable[[str], bool] = lambda _: False,
        refused: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Take the `hosts` by which clients may name this server, without ports, and which paths take uploads.

        `refused` is told the kind of each refusal.
        """
        self._inner, self._tokens = inner, tokens
        self._hosts = {host.lower() for host in hosts}
        self._limits, self._uploads, self._refused = limits or HttpSettings(), uploads, refused
        self._sent = Rates(self._limits.requests_per_minute)
        self._unknown = Rates(self._limits.refusals_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._inner(scope, receive, send)
            return
        door = _Door(send)
        try:
            await self._pass(scope, receive, door)
        except (Refusal, ReverieError) as error:
            self._refused(type(error).__name__ if isinstance(error, ReverieError) else error.kind.name)
            if door.begun:
                raise  # half an answer is out: the server ends the connection
            for message in messages(error, head=scope["method"] == "HEAD"):
                await door(message)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._check_length(scope)
        self._check_host(scope["headers"])
        if scope["path"] not in OPEN:
            scope[GRANT] = await self._counted_grant(scope)
        await self._inner(scope, self._limited(scope, receive), send)

    def _check_length(self, scope: Scope) -> None:
        sent = sum(len(name) + len(value) + _AROUND for name, value in scope["headers"])
        if (
            sent + len(scope.get("raw_path") or b"") + len(scope["query_string"])
            > self._limits.max_header_bytes
        ):
            raise Refusal("HeadersTooLarge", f"headers have at most {self._limits.max_header_bytes:,} bytes")

    async def _counted_grant(self, scope: Scope) -> Grant:
        """Return what the token opens; raises Refusal for none, and for more requests than it, or the address, may."""
        try:
            grant = await self._grant(scope["headers"])
        except Refusal:
            host, *_ = scope.get("client") or ("",)
            _demand_rate(self._unknown.take(caller_of(str(host))))
            raise
        _demand_rate(self._sent.take(grant.name))
        return grant

    def _check_host(self, sent: Headers) -> None:
        """Raise for a host this server is not, which a name pointed at it would be, and for a page of another one."""
        hosts = [value.decode("latin-1").lower() for name, value in sent if name == b"host"]
        if len(hosts) != 1 or _without_port(hosts[0]) not in self._hosts:
            raise Refusal("WrongHost", "the host named in the request is none of this server's")
        for name, value in sent:
            if name == b"origin" and not _is_at(value.decode("latin-1").lower(), hosts[0]):
                raise Refusal("WrongOrigin", "the request was sent by a page of another site")

    async def _grant(self, sent: Headers) -> Grant:
        given = [value for name, value in sent if name == b"authorization"]
        kind, _, token = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not token.strip():
            raise Refusal("Unauthorized", "the request carries no token")
        grant = await asyncio.to_thread(self._tokens.grant, token.strip())
        if grant is None:
            raise Refusal("Unauthorized", "the token is unknown, was removed, or has expired")
        return grant

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """Return what yields the body, and raises once it is too large or takes too long."""
        upload = self._uploads(scope["path"])
        most = self._limits.max_upload_bytes if upload else self._limits.max_body_bytes
        seconds = self._limits.upload_seconds if upload else self._limits.body_seconds
        for name, value in scope["headers"]:
            if name == b"content-length" and not (value.isdigit() and int(value[:20]) <= most):
                raise Refusal("TooLarge", f"a body here has at most {most:,} bytes")
        return _Body(receive, most, seconds=seconds, pause=self._limits.body_seconds)


class _Body:
    """The body of one request, counted and timed until it is whole; what comes behind it is only passed on.

    All of it may take `seconds`, the next piece of it `pause`.
    """

    def __init__(self, receive: Receive, most: int, *, seconds: float, pause: float) -> None:
        self._receive, self._most, self._seconds, self._pause = receive, most, seconds, pause
        self._end = time.monotonic() + seconds
        self._seen, self._whole = 0, False

    async def __call__(self) -> MutableMapping[str, Any]:
        if self._whole:
            return await self._receive()
        left = max(self._end - time.monotonic(), 0)
        try:
            message = await asyncio.wait_for(self._receive(), min(left, self._pause))
        except TimeoutError as error:
            told = f"within {self._seconds:g} seconds, or paused for {self._pause:g}"
            raise Refusal("TooSlow", f"the body did not arrive {told}") from error
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._seen > self._most:
                raise Refusal("TooLarge", f"a body here has at most {self._most:,} bytes")
        return message


class _Door:
    """What sends an answer, with the headers that every answer has."""

    def __init__(self, send: Callable[[MutableMapping[str, Any]], Awaitable[None]]) -> None:
        self._send, self.begun = send, False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            told = {name.lower() for name, _ in message.get("headers", ())}
            safety = [one for one in _SAFETY if one[0] not in told]
            message = {**message, "headers": [*message.get("headers", ()), *safety]}
        await self._send(message)


def _demand_rate(wait: float) -> None:
    """Raise Refusal where a caller has to wait."""
    if wait:
        seconds = math.ceil(wait)
        told = f"more requests than this caller may send: the next may come in {seconds} s"
        raise Refusal("TooMany", told, headers={"retry-after": str(seconds)})


def grant_of(scope: Scope) -> Grant:
    """Return what the token of a request opens."""
    grant: Grant = scope[GRANT]
    return grant


def demand(grant: Grant, right: Right, *, hosted: Hosted, workspace: str, person: str = AGENT) -> str:
    """Return the folder name of the workspace asked for, if the token opens it for that.

    Raises Refusal, for a workspace that is not there too unless the token would open it; NotAWorkspace.
    """
    if not grant.may(right):
        raise Refusal(
            "Forbidden", f"this needs a token with the right to {right}; this one may {grant.right}"
        )
    try:
        name = hosted.name(workspace)
    except NotAWorkspace:
        if any(grant.reaches(one) for one in candidates(workspace)):
            raise
        raise Refusal("Forbidden", "the token is not for this workspace") from None
    if not grant.reaches(name):
        raise Refusal("Forbidden", "the token is not for this workspace")
    if not grant.knows(person):
        whose = "this person's memory" if person else "the agent's own memory: name the person with `user`"
        raise Refusal("Forbidden", f"the token is not for {whose}")
    return name


def _without_port(host: str) -> str:
    """Return a host without its port; an IPv6 address keeps its brackets."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (not name.startswith("[") or name.endswith("]")) else host


def _is_at(origin: str, host: str) -> bool:
    """Tell whether a page of this origin comes from this very server."""
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return found.scheme in {"http", "https"} and found.netloc == host
