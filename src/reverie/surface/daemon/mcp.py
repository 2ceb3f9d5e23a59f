"""MCP over streamable HTTP for many workspaces: the routes `/mcp` and `/mcp/{workspace}` behind the door of HTTP.

Owns which workspace a request is about, and the one session manager; promises that a session serves the token, the
workspace and the person it was begun with and answers no other, that a token has no more sessions than it may, and that
one which may only read is offered no tool that writes; never checks a token itself (`http.guard` does).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

from reverie.core.settings.http import HttpSettings
from reverie.errors import NotFound
from reverie.memory import Memory
from reverie.surface.daemon.sessions import Sessions
from reverie.surface.http.guard import demand, grant_of
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.problems import Refusal
from reverie.surface.http.tokens import AGENT, ALL, Grant
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import make_server

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import Message, Receive, Scope, Send

T = TypeVar("T")

PATH = "/mcp"
_SESSION, _VERSION = b"mcp-session-id", b"mcp-protocol-version"
_WRONG, _NOT_THERE = 400, 404
_BOUND = "reverie.bound"  # where in the scope stands what a request is about


class Reached(Bound):
    """A workspace of many, or one person's memory in it, as one token reaches it."""

    def __init__(self, hosted: Hosted, name: str, *, person: str, reads_only: bool) -> None:
        """Bind to the workspace of that folder name; raises NotAWorkspace."""
        super().__init__(hosted.opening(name, person))
        self._hosted, self._name, self._person = hosted, name, person
        self.reads_only = reads_only

    def call(self, verb: Callable[[Memory], T]) -> Future[T]:
        """Have something done with the memory, in turn with whoever else asks for it."""
        return self._hosted.call(self._name, verb, user=self._person)


class McpRoutes:
    """The routes, and the sessions behind them for as long as `running` is entered."""

    def __init__(self, hosted: Hosted, limits: HttpSettings | None = None) -> None:
        """Begin nothing yet; raises UsageError where the SDK is not installed."""
        bounds = limits or HttpSettings()
        self._hosted = hosted
        self._open = Sessions(bounds.max_sessions_per_token, bounds.session_seconds)
        server = make_server(lambda context: _bound_of(context.request))
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

        self._user, self._token = AuthenticatedUser, AccessToken
        self._with_sessions = {version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS}
        self._sessions = StreamableHTTPSessionManager(
            server, max_request_body_size=bounds.max_body_bytes, session_idle_timeout=bounds.session_seconds
        )

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, to stand behind a door that puts the grant of a token into the scope."""
        from starlette.routing import Route

        return [Route(PATH, self), Route(f"{PATH}/{{workspace}}", self)]

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep sessions until it is left."""
        return self._sessions.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises Refusal, NotAWorkspace."""
        grant = grant_of(scope)
        person = _person(grant, parse_qs(scope["query_string"].decode("latin-1")))
        asked = scope["path_params"].get("workspace") or _only(grant, self._hosted)
        name = demand(grant, "read", hosted=self._hosted, workspace=asked, person=person)
        bound = Reached(self._hosted, name, person=person, reads_only=not grant.may("write"))
        # The SDK binds a session to these three; another token or workspace finds no such session.
        holder = self._token(token="", client_id=grant.digest, scopes=[], subject=f"{name}/{person}")
        whole = {**scope, _BOUND: bound, "user": self._user(holder)}
        with self._counted(scope, send, holder=grant.digest, about=f"{name}/{person}") as watched:
            await self._sessions.handle_request(whole, receive, watched)

    @contextmanager
    def _counted(self, scope: Scope, send: Send, *, holder: str, about: str) -> Iterator[Send]:
        """Count the session that a request is of, begins or ends; yield what sends its answer. Raises Refusal.

        A session counts under what it is `about`: asked for under something else it is not there, and goes on.
        """
        sent = dict(reversed(scope["headers"]))  # of a header sent twice the SDK reads the first one
        session = sent.get(_SESSION, b"").decode("latin-1")
        # A client of a later version has no session, and says so by its version.
        begins = not session and sent.get(_VERSION, b"") in {b"", *self._with_sessions}

        entered = self._open.coming(holder) if begins else self._open.used(f"{about} {session}")
        with entered as opened:

            async def watched(message: Message) -> None:
                if message["type"] == "http.response.start":
                    given = dict(message["headers"]).get(_SESSION, b"").decode("latin-1")
                    if opened is not None and given and message["status"] < _WRONG:
                        opened(f"{about} {given}")
                    elif message["status"] == _NOT_THERE or (
                        scope["method"] == "DELETE" and message["status"] < _WRONG
                    ):
                        self._open.ended(f"{about} {session}", holder)
                await send(message)

            yield watched


def lifespan_of(routes: McpRoutes) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """Return what an application runs around itself, so that sessions are kept while it serves."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:  # noqa: ANN401 - the application
        async with routes.running():
            yield

    return lifespan


def _bound_of(request: Any) -> Bound:  # noqa: ANN401 - the SDK hands on whatever the transport had
    """Return what a request is about."""
    bound: Bound = request.scope[_BOUND]
    return bound


def _only(grant: Grant, hosted: Hosted) -> str:
    """Return the one workspace that a token opens; raises Refusal where it opens several, NotFound for none."""
    if ALL not in grant.workspaces and len(grant.workspaces) == 1:
        return grant.workspaces[0]
    found = [name for name in hosted.names() if grant.reaches(name)]
    if not found:
        raise NotFound("there is no workspace here yet: make one, then connect again")
    if len(found) > 1:
        raise Refusal(
            "BadRequest", f"the token opens several workspaces: connect to {PATH}/NAME of one of them"
        )
    return found[0]


def _person(grant: Grant, query: dict[str, list[str]]) -> str:
    """Return the person a request is about: the one it names, else the only one the token is for."""
    if query.get("user"):
        return query["user"][0]
    return grant.people[0] if len(grant.people) == 1 and grant.people[0] != ALL else AGENT
