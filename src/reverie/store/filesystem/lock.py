"""Who may write: the workspace's named locks, and how a lock is waited for.

Owns `.state/locks/*` and the in-process locks; promises that a lock is the kernel's and dies with its owner (kill
-9 included), excludes threads as well as processes, and that a refused caller learns who holds it; never trusts
the text in a lock file: it is there for the message alone.

Order keeper -> dream -> index -> write -> file, and one workspace at a time: asking against it raises RuntimeError,
since it is a mistake in the program that would be a deadlock one day. (`index` stands before `write` because a rebuild
holds it for seconds and `write` must not be held that long.) File locks are taken by `store.filesystem.disk`, last of
all.

A lock held in a process that forks stays with the parent: releasing it unlocks at once for everybody. Should the
parent die first, a forked child that still lives keeps it until it ends.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from weakref import WeakValueDictionary

from reverie import layout
from reverie.errors import Busy, NotAWorkspace, StoreUnwritable
from reverie.store.filesystem import paths
from reverie.store.filesystem.platform import native
from reverie.store.filesystem.syscalls import APPEND, READ, Syscalls

_RANK = {
    layout.SERVE_LOCK: -2,
    layout.KEEPER_LOCK: -1,
    layout.DREAM_LOCK: 0,
    layout.INDEX_LOCK: 1,
    layout.WRITE_LOCK: 2,
}
_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.005  # seconds between two looks at a lock another process holds


class ProcessLock:
    """One lock of this process; an object of its own because a bare lock cannot be weakly referenced everywhere."""

    __slots__ = ("__weakref__", "mutex")

    def __init__(self) -> None:
        self.mutex = threading.Lock()


class _Registry:
    """The in-process lock of each real path, forgotten when nobody uses it, and begun anew in a forked child."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[str, ProcessLock] = WeakValueDictionary()

    def get(self, path: str) -> ProcessLock:
        if self._pid != os.getpid():
            # The parent's other threads do not exist here: a lock one of them held would never be released.
            self._begin()
        with self._guard:
            lock = self._locks.get(path)
            if lock is None:
                lock = self._locks[path] = ProcessLock()
            return lock


class _Held(threading.local):
    """The named locks the current thread holds, as (pid, root, name) in the order they were taken."""

    def __init__(self) -> None:
        self.locks: list[tuple[int, str, str]] = []


_registry = _Registry()
_held = _Held()


def process_lock(path: str) -> ProcessLock:
    """Return this process's lock on a real path: one object for as long as anybody keeps it."""
    return _recent(os.getpid(), path)


@lru_cache(maxsize=256)
def _recent(_pid: int, path: str) -> ProcessLock:
    """Keep the locks used last alive: a new one for each append would cost more than the append's own work."""
    return _registry.get(path)


def take(ops: Syscalls, fd: int, *, timeout: float) -> bool:
    """Take the kernel lock on an open file, looking again at growing intervals for `timeout` seconds."""
    if ops.lock(fd):
        return True
    end, wait, never = time.monotonic() + timeout, _FIRST_WAIT, threading.Event()
    while (left := end - time.monotonic()) > 0:
        never.wait(min(wait, left))
        if ops.lock(fd):
            return True
        wait = min(wait * 2, _LONGEST_WAIT)
    return False


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else "this machine"


def _now() -> datetime:
    return datetime.now(UTC)


class Locks:
    """The named locks of one workspace: `with locks.write(5.0, what="drain"): ...`.

    Each call waits up to `timeout` seconds, 0 for one look, then raises Busy with the holder's pid, host, what it
    does and since when; StoreUnwritable where the lock file cannot be made. The folder is made when missing.
    """

    def __init__(
        self, root: Path, *, ops: Syscalls | None = None, clock: Callable[[], datetime] = _now
    ) -> None:
        """Bind to a workspace folder; takes no lock and touches no file."""
        self._root = os.path.realpath(root)
        self._ops = ops or native()
        self._tree = paths.Tree(self._ops, self._root)
        self._clock = clock

    def write(self, timeout: float, *, what: str = "write") -> AbstractContextManager[None]:
        """Hold the write lock: a drain chunk, outcomes, an install. Keep it under 100 ms."""
        return self._hold(layout.WRITE_LOCK, timeout, what=what)

    def dream(self, timeout: float, *, what: str = "dream") -> AbstractContextManager[None]:
        """Hold the dream lock for a whole run of dream, lint, undo, restore or erase."""
        return self._hold(layout.DREAM_LOCK, timeout, what=what)

    def index(self, timeout: float, *, what: str = "index") -> AbstractContextManager[None]:
        """Hold the index lock, as whoever writes the index does."""
        return self._hold(layout.INDEX_LOCK, timeout, what=what)

    def keeper(self, timeout: float, *, what: str = "keeper") -> AbstractContextManager[None]:
        """Hold the keeper lock for as long as this process is the one that runs what is due."""
        return self._hold(layout.KEEPER_LOCK, timeout, what=what)

    def serve(self, timeout: float, *, what: str = "serve") -> AbstractContextManager[None]:
        """Hold, beneath a root of workspaces, the lock of the one daemon that serves them."""
        return self._hold(layout.SERVE_LOCK, timeout, what=what)

    def holder(self, name: str) -> str:
        """Return what stands in the lock file `name` (a path of `layout`): the last holder, or ""."""
        folder, _ = paths.place(name)
        try:
            fd = self._tree.folder(folder)
        except NotAWorkspace:  # a person's that nobody has written to yet
            return ""
        if fd is None:
            return ""
        try:
            file = self._tree.file(fd, name, flags=READ)
            try:
                return self._ops.read(file, 500, offset=0).decode("utf-8", "replace").strip()
            finally:
                self._ops.close(file)
        except FileNotFoundError:
            return ""
        finally:
            self._ops.close(fd)

    def held_by(self, name: str) -> str:
        """Return who holds the lock `name` now, in the words of its file; "" when nobody does.

        What a killed holder left there is not believed. Where there is such a line the lock is tried for a moment.
        """
        said = self.holder(name)
        lock = process_lock(f"{self._root}/{name}")
        if not said or not lock.mutex.acquire(blocking=False):
            return said
        try:
            fd = self._take(name, time.monotonic())
            if fd is None:
                return said
            self._ops.unlock(fd)
            self._ops.close(fd)
        except StoreUnwritable:
            return said  # it cannot be tried here
        finally:
            lock.mutex.release()
        return ""

    @contextmanager
    def _hold(self, name: str, timeout: float, *, what: str) -> Iterator[None]:
        me = (os.getpid(), self._root, name)
        self._check_order(me)
        end = time.monotonic() + timeout
        lock = process_lock(f"{self._root}/{name}")
        if not lock.mutex.acquire(timeout=max(timeout, 0)):
            raise Busy(self._busy(name))
        try:
            fd = self._take(name, end)
            if fd is None:
                raise Busy(self._busy(name))
            _held.locks.append(me)
            try:
                self._sign(fd, what)
                yield
            finally:
                _held.locks.remove(me)
                self._sign(fd, "")
                self._ops.unlock(fd)
                self._ops.close(fd)
        finally:
            lock.mutex.release()

    def _check_order(self, me: tuple[int, str, str]) -> None:
        for pid, root, name in _held.locks:
            if pid != me[0]:
                continue
            if root != me[1]:
                raise RuntimeError(
                    f"this thread holds the {_short(name)} lock of {root}: release it before locking {me[1]}"
                )
            if _RANK[name] >= _RANK[me[2]]:
                raise RuntimeError(
                    f"this thread holds the {_short(name)} lock: the {_short(me[2])} lock must be taken before it"
                )

    def _take(self, name: str, end: float) -> int | None:
        """Return the locked lock file, or None when somebody else has it until `end`."""
        while True:
            fd, keep = self._open(name), False
            try:
                got = take(self._ops, fd, timeout=end - time.monotonic())
                keep = got and self._is_at(fd, name)
            finally:
                if not keep:
                    self._ops.close(fd)
            if keep:
                return fd
            if not got:
                return None

    def _is_at(self, fd: int, name: str) -> bool:
        """Return whether the lock file's path still leads to `fd`; a restored backup may have replaced it."""
        other = self._open(name)
        try:
            return os.path.samestat(self._ops.fstat(fd), self._ops.fstat(other))
        finally:
            self._ops.close(other)

    def _open(self, name: str) -> int:
        folder, _ = paths.place(name)
        fd = self._tree.make(folder)
        try:
            return self._tree.file(fd, name, flags=APPEND | os.O_CREAT)
        finally:
            self._ops.close(fd)

    def _sign(self, fd: int, what: str) -> None:
        """Write who holds the lock, or wipe it; a full disk must not refuse a lock over a line of courtesy."""
        text = ""
        if what:
            since = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            text = f"{what} (pid {os.getpid()} on {_host()}, since {since})\n"
        with contextlib.suppress(OSError):
            self._ops.truncate(fd, 0)
            if text:
                self._ops.write(fd, text.encode("utf-8", "replace"))

    def _busy(self, name: str) -> str:
        try:
            holder = self.holder(name)
        except StoreUnwritable:
            holder = ""
        return f"the {_short(name)} lock of {self._root} is held by {holder or 'another call'}; try again shortly"


def _short(name: str) -> str:
    return name.rpartition("/")[2]
