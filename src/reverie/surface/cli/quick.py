"""A hook that only captures, done at once.

Owns reading the one command line that `install` writes into a coding agent's settings; promises that a hook which has
only to capture loads neither the other commands nor index nor model, and that any other is left to `hooking`; never
tells anybody what is wrong: whoever goes on does.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path

from reverie.adapters.claude_code_events import FLAGS, LARGEST, captured, event_of
from reverie.entrance import Opening
from reverie.errors import ReverieError
from reverie.light import opened_light

_NAMES = {"--workspace", "--agent-id", "--config-dir", "--user"}


def hook(words: Sequence[str]) -> bool:
    """Do what the hook called `words[0]` asks for; False where the line is not one that `install` writes."""
    opening = _opening_of(words[1:])
    if opening is None:
        return False
    try:
        given = sys.stdin.buffer.read(LARGEST)
    except OSError:
        return False  # whoever goes on tells it
    if not _captured(opening, words[0], given):
        import_module("reverie.surface.cli.hooking").hooked(opening, words[0], given=given)
    return True


def _opening_of(options: Sequence[str]) -> Opening | None:
    """Return how the options say to open a workspace; None for any that `install` does not write, or an empty one."""
    given = dict(zip(options[::2], options[1::2], strict=False))
    if len(given) * 2 != len(options) or not given.keys() <= _NAMES or not all(given.values()):
        return None
    folder, config = given.get("--workspace"), given.get("--config-dir")
    return Opening(
        path=Path(folder) if folder else None,
        agent=given.get("--agent-id"),
        user=given.get("--user", ""),
        config_dir=Path(config) if config else None,
        flags=FLAGS,
    )


def _captured(opening: Opening, name: str, given: bytes) -> bool:
    """Do what a hook asks for where that is to capture; False where a whole memory is to do it, or to say why not."""
    try:
        ws = opened_light(opening)
        if ws is None:
            return False
        with closing(ws.disk):
            return captured(ws, event_of(name, given))
    except ReverieError:
        return False
