"""A memory and Anthropic's memory tool over it, as the tests of the tool use them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import reverie
from reverie import Memory, Opening
from reverie.adapters.anthropic_memory import handle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def tool_memory(folder: Path) -> Iterator[Memory]:
    """Return a new memory in `folder`."""
    environment = {"HOME": str(folder), "TZ": "UTC", "REVERIE_EMBEDDER": "none"}
    opening = Opening(path=folder / "ws", config_dir=folder / "config", environment=environment)
    with reverie.init(opening) as made:
        yield made


def said(memory: Memory, command: str, **given: Any) -> str:
    """Return what a command that works answers."""
    done = handle(memory, {"command": command, **given})
    assert not done.is_error, done.text
    return done.text


def refused(memory: Memory, command: str, **given: Any) -> str:
    """Return what a command that does not work answers, having changed nothing."""
    before = {path: path.read_bytes() for path in (memory.root / "files").rglob("*") if path.is_file()}
    done = handle(memory, {"command": command, **given})
    assert done.is_error, done.text
    after = {path: path.read_bytes() for path in (memory.root / "files").rglob("*") if path.is_file()}
    assert before == after
    return done.text
