"""The named locks: who waits for whom, who is told what, and what a killed owner leaves."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie import layout
from reverie.errors import Busy, NotAWorkspace, StoreUnwritable, UnsafePath
from reverie.store.filesystem.lock import Locks, process_lock
from reverie.store.filesystem.syscalls import Syscalls
from reverie.testing import FixedClock

OWNER = """
import sys
from pathlib import Path
from reverie.store.filesystem.lock import Locks
with Locks(Path(sys.argv[1])).write(5, what="drain"):
    print("held", flush=True)
    sys.stdin.readline()
"""

FORKED = """
import os, sys
from pathlib import Path
from reverie.errors import Busy
from reverie.store.filesystem.lock import Locks
locks = Locks(Path(sys.argv[1]))
told, tell = os.pipe()
with locks.write(5):
    if os.fork() == 0:
        try:
            with locks.dream(0), locks.write(0):
                print("both", flush=True)
        except Busy:
            print("busy", flush=True)
        os.write(tell, b".")
        with locks.write(60):
            print("mine", flush=True)
        os._exit(0)
    os.read(told, 1)
os.wait()
"""


def owner(root: Path) -> subprocess.Popen[str]:
    """Start a process that holds the write lock until it is told a line, and wait until it has it."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def elsewhere(lock: AbstractContextManager[None]) -> BaseException | None:
    """Take a lock in a thread of its own and return what it raised."""
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with lock:
                pass
        except (Busy, RuntimeError, StoreUnwritable) as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def test_a_lock_excludes_threads_and_is_free_afterwards(tmp_path: Path) -> None:
    """While one thread holds a lock another is Busy, through any spelling of the folder, and not afterwards."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    locks, other = Locks(tmp_path / "real"), Locks(tmp_path / "link")
    with locks.write(0):
        assert isinstance(elsewhere(other.write(0)), Busy)
        assert elsewhere(other.dream(0)) is None
        assert elsewhere(other.index(0)) is None
    assert elsewhere(other.write(0)) is None


def test_busy_says_who_holds_the_lock(tmp_path: Path) -> None:
    """The message names the work, process, host and time of the holder."""
    clock = FixedClock(datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC))
    locks = Locks(tmp_path, clock=clock)
    with locks.dream(0, what="undo"):
        message = str(elsewhere(locks.dream(0)))
    assert f"is held by undo (pid {os.getpid()} on " in message
    assert "since 2026-07-01T12:05:33Z); try again shortly" in message
    assert message.startswith("the dream lock of ")
    assert locks.holder(layout.DREAM_LOCK) == ""


def test_a_lock_survives_kill_9_of_its_owner(tmp_path: Path) -> None:
    """Another process's lock makes us Busy and names it; killed without warning, it leaves the lock free (R-14)."""
    process, locks = owner(tmp_path), Locks(tmp_path)
    with pytest.raises(Busy, match=rf"held by drain \(pid {process.pid} on "), locks.write(0.05):
        pass
    process.kill()
    process.communicate()
    assert str(process.pid) in locks.holder(layout.WRITE_LOCK)
    with locks.write(0):
        assert str(process.pid) not in locks.holder(layout.WRITE_LOCK)


def test_a_waiting_process_gets_the_lock_when_it_is_given_back(tmp_path: Path) -> None:
    """Who waits long enough gets the lock another process releases meanwhile."""
    process, locks = owner(tmp_path), Locks(tmp_path)
    taken = threading.Thread(target=lambda: elsewhere(locks.write(60)))
    taken.start()
    process.communicate("done\n")
    taken.join(60)
    assert not taken.is_alive()
    assert elsewhere(locks.write(0)) is None


def test_locks_are_taken_in_one_order(tmp_path: Path) -> None:
    """Dream, index, write is the order; any other, and the same lock twice, is a mistake in the program."""
    locks = Locks(tmp_path)
    with locks.dream(0), locks.index(0), locks.write(0):
        pass
    with locks.write(0):
        for lock in (locks.dream, locks.index, locks.write):
            with pytest.raises(RuntimeError, match="holds the write lock"), lock(0):
                pass
    with locks.index(0), pytest.raises(RuntimeError, match="dream lock must be taken before"), locks.dream(0):
        pass
    with locks.dream(0):
        pass


def test_two_workspaces_are_never_locked_at_once(tmp_path: Path) -> None:
    """A thread that holds a lock of one workspace must not ask for one of another."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = Locks(tmp_path / "a"), Locks(tmp_path / "b")
    with first.dream(0), pytest.raises(RuntimeError, match="release it before"), second.write(0):
        pass
    with second.write(0):
        assert elsewhere(first.write(0)) is None


def test_an_error_under_a_lock_frees_it(tmp_path: Path) -> None:
    """A lock is given back when the work under it raises."""
    locks = Locks(tmp_path)
    with pytest.raises(KeyError), locks.write(0):
        raise KeyError
    assert elsewhere(locks.write(0)) is None


def test_a_forked_child_holds_nothing_of_its_parent(tmp_path: Path) -> None:
    """A child forked under a lock is told Busy like anybody, and gets the lock once the parent gives it back."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "busy\nmine\n"


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_workspace_that_cannot_be_written_cannot_be_locked(tmp_path: Path, error: int) -> None:
    """Where no lock file can be made or opened, the lock is refused with StoreUnwritable and nothing is held."""

    class ReadOnly(Syscalls):
        def open(self, name: str, flags: int, *, mode: int = 0o600, folder: int | None = None) -> int:
            if flags & os.O_RDWR:
                raise OSError(error, os.strerror(error))
            return super().open(name, flags, mode=mode, folder=folder)

    with pytest.raises(StoreUnwritable), Locks(tmp_path, ops=ReadOnly()).write(0):
        pass
    with Locks(tmp_path).write(0):
        pass


def test_a_full_disk_does_not_refuse_a_lock(tmp_path: Path) -> None:
    """The holder's line is a courtesy: when it cannot be written, the lock holds all the same."""

    class Full(Syscalls):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            raise OSError(errno.ENOSPC, f"{fd} takes none of {len(data)}")

    locks = Locks(tmp_path, ops=Full())
    with locks.write(0):
        assert "held by another call" in str(elsewhere(locks.write(0)))


def test_lock_files_are_private_and_never_links(tmp_path: Path) -> None:
    """Lock files are 0600 in 0700 folders; a link planted in their place is refused."""
    with Locks(tmp_path).write(0):
        pass
    assert (tmp_path / layout.WRITE_LOCK).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / layout.LOCKS).stat().st_mode & 0o777 == 0o700
    (tmp_path / layout.DREAM_LOCK).symlink_to(tmp_path / "target")
    with pytest.raises(UnsafePath), Locks(tmp_path).dream(0):
        pass
    assert not (tmp_path / "target").exists()
    with pytest.raises(NotAWorkspace), Locks(tmp_path / "absent").write(0):
        pass


def test_a_replaced_lock_file_is_opened_again(tmp_path: Path) -> None:
    """Who locked a file that was replaced meanwhile locks the new one instead."""

    class Replaced(Syscalls):
        def lock(self, fd: int) -> bool:
            if not (tmp_path / "old").exists():
                (tmp_path / layout.WRITE_LOCK).rename(tmp_path / "old")
                (tmp_path / layout.WRITE_LOCK).touch()
            return super().lock(fd)

    with Locks(tmp_path).write(0):
        pass
    with Locks(tmp_path, ops=Replaced()).write(0):
        assert isinstance(elsewhere(Locks(tmp_path).write(0)), Busy)
    assert (tmp_path / "old").exists()


def test_a_process_lock_outlives_the_use_of_many_others() -> None:
    """While somebody keeps a path's lock, everybody gets that one, however many others were used since."""
    kept = process_lock("/kept")
    for n in range(1000):
        process_lock(f"/other/{n}")
    assert process_lock("/kept") is kept
