"""What somebody planted in a workspace: nothing outside is read or changed, nothing hangs, nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from planting import PLANTS, Plant, World, device, fifo, foreign, link

from reverie import layout

# Of each kind of path one, by how it begins.
KINDS = (
    ".history",
    ".history/HEAD",
    ".history/refs/heads/main",
    layout.INDEX,
    layout.STATE_DB,
    layout.TEXT_INDEX,
    layout.JOURNAL,
    f"{layout.JOURNAL_ARCHIVE}/2026-07/",
    f"{layout.SEGMENTS}/",
    layout.DRAIN_INTENT,
    layout.STATE,
    f"{layout.COUNTERS}/publish",
    layout.RUNS,
    layout.EVENTS,
    layout.ERASING,
    layout.KEY,
    layout.WRITE_LOCK,
    layout.PAUSED,
    f"{layout.RENDERED}/",
    layout.TOMBSTONES,
    layout.ORIGIN,
    layout.MEMORY,
    layout.USER,
    f"{layout.ARCHIVE}/",
    layout.DIGESTS,
    layout.FILES,
    layout.HISTORY,
    layout.NOTEBOOK,
    f"{layout.NOTEBOOK}/3_Personal/",
    "notes",
    layout.PEOPLE,
    f"{layout.PEOPLE}/ana-dea210f0/.state",
    layout.SETTINGS,
    layout.SESSIONS,
    f"{layout.SESSIONS}/s0",
    f"{layout.SUMMARIES}/",
)
QUICK = ("status", "list", "recall", "check", "capture", "more", "remember", "export", "again")


def able(plant: Plant) -> None:
    """Skip where only a superuser could plant it."""
    if plant in {device, foreign} and os.geteuid() != 0:
        pytest.skip(f"only root can plant a {plant.__name__}")


@pytest.mark.slow
@pytest.mark.parametrize("plant", [link, fifo])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_is_neither_followed_nor_waited_for(
    world: World, tmp_path: Path, kind: str, plant: Plant
) -> None:
    """With a link or a pipe in its place, every verb that can answers, and nothing is lost."""
    path = next(path for path in world.places if path.startswith(kind))
    assert world.faults(path, plant, tmp_path / "home", verbs=QUICK) == []


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS)
def test_every_verb_stands_whatever_is_planted(world: World, tmp_path: Path, plant: Plant) -> None:
    """Each thing that may be planted stands in the place of a third of the kinds of path, each of which meets some."""
    able(plant)
    found = []
    for number, kind in enumerate(KINDS[PLANTS.index(plant) % 3 :: 3]):
        path = next(path for path in world.places if path.startswith(kind))
        found += world.faults(path, plant, tmp_path / str(number))
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_every_verb_stands_whatever_path_is_a_link(world: World, tmp_path: Path, part: int) -> None:
    """For each path of a workspace, there or not there yet, a link out of it is followed by none of the verbs."""
    found = []
    for number, path in enumerate(world.places[part::8]):
        found += world.faults(path, link, tmp_path / str(number))
    assert found == []
