"""A module that is loaded when something of it is first used, standing where an import would.

Owns that one thing; promises that whatever is asked of it is what the module has at that moment, and that asking loads
the module once, from whichever thread; never stands alone: an import for the type checker says beside it what it is, so
that types and layers are read from the source as anywhere else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Later:
    """Stands for a module by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        """Return what the module calls `name`."""
        return getattr(import_module(self._name), name)


def later(name: str) -> Any:  # noqa: ANN401 - the import beside it says what it is
    """Return what stands for the module called `name`."""
    return _Later(name)
