"""Holding one file, or the names of one folder, against every other writer.

Owns file locks; promises that the file held is the one its path leads to, so that nobody writes into a file that
was renamed or replaced a moment ago; never waits longer than it is told.

The lock is the kernel's, on the file itself, behind a lock of this process on the file's real path. Nobody asks for
a file lock while holding a folder's names, so the order file -> names cannot be turned round.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from reverie.errors import Busy
from reverie.store.filesystem.lock import process_lock, take
from reverie.store.filesystem.paths import Tree, place
from reverie.store.filesystem.syscalls import APPEND, CREATE, Syscalls

# What file systems answer that cannot lock a folder (NFS): there a rename onto a free name may race a creation.
_NO_FOLDER_LOCKS = frozenset({errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL})


class Held(msgspec.Struct):
    """An open file under its lock, and the open folder its name lies in. `fd` is -1 when nothing is open."""

    folder: int
    name: str
    fd: int
    size: int


class Holding(msgspec.Struct, frozen=True):
    """How files are held: beneath what, for how many seconds one waits, and whether folders made are synced."""

    tree: Tree
    wait: float
    sync: bool

    @property
    def ops(self) -> Syscalls:
        """The file calls."""
        return self.tree.ops

    @contextmanager
    def file(self, path: str, *, mode: int | None = None) -> Iterator[Held | None]:
        """Hold the file at `path`; None when absent, unless a `mode` says to make it. Raises Busy and the like."""
        names, name = place(path)
        end = time.monotonic() + self.wait
        lock = process_lock(f"{self.tree.root}/{path}")
        if not lock.mutex.acquire(timeout=self.wait):
            raise self.busy(path)
        try:
            folder = self._folder(names, make=mode is not None)
            if folder is None:
                yield None
                return
            held = Held(folder, name, -1, 0)
            try:
                found = self._open(held, path, mode=mode, end=end)
                yield held if found else None
            finally:
                self.let_go(held)
                self.ops.close(folder)
        finally:
            lock.mutex.release()

    @contextmanager
    def names(self, folder: int, path: str) -> Iterator[None]:
        """Hold the names of an open folder: nobody else makes one or moves a file onto one meanwhile."""
        try:
            got = take(self.ops, folder, timeout=self.wait)
        except OSError as error:
            if error.errno not in _NO_FOLDER_LOCKS:
                raise
            yield
            return
        if not got:
            raise self.busy(path)
        try:
            yield
        finally:
            self.ops.unlock(folder)

    def let_go(self, held: Held) -> None:
        """Unlock and close the file, when it is still open."""
        if held.fd >= 0:
            fd, held.fd = held.fd, -1
            try:
                self.ops.unlock(fd)
            finally:
                self.ops.close(fd)

    def before_move(self, held: Held) -> None:
        """Let go of the file where the platform cannot move or remove one that is open."""
        if not self.ops.moves_open_files:
            self.let_go(held)

    def _folder(self, names: tuple[str, ...], *, make: bool) -> int | None:
        if make:
            return self.tree.make(names, sync=self.sync)
        return self.tree.folder(names)

    def _open(self, held: Held, path: str, *, mode: int | None, end: float) -> bool:
        """Open, lock and check the file, again while it is moved away meanwhile; return whether there is one."""
        while True:
            try:
                held.fd = self.tree.file(held.folder, path, flags=APPEND)
            except FileNotFoundError:
                if mode is None:
                    return False
                self._make(held, path, mode=mode)
                continue
            if not take(self.ops, held.fd, timeout=end - time.monotonic()):
                self.ops.close(held.fd)
                held.fd = -1
                raise self.busy(path)
            if self._is_there(held):
                return True
            self.let_go(held)

    def _is_there(self, held: Held) -> bool:
        """Return whether the name still leads to the open file, and note its size: others may have appended."""
        try:
            there = self.ops.stat(held.name, folder=held.folder)
        except FileNotFoundError:
            return False
        here = self.ops.fstat(held.fd)
        held.size = here.st_size
        return os.path.samestat(there, here)

    def _make(self, held: Held, path: str, *, mode: int) -> None:
        with self.names(held.folder, path):
            try:
                fd = self.tree.file(held.folder, path, flags=APPEND | CREATE)
            except FileExistsError:
                return
        try:
            self.ops.chmod(fd, mode)
        finally:
            self.ops.close(fd)

    def busy(self, path: str) -> Busy:
        """Return the error for a file that another writer kept too long."""
        return Busy(f"{path} has been held by another writer for {self.wait:g} s; try again shortly")
