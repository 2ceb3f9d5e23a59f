"""The HTTP server as an ASGI application: `app` puts the door, the verbs and what else is served together.

Owns which addresses there are; promises that everything it serves, what others add included, stands behind the door of
`guard`; never opens a port, and never closes the workspaces it was given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from reverie.errors import UsageError
from reverie.surface.http.guard import LOOPBACK, Guard, Limits, grant_of
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.tokens import Tokens

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

MISSING = "the server needs Starlette, which is not installed: run `pip install 'reverie[server]'`"


def app(
    hosted: Hosted,
    tokens: Tokens,
    *,
    hosts: Collection[str] = LOOPBACK,
    limits: Limits | None = None,
    more: Sequence[BaseRoute] = (),
    lifespan: Any = None,  # noqa: ANN401 - Starlette's own type
) -> Starlette:
    """Return the application over the workspaces; raises UsageError where Starlette is not installed.

    `more` are routes served behind the same door: `guard.grant_of(request.scope)` is what the token opens, and
    `guard.demand` checks it.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Route
    except ImportError as error:
        raise UsageError(MISSING) from error
    door = Middleware(Guard, tokens, hosts=hosts, limits=limits)

    def workspaces(request: Request) -> Response:
        from starlette.responses import JSONResponse

        grant = grant_of(request.scope)
        return JSONResponse({"workspaces": [name for name in hosted.names() if grant.reaches(name)]})

    routes = [Route("/healthz", _health), Route("/v1/workspaces", workspaces), *more]
    return Starlette(routes=routes, middleware=[door], lifespan=lifespan)


async def _health(_: Request) -> Response:
    """Say that the server answers."""
    from starlette.responses import JSONResponse

    return JSONResponse({"status": "ok"})
