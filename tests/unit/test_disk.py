"""The disk: durable appends, atomic replacement, renames, and other writers on the same file."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.errors import Busy, StoreUnwritable, UnsafePath
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.extending import TailView
from reverie.store.filesystem.syscalls import Syscalls
from reverie.testing import CrashDisk

APPENDER = """
import sys
from pathlib import Path
from reverie.store.filesystem.disk import Disk
disk = Disk(Path(sys.argv[1]), wait=60)
for n in range(int(sys.argv[4])):
    disk.append(sys.argv[2], f"{sys.argv[3]}-{n}-{'x' * 200}\\n".encode())
"""


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """Return a disk in an empty folder."""
    return Disk(tmp_path)


def names(folder: Path) -> list[str]:
    """Return what really is in a folder."""
    return sorted(path.name for path in folder.iterdir())


class Interrupted(Syscalls):
    """Calls that run something once, right before the file at hand is locked or synced."""

    def __init__(
        self,
        *,
        before_lock: Callable[[], object] | None = None,
        before_sync: Callable[[], object] | None = None,
    ):
        self.before_lock, self.before_sync = before_lock, before_sync

    def lock(self, fd: int) -> bool:
        """Run what was to run before a file is locked, then lock it."""
        if self.before_lock and stat.S_ISREG(self.fstat(fd).st_mode):
            then, self.before_lock = self.before_lock, None
            then()
        return super().lock(fd)

    def sync(self, fd: int) -> None:
        """Run what was to run before a file is synced, then sync it."""
        then, self.before_sync = self.before_sync, None
        if then:
            then()
        super().sync(fd)


def appenders(root: Path, path: str, *, processes: int, each: int) -> list[subprocess.Popen[bytes]]:
    """Start processes that append lines to one file."""
    command = [sys.executable, "-c", APPENDER, str(root), path]
    return [subprocess.Popen([*command, f"p{number}", str(each)]) for number in range(processes)]


def expected(processes: int, each: int) -> list[str]:
    """Return the lines `appenders` write, sorted."""
    return sorted(f"p{number}-{n}-{'x' * 200}" for number in range(processes) for n in range(each))


def test_append_gives_offsets_and_private_files(tmp_path: Path) -> None:
    """Each append answers where its bytes begin; files are 0600 and folders 0700 whatever the umask."""
    before = os.umask(0)
    try:
        disk = Disk(tmp_path)
        assert [disk.append("a/b/c", b"one\n"), disk.append("a/b/c", b"two\n")] == [0, 4]
        disk.replace("a/d", b"x")
    finally:
        os.umask(before)
    assert disk.read_from("a/b/c", 4) == b"two\n"
    modes = {path: stat.S_IMODE(disk.stat(path).st_mode) for path in ("a", "a/b", "a/b/c", "a/d")}
    assert modes == {"a": 0o700, "a/b": 0o700, "a/b/c": 0o600, "a/d": 0o600}


def test_append_after_a_torn_tail_begins_a_new_line(disk: Disk, tmp_path: Path) -> None:
    """A tail without newline is closed before the next record (P-03), unless the caller continues it."""
    (tmp_path / "a").write_bytes(b'whole\n{"to')
    assert disk.append("a", b"next\n") == 11
    assert disk.read("a") == b'whole\n{"to\nnext\n'
    (tmp_path / "b").write_bytes(b"half")
    assert disk.append("b", b"-other\n", heal=False) == 4
    assert disk.read("b") == b"half-other\n"


def test_append_under_sees_the_tail_under_the_lock(disk: Disk) -> None:
    """The builder sees size, start and bytes of the file as it is appended to; an empty answer writes nothing."""
    disk.append("a", b"one\ntw")
    seen: list[TailView] = []

    def build(tail: TailView) -> bytes:
        seen.append(tail)
        return tail.read(0, 3).upper() + tail.read(tail.size - 2, 9) + b"\n"

    assert disk.append_under("a", build) == 7
    assert (seen[0].size, seen[0].start) == (6, 7)
    assert disk.append_under("a", lambda _: b"") == 13
    assert disk.read("a") == b"one\ntw\nONEtw\n"


def test_processes_appending_to_one_file_lose_nothing(tmp_path: Path) -> None:
    """Two processes append 200 lines each to one file, and each line is there exactly once."""
    for process in appenders(tmp_path, "s/a", processes=2, each=200):
        assert process.wait(120) == 0
    lines = (tmp_path / "s/a").read_text().splitlines()
    assert sorted(lines) == expected(2, 200)


def test_appends_survive_rotation_by_another_process(tmp_path: Path) -> None:
    """Lines appended while a third process keeps renaming the file away are each found exactly once (R-15)."""
    disk = Disk(tmp_path, wait=60)
    running, moved = appenders(tmp_path, "s/a", processes=2, each=100), 0
    while any(process.poll() is None for process in running):
        moved += disk.rename("s/a", f"old/{moved}")
    assert [process.returncode for process in running] == [0, 0]
    disk.rename("s/a", "old/last")
    lines = b"".join(disk.read(path) or b"" for path in disk.walk("old")).decode().splitlines()
    assert sorted(lines) == expected(2, 100)


def test_a_file_renamed_under_an_append_is_opened_again(tmp_path: Path) -> None:
    """When the file is moved between its opening and its locking, the append goes to its path, not after the file."""
    (tmp_path / "a").write_bytes(b"old\n")
    ops = Interrupted(before_lock=lambda: (tmp_path / "a").rename(tmp_path / "moved"))
    assert Disk(tmp_path, ops=ops).append("a", b"new\n") == 0
    assert (tmp_path / "moved").read_bytes() == b"old\n"
    assert (tmp_path / "a").read_bytes() == b"new\n"


def test_a_file_made_while_another_is_to_take_its_name_is_kept(tmp_path: Path) -> None:
    """A rewrite of an absent file that somebody makes meanwhile is built anew from what they wrote."""
    other = Disk(tmp_path)
    ops = Interrupted(before_sync=lambda: (tmp_path / "a").write_bytes(b"theirs\n"))
    Disk(tmp_path, ops=ops).rewrite("a", lambda old: (old or b"") + b"ours\n")
    assert other.read("a") == b"theirs\nours\n"
    assert names(tmp_path) == ["a"]


def test_threads_appending_to_one_file_lose_nothing(disk: Disk) -> None:
    """Eight threads append 25 lines each to one file, and each line is there exactly once."""

    def work(name: int) -> None:
        for n in range(25):
            disk.append("a", f"{name}-{n}\n".encode())

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(disk.read("a").split()) == sorted(
        f"{name}-{n}".encode() for name in range(8) for n in range(25)
    )


def test_a_writer_that_keeps_a_file_makes_others_busy(tmp_path: Path) -> None:
    """Who cannot get a file's lock in time is told Busy and has written nothing."""
    disk, other = Disk(tmp_path), Disk(tmp_path, wait=0)
    errors: list[Busy] = []

    def interrupt(_: TailView) -> bytes:
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        return b"mine\n"

    def attempt() -> None:
        with pytest.raises(Busy, match=r"a has been held by another writer for 0 s"):
            other.append("a", b"theirs\n")
        errors.append(Busy())

    disk.append_under("a", interrupt)
    assert len(errors) == 1
    assert disk.read("a") == b"mine\n"


def test_replace_shows_the_old_or_the_new_file(tmp_path: Path) -> None:
    """A reader that keeps reading while the file is replaced sees one whole version each time."""
    disk, done, seen = Disk(tmp_path), threading.Event(), set[bytes | None]()
    disk.replace("a", b"0" * 9000)

    def look() -> None:
        while not done.is_set():
            seen.add(disk.read("a"))

    reader = threading.Thread(target=look)
    reader.start()
    for n in range(1, 10):
        disk.replace("a", str(n).encode() * 9000)
    done.set()
    reader.join()
    assert seen <= {str(n).encode() * 9000 for n in range(10)}
    assert names(tmp_path) == ["a"]


def test_unfinished_replacements_are_hidden_and_swept(disk: Disk, tmp_path: Path) -> None:
    """What a crash left of a replacement is in no listing, and `sweep` removes it but not one being written."""
    (tmp_path / ".~reverie-dead").write_bytes(b"half")
    assert disk.list("") == []
    writing = Disk(tmp_path, ops=Interrupted(before_sync=lambda: swept.append(disk.sweep(""))))
    swept: list[int] = []
    writing.replace("a", b"whole")
    assert swept == [1]
    assert names(tmp_path) == ["a"]


def test_rename_never_replaces(disk: Disk) -> None:
    """A rename onto a taken name is refused and both files stay; onto a free one it makes the folders."""
    disk.append("a", b"a\n")
    disk.append("b", b"b\n")
    with pytest.raises(StoreUnwritable, match="taken"):
        disk.rename("a", "b")
    assert (disk.read("a"), disk.read("b")) == (b"a\n", b"b\n")
    assert disk.rename("a", "x/y/a")
    assert disk.rename("x/y", "z")
    assert list(disk.walk("")) == ["b", "z/a"]


def test_remove_and_truncate(disk: Disk) -> None:
    """Files and empty folders are removed, full folders are not; a cut only shortens."""
    disk.append("f/a", b"12345")
    disk.truncate("f/a", 9)
    disk.truncate("f/a", 2)
    disk.truncate("f/none", 0)
    assert disk.read("f/a") == b"12"
    with pytest.raises(StoreUnwritable):
        disk.remove_folder("f")
    assert disk.remove("f/a")
    assert disk.remove_folder("f")
    assert not disk.remove_folder("f")
    assert disk.list("") == []


def test_names_are_synced_before_the_first_byte(tmp_path: Path) -> None:
    """A file left empty by a process that died gets its names synced before anything is written under them."""
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a").touch()
    disk = CrashDisk(tmp_path)
    disk.append("f/a", b"one\n")
    disk.append("f/a", b"two\n")
    assert disk.log == [
        "open f/a",
        "sync f/",
        "sync /",
        "write f/a 4",
        "sync f/a",
        "write f/a 4",
        "sync f/a",
    ]


def test_a_file_that_is_all_holes_is_not_read_whole(disk: Disk) -> None:
    """More bytes than a memory's files have are refused by name before they fill the memory, and read in pieces."""
    disk.append("events.jsonl", b"{}\n")
    os.truncate(disk.root / "events.jsonl", 5_000_000_000)
    with pytest.raises(UnsafePath, match=r"^events\.jsonl is longer than 4 GB; move it"):
        disk.read("events.jsonl")
    with pytest.raises(UnsafePath, match="longer"):
        disk.rewrite("events.jsonl", lambda data: data)
    assert next(disk.pieces("events.jsonl", size=3)) == b"{}\n"
    assert disk.read_from("events.jsonl", 4_999_999_998) == b"\0\0"
