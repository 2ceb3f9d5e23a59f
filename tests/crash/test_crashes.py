"""Power cuts at every call of whole scenarios: what was acknowledged is there exactly once, nothing is half there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from ledger import account, fresh_folders, opened
from lives import draining, extracting, faults, finished, goes_on, keying, queued, writing

from reverie import layout
from reverie.core.formats import drain_plan
from reverie.errors import ReverieError
from reverie.store import journal
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed, Wreck, crash_loop, fail_loop

Scenario = Callable[[CrashDisk, Callable[[str], None]], None]


class Folders:
    """A maker of folders that all begin as a copy of one, and what had been acknowledged in it."""

    def __init__(self, tmp_path: Path, fill: Callable[..., None] | None = None) -> None:
        self.told: list[str] = []
        self._make = fresh_folders(tmp_path)
        ws = opened(self._make())
        if fill is not None:
            fill(ws, self.told.append)
        self._files = {path: ws.disk.read(path) or b"" for path in ws.disk.walk("")}

    def __call__(self) -> Path:
        """Return a fresh copy."""
        root = self._make()
        for path, data in self._files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        return root


def copy_into(ws: Workspace, root: Path) -> None:
    """Copy another workspace's files into this one."""
    for path in opened(root).disk.walk(""):
        ws.disk.replace(path, (root / path).read_bytes())


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a drain need several chunks, and several claims, for a handful of records."""
    monkeypatch.setattr(drain_plan, "CHUNK", 4)
    monkeypatch.setattr(journal, "CLAIM_BYTES", 1_500)


def hold(wrecks: Iterator[Wreck], folders: Folders, scenario: Scenario) -> int:
    """Demand of each wreck that it gives a clean account, and can be worked in; return how many there were."""
    whole = CrashDisk(folders())
    scenario(whole, lambda _: None)
    texts = set(account(finished(Wreck(whole.root, 0, 0, [], []))).texts.values())
    number = 0
    for wreck in wrecks:
        number += 1
        ws = finished(wreck)
        wrong = faults(ws, folders.told + wreck.told, texts=texts) + goes_on(ws)
        assert not wrong, (wreck.at, wreck.seed, wreck.log[: wreck.at], wrong)
    return number


SCENARIOS = pytest.mark.parametrize(
    ("scenario", "fill"), [(writing, None), (extracting, None), (keying, None), (draining, queued)]
)


@pytest.mark.slow
@SCENARIOS
@pytest.mark.usefixtures("small_chunks")
def test_a_power_cut_anywhere_loses_and_doubles_nothing(
    tmp_path: Path, scenario: Scenario, fill: Callable[..., None] | None
) -> None:
    """Cut off at every call, all that was acknowledged is there exactly once, and nothing is half there (R-04)."""
    folders = Folders(tmp_path, fill)
    assert hold(crash_loop(folders, scenario, seeds=(0, 1, 2)), folders, scenario) > 100


@pytest.mark.slow
@SCENARIOS
@pytest.mark.usefixtures("small_chunks")
def test_however_a_power_cut_falls_out_nothing_is_lost(
    tmp_path: Path, scenario: Scenario, fill: Callable[..., None] | None
) -> None:
    """Cut off at every call with eight more outcomes each, all that was acknowledged is there exactly once (R-04)."""
    folders = Folders(tmp_path, fill)
    assert hold(crash_loop(folders, scenario, seeds=range(3, 11)), folders, scenario) > 300


@pytest.mark.slow
@SCENARIOS
@pytest.mark.usefixtures("small_chunks")
def test_a_failing_call_anywhere_loses_and_doubles_nothing(
    tmp_path: Path, scenario: Scenario, fill: Callable[..., None] | None
) -> None:
    """With any one call failing for want of space, permission or a medium, nothing acknowledged is lost (R-06)."""
    folders = Folders(tmp_path, fill)
    assert hold(fail_loop(folders, scenario), folders, scenario) > 150


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_a_second_power_cut_while_finishing_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """A drain that is cut off while it finishes one that was cut off is finished by the third (R-04)."""
    folders = Folders(tmp_path, queued)
    plain = CrashDisk(folders())
    draining(plain, lambda _: None)
    wrecks = 0
    for first in range(9, plain.calls, 7):
        root, told = folders(), list[str]()
        disk = CrashDisk(root, crash_at=first, seed=first)
        with suppress(Crashed):
            draining(disk, told.append)
        disk.cut_power()
        left = Folders(tmp_path / str(first), lambda ws, _, root=root: copy_into(ws, root))
        for second in range(1, 40, 3):
            cut, later = CrashDisk(left(), crash_at=second, seed=second + first), list[str]()
            with suppress(Crashed):
                draining(cut, later.append)
            cut.cut_power()
            ws = finished(Wreck(cut.root, second, first, [], cut.log))
            wrong = faults(ws, folders.told + told + later)
            assert not wrong, (first, second, cut.log, wrong)
            wrecks += 1
    assert wrecks > 50


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_a_disk_that_fails_for_good_is_mended_by_the_next_run(tmp_path: Path) -> None:
    """From whichever call on the disk refuses everything, the same work on a sound disk completes it (R-06)."""
    folders = Folders(tmp_path, queued)
    plain = CrashDisk(folders())
    draining(plain, lambda _: None)
    for at in range(1, plain.calls + 1, 2):
        root, told = folders(), list[str]()
        with suppress(ReverieError):
            draining(CrashDisk(root, fail_at=at, forever=True), told.append)
        ws = finished(Wreck(root, at, 0, told, []))
        assert not faults(ws, folders.told + told) + goes_on(ws), at


def test_what_a_crash_leaves_between_claim_and_intent_is_drained_next(tmp_path: Path) -> None:
    """Segments that were claimed and no more are the next drain's first."""
    folders = Folders(tmp_path, queued)
    ws = opened(folders(), first=1 << 30)
    claimed = journal.claim(ws)
    assert claimed
    assert ws.disk.size(layout.DRAIN_INTENT) is None
    assert not faults(finished(Wreck(ws.root, 0, 0, [], [])), folders.told)


def test_the_loops_visit_every_step_of_the_drain(tmp_path: Path) -> None:
    """A drain's calls include each numbered write: claim, intent, logs, events, position, archive, intent removed."""
    folders = Folders(tmp_path, queued)
    disk = CrashDisk(folders())
    draining(disk, lambda _: None)
    order = [
        f"rename {layout.SEGMENTS}",
        f"rename {layout.JOURNAL}/.~",
        f"write {layout.ARCHIVE}/",
        f"write {layout.EVENTS}",
        f"rename {layout.COUNTERS}/.~",
        f"rename {layout.DRAINING}",
        f"unlink {layout.DRAIN_INTENT}",
    ]
    places = [next(at for at, call in enumerate(disk.log) if call.startswith(start)) for start in order]
    assert places == sorted(places)
