"""Bytes at the end of files: written, synced, and taken back where that fails.

Owns the order of an append; promises that a file's first byte is written under synced names, that a failed write leaves
the file as it was, and that a file whose sync failed is remembered; never opens or locks a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec

from reverie.errors import StoreUnwritable
from reverie.store.filesystem.hold import Held, Holding
from reverie.store.filesystem.paths import place, refusal
from reverie.store.filesystem.replacing import write_all


class TailView(msgspec.Struct, frozen=True):
    """An appended file as it stands under its lock: its size, and where bytes appended now will begin.

    `same` says that it is the file which this disk last held here to append, as long as it was then.
    """

    size: int
    start: int  # size, or one more when a torn tail must first be closed by a newline
    read: Callable[[int, int], bytes]  # read(offset, length): up to `length` bytes
    same: bool = False

    @property
    def closing(self) -> bytes:
        """What closes a torn tail."""
        return b"\n" * (self.start - self.size)


class Extending:
    """The appends of one disk. `suspect` are the files whose sync failed and that were not copied anew since."""

    def __init__(self, holding: Holding) -> None:
        """Begin with nothing suspect; whether anything is synced is for `holding` to say."""
        self._holding = holding
        self._ops, self._tree, self._full = holding.ops, holding.tree, holding.sync
        self.suspect: set[str] = set()

    def extend(self, path: str, held: Held, *, data: bytes) -> None:
        """Write at the end and sync, or take everything back and raise."""
        if held.size == 0:
            self.sync_names([path])
        self.write(path, held, data=data, sync=True)

    def write(self, path: str, held: Held, *, data: bytes, sync: bool) -> None:
        """Write at the end of a file whose names are synced, or take everything back and raise."""
        written = False
        try:
            write_all(self._ops, held.fd, data=data)
            written = True
            if sync and self._full:
                self._ops.sync(held.fd)
        except OSError as error:
            if written:
                self.suspect.add(path)
            # When the cut fails too, a torn line stays, which the next append closes with a newline.
            with suppress(OSError):
                self._ops.truncate(held.fd, held.size)
            raise refusal(error, path) from error
        held.size += len(data)

    def sync(self, path: str, held: Held) -> None:
        """Sync what was written before; after a failure the file is suspect, and nothing is taken back."""
        if not self._full:
            return
        try:
            self._ops.sync(held.fd)
        except OSError as error:
            self.suspect.add(path)
            raise refusal(error, path) from error

    def sync_names(self, paths: Iterable[str]) -> None:
        """Sync each folder from the files' up to the root once, whichever of them another process made and left."""
        if not self._full:
            return
        above = {place(path)[0][:depth]: path for path in paths for depth in range(len(place(path)[0]) + 1)}
        for names in sorted(above, key=len, reverse=True):
            folder = self._tree.folder(names)
            if folder is None:
                path = above[names]
                raise StoreUnwritable(f"cannot write {path}: its folder was moved away meanwhile; try again")
            try:
                self._ops.sync_folder(folder)
            except OSError as error:
                raise refusal(error, above[names]) from error
            finally:
                self._ops.close(folder)
