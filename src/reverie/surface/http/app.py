"""The HTTP server as an ASGI application: `app` puts the door, the verbs and what else is served together.

Owns which addresses there are; promises that everything it serves, what others add included, stands behind the door of
`guard`, and that each address has its operation of `table`; never opens a port, and never closes the workspaces it was
given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from reverie.core.settings.http import HttpSettings
from reverie.errors import UsageError
from reverie.surface.http import moving, openapi, shapes
from reverie.surface.http.guard import LOOPBACK, Guard, demand, grant_of
from reverie.surface.http.hosted import Hosted, candidates
from reverie.surface.http.metrics import MISSING, Metrics
from reverie.surface.http.openapi import Listing
from reverie.surface.http.operations import LONGEST_NAME, WORKSPACE, Takes, read
from reverie.surface.http.paging import page
from reverie.surface.http.problems import Refusal
from reverie.surface.http.serving import Server, json_body, told, written
from reverie.surface.http.table import OPERATIONS
from reverie.surface.http.tokens import Tokens

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

IMPORT = "/import"


def app(
    hosted: Hosted,
    tokens: Tokens,
    *,
    hosts: Collection[str] = LOOPBACK,
    limits: HttpSettings | None = None,
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
    bounds, metrics = limits or HttpSettings(), Metrics(hosted)
    server = Server(hosted, bounds, metrics=metrics)
    own = (
        ("/v1/workspaces", "get", "workspaces", _workspaces),
        ("/v1/openapi.json", "get", "specification", _specification),
        ("/openapi.json", "get", "specification", _specification_elsewhere),
        ("/metrics", "get", "metrics", _metrics),
        (WORKSPACE, "put", "init", _init),
        (f"{WORKSPACE}/trust", "post", "trust", _trust),
        (f"{WORKSPACE}{IMPORT}", "post", "import", moving.take_in),
        (f"{WORKSPACE}/export", "get", "export", moving.send_out),
    )
    routes: list[BaseRoute] = [Route("/healthz", _health)]
    routes += [Route(path, server.route(name, make), methods=[method]) for path, method, name, make in own]
    routes += [Route(one.address, server.endpoint(one), methods=[one.method]) for one in OPERATIONS]
    door = Middleware(Guard, tokens, hosts=hosts, limits=bounds, uploads=_is_upload, refused=metrics.refused)
    # What no route takes is answered as a problem, too.
    unknown: dict[Any, Any] = {404: server.route("none", _no_route), 405: server.route("none", _no_method)}
    handlers = {status: _handler(answer) for status, answer in unknown.items()}
    return Starlette(
        routes=[*routes, *more], middleware=[door], exception_handlers=handlers, lifespan=lifespan
    )


def _handler(answer: Any) -> Any:  # noqa: ANN401 - Starlette's own types
    """Return an endpoint as Starlette wants what answers an exception."""

    async def handle(request: Request, _: Exception) -> Response:
        response: Response = await answer(request)
        return response

    return handle


def _is_upload(path: str) -> bool:
    return path.startswith("/v1/workspaces/") and path.endswith(IMPORT)


async def _health(_: Request) -> Response:
    """Say that the server answers."""
    from starlette.responses import JSONResponse

    return JSONResponse({"status": "ok"})


async def _workspaces(server: Server, request: Request) -> Response:
    """List the workspaces that the token opens."""
    given = read(Listing, {}, query=list(request.query_params.multi_items()))
    grant = grant_of(request.scope)
    names = [name for name in await asyncio.to_thread(server.hosted.names) if grant.reaches(name)]
    found = page(names, given.limit, cursor=given.cursor, key=str, form=str)
    return told(request, written(msgspec.to_builtins(shapes.Workspaces(*found))))


async def _specification(_: Server, request: Request) -> Response:
    """Return the specification."""
    return told(request, await asyncio.to_thread(openapi.written))


async def _specification_elsewhere(_: Server, request: Request) -> Response:
    """Send whoever looks for the specification where others keep theirs to where it is."""
    from starlette.responses import RedirectResponse

    del request
    return RedirectResponse("/v1/openapi.json", status_code=308)


async def _metrics(server: Server, request: Request) -> Response:
    """Return the counts."""
    return told(request, server.metrics.text(), media="text/plain; version=0.0.4; charset=utf-8")


async def _init(server: Server, request: Request) -> Response:
    """Make a workspace for an agent."""
    agent = await _asked(server, request)
    grant = grant_of(request.scope)
    if not grant.may("admin"):
        raise Refusal("Forbidden", f"this needs an admin's token; this one may {grant.right}")
    if not any(grant.reaches(one) for one in candidates(agent)):
        raise Refusal("Forbidden", "the token is not for this workspace")
    name = await asyncio.to_thread(server.hosted.make, agent)
    return told(request, written({"workspace": name}))


async def _trust(server: Server, request: Request) -> Response:
    """Say that a workspace which came from elsewhere is the user's own."""
    asked = await _asked(server, request)
    name = demand(grant_of(request.scope), "admin", hosted=server.hosted, workspace=asked)
    await asyncio.to_thread(server.hosted.trust, name)
    return told(request, written({"workspace": name}))


async def _asked(server: Server, request: Request) -> str:
    """Return the workspace named by an address that takes no other argument; raises UsageError."""
    body = await json_body(request, server.limits.max_json_depth)
    read(Takes, {}, query=list(request.query_params.multi_items()), body=body)
    name = str(request.path_params["workspace"])
    if len(name) > LONGEST_NAME:
        raise UsageError(
            f"the workspace's name is longer than {LONGEST_NAME} characters: choose a shorter one"
        )
    return name


async def _no_route(_: Server, request: Request) -> Response:
    raise Refusal("NoSuchRoute", f"there is nothing at {request.url.path[:200]}")


async def _no_method(_: Server, request: Request) -> Response:
    from starlette.routing import Match, Route

    routes = [one for one in request.app.routes if isinstance(one, Route)]
    there = [one.methods or () for one in routes if one.matches(request.scope)[0] != Match.NONE]
    allow = ", ".join(sorted({method for methods in there for method in methods}))
    message = f"{request.url.path[:200]} does not take {request.method[:20]}: it takes {allow}"
    raise Refusal("WrongMethod", message, headers={"allow": allow})
