"""The disk: safe opening, durable appends, atomic replacement, and what is left when something fails."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.errors import Busy, NotAWorkspace, StoreUnwritable, UnsafePath
from reverie.store.disk import Disk, TailView
from reverie.store.syscalls import Syscalls
from reverie.testing import CrashDisk

BAD_PATHS = ["/etc/passwd", "a//b", "a/", "../x", "a/../b", ".", "./a", "a/.", "a\0b", "\ud800", ""]

APPENDER = """
import sys
from pathlib import Path
from reverie.store.disk import Disk
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


@pytest.mark.parametrize("path", BAD_PATHS)
def test_bad_paths_are_refused(disk: Disk, path: str) -> None:
    """A path that is absolute, has empty, dot or NUL components, or names nothing is refused by every verb."""
    for call in (disk.read, disk.remove, lambda p: disk.append(p, b"x"), lambda p: disk.replace(p, b"x")):
        with pytest.raises(UnsafePath):
            call(path)
    disk.append("a", b"1\n")
    with pytest.raises(UnsafePath):
        disk.rename("a", path)


def test_links_are_refused_wherever_they_stand(disk: Disk, tmp_path: Path) -> None:
    """A symbolic link is never followed, as the file or as a folder above it, and what it leads to is untouched."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    (tmp_path / "file").symlink_to(outside / "f")
    (tmp_path / "folder").symlink_to(outside)
    (tmp_path / "dangling").symlink_to(outside / "new")
    for path in ("file", "folder/f", "dangling", "folder/new/deep"):
        for call in (disk.read, disk.remove, lambda p: disk.append(p, b"x"), lambda p: disk.replace(p, b"x")):
            with pytest.raises(UnsafePath, match="symbolic link"):
                call(path)
    assert names(outside) == ["f"]
    assert (outside / "f").read_bytes() == b"theirs"
    assert list(disk.walk("")) == []
    assert [path for path, _ in disk.refused("")] == ["dangling", "file", "folder"]


def test_hard_links_are_refused(disk: Disk, tmp_path: Path) -> None:
    """A file with a second name is neither read nor written."""
    disk.append("a", b"1\n")
    os.link(tmp_path / "a", tmp_path / "b")
    for call in (
        disk.read,
        disk.size,
        disk.remove,
        lambda p: disk.append(p, b"2\n"),
        lambda p: disk.replace(p, b""),
    ):
        with pytest.raises(UnsafePath, match="hard link"):
            call("a")
    assert (tmp_path / "b").read_bytes() == b"1\n"


def test_fifos_sockets_and_folders_are_refused_without_waiting(disk: Disk, tmp_path: Path) -> None:
    """What is not a regular file is refused at once, and a file is no folder."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"x\n")
    here = os.open(".", os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(tmp_path)  # a socket's path must be short
        listener.bind("socket")
        os.chdir(here)
        os.close(here)
        for path in ("fifo", "socket", "folder", "file/below"):
            for call in (disk.read, lambda p: disk.append(p, b"x"), lambda p: disk.replace(p, b"x")):
                with pytest.raises(UnsafePath):
                    call(path)


def test_what_belongs_to_another_user_is_refused(tmp_path: Path) -> None:
    """A file or folder of another owner is refused, and the message says whose business it is."""

    class Theirs(Syscalls):
        def foreign(self, info: os.stat_result) -> bool:
            return info.st_size == 6 or info.st_mode & 0o7777 == 0o750

    (tmp_path / "theirs").write_bytes(b"theirs")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o750)
    disk = Disk(tmp_path, ops=Theirs())
    for path in ("theirs", "folder/new"):
        with pytest.raises(UnsafePath, match="another user"):
            disk.append(path, b"x\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_to_root_other_users_files_are_foreign(disk: Disk, tmp_path: Path) -> None:
    """Root does not write into a file that another user owns."""
    (tmp_path / "a").write_bytes(b"1\n")
    os.chown(tmp_path / "a", 12345, -1)
    with pytest.raises(UnsafePath, match="another user"):
        disk.append("a", b"2\n")


def test_an_absent_file_is_told_from_an_absent_workspace(tmp_path: Path) -> None:
    """Reading an absent file answers None; an absent workspace is an error, and nothing makes it by accident."""
    disk = Disk(tmp_path)
    assert disk.read("no/such") is None
    assert disk.read_from("no", 3) == b""
    assert disk.size("no") is None
    assert disk.stat("no/such") is None
    assert disk.list("no") == []
    assert not disk.remove("no")
    assert not disk.rename("no", "where")
    gone = Disk(tmp_path / "gone" / "ws")
    for call in (lambda: gone.read("a"), lambda: gone.append("a", b"x"), lambda: gone.list("")):
        with pytest.raises(NotAWorkspace):
            call()
    gone.make_folder("deep/er")
    assert (tmp_path / "gone" / "ws" / "deep" / "er").is_dir()


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
from reverie.store.disk import Disk
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
from reverie.store.disk import Disk
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
        "open f/a",
        "write f/a 4",
        "sync f/a",
    ]


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


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """Whether calls succeed or fail, as many descriptors are open afterwards as before."""
    before = len(names(Path("/dev/fd")))
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
    assert len(names(Path("/dev/fd"))) == before
