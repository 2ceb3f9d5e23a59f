"""What all commands share: the options that may stand before or after a command, and how it answers.

Owns the global options, the two forms of an answer (for people, and `--json`) and the look of a command's help;
promises that with `--json` standard output holds exactly one JSON value; never opens a workspace.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from reverie.errors import UsageError
from reverie.surface.render import Line, Styled, escaped, say, write

_WIDTH = 100  # of help pages, whatever the terminal: they are documentation too
_FOLDERS = ("workspace", "config_dir")
_NUMBERS = (bool, int, float)

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}


@dataclass(slots=True)
class Globals:
    """What the global options said: which workspace, whose, with which settings, and in what form to answer."""

    workspace: Path | None = None
    agent_id: str | None = None
    config_dir: Path | None = None
    user: str = ""
    json: bool = False
    set: list[str] = field(default_factory=list)

    @property
    def flags(self) -> dict[str, str]:
        """The settings given as `key=value`; raises UsageError."""
        flags = {}
        for one in self.set:
            name, equals, value = one.partition("=")
            if not equals:
                message = f"--set {one}: write key=value, such as --set dream.min_facts=5"
                raise UsageError(message)
            flags[name.strip()] = value
        return flags


_shape = typer.Typer(add_completion=False, rich_markup_mode=None)


@_shape.command()
def _globals(
    workspace: Annotated[
        str | None, typer.Option("--workspace", "-w", metavar="FOLDER", help="The workspace's folder.")
    ] = None,
    agent_id: Annotated[
        str | None, typer.Option("--agent-id", metavar="AGENT", help="The agent whose workspace is meant.")
    ] = None,
    config_dir: Annotated[
        str | None, typer.Option("--config-dir", metavar="FOLDER", help="Your configuration's folder.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="PERSON", help="The person whose own memory is meant.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Answer with one JSON value.")] = False,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting, for this call.")
    ] = None,
) -> None:
    """Give the global options their shape; nothing calls this."""


def global_options() -> list[Any]:
    """Return the global options as parameters of a command, which put what they are given where `globals_of` looks."""
    return [taken_as_given(kept(shaped, _keep)) for shaped in _shaped().params]


def kept(shaped: Any, keep: Callable[..., Any]) -> Any:  # noqa: ANN401 - typer's own option
    """Return an option which no parameter of the command's function takes: `keep` puts aside what it is given."""
    option = copy(shaped)
    option.expose_value = False
    option.callback = keep
    return option


@cache
def _shaped() -> Any:  # noqa: ANN401 - typer's own command
    return typer.main.get_command(_shape)


def taken_as_given(parameter: Any) -> Any:  # noqa: ANN401 - typer's own type
    """Return a parameter that takes what is of its type already as it is, and has typer judge and convert the rest.

    Asked for anything, typer would load and set up pydantic, which takes a third of the time of a whole command.
    """
    if "process_value" in vars(parameter):
        return parameter  # it is one already: typer may keep the option `--help` and hand it out twice
    ask_typer = parameter.process_value
    wanted = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)

    def process_value(context: Any, value: Any) -> Any:  # noqa: ANN401 - typer's own types
        if value is None and not parameter.required:
            taken: Any = () if parameter.multiple or parameter.nargs == -1 else None
        elif type(value) is wanted and (wanted in _NUMBERS or (wanted is str and _is_text(value))):
            taken = value
        elif wanted == list[str] and value and all(type(one) is str and _is_text(one) for one in value):
            taken = list(value)
        else:
            return ask_typer(context, value)
        return taken if parameter.callback is None else parameter.callback(context, parameter, taken)

    parameter.process_value = process_value
    return parameter


def _is_text(value: str) -> bool:
    """Tell whether every byte of an argument could be read as text."""
    return value.isascii() or value == value.encode(errors="ignore").decode()


def _keep(context: Any, option: Any, value: Any) -> Any:  # noqa: ANN401 - typer's own types
    """Keep what an option was given; an option not given leaves what stands."""
    told = globals_of(context)
    if option.name == "set":
        told.set += value or []
    elif value:
        setattr(told, option.name, Path(value) if option.name in _FOLDERS else value)
    elif value == "":
        message = f"--{option.name.replace('_', '-')} is empty: leave it out, or say which"
        raise UsageError(message)
    return value


def globals_of(context: typer.Context) -> Globals:
    """Return what the global options of this call said, before and after the command."""
    root = context.find_root()
    if not isinstance(root.obj, Globals):
        root.obj = Globals()
    return root.obj


class Verb(TyperCommand):
    """A command with the global options, whose help ends with examples: each line of its epilog is one."""

    def __init__(self, name: str | None, **given: Any) -> None:  # noqa: ANN401 - typer's own parameters
        """Take what typer makes of the function, and add the global options."""
        own = map(taken_as_given, given.get("params") or [])
        given["params"] = [*own, *global_options()]
        given["context_settings"] = CONTEXT | (given.get("context_settings") or {})
        super().__init__(name, **given)

    def get_help_option(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own types
        """Return the option `--help`."""
        return taken_as_given(super().get_help_option(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's own types
        """Write the examples as they are typed."""
        if self.epilog:
            formatter.write("\nExamples:\n")
            formatter.write("".join(f"  {example}\n" for example in self.epilog.strip().split("\n")))


def application() -> typer.Typer:
    """Return an empty group of commands, which the functions of one module join."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=CONTEXT)


def answer(context: typer.Context, value: object, *parts: Iterable[str | Styled | Line]) -> None:
    """Print the answer of a command: `value` as JSON when that was asked for, else the lines of each part."""
    if globals_of(context).json:
        print_json(value)
        return
    for lines in parts:
        say(*lines)


def print_json(value: object) -> None:
    """Print one JSON value on a line. What would act on a terminal is escaped, as JSON allows."""
    import msgspec

    built = msgspec.to_builtins(value, enc_hook=str, str_keys=True)
    text = json.dumps(built, ensure_ascii=False)
    write(escaped(text) + "\n", sys.stdout)
