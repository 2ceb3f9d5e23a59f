"""The command that serves many memories over HTTP and MCP: serve."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from reverie.config import agents_root
from reverie.entrance import Opening
from reverie.errors import UsageError
from reverie.surface.cli.frame import Verb, answer, application, globals_of
from reverie.surface.daemon.serve import HOST, PORT, Served, Wish, serve
from reverie.surface.render import dim, line

app = application()

_SERVE = """\
reverie serve
reverie serve --root ~/memory --port 9000
reverie serve --host 0.0.0.0 --name memory.example.org      only behind something that speaks TLS
"""


@app.command("serve", cls=Verb, epilog=_SERVE)
def serve_(
    ctx: typer.Context,
    root: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the workspaces lie; where agents live, if not given."),
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = HOST,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="0 for any free one.")] = PORT,
    name: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A further name by which clients call it.")
    ] = None,
    schedule: Annotated[
        bool, typer.Option("--schedule/--no-schedule", help="Whether what is due is run by itself.")
    ] = True,
) -> None:
    """Serve every workspace beneath a folder over HTTP and MCP, and run what is due in them, until it is stopped.

    Each request carries the token that the first start puts into a file of yours; where that is, is told at the start.
    Standard error holds a log, one JSON object a line. SIGTERM or Ctrl-C ends it when what was begun is done.
    """
    told = globals_of(ctx)
    if told.workspace or told.agent_id or told.user:
        raise UsageError(
            "a daemon serves all workspaces beneath --root: name that, and no workspace or person"
        )
    wish = Wish(root=root or agents_root(), host=host, port=port, names=tuple(name or ()), schedule=schedule)

    def ready(served: Served) -> None:
        said = [line(f"{served.root} is served at {served.url}"), line(dim(f"token: {served.token_file}"))]
        answer(ctx, served, said)
        sys.stdout.flush()

    serve(wish, Opening(config_dir=told.config_dir, flags=told.flags), ready=ready)
