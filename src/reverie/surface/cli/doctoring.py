"""The command that finds what is wrong with an installation: doctor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import opening_of
from reverie.surface.doctor.looking import examine
from reverie.surface.doctor.symptoms import Examined, Patient
from reverie.surface.exits import FOUND
from reverie.surface.render import Line, Styled, dim, line

app = application()

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@app.command("doctor", cls=Verb, epilog="reverie doctor\nreverie doctor --online\nreverie doctor --json")
def doctor(
    ctx: typer.Context,
    online: Annotated[
        bool, typer.Option("--online", help="Also ask the models and embedders that the settings name.")
    ] = False,
) -> None:
    """Find what is wrong with this installation and say what to do; exits 1 when something does not work.

    Nothing is mended, and without --online nothing is asked over a network. `reverie check` reads every file.
    """
    found = examine(Patient(opening=opening_of(ctx), online=online))
    answer(ctx, found, _lines(found))
    if found.errors:
        raise typer.Exit(FOUND)


def _lines(found: Examined) -> Iterator[Line]:
    """Yield what was found, for people."""
    yield line(dim(f"reverie {found.version}, Python {found.python}, {found.workspace or 'no workspace'}"))
    for one in found.symptoms:
        yield line(
            Styled(f"{one.severity} ", _STYLES[one.severity]),
            f"{one.part}: {one.what}",
            dim(f" ({one.place})"),
            f" — {one.remedy}",
            indent=2,
        )
    if not found.symptoms:
        yield line(f"Nothing is wrong: {', '.join(found.parts)} were looked at.")
