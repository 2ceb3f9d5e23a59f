"""The command that says who may ask a server for what: token."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, get_args

import typer

from reverie.config import agents_root
from reverie.core.days import format_instant
from reverie.entrance import Opening
from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import one_of, opening_of
from reverie.surface.http.tokens import ALL, Grant, Right, Tokens
from reverie.surface.render import dim, line

app = application()
token = application()
app.add_typer(token, name="token")

Root = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="The server's root; where agents live, if not given.")
]

_ADD = """\
reverie token add phone --right read --agent support
reverie token add dana --right write --agent support --person Dana --days 30
"""


@token.callback()
def _token() -> None:
    """Say who may ask a server for what."""


@token.command("add", cls=Verb, epilog=_ADD)
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is called, to remove it by.")],
    right: Annotated[str, typer.Option(help="read, write or admin.")] = "read",
    agent: Annotated[
        list[str] | None, typer.Option(metavar="AGENT", help="Only this agent's workspace; repeatable.")
    ] = None,
    person: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this person's memory; repeatable.")
    ] = None,
    days: Annotated[int, typer.Option(metavar="N", min=0, help="It expires after so many; 0: never.")] = 0,
    root: Root = None,
) -> None:
    """Make a token and print it, which is the only time it is shown: what is kept is its hash."""
    opening = opening_of(ctx)
    made = _tokens(opening, root).add(
        name,
        one_of(right, "--right", choices=get_args(Right)),
        workspaces=tuple(agent or (ALL,)),
        people=tuple(person or (ALL,)),
        expires=opening.clock() + timedelta(days=days) if days else None,
    )
    answer(ctx, {"name": name, "token": made}, [made])


@token.command("list", cls=Verb, epilog="reverie token list")
def list_(ctx: typer.Context, root: Root = None) -> None:
    """List the tokens and what each opens."""
    found = _tokens(opening_of(ctx), root).grants()
    told: list[dict[str, object]] = [
        {"name": one.name, "right": one.right, "root": one.root, "workspaces": one.workspaces}
        | {"people": one.people, "made": one.made, "expires": one.expires, "file": one.file}
        for one in found
    ]
    lines = [line(f"{one.name}: {one.right} of {_reach(one)}", dim(f" {one.root}")) for one in found]
    answer(ctx, told, lines or [line("No tokens yet: `reverie serve` makes the first.")])


@token.command("remove", cls=Verb, epilog="reverie token remove phone")
def remove(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.")],
    root: Root = None,
) -> None:
    """Have a token open nothing any more, from the next request on."""
    _tokens(opening_of(ctx), root).remove(name)
    answer(ctx, {"name": name, "removed": True}, [line(f"{name} opens nothing any more")])


def _tokens(opening: Opening, root: Path | None) -> Tokens:
    """Return the tokens of a root."""
    return Tokens(opening.config(), root or agents_root(), clock=opening.clock)


def _reach(one: Grant) -> str:
    """Return in words what a token opens."""
    where = "every workspace" if ALL in one.workspaces else ", ".join(one.workspaces)
    who = "" if ALL in one.people else f" for {', '.join(name or 'the agent itself' for name in one.people)}"
    until = f" until {format_instant(one.expires)}" if one.expires else ""
    return f"{where}{who}{until}"
