"""Which file calls this machine has: POSIX, or a best effort on Windows.

Owns the choice and everything Windows; promises nothing durable there: no tests run on Windows, folders have no
descriptors or syncs, links are refused by looking before opening (a race remains), and another process may slip
between the unlock and the rename of one file. Linux and macOS never run this class.
"""

# ruff: noqa: D102 - each method's contract stands in `Syscalls`
from __future__ import annotations

import os
import sys
from typing import ClassVar

from reverie.store.filesystem.syscalls import Syscalls

if sys.platform == "win32":
    import msvcrt

    class WindowsSyscalls(Syscalls):
        """File calls where folders cannot be opened: a negative number stands for a folder's path."""

        moves_open_files: ClassVar[bool] = False

        def __init__(self) -> None:
            """Start with no folder open."""
            self._folders: dict[int, str] = {}
            self._next = -2

        def _path(self, name: str, folder: int | None) -> str:
            return name if folder is None else os.path.join(self._folders[folder], name)

        def open(self, name: str, flags: int, *, mode: int = 0o600, folder: int | None = None) -> int:
            path = self._path(name, folder)
            writes = flags & (os.O_WRONLY | os.O_RDWR)
            if not writes and os.path.isdir(path) and (folder is None or not os.path.islink(path)):
                self._next -= 1
                self._folders[self._next] = path
                return self._next
            return os.open(path, flags | os.O_BINARY | os.O_NOINHERIT, mode)

        def close(self, fd: int) -> None:
            if fd < 0:
                del self._folders[fd]
            else:
                os.close(fd)

        def read(self, fd: int, size: int, *, offset: int) -> bytes:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size)

        def sync_folder(self, fd: int) -> None:
            """Do nothing: NTFS writes names in its own journal and offers no call for it."""

        def chmod(self, fd: int, mode: int) -> None:
            """Do nothing: access is the folder's, inherited from the user's profile."""

        def rename(self, old: str, new: str, *, source: int, target: int) -> None:
            os.replace(self._path(old, source), self._path(new, target))

        def unlink(self, name: str, *, folder: int) -> None:
            os.unlink(self._path(name, folder))

        def mkdir(self, name: str, *, folder: int) -> None:
            os.mkdir(self._path(name, folder))

        def rmdir(self, name: str, *, folder: int) -> None:
            os.rmdir(self._path(name, folder))

        def stat(self, name: str, *, folder: int) -> os.stat_result:
            return os.lstat(self._path(name, folder))

        def fstat(self, fd: int) -> os.stat_result:
            return os.stat(self._folders[fd]) if fd < 0 else os.fstat(fd)

        def names(self, folder: int) -> list[str]:
            return os.listdir(self._folders[folder])

        def lock(self, fd: int) -> bool:
            if fd < 0:
                return True
            os.lseek(fd, 1 << 40, os.SEEK_SET)  # a byte beyond every file, so that reading stays possible
            try:
                msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
            except OSError:
                return False
            return True

        def unlock(self, fd: int) -> None:
            if fd >= 0:
                os.lseek(fd, 1 << 40, os.SEEK_SET)
                msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

        def foreign(self, info: os.stat_result) -> bool:  # noqa: ARG002 - Windows owners are not numbers
            return False


def native() -> Syscalls:
    """Return the calls of the platform we run on."""
    if sys.platform == "win32":
        return WindowsSyscalls()
    return Syscalls()
