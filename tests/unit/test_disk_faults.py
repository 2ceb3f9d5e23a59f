"""The disk when the system fails it: full, broken, forbidden, slow, interrupted."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from descriptors import needs_a_list_of_descriptors, open_below

from reverie.errors import StoreUnwritable, UnsafePath
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.syscalls import Syscalls
from reverie.testing import CrashDisk


def test_a_failed_replacement_leaves_the_old_file(tmp_path: Path) -> None:
    """Whatever call of a replacement fails, the error is StoreUnwritable, and old or new stands whole."""
    Disk(tmp_path).replace("a", b"old")
    plain = CrashDisk(tmp_path)
    plain.replace("a", b"old")
    for at in range(1, plain.calls + 1):
        with pytest.raises(StoreUnwritable, match="the disk reported an error"):
            CrashDisk(tmp_path, fail_at=at, error=errno.EIO).replace("a", b"new")
        assert Disk(tmp_path).read("a") in {b"old", b"new"}
        assert Disk(tmp_path).list("") == ["a"]
        Disk(tmp_path).replace("a", b"old")


def test_a_full_disk_leaves_no_torn_record(tmp_path: Path) -> None:
    """When the disk fills up half-way through a write, the file is cut back, and the append works later."""
    disk = Disk(tmp_path)
    disk.append("a", b"one\n")
    plain = CrashDisk(tmp_path)
    plain.append("a", b"two\n")
    at = plain.log.index("write a 4") + 1
    full = CrashDisk(tmp_path, fail_at=at)
    with pytest.raises(StoreUnwritable, match="the disk is full"):
        full.append("a", b"three\n")
    assert [line.split()[0] for line in full.log] == ["open", "write", "write", "cut"]
    assert disk.read("a") == b"one\ntwo\n"
    assert full.append("a", b"three\n") == 8


def test_when_the_cut_fails_too_the_next_append_heals(tmp_path: Path) -> None:
    """A torn record that could not be taken back stays on a line of its own."""
    disk = Disk(tmp_path)
    disk.append("a", b"one\n")
    with pytest.raises(StoreUnwritable):
        CrashDisk(tmp_path, fail_at=2, forever=True).append("a", b"threefour\n")
    assert disk.read("a") == b"one\nthree"
    disk.append("a", b"two\n")
    assert disk.read("a") == b"one\nthree\ntwo\n"


def test_a_real_limit_is_cut_back_too(tmp_path: Path) -> None:
    """A process that may not grow the file further writes part of a record, takes it back and reports it."""
    program = """
import resource, signal, sys
from pathlib import Path
from reverie.errors import StoreUnwritable
from reverie.store.filesystem.disk import Disk
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
disk = Disk(Path(sys.argv[1]))
disk.append("a", b"x" * 59 + b"\\n")
try:
    disk.append("a", b"y" * 79 + b"\\n")
except StoreUnwritable as error:
    print(error, disk.size("a"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("cannot write a: ")
    assert done.stdout.endswith(" 60\n")


def test_short_writes_are_continued(tmp_path: Path) -> None:
    """A system that takes seven bytes at a time still gets them all, in order."""

    class Slow(Syscalls):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            return super().write(fd, data[:7])

    disk = Disk(tmp_path, ops=Slow())
    data = bytes(range(256)) * 3
    disk.append("a", data)
    disk.replace("b", data)
    assert disk.read("a") == disk.read("b") == data


def test_signals_do_not_disturb_writes(tmp_path: Path) -> None:
    """A process interrupted by a timer a thousand times a second appends and replaces without an error."""
    program = """
import signal, sys
from pathlib import Path
from reverie.store.filesystem.disk import Disk
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
disk = Disk(Path(sys.argv[1]))
for n in range(100):
    disk.append("a", b"x" * 5000 + b"\\n")
    disk.replace("b", b"y" * n)
signal.setitimer(signal.ITIMER_REAL, 0)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert (tmp_path / "a").stat().st_size == 500_100
    assert (tmp_path / "b").stat().st_size == 99


def test_after_a_failed_sync_the_file_is_copied_before_it_is_used_again(tmp_path: Path) -> None:
    """A sync that fails refuses the record, marks the file suspect, and the next append goes into a new copy."""
    Disk(tmp_path).append("a", b"one\n")
    first = (tmp_path / "a").stat().st_ino
    disk = CrashDisk(tmp_path, fail_at=3, error=errno.EIO)
    with pytest.raises(StoreUnwritable, match="the disk reported an error"):
        disk.append("a", b"two\n")
    assert disk.suspect("a")
    assert disk.append("a", b"three\n") == 4
    assert not disk.suspect("a")
    assert disk.stat("a").st_ino != first
    disk.cut_power()
    assert Disk(tmp_path).read("a") == b"one\nthree\n"


def test_a_file_moved_after_a_failed_sync_is_copied_first(tmp_path: Path) -> None:
    """A rename of a file whose sync failed moves a fresh, synced copy of it."""
    Disk(tmp_path).append("a", b"one\n")
    disk = CrashDisk(tmp_path, fail_at=3, error=errno.EIO)
    with pytest.raises(StoreUnwritable):
        disk.append("a", b"two\n")
    assert disk.rename("a", "b")
    disk.append("b", b"three\n")
    disk.cut_power()
    assert Disk(tmp_path).read("b") == b"one\nthree\n"


def test_durability_os_never_syncs(tmp_path: Path) -> None:
    """With durability "os" nothing is synced, and everything else is the same."""

    class Unsynced(Syscalls):
        def sync(self, fd: int) -> None:
            raise AssertionError(fd)

        def sync_folder(self, fd: int) -> None:
            raise AssertionError(fd)

    disk = Disk(tmp_path, ops=Unsynced(), durability="os")
    disk.make_folder("x")
    disk.append("x/a", b"one\n")
    disk.replace("x/b", b"two")
    disk.rename("x/b", "c")
    disk.truncate("x/a", 3)
    disk.remove("x/a")
    disk.remove_folder("x")
    assert disk.read("c") == b"two"


def test_each_refusal_of_the_system_has_a_sentence(tmp_path: Path) -> None:
    """A read-only, full, forbidden or broken disk is StoreUnwritable, with what to do about it."""
    for error, words in (
        (errno.EROFS, "read-only"),
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "permission"),
        (errno.EIO, "medium"),
    ):
        with pytest.raises(StoreUnwritable, match=words):
            CrashDisk(tmp_path, fail_at=1, error=error, forever=True).append("new/a", b"x\n")


@needs_a_list_of_descriptors
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """Whether calls succeed or fail, no file or folder of theirs is open afterwards."""
    calls = (
        lambda d: d.append("a/b", b"x\n"),
        lambda d: d.replace("a/c", b"x"),
        lambda d: d.rename("a/c", "d/e"),
        lambda d: d.truncate("a/b", 1),
        lambda d: d.sweep("a"),
        lambda d: d.read("a"),
        lambda d: d.remove("a/b"),
    )
    failed = 0
    for at in range(60):
        (tmp_path / f"{at}").mkdir()
        disk = CrashDisk(tmp_path / f"{at}", fail_at=at, error=errno.EIO)
        for call in calls:
            try:
                call(disk)
            except (StoreUnwritable, UnsafePath):
                failed += 1
    assert failed > 60
    assert not open_below(tmp_path)
