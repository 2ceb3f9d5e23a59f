"""The disk that crashes on purpose: it finds what careless writers lose, and nothing where the disk is used."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import StoreUnwritable
from reverie.store.filesystem.crashing import CrashSyscalls
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.syscalls import APPEND, FOLDER
from reverie.store.filesystem.unsynced import Plan
from reverie.testing import CrashDisk, Crashed, FixedClock, Wreck, counter_ids, crash_loop, fail_loop

Tell = Callable[[str], None]
PAD = "x" * 40


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], Path]:
    """Return a maker of fresh folders."""
    numbers = itertools.count()

    def fresh() -> Path:
        root = tmp_path / str(next(numbers))
        root.mkdir()
        return root

    return fresh


def appending(disk: Disk, tell: Tell) -> None:
    """Append five lines, each acknowledged."""
    for n in range(5):
        disk.append("f/a", f"line {n} {PAD}\n".encode())
        tell(f"line {n} {PAD}")


def busy_life(disk: CrashDisk, tell: Tell) -> None:
    """Append, replace, claim by rename, append again, archive and remove."""
    for n in range(2):
        disk.append("queue/one", f"line {n} {PAD}\n".encode())
        tell(f"line {n} {PAD}")
    disk.replace("M", f"first {PAD}".encode())
    tell(f"first {PAD}")
    disk.rename("queue/one", "claimed/one")
    disk.append("queue/one", f"line 2 {PAD}\n".encode())
    tell(f"line 2 {PAD}")
    disk.rewrite("M", lambda old: (old or b"") + f" second {PAD}".encode())
    tell(f"second {PAD}")
    disk.rename("claimed/one", "archive/2026/one")
    disk.rename("queue/one", "claimed/one")
    disk.append("claimed/one", f"line 3 {PAD}\n".encode())
    tell(f"line 3 {PAD}")


def contents(root: Path) -> bytes:
    """Return everything in the folder, one file after another."""
    disk = Disk(root)
    return b"\n".join(disk.read(path) or b"" for path in disk.walk(""))


def faults(wreck: Wreck) -> list[str]:
    """Return what was acknowledged and is not there exactly once."""
    found = contents(wreck.root)
    return [text for text in wreck.told if found.count(text.encode()) != 1]


def test_a_careless_writer_loses_what_it_acknowledged(make: Callable[[], Path]) -> None:
    """The loop finds losses of a writer that does not sync, and tears some of its lines."""

    def careless(disk: CrashDisk, tell: Tell) -> None:
        appending(Disk(disk.root, ops=disk.ops, durability="os"), tell)

    wrecks = list(crash_loop(make, careless, seeds=range(8)))
    assert any(faults(wreck) for wreck in wrecks if wreck.seed == 0)
    assert not any(faults(wreck) for wreck in wrecks if wreck.seed == 1)
    assert any(b"\0" in contents(wreck.root) for wreck in wrecks)


def test_a_writer_that_syncs_only_files_loses_their_names(make: Callable[[], Path]) -> None:
    """The loop finds the file that vanishes because its folder was never synced."""

    class Nameless(CrashSyscalls):
        def sync_folder(self, fd: int) -> None:
            """Forget to sync."""

    lost = 0
    for at in range(1, 12):
        root = make()
        disk, told = Disk(root, ops=Nameless(str(root), Plan(crash_at=at))), list[str]()
        with suppress(Crashed):
            appending(disk, told.append)
        lost += bool(faults(Wreck(root, at, 0, told, [])))
    assert lost


def test_a_replacement_without_sync_is_found_torn(make: Callable[[], Path]) -> None:
    """The loop finds the empty or torn file that renaming an unsynced temporary leaves."""

    def careless(disk: CrashDisk, tell: Tell) -> None:
        writer = Disk(disk.root, ops=disk.ops, durability="os")
        writer.replace("a", b"first")
        writer.replace("a", PAD.encode())
        tell(PAD)

    states = {Disk(wreck.root).read("a") for wreck in crash_loop(make, careless, seeds=range(20))}
    assert b"" in states
    assert len(states - {None, b"first", PAD.encode(), b""}) > 1


@pytest.mark.slow
def test_what_the_disk_acknowledged_survives_every_crash(make: Callable[[], Path]) -> None:
    """Crashed at every call with twelve seeds, the disk keeps each acknowledged line exactly once (R-04)."""
    wrecks = 0
    for wreck in crash_loop(make, busy_life, seeds=range(12)):
        wrecks += 1
        assert not faults(wreck), (wreck, contents(wreck.root))
    assert wrecks > 300


def test_a_crashed_folder_can_be_worked_in_again(make: Callable[[], Path]) -> None:
    """After any crash the next append stands on a line of its own, and a replacement is whole (P-03)."""
    for wreck in crash_loop(make, appending, seeds=range(6)):
        disk = Disk(wreck.root)
        disk.append("f/a", b"after\n")
        lines = (disk.read("f/a") or b"").split(b"\n")
        assert lines[-2:] == [b"after", b""]
        assert set(lines) >= {text.encode() for text in wreck.told}


def test_a_failing_call_loses_nothing_acknowledged(make: Callable[[], Path]) -> None:
    """With any one call failing for want of space, permission or a working medium, a retry stores each line once."""

    def stubborn(disk: CrashDisk, tell: Tell) -> None:
        for n in range(4):
            line = f"line {n} {PAD}"
            try:
                disk.append("f/a", f"{line}\n".encode())
            except StoreUnwritable:
                disk.append("f/a", f"{line}\n".encode())
            tell(line)

    for wreck in fail_loop(make, stubborn):
        assert len(wreck.told) == 4, wreck
        assert not faults(wreck), (wreck, contents(wreck.root))


def test_a_disk_that_stays_full_changes_nothing(make: Callable[[], Path]) -> None:
    """With every call failing from any point on, what was acknowledged before stays (R-06)."""
    plain = CrashDisk(make())
    appending(plain, lambda _: None)
    for at in range(1, plain.calls + 1):
        root = make()
        disk, told = CrashDisk(root, fail_at=at, forever=True), list[str]()
        with pytest.raises(StoreUnwritable):
            appending(disk, told.append)
        assert not faults(Wreck(root, at, 0, told, disk.log))


def test_after_the_crash_nothing_works(make: Callable[[], Path]) -> None:
    """Once crashed, reads and writes alike raise Crashed, which no `except Exception` swallows."""
    disk = CrashDisk(make(), crash_at=3)
    with pytest.raises(Crashed):
        appending(disk, lambda _: None)
    for call in (lambda: disk.read("f/a"), lambda: disk.append("f/a", b"x"), lambda: disk.list("")):
        with pytest.raises(Crashed):
            call()
    assert not issubclass(Crashed, Exception)
    assert disk.calls == len(disk.log) == 3


def test_the_same_plan_leaves_the_same_folder(make: Callable[[], Path]) -> None:
    """A crash is repeatable: same scenario, same call, same seed, same bytes."""
    for seed in range(6):
        images = []
        for _ in range(2):
            disk = CrashDisk(make(), crash_at=8, seed=seed)
            with pytest.raises(Crashed):
                appending(Disk(disk.root, ops=disk.ops, durability="os"), lambda _: None)
            images.append(contents(disk.root))
        assert images[0] == images[1]


def test_folders_vanish_with_what_is_in_them_and_come_back(make: Callable[[], Path]) -> None:
    """A folder whose making was not synced is gone; one whose moving was not synced is where it was."""
    root = make()
    Disk(root).append("old/deep/a", b"kept\n")
    disk = CrashDisk(root)
    unsynced = Disk(root, ops=disk.ops, durability="os")
    unsynced.append("new/deep/b", b"lost\n")
    unsynced.rename("old/deep", "new/moved")
    disk.cut_power()
    assert list(Disk(root).walk("")) == ["old/deep/a"]
    assert Disk(root).list("") == ["old"]
    disk = CrashDisk(root, seed=1)
    Disk(root, ops=disk.ops, durability="os").rename("old/deep", "new")
    disk.cut_power()
    assert list(Disk(root).walk("")) == ["new/a"]


def test_unsynced_removals_may_be_undone(make: Callable[[], Path]) -> None:
    """A file removed without a sync comes back with its bytes, a synced removal does not."""
    root = make()
    Disk(root).append("a", b"a\n")
    Disk(root).append("b", b"b\n")
    disk = CrashDisk(root)
    Disk(root, ops=disk.ops, durability="os").remove("a")
    disk.cut_power()
    assert Disk(root).read("a") == b"a\n"
    disk = CrashDisk(root)
    disk.remove("b")
    disk.cut_power()
    assert Disk(root).list("") == ["a"]


def test_a_sync_after_a_failed_sync_counts_for_nothing(make: Callable[[], Path]) -> None:
    """The simulated medium forgets what a failed sync should have written, as Linux does."""
    root = make()
    Disk(root).append("a", b"one\n")
    ops = CrashSyscalls(str(root), Plan(fail_at=3, error=errno.EIO))
    folder = ops.open(str(root), FOLDER)
    fd = ops.open("a", APPEND, folder=folder)
    ops.write(fd, b"two\n")
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        ops.sync(fd)
    ops.sync(fd)
    ops.close(fd)
    ops.close(folder)
    ops.cut_power()
    assert (root / "a").read_bytes() == b"one\n"


def test_clock_and_ids_are_what_they_are_told() -> None:
    """The fixed clock moves only by hand, backwards too, and ids count in sixteen hex digits."""
    clock = FixedClock(datetime(2026, 7, 1, tzinfo=UTC))
    assert clock() == clock() == datetime(2026, 7, 1, tzinfo=UTC)
    assert clock.advance(hours=-2) == clock() == datetime(2026, 6, 30, 22, tzinfo=UTC)
    clock.set(datetime(2027, 1, 1, tzinfo=UTC))
    assert clock().year == 2027
    new_id = counter_ids(255)
    assert [new_id(), new_id()] == ["00000000000000ff", "0000000000000100"]
