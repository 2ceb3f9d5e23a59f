"""Giving to a shared workspace and taking back, with the power cut on either side at any call."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from desk import NOON
from team import Team

from reverie import layout
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.store.filesystem.disk import Disk
from reverie.testing import CrashDisk, FixedClock, crash_loop

if TYPE_CHECKING:
    from pathlib import Path

FACTS = ("The roof is red", "The door is blue", "The gate is green")


@pytest.mark.slow
@pytest.mark.parametrize("side", ["ann", "team"])
def test_a_copy_arrives_once_wherever_the_power_fails(tmp_path: Path, side: str) -> None:
    """Cut at any call of the giver or of the shared workspace, each copy is there once, and a forgotten one hidden."""
    with Team(tmp_path / "origin") as team:
        ids = [team.tell("ann", text) for text in FACTS]
    numbers = itertools.count()

    def make() -> Path:
        home = tmp_path / f"run{next(numbers)}"
        shutil.copytree(tmp_path / "origin", home)
        config = home / "config" / "config.toml"
        config.write_text(config.read_text().replace(str(tmp_path / "origin"), str(home)))
        return home / side

    def scenario(disk: CrashDisk, tell: Any) -> None:
        again = _team(disk.root.parent)
        opening = again.opening("ann", disk=lambda folder: disk if folder.name == side else Disk(folder))
        with Memory(open_workspace(opening)) as ann:
            if ann.drain().problems == ():
                tell("given")
            if ann.forget([ids[1]]).problems == ():
                tell("withdrawn")

    for wreck in crash_loop(make, scenario, seeds=(3,), step=5):
        again = _team(wreck.root.parent)
        with (
            Memory(open_workspace(again.opening("ann"))) as ann,
            Memory(open_workspace(again.opening("bob"))) as bob,
            Memory(open_workspace(again.opening("team"))) as shared,
        ):
            assert ann.drain().problems == ()
            forgotten = bool(ann.opened.mask)  # a forget that was cut short is finished by the drain
            seen = {hit.text for hit in bob.recall("roof door gate is", k=9).hits}
            assert seen == ({FACTS[0], FACTS[2]} if forgotten else set(FACTS))
            if "withdrawn" in wreck.told:
                assert forgotten
            shared.drain()
            if not forgotten:
                assert ann.forget([ids[1]]).problems == ()
            assert {hit.text for hit in bob.recall("roof door gate is", k=9).hits} == {FACTS[0], FACTS[2]}
            log = (shared.root / layout.log_file("2026-07-01")).read_text()
            assert [log.count(text) for text in FACTS] in ([1, 1, 1], [1, 0, 1])
            assert shared.check() == ()
        shutil.rmtree(wreck.root.parent)


def _team(home: Path) -> Team:
    """Return the team at `home`, which is made already."""
    team = Team.__new__(Team)
    team.home, team.clock, team.opened, team.open = home, FixedClock(NOON), 9, []
    return team
