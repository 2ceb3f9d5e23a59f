"""The operating system's file calls the disk makes, one method each.

Owns every platform difference of writing (F_FULLFSYNC on macOS, folder syncs some file systems lack); promises
plain `OSError`s and no policy; never decides what is safe to open (`store.filesystem.paths`) or when to sync
(`store.filesystem.disk`). A folder is passed as the descriptor it was opened with, so that no name is resolved twice.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import ClassVar

if sys.platform != "win32":
    import fcntl

CREATE = os.O_CREAT | os.O_EXCL
SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# Without O_NONBLOCK, opening a FIFO somebody planted would wait for its other end for ever.
READ = os.O_RDONLY | SAFE | getattr(os, "O_NONBLOCK", 0)
APPEND = os.O_RDWR | os.O_APPEND | SAFE | getattr(os, "O_NONBLOCK", 0)
FOLDER = os.O_RDONLY | SAFE | getattr(os, "O_DIRECTORY", 0)

_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY})
_NO_LOCK = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})


class Syscalls:
    """The file calls of this platform; a fake subclasses it to count calls, hold writes back or fail one."""

    moves_open_files: ClassVar[bool] = True  # Windows cannot rename a file somebody holds open

    def open(self, name: str, flags: int, *, mode: int = 0o600, folder: int | None = None) -> int:
        """Open `name` in `folder` (the absolute path `name` when there is none) and return its descriptor."""
        return os.open(name, flags, mode, dir_fd=folder)

    def close(self, fd: int) -> None:
        """Close `fd`."""
        os.close(fd)

    def read(self, fd: int, size: int, *, offset: int) -> bytes:
        """Return up to `size` bytes from `offset`."""
        return os.pread(fd, size, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write at the end of a file opened with APPEND; return how many bytes were taken, perhaps not all."""
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        """Return once the file's bytes and length are on the medium, past the drive's cache where it can be asked."""
        if sys.platform == "darwin":
            try:
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            except OSError as error:
                if error.errno not in _NO_SYNC:
                    raise
            else:
                return
        os.fsync(fd)

    def sync_folder(self, fd: int) -> None:
        """Return once the folder's names are on the medium; a file system without folder syncs counts as done."""
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in _NO_SYNC:
                raise

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to `size` bytes."""
        os.ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        """Set the permissions of an open file or folder, whatever the umask."""
        os.fchmod(fd, mode)

    def rename(self, old: str, new: str, *, source: int, target: int) -> None:
        """Move `old` in folder `source` to `new` in folder `target`, replacing what is there."""
        os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)

    def unlink(self, name: str, *, folder: int) -> None:
        """Remove the file `name`."""
        os.unlink(name, dir_fd=folder)

    def mkdir(self, name: str, *, folder: int) -> None:
        """Make the folder `name`, for its owner only."""
        os.mkdir(name, 0o700, dir_fd=folder)

    def rmdir(self, name: str, *, folder: int) -> None:
        """Remove the empty folder `name`."""
        os.rmdir(name, dir_fd=folder)

    def stat(self, name: str, *, folder: int) -> os.stat_result:
        """Return what `name` is, without following a link."""
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def look(self, path: str) -> os.stat_result:
        """Return what the absolute `path` is, without following a link at its end; those above it are followed."""
        return os.lstat(path)

    def fstat(self, fd: int) -> os.stat_result:
        """Return what the open descriptor is."""
        return os.fstat(fd)

    def names(self, folder: int) -> list[str]:
        """Return the names in an open folder, in no order."""
        return os.listdir(folder)

    def lock(self, fd: int) -> bool:
        """Take the kernel's exclusive lock on an open file if it is free; return whether it was."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCK:
                raise
            return False
        return True

    def unlock(self, fd: int) -> None:
        """Give the lock back at once, even when a forked child still holds a copy of the descriptor."""
        fcntl.flock(fd, fcntl.LOCK_UN)

    def foreign(self, info: os.stat_result) -> bool:
        """Return whether the file belongs to another than this process's effective user, root included."""
        return info.st_uid != os.geteuid()
