"""An erase cut short by a power failure or a full disk, at any of its calls."""

from __future__ import annotations

import errno
import itertools
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from forget_world import BIKE, NUT, holders, lived, opened, state_of

from reverie import forget as forgetting
from reverie.store.forgotten import letting_go
from reverie.store.versions.git import History as Commits
from reverie.testing import CrashDisk, Wreck, crash_loop, fail_loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.timeout(900)  # every call of an erase, each with the erase that finishes it
def test_a_crash_anywhere_is_finished_by_the_next_write(tmp_path: Path) -> None:
    """With the power cut at any call of an erase, the next writer finishes it and no word is left."""
    for wreck in crash_loop(_made(tmp_path), _erasing, seeds=(3,), step=1):
        _finished(wreck)


@pytest.mark.slow
@pytest.mark.timeout(900)  # every call of an erase, each with the erase that finishes it
def test_a_full_disk_anywhere_is_no_loss_and_no_leftover(tmp_path: Path) -> None:
    """With any one call refused for want of room, an erase fails with a sentence or is done, and can be done again."""
    for wreck in fail_loop(_made(tmp_path), _erasing, errors=(errno.ENOSPC,)):
        _finished(wreck)


def _made(tmp_path: Path) -> Callable[[], Path]:
    """Return what gives each attempt a copy of one lived workspace."""
    lived(tmp_path / "origin")
    numbers = itertools.count()

    def make() -> Path:
        root = tmp_path / f"run{next(numbers)}"
        shutil.copytree(tmp_path / "origin", root)
        return root

    return make


def _erasing(disk: CrashDisk, tell: Any) -> None:
    ws = opened(disk.root, disk=disk, first=5)
    state = state_of(ws, forgetting.mask_of(ws))
    try:
        assert forgetting.erase(ws, state, [NUT]).leftovers == ()
    finally:
        state.close()
    tell("erased")


def _finished(wreck: Wreck) -> None:
    """Finish what the wreck left, and look: all of it is gone or nothing was forgotten, and its neighbours stay."""
    ws = opened(wreck.root, first=6)
    begun = letting_go.pending(ws) is not None
    forgetting.finish(ws)
    assert letting_go.pending(ws) is None
    if not forgetting.mask_of(ws):
        assert not wreck.told
        assert not begun
        shutil.rmtree(wreck.root)
        return
    state = state_of(ws, forgetting.mask_of(ws))
    assert [one.entry.text for one in state.states()] == [BIKE, "User will bring cake"]
    state.close()
    if holders(wreck.root):
        assert not wreck.told  # forgotten, and the erase not begun
        state = state_of(ws, forgetting.mask_of(ws))
        assert forgetting.erase(ws, state, [NUT]).leftovers == ()
        state.close()
    assert holders(wreck.root) == []
    assert Commits(ws).log()[0].message == "Add: [erased]"
    shutil.rmtree(wreck.root)
