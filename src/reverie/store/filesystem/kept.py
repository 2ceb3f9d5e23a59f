"""Appended files that stay open from one append to the next.

Owns a few descriptors and what their files looked like when this disk last held them; promises that a descriptor is
used again only under its file's lock and after every component of its path was looked at and still leads to it, so
that a file which was moved, replaced, linked or given away is opened again by the rules of `store.filesystem.paths`;
never keeps one over a fork, where parent and child would share one lock, nor where an open file cannot be moved.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from reverie.store.filesystem.hold import Held, Holding
from reverie.store.filesystem.lock import process_lock, take
from reverie.store.filesystem.paths import objection, place

MOST_OPEN = 16  # a segment, the events, and the sessions that are spoken in at once


class _Open(msgspec.Struct):
    """An open file: its descriptor, the paths that lead to it, and how long it was when we last held it."""

    fd: int
    where: tuple[str, ...]  # absolute, the root first and the file last
    size: int


class Kept:
    """The open files of one disk. Safe for threads: a file in use is in nobody else's reach."""

    def __init__(self, holding: Holding) -> None:
        """Begin with nothing open."""
        self._holding = holding
        self._open: dict[str, _Open] = {}
        self._pid = os.getpid()

    def __del__(self) -> None:
        """Close what is open; a forked child closes copies, which leaves its parent's locks alone."""
        self.close()

    def close(self) -> None:
        """Close every file that is not in use."""
        while self._open:
            with suppress(KeyError):  # another thread took the last one
                self._holding.ops.close(self._open.popitem()[1].fd)

    def drop(self, path: str) -> None:
        """Close the file at `path`, which is moved, replaced or removed."""
        if (file := self._open.pop(path, None)) is not None:
            self._holding.ops.close(file.fd)

    @contextmanager
    def file(self, path: str, *, mode: int) -> Iterator[tuple[Held | None, bool]]:
        """Hold the file as `Holding.file` does, and say whether it is as this disk left it when it last held it.

        Whoever appends notes the new size in what is held. After an error the file is closed.
        """
        with self._mutex(path) as end:
            held, size, where = self._again(path, end)
            if held is not None:
                try:
                    yield held, held.size == size
                    self._keep(path, held, where)
                finally:
                    self._holding.let_go(held)
                return
        with self._holding.file(path, mode=mode) as held:
            yield held, False
            if held is not None and self._holding.ops.moves_open_files:
                self._keep(path, held, _way(self._holding.tree.root, path))

    @contextmanager
    def _mutex(self, path: str) -> Iterator[float]:
        """Keep this process's other threads from the path; yields when waiting ends."""
        end = time.monotonic() + self._holding.wait
        mutex = process_lock(f"{self._holding.tree.root}/{path}").mutex
        if not mutex.acquire(timeout=self._holding.wait):
            raise self._holding.busy(path)
        try:
            yield end
        finally:
            mutex.release()

    def _again(self, path: str, end: float) -> tuple[Held | None, int, tuple[str, ...]]:
        """Return the file kept for `path` under its lock, and its last size; None where it must be opened anew."""
        if self._pid != os.getpid():
            self.close()
            self._pid = os.getpid()
        file = self._open.pop(path, None)
        if file is None:
            return None, 0, ()
        held = Held(-1, path, file.fd, 0)
        sound = False
        try:
            if not take(self._holding.ops, file.fd, timeout=end - time.monotonic()):
                raise self._holding.busy(path)
            sound = self._is_there(held, file.where)
        finally:
            if not sound:
                self._holding.let_go(held)
        return (held if sound else None), file.size, file.where

    def _is_there(self, held: Held, where: tuple[str, ...]) -> bool:
        """Return whether the path still leads to the file, through folders that may be opened, and note its size."""
        ops = self._holding.ops
        try:
            folders = [ops.look(folder) for folder in where[1:-1]]
            there = ops.look(where[-1])
        except OSError:
            return False
        if any(objection(ops, info, folder=True) for info in folders) or objection(ops, there):
            return False
        here = ops.fstat(held.fd)
        held.size = here.st_size
        return os.path.samestat(there, here)

    def _keep(self, path: str, held: Held, where: tuple[str, ...]) -> None:
        """Leave the file open for the next append, unlocked, and close the one used longest ago when there are many."""
        fd, held.fd = held.fd, -1
        self._holding.ops.unlock(fd)
        self._open[path] = _Open(fd, where, held.size)
        while len(self._open) > MOST_OPEN:
            with suppress(KeyError, RuntimeError):  # another thread took it
                self.drop(next(iter(self._open)))


def _way(root: str, path: str) -> tuple[str, ...]:
    """Return the absolute path of the root, of each folder below it, and of the file."""
    names, _ = place(path)
    return *("/".join((root, *names[:depth])) for depth in range(len(names) + 1)), f"{root}/{path}"
