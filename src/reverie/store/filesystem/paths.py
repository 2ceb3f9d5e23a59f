"""Opening files beneath the workspace without being led out of it.

Owns the rules of what may be opened; promises that every component is opened relative to its parent's descriptor
and without following links, so that no rename between two calls leads elsewhere; never writes a byte.

Refused with UnsafePath: absolute paths, empty, `.` and `..` components, NUL, names the system cannot hold;
symbolic links anywhere beneath the root; anything that is not a regular file where a file is expected or not a
folder where a folder is; files with more than one name (hard links); files and folders owned by another than the
process's effective user (root's files are foreign to everyone but root, and to root everyone else's are). The
root itself was named by the user: it may be reached through links and may belong to anyone.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
import sys
from functools import lru_cache

import msgspec

from reverie.errors import NotAWorkspace, ReverieError, StoreUnwritable, UnsafePath
from reverie.store.filesystem.syscalls import FOLDER, Syscalls

_SENTENCES = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EROFS: "the file system is read-only; make it writable or choose another workspace",
    errno.EACCES: "permission is missing; check its owner and permissions, and those of its folder",
    errno.EPERM: "permission is missing; check its owner and permissions, and those of its folder",
    errno.EIO: "the disk reported an error; check the medium, then try again",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n) and try again",
    errno.ENFILE: "too many files are open on this machine; try again",
}
_UNSAFE = {
    errno.ELOOP: "is a symbolic link; replace it by the file itself",
    errno.EMLINK: "is a symbolic link; replace it by the file itself",
    errno.ENXIO: "is not a regular file; move it out of the workspace",
    errno.ENOTDIR: "is not a folder; move it away",
    errno.EISDIR: "is a folder where a file belongs; move it away",
    errno.ENAMETOOLONG: "has a name longer than the file system allows; shorten it",
    errno.EILSEQ: "has a name the file system refuses; rename it",
}


@lru_cache(maxsize=4096)
def parts(path: str) -> tuple[str, ...]:
    """Return the components of a workspace-relative POSIX path; `""` is the root. Raises UnsafePath."""
    if not path:
        return ()
    names = tuple(path.split("/"))
    bad_here = ("\\", ":") if sys.platform == "win32" else ()
    for name in names:
        if name in {"", ".", ".."} or "\0" in name or any(mark in name for mark in bad_here):
            raise UnsafePath(
                f"{path!r} does not name a file inside the workspace; use a relative path without '..'"
            )
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise UnsafePath(f"{path!r} cannot be a file name on this system; choose another") from error
    return names


def place(path: str) -> tuple[tuple[str, ...], str]:
    """Return the folder's components and the last name of a path that must name something. Raises UnsafePath."""
    names = parts(path)
    if not names:
        raise UnsafePath("the workspace folder itself cannot be used as a file; name one inside it")
    return names[:-1], names[-1]


def refusal(error: OSError, path: str, *, doing: str = "write") -> ReverieError:
    """Return the error to raise for a failed call on `path`: UnsafePath for what it is, else StoreUnwritable."""
    number = error.errno or 0
    if number in _UNSAFE:
        return UnsafePath(f"{path} {_UNSAFE[number]}")
    reason = _SENTENCES.get(number, f"{error.strerror or error}; check the workspace's folder")
    return StoreUnwritable(f"cannot {doing} {path}: {reason}")


def objection(ops: Syscalls, info: os.stat_result, *, folder: bool = False) -> str:
    """Return why this file (or folder) may not be opened, as the end of a sentence; empty when it may."""
    kind = stat.S_IFMT(info.st_mode)
    if kind == stat.S_IFLNK:
        return _UNSAFE[errno.ELOOP]
    if folder:
        if kind != stat.S_IFDIR:
            return _UNSAFE[errno.ENOTDIR]
    elif kind != stat.S_IFREG:
        return _UNSAFE[errno.EISDIR if kind == stat.S_IFDIR else errno.ENXIO]
    elif info.st_nlink > 1:
        return "has a second name (hard link) through which others could change it; replace it by a copy"
    if ops.foreign(info):
        return "belongs to another user; copy it, or change its owner to the one who runs Reverie"
    return ""


class Tree(msgspec.Struct, frozen=True):
    """Everything beneath one folder, the real path `root`, opened with the calls of `ops`. Keeps nothing open."""

    ops: Syscalls
    root: str
    may_be_missing: bool = False  # then it reads as an empty folder while it is not there

    def folder(self, names: tuple[str, ...]) -> int | None:
        """Open the folder with these components; None when absent. The caller closes it. Raises UnsafePath."""
        if self.may_be_missing and not self.is_there():
            return None
        fd = self._top()
        for depth, name in enumerate(names, 1):
            try:
                child = self.child(fd, name, where="/".join(names[:depth]))
            finally:
                self.ops.close(fd)
            if child is None:
                return None
            fd = child
        return fd

    def make(self, names: tuple[str, ...], *, sync: bool = False) -> int:
        """Open the folder with these components, making what is missing (0700); the caller closes it.

        With `sync`, the name of each folder made is on the medium before this returns. Raises UnsafePath,
        StoreUnwritable, NotAWorkspace when the root is missing.
        """
        fd = self._top()
        for depth, name in enumerate(names, 1):
            where = "/".join(names[:depth])
            try:
                child = self.child(fd, name, where=where)
                while child is None:
                    child = self._made(fd, name, where=where, sync=sync)
            except OSError as error:
                raise refusal(error, where, doing="make") from error
            finally:
                self.ops.close(fd)
            fd = child
        return fd

    def file(self, folder: int, path: str, *, flags: int) -> int:
        """Open the regular file at `path`, whose last name lies in the open `folder`.

        Raises FileNotFoundError when absent, FileExistsError when `flags` say it must be new, UnsafePath,
        StoreUnwritable.
        """
        try:
            fd = self.ops.open(path.rpartition("/")[2], flags, folder=folder)
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            doing = "write" if flags & (os.O_WRONLY | os.O_RDWR) else "read"
            raise refusal(error, path, doing=doing) from error
        self._accept(fd, path, folder=False)
        return fd

    def is_there(self) -> bool:
        """Whether the root is there."""
        try:
            self.ops.look(self.root)
        except FileNotFoundError:
            return False
        return True

    def _top(self) -> int:
        try:
            return self.ops.open(self.root, FOLDER & ~getattr(os, "O_NOFOLLOW", 0))
        except (FileNotFoundError, NotADirectoryError) as error:
            remedy = f"create one with `reverie init {shlex.quote(str(self.root))}`"
            raise NotAWorkspace(f"{self.root} holds no workspace; {remedy}") from error
        except OSError as error:
            raise refusal(error, self.root, doing="open") from error

    def child(self, parent: int, name: str, *, where: str) -> int | None:
        """Open the folder `name` of an open folder; None when absent. `where` is its path, for the message."""
        try:
            fd = self.ops.open(name, FOLDER, folder=parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            # Linux calls a link that must not be followed "not a folder"; the person should hear what it is.
            if error.errno == errno.ENOTDIR and self._is_link(parent, name):
                raise UnsafePath(f"{where} {_UNSAFE[errno.ELOOP]}") from error
            raise refusal(error, where, doing="open") from error
        self._accept(fd, where, folder=True)
        return fd

    def _is_link(self, parent: int, name: str) -> bool:
        try:
            return stat.S_ISLNK(self.ops.stat(name, folder=parent).st_mode)
        except FileNotFoundError:
            return False

    def _accept(self, fd: int, where: str, *, folder: bool) -> None:
        """Close what was opened and raise UnsafePath unless it may be open."""
        reason = objection(self.ops, self.ops.fstat(fd), folder=folder)
        if reason:
            self.ops.close(fd)
            raise UnsafePath(f"{where} {reason}")

    def _made(self, parent: int, name: str, *, where: str, sync: bool) -> int | None:
        try:
            self.ops.mkdir(name, folder=parent)
        except FileExistsError:
            return self.child(parent, name, where=where)  # another process made it first
        child = self.child(parent, name, where=where)
        if child is not None:
            try:
                self.ops.chmod(child, 0o700)  # the umask may have taken our own bits away
                if sync:
                    self.ops.sync_folder(parent)
            except OSError:
                self.ops.close(child)
                raise
        return child
