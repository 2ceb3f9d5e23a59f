"""The power is cut at every call by which a host's run ends, is held for a person, or is accepted by them.

Afterwards it is all there or nothing is, and ending or accepting it again comes to the same.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from dream_agent import TEAS, Standing, body, cite
from dream_world import DAY, NIGHT, log, look_at, open_world, outcomes

from reverie import layout
from reverie.dream import Reach, Started, Wish, end, start, step
from reverie.entrance import Opening
from reverie.errors import Conflict
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.store.dreams import lease, reviews, runs
from reverie.store.dreams.dream_views import Veil
from reverie.store.dreams.installing import finish
from reverie.testing import FixedClock, crash_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reverie.store.filesystem.disk import Disk
    from reverie.store.workspace import Workspace
    from reverie.testing import CrashDisk, Wreck

RUN = "dream:20260702-030000"
PAGE = body("Preferences", *map(cite, DAY))
ALL = dict.fromkeys((one.id for one in DAY), "cited")


def reach(ws: Workspace) -> Reach:
    """Return what a run asks of what lies around it."""
    return Reach(look=lambda: look_at(ws), veil=Veil(lambda _: False))


def opening(root: Path, disk: CrashDisk | None = None) -> Opening:
    """Return how to open a workspace in the night, on a disk that may crash."""

    def kept(_: Path) -> Disk:
        assert disk is not None
        return disk

    return Opening(
        path=root,
        config_dir=root.parent / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC", "mcp.host_model": "true"},
        clock=FixedClock(NIGHT),
        disk=kept if disk else None,
    )


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """Return a workspace in which a host's run has written its page and settled every entry."""
    root = tmp_path / "template"
    with Memory(make_workspace(opening(root))) as memory:
        ws = memory.opened.ws
        log(ws, DAY)
        begun = start(ws, reach(ws), Wish(now=True), holder="host")
        assert isinstance(begun, Started)
        assert begun.run == RUN
        step(ws, reach(ws), RUN, tool="write", arguments={"path": TEAS, "text": PAGE})
        for one in DAY:
            given = {"entry": one.id, "outcome": "cited", "page": TEAS}
            step(ws, reach(ws), RUN, tool="settle", arguments=given)
    return root


@pytest.fixture
def make(template: Path) -> Callable[[], Path]:
    """Return what copies it, as it stands when the first copy is asked for."""
    numbers = iter(range(1_000_000))

    def copy() -> Path:
        return shutil.copytree(template, template.parent / f"run{next(numbers)}")

    return copy


def ending(disk: CrashDisk, tell: Callable[[str], None]) -> None:
    """End the run, and say so."""
    ws = open_world(disk.root, disk=disk)
    done = end(ws, reach(ws), RUN)
    assert done.counts == {"cited": 4}
    tell(done.run)


def holding(disk: CrashDisk, tell: Callable[[str], None]) -> None:
    """End the run so that a person is asked, and say under which item."""
    ws = open_world(disk.root, disk=disk)
    tell(end(ws, reach(ws), RUN, hold=True).review)


def accepting(disk: CrashDisk, tell: Callable[[str], None]) -> None:
    """Accept what waits, and say so."""
    with Memory(open_workspace(opening(disk.root, disk))) as memory:
        (item,) = memory.review()
        tell(memory.review(item.id, accept=True)[0].id)


def standing(wreck: Wreck) -> tuple[Workspace, Standing]:
    """Open what the crash left, finish it, and return what stands."""
    ws = open_world(wreck.root)
    finish(ws)
    return ws, Standing(ws)


def whole(ws: Workspace) -> None:
    """Check that the run is all there, once."""
    after = Standing(ws)
    assert after.files[f"notebook/{TEAS}"] == PAGE
    assert after.outcomes == ALL
    assert [one.result for one in runs.read(ws)] == ["productive"]
    assert after.log.count(f"run={RUN} ") == 1
    assert runs.watermark(ws) == "2026-07-01"
    assert not ws.disk.size(layout.INSTALL_INTENT)
    outcomes(ws)  # no entry has two


def ended(wrecks: Iterator[Wreck], before: Standing) -> None:
    """Check each wreck of an end: old or new, and ended again the same."""
    for wreck in wrecks:
        ws, after = standing(wreck)
        if after.outcomes:
            whole(ws)
        else:
            assert not wreck.told, wreck
            assert after == before, wreck
        with suppress(Conflict):  # it had ended
            end(ws, reach(ws), RUN)
        whole(ws)
        lease.release(ws, RUN)
        start(ws, reach(ws), Wish(now=True), holder="next")  # what the run left behind is swept
        assert ws.disk.size(f"{layout.run_folder(RUN)}/steps.jsonl") is None, wreck
        shutil.rmtree(wreck.root)


def held(wrecks: Iterator[Wreck], before: Standing) -> None:
    """Check each wreck of a run that is held: nothing of the notebook changed, and it is asked about once."""
    for wreck in wrecks:
        ws, after = standing(wreck)
        assert (after.files, after.outcomes, after.log) == (before.files, before.outcomes, before.log), wreck
        assert len(after.reviews) <= 1, wreck
        assert bool(after.reviews) or not wreck.told, wreck
        if not after.reviews:
            end(ws, reach(ws), RUN, hold=True)
        (item,) = reviews.waiting(ws)
        with Memory(open_workspace(opening(wreck.root))) as memory:
            memory.review(item.id, accept=True)
        whole(ws)
        shutil.rmtree(wreck.root)


def accepted(wrecks: Iterator[Wreck], before: Standing) -> None:
    """Check each wreck of a verdict: old or new, and given again where it still waits."""
    for wreck in wrecks:
        ws, after = standing(wreck)
        assert after.outcomes or after.files == before.files, wreck
        waits = reviews.waiting(ws)
        assert waits or wreck.told or after.outcomes, wreck
        if (
            waits and after.outcomes
        ):  # the word was cut short behind the install: it cannot be turned into its opposite
            with (
                Memory(open_workspace(opening(wreck.root))) as memory,
                pytest.raises(Conflict, match=f"reverie undo {RUN}"),
            ):
                memory.review(waits[0].id, accept=False)
        if waits:
            with Memory(open_workspace(opening(wreck.root))) as memory:
                memory.review(waits[0].id, accept=True)
        whole(ws)
        assert reviews.waiting(ws) == []
        assert reviews.accepts_guests(ws)
        shutil.rmtree(wreck.root)


def looked(root: Path) -> Standing:
    """Return what stands in a workspace."""
    return Standing(open_world(root))


@pytest.mark.slow
def test_a_crash_leaves_a_hosts_run_whole_or_open(template: Path, make: Callable[[], Path]) -> None:
    """Cut at calls throughout, the run is installed or still to be ended, which comes to the same (R-10)."""
    ended(crash_loop(make, ending, seeds=(0, 5), step=31), looked(template))


def test_a_crash_leaves_a_held_run_asked_about_once(template: Path, make: Callable[[], Path]) -> None:
    """Cut while a run is put before a person, nothing is changed, nothing lost, and they are asked once."""
    held(crash_loop(make, holding, seeds=(0, 5), step=9), looked(template))


@pytest.mark.slow
def test_a_crash_at_many_calls_leaves_a_hosts_run_whole_or_open(
    template: Path, make: Callable[[], Path]
) -> None:
    """Cut at every second call, with what was not synced lost or torn, the run is installed or still open (R-10)."""
    ended(crash_loop(make, ending, seeds=(3,), step=2), looked(template))


@pytest.mark.slow
def test_a_crash_while_a_person_accepts_loses_neither_run_nor_word(
    template: Path, make: Callable[[], Path]
) -> None:
    """Cut at calls throughout while a run is accepted, it is installed once, and the word is given once."""
    ws = open_world(template)
    end(ws, reach(ws), RUN, hold=True)
    accepted(crash_loop(make, accepting, seeds=(0, 5), step=11), looked(template))
