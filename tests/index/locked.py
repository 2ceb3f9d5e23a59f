"""The index lock of a workspace, for processes that a test starts."""

from __future__ import annotations

from pathlib import Path

from reverie.store.filesystem.lock import Locks


def locks(root: Path):
    """Return how an index takes the lock of the workspace at `root`; it waits long, for the machine may be busy."""
    return lambda timeout: Locks(root).index(max(timeout, 100.0))
