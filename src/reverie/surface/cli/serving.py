"""The commands that go on running: mcp."""

from __future__ import annotations

import asyncio

import typer

from reverie.surface.cli.frame import Verb, application
from reverie.surface.cli.session import opening_of
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.keeping import Keeper
from reverie.surface.mcp.server import serve_stdio

app = application()

_MCP = """\
reverie mcp
reverie mcp --agent-id support-bot
reverie mcp -w ~/memory/support --set mcp.consolidate=false
"""


@app.command("mcp", cls=Verb, epilog=_MCP)
def mcp(ctx: typer.Context) -> None:
    """Serve the memory to one MCP client on standard input and output, until it closes them.

    A client starts this by itself. While it is idle, what is due is consolidated.
    """
    bound = Bound(opening_of(ctx))
    try:
        with Keeper(bound.opening, lambda: bound.rest):
            asyncio.run(serve_stdio(bound))
    finally:
        bound.close()
