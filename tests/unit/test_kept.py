"""Files that stay open between appends: never written through a path that leads elsewhere, never shared over a fork."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from descriptors import needs_a_list_of_descriptors, open_below
from ledger import NOON, opened

from reverie.core.records import Turn
from reverie.errors import UnsafePath
from reverie.store import sessions
from reverie.store.filesystem.disk import Disk

PATH = "sessions/talk.jsonl"


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """Return a disk that has appended a line and keeps the file open."""
    disk = Disk(tmp_path, durability="os", wait=0.2)
    disk.append(PATH, b"one\n")
    return disk


def test_a_file_that_was_moved_is_not_written_any_more(disk: Disk, tmp_path: Path) -> None:
    """After another process moved the file away, the next append makes a new one (R-15)."""
    Disk(tmp_path).rename(PATH, "sessions/claimed.jsonl")
    disk.append(PATH, b"two\n")
    assert (tmp_path / "sessions/claimed.jsonl").read_bytes() == b"one\n"
    assert (tmp_path / PATH).read_bytes() == b"two\n"


def test_a_file_that_was_replaced_gets_the_next_append(disk: Disk, tmp_path: Path) -> None:
    """After another process put a file in its place, the append lands in the new one."""
    Disk(tmp_path).replace(PATH, b"new\n")
    disk.append(PATH, b"two\n")
    assert (tmp_path / PATH).read_bytes() == b"new\ntwo\n"


def test_what_others_appended_is_seen(disk: Disk, tmp_path: Path) -> None:
    """An append after another process's begins behind it, and a line it left torn is closed (P-03)."""
    with (tmp_path / PATH).open("ab") as file:
        file.write(b"torn")
    assert disk.append(PATH, b"two\n") == 9
    assert (tmp_path / PATH).read_bytes() == b"one\ntorn\ntwo\n"


def test_a_folder_that_became_a_link_is_refused(disk: Disk, tmp_path: Path) -> None:
    """A file that is reached through a link now is refused, though it is the same file."""
    (tmp_path / "sessions").rename(tmp_path / "elsewhere")
    (tmp_path / "sessions").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        disk.append(PATH, b"two\n")
    assert (tmp_path / "elsewhere/talk.jsonl").read_bytes() == b"one\n"


def test_a_file_that_got_a_second_name_is_refused(disk: Disk, tmp_path: Path) -> None:
    """A file that got a hard link since it was opened is refused like one that had it before."""
    os.link(tmp_path / PATH, tmp_path / "second")
    with pytest.raises(UnsafePath):
        disk.append(PATH, b"two\n")


@needs_a_list_of_descriptors
def test_few_files_stay_open_and_none_after_closing(tmp_path: Path) -> None:
    """However many files are appended to, a bounded number stays open, and closing the disk closes them."""
    disk = Disk(tmp_path, durability="os")
    disk.append("a/first", b"x\n")
    disk.close()
    assert not open_below(tmp_path)
    for number in range(60):
        disk.append(f"a/{number}", b"x\n")
    assert 0 < len(open_below(tmp_path)) <= 16
    disk.close()
    assert not open_below(tmp_path)
    disk.append("a/first", b"y\n")
    assert (tmp_path / "a/first").read_bytes() == b"x\ny\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_parent_and_child_exclude_each_other_after_a_fork(disk: Disk, tmp_path: Path) -> None:
    """A forked child opens the file anew: while the parent holds it, the child's append waits and is Busy."""
    read, write = os.pipe()

    def held(_tail: object) -> bytes:
        child = os.fork()
        if child == 0:
            try:
                Disk.append(disk, PATH, b"child\n")
                os.write(write, b"wrote")
            except BaseException as error:
                os.write(write, type(error).__name__.encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return b"parent\n"

    disk.append_under(PATH, held)
    assert os.read(read, 20) == b"Busy"
    os.close(read)
    os.close(write)
    assert (tmp_path / PATH).read_bytes() == b"one\nparent\n"


def test_ordinals_go_on_whoever_wrote_last(tmp_path: Path) -> None:
    """Two processes that speak in one session in turn give each turn an ordinal of its own (P-02)."""
    first, second = opened(tmp_path), opened(tmp_path, first=1 << 20)
    for number, ws in enumerate((first, first, second, first, second, second, first)):
        stored = sessions.append(ws, "s", Turn(role="user", content=f"{number}", at=NOON))
        assert stored is not None
        assert stored.n == number
    sessions.switch(second, "s", "pause")
    assert sessions.append(first, "s", Turn(role="user", content="off the record", at=NOON)) is None
    sessions.switch(second, "s", "resume")
    last = sessions.append(first, "s", Turn(role="user", content="on again", at=NOON))
    assert last is not None
    assert last.n == 7
