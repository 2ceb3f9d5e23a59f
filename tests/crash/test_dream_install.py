"""The power is cut at every call of a dream's install: afterwards it is all there, or nothing is."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dream_world import entry, happened, log, look_at, open_world, page, run

from reverie import layout
from reverie.core.records import Outcome
from reverie.store import pages, stream
from reverie.store.dreams import runs
from reverie.store.dreams.installing import finish
from reverie.store.versions.git import History
from reverie.testing import crash_loop, fail_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store.workspace import Workspace
    from reverie.testing import CrashDisk, Wreck

OLD = entry(1, "User works at Google", category="work", day="2026-06-01")
NEW = [
    entry(2, "User now works at Microsoft", category="work"),
    entry(3, "User likes green tea", category="preference"),
    entry(4, "it is"),
]
WORK, TEA, LOG = "3_Personal/Work.md", "3_Personal/Preferences.md", "log.md"


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], Path]:
    """Return what copies a workspace in which one dream has been, and a second one is due."""
    first = tmp_path / "template"
    first.mkdir()
    ws = open_world(first)
    log(ws, [OLD])
    run(ws)
    (first / ws.notebook / "1_Projects" / "Mine.md").write_text("# Mine\n\nBy hand.\n", encoding="utf-8")
    log(ws, NEW)
    happened(ws, "supersede", NEW[0], OLD)
    look_at(ws).close()
    numbers = iter(range(1_000_000))

    def copy() -> Path:
        root = tmp_path / f"run{next(numbers)}"
        shutil.copytree(first, root)
        return root

    return copy


def night(disk: CrashDisk, tell: Callable[[str], None]) -> None:
    """Dream, and say so."""
    done = run(open_world(disk.root, disk=disk))
    assert done.result == "productive"
    tell(done.run)


def settled(ws: Workspace) -> dict[str, list[str]]:
    """Return the outcomes of each entry as the file holds them."""
    found: dict[str, list[str]] = {}
    for one in stream.read(ws, layout.OUTCOMES, Outcome).records:
        found.setdefault(one.entry, []).append(one.outcome)
    return found


def whole(ws: Workspace, wreck: Wreck) -> None:
    """Check that the dream is all there or not at all, and that nothing is there twice."""
    outcomes = settled(ws)
    done = len(outcomes) > 1
    assert set(outcomes) == ({OLD.id, *(one.id for one in NEW)} if done else {OLD.id}), wreck
    assert all(len(those) == 1 for those in outcomes.values()), wreck
    assert done or not wreck.told, wreck
    assert ("Microsoft" in page(ws, WORK)) == done
    assert (ws.root / ws.notebook / TEA).exists() == done
    records = runs.read(ws)
    assert len(records) == 1 + done
    said = page(ws, LOG)
    assert all(said.count(f"run={one.run} ") == 1 for one in records)
    assert said.count("ingest |") == len(records)
    assert runs.watermark(ws) == ("2026-07-01" if done else "2026-06-01")
    assert not ws.disk.size(layout.INSTALL_INTENT)
    history = History(ws)
    head = history.head()
    assert head is not None
    if done:
        assert {path: history.blob(blob) for path, blob in history.tree(head).items()} == pages.snapshot(ws)
        assert [one.author for one in history.log(2)] == ["Reverie", "person"]
    assert page(ws, "1_Projects/Mine.md") == "# Mine\n\nBy hand.\n"


def check(wreck: Wreck, *, again: bool) -> None:
    """Open what the crash left, finish it and check it; `again`: dream once more, to the same end."""
    ws = open_world(wreck.root)
    finish(ws)
    whole(ws, wreck)
    if again:
        before = settled(ws)
        run(ws)
        after = settled(ws)
        assert set(after) == {OLD.id, *(one.id for one in NEW)}
        assert all(len(those) == 1 for those in after.values())
        assert before.items() <= after.items()
        assert page(ws, WORK).count("Microsoft") == 1
        assert run(ws).result == "nothing"
    shutil.rmtree(wreck.root)


def hold(make: Callable[[], Path], *, seed: int, step: int) -> None:
    """Crash at each `step`-th call and check what is left."""
    for number, wreck in enumerate(crash_loop(make, night, seeds=(seed,), step=step)):
        check(wreck, again=number % 5 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_crash_leaves_the_dream_whole_or_undone(make: Callable[[], Path], seed: int) -> None:
    """Cut at calls throughout, with what was not synced lost, kept or torn, the notebook is old or new (R-10)."""
    hold(make, seed=seed, step=13)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_a_crash_at_any_call_leaves_the_dream_whole_or_undone(make: Callable[[], Path], seed: int) -> None:
    """Cut at any call at all, the notebook is the old or the new one, and each outcome is there once (R-10)."""
    hold(make, seed=seed, step=1)


@pytest.mark.slow
def test_a_crash_while_finishing_is_finished_by_the_next(make: Callable[[], Path]) -> None:
    """An install may be interrupted, and its finishing interrupted again."""
    for wreck in crash_loop(make, night, seeds=(0,), step=17):
        for second in crash_loop(lambda root=wreck.root: _copy(root), _finish, seeds=(0,), step=7):
            ws = open_world(second.root)
            finish(ws)
            whole(ws, second)
            shutil.rmtree(second.root)


def _copy(root: Path) -> Path:
    copy = Path(tempfile.mkdtemp(dir=root.parent))
    return Path(shutil.copytree(root, copy, dirs_exist_ok=True))


def _finish(disk: CrashDisk, _: Callable[[str], None]) -> None:
    finish(open_world(disk.root, disk=disk))


@pytest.mark.slow
def test_a_failing_disk_costs_nothing(make: Callable[[], Path]) -> None:
    """Whichever call fails on a full disk, the next dream ends where an undisturbed one ends."""
    for number, wreck in enumerate(fail_loop(make, night, errors=(28,))):
        if number % 4 == 0:
            check(wreck, again=True)
