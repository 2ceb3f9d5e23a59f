"""A process that gets less from the system than it needs: it ends in one sentence that says what to do."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest
    from conftest import Shell


def test_too_little_memory_is_told_with_what_to_do(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that gets no more memory says how to get some, and calls it no mistake to be reported."""

    def starved(_context: object) -> None:
        raise MemoryError

    monkeypatch.setattr(import_module("reverie.surface.cli.read"), "opened", starved)
    answer = shell("list")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "ulimit -v" in answer.err
    assert "unexpected" not in answer.err
