"""Doing what a coding agent's hook asks for, with a whole memory.

Owns the outermost frame of a hook; promises that it always ends well, for the agent is to go on, and that what went
wrong is a line on standard error and in `reverie status`; never reads standard input.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO

import msgspec

from reverie.adapters import claude_code, claude_code_events
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.surface.render import one_line, write


def hooked(opening: Opening, event: str, *, given: bytes) -> None:
    """Do what `event` asks for with `given` on its standard input, and print what the agent is to read."""
    try:
        opening = msgspec.structs.replace(
            opening, flags={**claude_code_events.FLAGS, **(opening.flags or {})}
        )
        with Memory(open_workspace(opening)) as memory:
            printed = _done(memory, event, given)
    except Exception as error:
        # The outermost frame of a hook: whatever is wrong with the memory, the person's agent works on.
        failed(event, error)
        return
    if printed:
        _print(printed, sys.stdout)


def failed(event: str, error: Exception) -> None:
    """Tell what went wrong before or in a hook."""
    _print(f"reverie: {one_line(str(error) or type(error).__name__)}", sys.stderr)
    if printed := claude_code_events.trouble(event, error):
        _print(printed, sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    """Print a line; where nobody reads it any more, the hook has done its work all the same."""
    with suppress(OSError):
        write(f"{text}\n", stream)
        stream.flush()


def _done(memory: Memory, event: str, given: bytes) -> str:
    """Return what a hook prints; what goes wrong is noted in the workspace and raised."""
    try:
        return claude_code.hook(memory, claude_code_events.event_of(event, given))
    except Exception as error:
        # Noted whatever it is: nobody reads a hook's standard error.
        claude_code.note(memory, event, error)
        raise
