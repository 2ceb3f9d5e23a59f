"""Reverie: long-term memory for LLM agents, kept in files a person can read.

>>> import reverie
>>> with reverie.init("support") as memory:
...     memory.remember("Dana prefers calls before noon").queued
True
>>> reverie.open("support").recall("when to call Dana?").hits[0].text
'Dana prefers calls before noon'

Owns the public names; promises that importing it does nothing and takes no time, for a name is loaded when it is first
asked for; never holds anything else.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from os import fsencode as _fsencode
from pathlib import Path as _Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping as _Mapping

    from reverie.consolidate import Plan
    from reverie.context import ContextRequest
    from reverie.core.records import Draft, Turn
    from reverie.core.where import Where
    from reverie.entrance import Opening
    from reverie.errors import ReverieError
    from reverie.memory import Memory
    from reverie.recall import Ask

__all__ = [
    "Ask",
    "ContextRequest",
    "Draft",
    "Memory",
    "Opening",
    "Plan",
    "ReverieError",
    "Turn",
    "Where",
    "__version__",
    "init",
    "open",
    "trust",
]

__version__ = "0.1.0"

_PLACES = {
    "Ask": "reverie.recall",
    "ContextRequest": "reverie.context",
    "Draft": "reverie.core.records",
    "Memory": "reverie.memory",
    "Opening": "reverie.entrance",
    "Plan": "reverie.consolidate",
    "ReverieError": "reverie.errors",
    "Turn": "reverie.core.records",
    "Where": "reverie.core.where",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name from its module."""
    if name not in _PLACES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(_import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})


def open(
    where: str | _Path | Opening | None = None,
    *,
    agent: str | None = None,
    user: str = "",
    config_dir: str | _Path | None = None,
    settings: _Mapping[str, str] | None = None,
) -> Memory:
    """Open the memory in a folder, of an agent, or as an `Opening` says; with none of them, the agent `default`.

    `user` names the person whose own memory is meant. `settings` are dotted names with their values as text. Raises
    NotAWorkspace, BadSettings, NewerFormat, DamagedFile.

    >>> import reverie
    >>> reverie.init("support").close()
    >>> memory = reverie.open("support", settings={"zone": "Europe/Berlin"})
    >>> memory.status().entries
    0
    """
    return _memory("open_workspace", _opening(where, agent, user, config_dir, settings))


def init(
    where: str | _Path | Opening | None = None,
    *,
    agent: str | None = None,
    config_dir: str | _Path | None = None,
    settings: _Mapping[str, str] | None = None,
) -> Memory:
    """Make a folder a workspace and open its memory; one that is a workspace already keeps every file it has.

    >>> import reverie
    >>> memory = reverie.init("support", agent="support-bot")
    >>> memory.root.name
    'support'
    """
    return _memory("make_workspace", _opening(where, agent, "", config_dir, settings))


def trust(where: str | _Path | Opening | None = None, *, config_dir: str | _Path | None = None) -> Memory:
    """Say that a workspace that came from elsewhere is this user's own, and open its memory.

    Until then it is read-only and nothing of it goes into a prompt. Look through it first.

    >>> import reverie
    >>> reverie.init("colleague", config_dir="another").close()
    >>> reverie.open("colleague").status().trusted
    False
    >>> reverie.trust("colleague").status().trusted
    True
    """
    return _memory("trust_workspace", _opening(where, None, "", config_dir, None))


def _opening(
    where: str | _Path | Opening | None,
    agent: str | None,
    user: str,
    config_dir: str | _Path | None,
    settings: _Mapping[str, str] | None,
) -> Opening:
    """Return how to open what the arguments mean."""
    opening: type[Opening] = __getattr__("Opening")
    if isinstance(where, opening):
        return where
    return opening(
        path=_folder("where", where),
        agent=agent,
        user=user,
        config_dir=_folder("config_dir", config_dir),
        flags=settings,
    )


def _folder(name: str, given: Any) -> _Path | None:  # noqa: ANN401 - what a caller gives
    """Return a folder as a path; raises UsageError for what can be none."""
    if given is None:
        return None
    try:
        if isinstance(given, str | _Path) and b"\0" not in _fsencode(given):
            return _Path(given)
    except UnicodeEncodeError:
        pass  # half a character, in which no folder's name ends
    message = f"{name} is {str(given)[:60]!a}, which names no folder: give a pathlib.Path or its text"
    error: type[Exception] = _import_module("reverie.errors").UsageError
    raise error(message)


def _memory(way: str, opening: Opening) -> Memory:
    """Return the memory that `opening` makes, opened the one way or the other."""
    opened = getattr(_import_module("reverie.opening"), way)(opening)
    memory: Memory = __getattr__("Memory")(opened)
    return memory
