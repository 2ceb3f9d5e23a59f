"""The generated pages `docs/reference/cli.md` and `docs/reference/errors.md`.

Owns their layout; promises that each command's text is its own help and each error's its docstring; never writes a
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from reverie import errors
from reverie.errors import ReverieError
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.main import load, program
from reverie.surface.exits import MEANINGS

_WIDTH = 100

_CLI = """\
# Command line

Made from the code by `make reference`.

The options of the first table may stand before or after the command. Which workspace is meant is decided by
`--workspace`, `--agent-id`, `REVERIE_WORKSPACE`, `REVERIE_AGENT_ID`, in this order; else it is the agent `default`.
With `--json`, standard output holds exactly one JSON value, an error too:
`{"error": {"class": "NotFound", "message": "…", "exit_code": 66, "retryable": false}}`.
Without it, an error is one line on standard error. Exit codes are in [errors](errors.md).
"""

_ERRORS = """\
# Errors

Made from the code by `make reference`. Every error Reverie raises on purpose has a class, a sentence that says what to
do, an exit code, an HTTP status, and whether trying again can help.

| class | exit code | HTTP status | try again | meaning |
|---|---|---|---|---|
"""

_EXITS = """
## Other exit codes

The command line exits so, too:

| exit code | meaning |
|---|---|
"""


def cli_reference() -> str:
    """Return the page of the command line: every command's help, in the groups of `reverie --help`."""
    parts = [_CLI, f"\n```text\n{_help(program())}\n```\n"]
    for group, rows in groupby(COMMANDS, key=lambda command: command.group):
        parts.append(f"\n## {group}\n")
        for row in rows:
            parts += [f"\n### `reverie {path}`\n\n```text\n{text}\n```\n" for path, text in _pages(row.name)]
    return "".join(parts)


def _pages(name: str) -> Iterator[tuple[str, str]]:
    """Yield a command's path and help, and those of the commands in it."""
    command = load(name)
    yield name, _help(command, name)
    for inner, sub in getattr(command, "commands", {}).items():
        yield f"{name} {inner}", _help(sub, f"{name} {inner}")


def _help(command: Any, path: str = "") -> str:  # noqa: ANN401 - typer's own command
    """Return a command's help as a terminal of a hundred columns shows it."""
    whole = command if not path else program()
    told = {**command.context_settings, "terminal_width": _WIDTH}
    context = whole.context_class(command, info_name=f"reverie {path}".strip(), **told)
    lines = command.get_help(context).rstrip().split("\n")
    return "\n".join(text.rstrip() for text in lines)


def errors_reference() -> str:
    """Return the page of errors: one row a class of the tree, then the exit codes that are no error's."""
    found = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, ReverieError)
    ]
    rows = [
        f"| `{one.__name__}` | {one.exit_code} | {one.http_status} | {_yes(one.retryable)} | {one.__doc__} |\n"
        for one in sorted(found, key=lambda one: (one.exit_code, one.__name__))
    ]
    exits = [f"| {code} | {meaning} |\n" for code, meaning in MEANINGS.items()]
    return "".join((_ERRORS, *rows, _EXITS, *exits))


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
