"""What may be opened beneath a workspace, and what is refused."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from reverie.errors import NotAWorkspace, UnsafePath
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.syscalls import Syscalls

BAD_PATHS = ["/etc/passwd", "a//b", "a/", "../x", "a/../b", ".", "./a", "a/.", "a\0b", "\ud800", ""]


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """Return a disk in an empty folder."""
    return Disk(tmp_path)


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
    assert [path.name for path in outside.iterdir()] == ["f"]
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
