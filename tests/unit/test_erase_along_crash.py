"""An erase that follows copies and people, with the power cut on any side of it at any call."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from desk import NOON, contents
from team import Team

from reverie.context import ContextRequest
from reverie.core.records import Draft
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.store.filesystem.disk import Disk
from reverie.testing import CrashDisk, FixedClock, crash_loop

if TYPE_CHECKING:
    from pathlib import Path

GONE = "The wifi is named ocelot lounge"
STAYS = "The wifi reaches the garden shed"


@pytest.mark.slow
@pytest.mark.parametrize("side", ["ann", "team", "dana"])
def test_an_erase_that_was_cut_short_is_finished_everywhere(tmp_path: Path, side: str) -> None:
    """Cut at any call of the agent, the shared workspace or the person, the next drain leaves the words nowhere."""
    with Team(tmp_path / "origin", agents=("ann",)) as team:
        ids = [team.tell("ann", text, sig=0.95) for text in (GONE, STAYS)]
        team["ann"].drain()
        team["team"].drain()
        dana = team.keep(team["ann"].person("Dana"))
        dana.remember("Dana likes the sofa", Draft(origin="user"))
        dana.context(ContextRequest(query="wifi", session="s1"))
        person = dana.root.relative_to(team.home)
    numbers = itertools.count()
    place = {"ann": "ann", "team": "team", "dana": str(person)}[side]

    def make() -> Path:
        home = tmp_path / f"run{next(numbers)}"
        shutil.copytree(tmp_path / "origin", home)
        config = home / "config" / "config.toml"
        config.write_text(config.read_text().replace(str(tmp_path / "origin"), str(home)))
        return home / place

    def scenario(disk: CrashDisk, tell: Any) -> None:
        again = _team(disk.root.parents[len(disk.root.parents) - len(tmp_path.parents) - 2])
        opening = again.opening("ann", disk=lambda folder: disk if folder == disk.root else Disk(folder))
        with Memory(open_workspace(opening)) as ann:
            if ann.erase([ids[0]]).leftovers == ():
                tell("erased")

    for wreck in crash_loop(make, scenario, seeds=(3,), step=9):
        home = wreck.root.parents[len(wreck.root.parents) - len(tmp_path.parents) - 2]
        again = _team(home)
        with Memory(open_workspace(again.opening("ann"))) as ann:
            assert ann.drain().problems == ()
            if not ann.opened.mask:
                assert "erased" not in wreck.told
                ann.erase([ids[0]])
            holding = [path for path, data in contents(home, derived=True).items() if b"ocelot" in data]
            if holding:  # it was cut between the forget and the erase: that is for the user to say again
                assert "erased" not in wreck.told
                assert ann.erase([ids[0]]).leftovers == ()
                holding = [path for path, data in contents(home, derived=True).items() if b"ocelot" in data]
            assert holding == []
            assert not any("erase" in one.what for one in ann.status().problems)
            assert STAYS in {hit.text for hit in ann.recall("garden shed").hits}
        shutil.rmtree(home)


def _team(home: Path) -> Team:
    """Return the team at `home`, which is made already."""
    team = Team.__new__(Team)
    team.home, team.clock, team.opened, team.open = home, FixedClock(NOON), 9, []
    return team
