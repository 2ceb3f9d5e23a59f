"""The command `reverie`: finding the command meant, and turning every way it can end into an exit code.

Owns the program's help and the outermost frame; promises that a command's module is loaded when the command is run or
its help is asked for, not before; that an error is one line on standard error, with `--json` an object on standard
output too; never prints a traceback unless REVERIE_TRACEBACK=1 asks for it.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from itertools import groupby
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from reverie import __version__
from reverie.errors import ReverieError, StoreUnwritable, UsageError
from reverie.surface.cli.commands import COMMANDS
from reverie.surface.cli.frame import (
    CONTEXT,
    application,
    global_options,
    print_json,
    taken_as_given,
)
from reverie.surface.exits import BROKEN_PIPE, DONE, INTERRUPTED, UNEXPECTED
from reverie.surface.render import one_line, write

NAME = "reverie"
COMPLETE = "_REVERIE_COMPLETE"  # the variable by which a shell's script asks how a line may go on

_BY_NAME = {command.name: command for command in COMMANDS}
# What other programs call these commands: too far from their names to be found by resemblance.
_ELSEWHERE = {
    "add": "remember",
    "ask": "recall",
    "delete": "forget",
    "edit": "correct",
    "find": "recall",
    "help": "--help",
    "query": "recall",
    "remove": "forget",
    "rm": "forget",
    "save": "remember",
    "search": "recall",
    "setup": "init",
    "show": "get",
    "start": "serve",
    "store": "remember",
    "todo": "due",
    "update": "correct",
    "verify": "check",
    "version": "--version",
    "wipe": "erase",
}
# Whatever typer raises for a call that is wrong as written; the class moved between its versions, its heirs did not.
_WRONG_CALL: type[Exception] = typer.BadParameter.__mro__[2]
# What Python raises anywhere, and what it says to whoever called: half a character comes in as bytes that are no UTF-8.
_MEANT: tuple[tuple[type[Exception], type[ReverieError], str], ...] = (
    (UnicodeEncodeError, UsageError, "what was given is no text: write it in UTF-8"),
    (
        MemoryError,
        ReverieError,
        "there is not enough memory: let the process have more (`ulimit -v`), or set `embedder` to `none`",
    ),
)
# What the system says to a path that cannot be one.
_NO_PLACE = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}
# What it says to a stream that takes no more. What the files of a workspace meet is told by the store itself.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
_INTRO = """\
Long-term memory for LLM agents, kept in files a person can read.

  reverie init                                   make a workspace for the agent `default`
  reverie remember "Dana prefers calls before noon" --category preference
  reverie recall "when to call Dana?"
  reverie consolidate                            everything that is due: run it from cron
"""


class Program(TyperGroup):
    """The group of all commands; each is loaded from its module when it is needed."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's own type
        """Return the commands' names, as the table has them."""
        return list(_BY_NAME)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's own types
        """Return the command called `cmd_name`, None when there is none."""
        return load(cmd_name) if cmd_name in _BY_NAME else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's own types
        """Find the command that `args` begin with; a name that is none is told what it resembles."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None:
            near = _ELSEWHERE.get(name) or next(iter(get_close_matches(name, _BY_NAME, n=1)), None)
            meant = f"did you mean `reverie {near}`?" if near else "`reverie --help` lists them"
            message = f"there is no command {name!r}: {meant}"
            raise UsageError(message)
        return name, command, args[1:]

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:  # noqa: ANN401 - typer's own types
        """Return how a command's name or an option may go on, from the table, loading no command."""
        if incomplete.startswith("-"):
            found: list[Any] = super().shell_complete(ctx, incomplete)
            return found
        item = import_module(f"{_WRONG_CALL.__module__.rpartition('.')[0]}.shell_completion").CompletionItem
        return [item(one.name, help=one.summary) for one in COMMANDS if one.name.startswith(incomplete)]

    def get_help_option(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own types
        """Return the option `--help`."""
        return taken_as_given(super().get_help_option(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own types
        """Write the program's help from the table of commands, loading none of them."""
        self.format_usage(ctx, formatter)
        formatter.write(f"\n{_INTRO}")
        for group, rows in groupby(COMMANDS, key=lambda command: command.group):
            formatter.write(f"\n{group}:\n")
            formatter.write("".join(f"  {row.name:<14} {row.summary}\n" for row in rows))
        self.format_options(ctx, formatter)
        formatter.write("\n`reverie COMMAND --help` shows a command's options and examples.\n")

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own types
        """Write nothing: the commands stand in their groups above."""


def load(name: str) -> Any:  # noqa: ANN401 - typer's own command
    """Return the command of that name from its module; raises KeyError for a name that is none."""
    module = import_module(f"reverie.surface.cli.{_BY_NAME[name].module}")
    alone = application()  # typer builds every command of a group to give one
    alone.registered_commands = [one for one in module.app.registered_commands if one.name == name]
    alone.registered_groups = [one for one in module.app.registered_groups if one.name == name]
    return typer.main.get_group(alone).commands[name]


def program() -> Program:
    """Return the whole command line."""
    return Program(
        name=NAME,
        params=global_options(),
        context_settings=CONTEXT,
        invoke_without_command=True,
        callback=_alone,
        rich_markup_mode=None,
        options_metavar="[OPTIONS]",
    )


def _alone() -> None:
    """Do nothing before a command; without one, `run` shows the help."""


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing is raised."""
    words = list(arguments)
    if os.environ.get(COMPLETE):
        return _complete(os.environ[COMPLETE])
    try:
        if words in (["--version"], ["-V"]):
            write(f"reverie {__version__}\n", sys.stdout)
        else:
            whole = program()
            with whole.make_context(NAME, list(words) or ["--help"]) as context:
                whole.invoke(context)
        sys.stdout.flush()
    except (BrokenPipeError, KeyboardInterrupt, typer.Abort, typer.Exit) as ended:
        return _ended(ended)
    except Exception as error:
        # The outermost frame: a person is told in one line what went wrong, whatever it was.
        return _failed(error, as_json=_wants_json(words))
    return DONE


def _complete(instruction: str) -> int:
    """Tell a shell how its line may go on; where that cannot be told, nothing is."""
    from typer.completion import completion_init, shell_complete  # type: ignore[attr-defined]  # as its own options do

    completion_init()
    try:
        return int(shell_complete(program(), {}, NAME, COMPLETE, instruction))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except Exception:
        # A line that is being written is often wrong, and whoever writes it has not asked us.
        return 1


def _ended(ended: BaseException) -> int:
    """Return the exit code of a command that ended early without an error."""
    if isinstance(ended, typer.Exit):
        return ended.exit_code
    return BROKEN_PIPE if isinstance(ended, BrokenPipeError) else INTERRUPTED


def _failed(error: Exception, *, as_json: bool) -> int:
    """Print an error for people, and for programs when they asked, and return its exit code."""
    told = _translated(error)
    name = type(told).__name__
    if isinstance(told, ReverieError):
        sentence, code, retryable = str(told), told.exit_code, told.retryable
    else:
        sentence = f"unexpected {name}: {told}; REVERIE_TRACEBACK=1 shows where"
        code, retryable = UNEXPECTED, False
    # Loaded when something failed: help and answers need no configuration.
    if import_module("reverie.config").traceback_wanted():
        traceback.print_exception(error)
    if as_json:
        problem = {"class": name, "message": str(told), "exit_code": code, "retryable": retryable}
        with suppress(OSError):
            print_json({"error": problem})
            sys.stdout.flush()
    with suppress(OSError):
        write(f"reverie: {one_line(sentence)}\n", sys.stderr)
        sys.stderr.flush()
    return code


def _translated(error: Exception) -> Exception:
    """Return the error of our own tree that says the same, or the error itself."""
    if isinstance(error, _WRONG_CALL):
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "reverie"
        said = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        quoted = " (a text of several words needs quotes)" if "extra argument" in said else ""
        return UsageError(f"{said[:1].lower()}{said[1:]}{quoted}; see `{where} --help`")
    if isinstance(error, PermissionError):
        return StoreUnwritable(
            f"{error.filename or 'a file'} may not be used ({error.strerror}): check its permissions"
        )
    for kind, meant, sentence in _MEANT:
        if isinstance(error, kind):
            return meant(sentence)
    if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
        return ReverieError(
            f"the answer cannot be written ({error.strerror}): standard output takes no more; "
            "what was asked for may be done"
        )
    if isinstance(error, OSError) and error.errno in _NO_PLACE:
        return UsageError(f"{str(error.filename or 'a path')[:200]} leads nowhere ({error.strerror})")
    return error


def _wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` was given, for errors that come before the options are read."""
    before = words[: words.index("--")] if "--" in words else words
    return "--json" in before
