"""Opening the memory that a command is about, and reading what stands on standard input.

Owns the way from the global options to an open Memory; promises that it is closed when the command ends, however it
ends; never prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from reverie.core.days import parse_instant
from reverie.core.text.names import is_day
from reverie.entrance import Opening
from reverie.errors import UsageError
from reverie.later import later
from reverie.surface.cli.frame import globals_of

if TYPE_CHECKING:
    from reverie import memory, opening
    from reverie.memory import Memory
else:
    memory, opening = later("reverie.memory"), later("reverie.opening")

ChoiceT = TypeVar("ChoiceT", bound=str)


def opening_of(context: typer.Context, folder: Path | None = None) -> Opening:
    """Return how the call says to open a workspace; `folder` is one given as the command's own argument."""
    told = globals_of(context)
    if folder is not None and told.workspace is not None:
        message = f"both {folder} and --workspace {told.workspace} are given: name one folder"
        raise UsageError(message)
    return Opening(
        path=folder or told.workspace,
        agent=told.agent_id,
        user=told.user,
        config_dir=told.config_dir,
        flags=told.flags,
    )


@contextmanager
def opened(context: typer.Context) -> Iterator[Memory]:
    """Open the memory meant, for the length of one command."""
    with memory.Memory(opening.open_workspace(opening_of(context))) as open_:
        yield open_


def text_of(given: str) -> str:
    """Return a text given as an argument, or with `-` what stands on standard input, which must be UTF-8."""
    if given != "-":
        return given
    try:
        return sys.stdin.buffer.read().decode().rstrip("\n")
    except UnicodeDecodeError as error:
        message = (
            f"standard input is not UTF-8 (byte {error.start}): convert it, or give the text as an argument"
        )
        raise UsageError(message) from error


def instant(text: str, option: str) -> datetime | None:
    """Return the instant an option gives, None when it was not given; raises UsageError."""
    if not text:
        return None
    try:
        return parse_instant(text)
    except UsageError as error:
        message = f"{option}: {error}"
        raise UsageError(message) from error


def day(text: str, option: str) -> str:
    """Return the day an option gives, empty when it was not given; raises UsageError."""
    if text and not is_day(text):
        message = f"{option} {text}: write a day, such as 2026-07-01"
        raise UsageError(message)
    return text


def one_of(text: str, option: str, *, choices: tuple[ChoiceT, ...]) -> ChoiceT:
    """Return the choice an option names; raises UsageError."""
    for choice in choices:
        if text == choice:
            return choice
    message = f"{option} {text}: choose one of {', '.join(choices)}"
    raise UsageError(message)
