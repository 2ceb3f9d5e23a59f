"""The command that serves one memory to one client over standard input and output: mcp."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from reverie.later import later
from reverie.surface.cli.frame import Verb, application
from reverie.surface.cli.session import opening_of
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.server import serve_stdio

if TYPE_CHECKING:
    from reverie.surface.mcp import keeping
else:
    keeping = later("reverie.surface.mcp.keeping")

app = application()

_MCP = """\
reverie mcp
reverie mcp --agent-id support-bot
reverie mcp -w ~/memory/support --set mcp.consolidate=false
reverie mcp --host-model          the client's own model may dream
"""


@app.command("mcp", cls=Verb, epilog=_MCP)
def mcp(
    ctx: typer.Context,
    host_model: Annotated[
        bool, typer.Option("--host-model", help="Let the client's own model dream and read turns.")
    ] = False,
) -> None:
    """Serve the memory to one MCP client on standard input and output, until it closes them.

    A client starts this by itself. While it is idle, what is due is consolidated.
    """
    opening = opening_of(ctx)
    if host_model:
        opening = msgspec.structs.replace(opening, flags={**(opening.flags or {}), "mcp.host_model": "true"})
    bound = Bound(opening)
    with closing(bound), ExitStack() as kept:
        # Who looks after the workspace loads what opens one, for which the client's first answer is not to wait.
        asyncio.run(
            serve_stdio(bound, lambda: kept.enter_context(keeping.Keeper(opening, lambda: bound.rest)))
        )
