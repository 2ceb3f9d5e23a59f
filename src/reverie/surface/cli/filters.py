"""The options by which a command says which entries it is about.

Owns their names and help, one for every command that has them, and the filter that they make; promises that they stand
behind a command's own options in its help; never looks anything up.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar

import typer

from reverie.core.where import Where
from reverie.surface.cli.frame import Verb, kept
from reverie.surface.cli.session import day, instant

_KEPT = "reverie.filter"  # where in a call's context stands what the options were given
_INCLUDED = ("previous", "hidden", "faded")  # which `Where` calls `include_previous` and so on

_shape = typer.Typer(add_completion=False, rich_markup_mode=None)


@_shape.command()
def _filters(
    category: Annotated[str, typer.Option(help="Only this category, such as decision.")] = "",
    tag: Annotated[str, typer.Option(help="Only entries with this tag.")] = "",
    session: Annotated[str, typer.Option(help="Only what was said in this session.")] = "",
    about: Annotated[str, typer.Option(help="Only what concerns this person or thing.")] = "",
    who: Annotated[str, typer.Option(help="Only what this person said.")] = "",
    scope: Annotated[str, typer.Option(help="Only this scope: private or team.")] = "",
    since: Annotated[str, typer.Option(metavar="DAY", help="Not before this day.")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="Not after this day.")] = "",
    as_of: Annotated[str, typer.Option(metavar="INSTANT", help="What was known and true then.")] = "",
    previous: Annotated[
        bool, typer.Option("--previous", help="Also what held before and no longer does.")
    ] = False,
    hidden: Annotated[bool, typer.Option("--hidden", help="Also what is hidden.")] = False,
    faded: Annotated[
        bool | None,
        typer.Option("--faded/--no-faded", help="Also what has faded, or not; else `list` leaves it out."),
    ] = None,
) -> None:
    """Give the options their shape; nothing calls this."""


@cache
def _shaped() -> Any:  # noqa: ANN401 - typer's own command
    return typer.main.get_command(_shape)


class Filtered(Verb):
    """A command about the entries that a filter admits, which `where_of` returns."""

    without: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str | None, **given: Any) -> None:  # noqa: ANN401 - typer's own parameters
        """Take what typer makes of the function, and add the options of the filter."""
        own = given.get("params") or []
        asked = [kept(one, _keep) for one in _shaped().params if one.name not in self.without]
        given["params"] = [*own, *asked]
        super().__init__(name, **given)


class Letting(Filtered):
    """A command that lets go of entries: what is hidden or faded, and what held before, goes with the rest."""

    without = ("as_of", *_INCLUDED)


def where_of(context: typer.Context, *, limit: int = 0) -> Where:
    """Return the filter that the options of this call describe; raises UsageError."""
    told = dict(context.meta[_KEPT])
    for name in _INCLUDED:
        if name in told:
            told[f"include_{name}"] = told.pop(name)
    for name in ("since", "until"):
        told[name] = day(told[name], f"--{name}")
    told["as_of"] = instant(told.get("as_of", ""), "--as-of")
    return Where(**told, limit=max(limit, 0))


def _keep(context: Any, option: Any, value: Any) -> Any:  # noqa: ANN401 - typer's own types
    """Keep what an option was given, or its default."""
    context.meta.setdefault(_KEPT, {})[option.name] = value
    return value
