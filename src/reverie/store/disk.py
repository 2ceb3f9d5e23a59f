"""Reading and writing the workspace's files so that what was acknowledged is there after a crash.

Owns every write of the package; promises, when the medium keeps what it says it has synced:
  - `append` returned: the bytes are on the medium, in one piece, at the offset returned, on a line of their own;
  - `append` raised: the file is as before, or (crash, or the cut failed too) ends in a torn line, which the next
    append separates by a newline; the caller may try again;
  - `replace` and `rewrite`: readers and crashes see the whole old or the whole new file, never a mixture;
  - `rename`, `remove`: done or not done, and done for good once returned;
never edits bytes in place, follows a link or waits longer than `wait` seconds for another writer (Busy).

Write order. Append: make the folders, each synced into its parent; make the file; sync the names above it while it
is still empty; write; sync. A first byte is so written only under a synced name, whoever made it. Replace: write
a temporary beside the target, sync it, rename it, sync the folder. Whoever appends to, replaces, renames, cuts or
removes a file holds the kernel's lock on it and has checked that its path still leads to it, else opens it again.
New names are made under the lock of their folder, so that a rename onto a free name never swallows a file somebody
is just creating.

After a failed sync the medium may hold anything in the file's last pages, and syncing again would succeed without
writing them. The error is raised, the append is taken back, and the next append of this process first copies the
file into a new one (`suspect` tells). A journal may as well abandon the segment and begin another.

`durability="os"` leaves out every sync: a killed process loses nothing, a power cut may lose the last seconds and
may leave files empty or torn. It is not the default.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reverie.errors import StoreUnwritable, UnsafePath
from reverie.store import paths
from reverie.store.hold import Held, Holding
from reverie.store.platform import native
from reverie.store.syscalls import APPEND, CREATE, READ, Syscalls

TEMPORARY = ".~reverie-"  # how the names of unfinished replacements begin; never listed
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class TailView:
    """An appended file as it stands under its lock: its size, and where bytes appended now will begin."""

    size: int
    start: int  # size, or one more when a torn tail must first be closed by a newline
    read: Callable[[int, int], bytes]  # read(offset, length): up to `length` bytes


class Disk:
    """The files of one workspace. Every path is a POSIX string relative to `root`, checked by `store.paths`.

    Methods raise UnsafePath for what must not be opened, StoreUnwritable when the system refuses, Busy when another
    writer keeps the file longer than `wait` seconds, NotAWorkspace when the root is gone. Safe for threads and
    forks: it keeps no descriptor open between calls.
    """

    def __init__(
        self,
        root: Path,
        *,
        ops: Syscalls | None = None,
        durability: Literal["full", "os"] = "full",
        wait: float = 5.0,
    ) -> None:
        """Bind to a workspace folder, which may be reached through links; opens nothing."""
        self.root = Path(os.path.realpath(root))
        self._at = str(self.root)
        self._ops = ops or native()
        self._full = durability == "full"
        self._holding = Holding(self._ops, self._at, wait, self._full)
        self._suspect: set[str] = set()

    # Reading: no locks.

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes; None when absent."""
        return self._read(path, 0)

    def read_from(self, path: str, offset: int) -> bytes:
        """Return the bytes from `offset` on; empty when the file is absent or not longer."""
        return self._read(path, offset) or b""

    def stat(self, path: str) -> os.stat_result | None:
        """Return what lies at `path`, whatever it is and without following a link; None when absent."""
        names = paths.parts(path)
        folder = paths.open_folder(self._ops, self._at, names[:-1])
        if folder is None:
            return None
        try:
            return self._ops.stat(names[-1], folder=folder) if names else self._ops.fstat(folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise paths.refusal(error, path, doing="look at") from error
        finally:
            self._ops.close(folder)

    def size(self, path: str) -> int | None:
        """Return the file's length in bytes; None when absent."""
        info = self.stat(path)
        if info is None:
            return None
        if reason := paths.objection(self._ops, info):
            message = f"{path} {reason}"
            raise UnsafePath(message)
        return info.st_size

    def list(self, path: str) -> list[str]:
        """Return the sorted names in the folder, unfinished replacements left out; empty when absent."""
        folder = paths.open_folder(self._ops, self._at, paths.parts(path))
        if folder is None:
            return []
        try:
            return sorted(name for name in self._ops.names(folder) if not name.startswith(TEMPORARY))
        except OSError as error:
            raise paths.refusal(error, path, doing="list") from error
        finally:
            self._ops.close(folder)

    def walk(self, path: str) -> Iterator[str]:
        """Yield the path of each file beneath the folder that may be opened, sorted; `refused` has the others."""
        for found, reason in self._scan(path):
            if not reason:
                yield found

    def refused(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield path and reason (the end of a sentence) of each thing beneath the folder that `walk` leaves out."""
        for found, reason in self._scan(path):
            if reason:
                yield found, reason

    # Writing.

    def append(self, path: str, data: bytes, *, mode: int = 0o600) -> int:
        """Append and sync; return the offset of data's first byte. Makes file and folders when missing."""
        return self.append_under(path, lambda _: data, mode=mode)

    def append_under(self, path: str, build: Callable[[TailView], bytes], *, mode: int = 0o600) -> int:
        """Append what `build` makes of the file's tail under its lock; return the offset of its first byte.

        An empty answer appends nothing. `build` may read any file and must write none.
        """
        if path in self._suspect:
            self.rewrite(path, lambda old: old)
            self._suspect.discard(path)
        with self._holding.file(path, mode=mode) as held:
            if held is None:
                message = f"cannot make {path}: it vanished as often as it was made; try again"
                raise StoreUnwritable(message)
            size = held.size
            torn = size > 0 and self._pread(path, held.fd, 1, size - 1) != b"\n"
            start = size + torn
            data = build(TailView(size, start, lambda at, n: self._pread(path, held.fd, n, at)))
            if data:
                if size == 0:
                    self._sync_names(path)
                self._extend(path, held, b"\n" + data if torn else data)
            return start

    def replace(self, path: str, data: bytes, *, mode: int = 0o600) -> None:
        """Put `data` in place of the file, or make it; folders are made when missing."""
        self.rewrite(path, lambda _: data, mode=mode, reading=False)

    def rewrite(
        self, path: str, build: Callable[[bytes | None], bytes | None], *, mode: int = 0o600, reading: bool = True
    ) -> None:
        """Replace the file by what `build` makes of its bytes, under its lock; None (given: absent) changes nothing.

        Without `reading`, `build` is given None in any case.
        """
        while True:
            with self._holding.file(path) as held:
                old = self._whole(path, held.fd, 0) if held and reading else None
                data = build(old)
                if data is None or self._swap(path, held, data, mode):
                    return

    def rename(self, src: str, dst: str) -> bool:
        """Move a file or folder to a free name; False when `src` is absent. Makes dst's folders when missing.

        Raises StoreUnwritable when `dst` exists: putting one file in another's place is what `replace` is for.
        """
        info = self.stat(src)
        if info is None:
            return False
        if stat.S_ISDIR(info.st_mode):
            names, name = paths.place(src)
            folder = paths.open_folder(self._ops, self._at, names)
            if folder is None:
                return False
            try:
                return self._move(Held(folder, name, -1, 0), src, dst)
            finally:
                self._ops.close(folder)
        with self._holding.file(src) as held:
            return held is not None and self._move(held, src, dst)

    def remove(self, path: str) -> bool:
        """Remove the file, or the empty folder; False when absent."""
        info = self.stat(path)
        if info is None:
            return False
        if stat.S_ISDIR(info.st_mode):
            return self._remove_folder(path)
        with self._holding.file(path) as held:
            if held is None:
                return False
            try:
                self._holding.before_move(held)
                self._ops.unlink(held.name, folder=held.folder)
                self._sync_folder(held.folder)
            except OSError as error:
                raise paths.refusal(error, path, doing="remove") from error
            return True

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to `size` bytes and sync; nothing happens when it is absent or not longer.

        Only for taking back what one's own unfinished append left.
        """
        with self._holding.file(path) as held:
            if held is None or held.size <= size:
                return
            try:
                self._ops.truncate(held.fd, size)
                self._sync(held.fd)
            except OSError as error:
                raise paths.refusal(error, path, doing="cut") from error

    def make_folder(self, path: str) -> None:
        """Make the folder and those above it, each synced into its parent; `""` makes the workspace folder itself."""
        if not path:
            self._make_root()
            return
        self._ops.close(paths.make_folder(self._ops, self._at, paths.parts(path), sync=self._full))

    def sweep(self, path: str) -> int:
        """Remove the unfinished replacements a crash left in the folder; return how many there were."""
        folder = paths.open_folder(self._ops, self._at, paths.parts(path))
        if folder is None:
            return 0
        swept = 0
        try:
            with self._holding.names(folder, path):
                for name in self._ops.names(folder):
                    if name.startswith(TEMPORARY):
                        swept += self._sweep_one(folder, f"{path}/{name}")
        except OSError as error:
            raise paths.refusal(error, path, doing="tidy") from error
        finally:
            self._ops.close(folder)
        return swept

    def suspect(self, path: str) -> bool:
        """Return whether a sync of this file failed in this process and it has not been copied anew since."""
        return path in self._suspect

    # Within.

    def _read(self, path: str, offset: int) -> bytes | None:
        names, _ = paths.place(path)
        folder = paths.open_folder(self._ops, self._at, names)
        if folder is None:
            return None
        try:
            fd, _ = paths.open_file(self._ops, folder, path, READ)
        except FileNotFoundError:
            return None
        finally:
            self._ops.close(folder)
        try:
            return self._whole(path, fd, offset)
        finally:
            self._ops.close(fd)

    def _whole(self, path: str, fd: int, offset: int) -> bytes:
        pieces = []
        while piece := self._pread(path, fd, _PIECE, offset):
            pieces.append(piece)
            offset += len(piece)
        return b"".join(pieces)

    def _pread(self, path: str, fd: int, size: int, offset: int) -> bytes:
        try:
            return self._ops.read(fd, size, offset)
        except OSError as error:
            raise paths.refusal(error, path, doing="read") from error

    def _scan(self, path: str) -> Iterator[tuple[str, str]]:
        for name in self.list(path):
            found = f"{path}/{name}" if path else name
            info = self.stat(found)
            if info is None:
                continue  # removed since it was listed
            if stat.S_ISDIR(info.st_mode):
                reason = paths.objection(self._ops, info, folder=True)
                if not reason:
                    yield from self._scan(found)
                    continue
            else:
                reason = paths.objection(self._ops, info)
            yield found, reason

    def _extend(self, path: str, held: Held, data: bytes) -> None:
        """Write at the end and sync, or take everything back and raise."""
        try:
            self._write(held.fd, data)
        except OSError as error:
            self._take_back(held)
            raise paths.refusal(error, path) from error
        try:
            self._sync(held.fd)
        except OSError as error:
            self._suspect.add(path)
            self._take_back(held)
            raise paths.refusal(error, path) from error

    def _take_back(self, held: Held) -> None:
        # When the cut fails too, a torn line stays, which the next append closes with a newline.
        with suppress(OSError):
            self._ops.truncate(held.fd, held.size)

    def _write(self, fd: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            taken = self._ops.write(fd, view)
            if taken <= 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))  # else a device that takes nothing loops for ever
            view = view[taken:]

    def _sync(self, fd: int) -> None:
        if self._full:
            self._ops.sync(fd)

    def _sync_folder(self, fd: int) -> None:
        if self._full:
            self._ops.sync_folder(fd)

    def _sync_names(self, path: str) -> None:
        """Sync every folder from the file's up to the root, whichever of them another process made and left."""
        if not self._full:
            return
        names, _ = paths.place(path)
        for depth in range(len(names), -1, -1):
            folder = paths.open_folder(self._ops, self._at, names[:depth])
            if folder is None:
                message = f"cannot write {path}: its folder was moved away meanwhile; try again"
                raise StoreUnwritable(message)
            try:
                self._ops.sync_folder(folder)
            except OSError as error:
                raise paths.refusal(error, path) from error
            finally:
                self._ops.close(folder)

    def _swap(self, path: str, held: Held | None, data: bytes, mode: int) -> bool:
        """Put `data` at `path`; False when nobody held a file there and somebody has made one meanwhile."""
        names, name = paths.place(path)
        folder = paths.make_folder(self._ops, self._at, names, sync=self._full)
        try:
            temporary = self._temporary(folder, path, data, mode)
            try:
                if held is not None:
                    self._holding.before_move(held)
                    self._ops.rename(temporary, name, source=folder, target=folder)
                elif not self._claim(folder, temporary, folder, name):
                    self._ops.unlink(temporary, folder=folder)
                    return False
                self._sync_folder(folder)
            except OSError as error:
                with suppress(OSError):
                    self._ops.unlink(temporary, folder=folder)
                raise paths.refusal(error, path) from error
        finally:
            self._ops.close(folder)
        if held is None:
            self._sync_names(path)
        return True

    def _temporary(self, folder: int, path: str, data: bytes, mode: int) -> str:
        """Write and sync a file of an unused name in the folder; return the name."""
        name = TEMPORARY + os.urandom(8).hex()
        try:
            with self._holding.names(folder, path):
                fd = self._ops.open(name, APPEND | CREATE, mode=mode, folder=folder)
                # Locked while it is written: an unlocked one was left by a crash, and `sweep` may have it.
                self._ops.lock(fd)
            try:
                self._ops.chmod(fd, mode)
                self._write(fd, data)
                self._sync(fd)
            except OSError:
                with suppress(OSError):
                    self._ops.unlink(name, folder=folder)
                raise
            finally:
                self._ops.close(fd)
        except OSError as error:
            raise paths.refusal(error, path) from error
        return name

    def _claim(self, source: int, old: str, target: int, new: str) -> bool:
        """Rename onto a free name; False when it is taken."""
        with self._holding.names(target, new):
            try:
                self._ops.stat(new, folder=target)
            except FileNotFoundError:
                self._ops.rename(old, new, source=source, target=target)
                return True
            return False

    def _move(self, held: Held, src: str, dst: str) -> bool:
        names, name = paths.place(dst)
        target = paths.make_folder(self._ops, self._at, names, sync=self._full)
        try:
            self._holding.before_move(held)
            if not self._claim(held.folder, held.name, target, name):
                message = f"cannot move {src} to {dst}: that name is taken; look at both files"
                raise StoreUnwritable(message)
            self._sync_folder(target)
            self._sync_folder(held.folder)
        except OSError as error:
            raise paths.refusal(error, src, doing="move") from error
        finally:
            self._ops.close(target)
        return True

    def _remove_folder(self, path: str) -> bool:
        names, name = paths.place(path)
        parent = paths.open_folder(self._ops, self._at, names)
        if parent is None:
            return False
        try:
            self._ops.rmdir(name, folder=parent)
            self._sync_folder(parent)
        except OSError as error:
            raise paths.refusal(error, path, doing="remove") from error
        finally:
            self._ops.close(parent)
        return True

    def _make_root(self) -> None:
        missing = self.root
        above = []
        while not missing.exists():
            above.append(missing.name)
            missing = missing.parent
        fd = paths.open_root(self._ops, str(missing))
        self._ops.close(paths.make_folder(self._ops, str(missing), tuple(reversed(above)), sync=self._full))
        self._ops.close(fd)

    def _sweep_one(self, folder: int, path: str) -> int:
        try:
            fd, _ = paths.open_file(self._ops, folder, path, APPEND)
        except (FileNotFoundError, UnsafePath):
            return 0  # gone, or nothing we made
        try:
            if not self._ops.lock(fd):
                return 0  # somebody is writing it
            self._ops.unlink(path.rpartition("/")[2], folder=folder)
        finally:
            self._ops.close(fd)
        return 1
