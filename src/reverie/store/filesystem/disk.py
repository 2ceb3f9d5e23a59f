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
writing them. The error is raised, the append is taken back, and this process copies the file into a new one
before it appends to it or moves it (`suspect` tells). A journal may as well abandon the segment and begin another.

`durability="os"` leaves out every sync: a killed process loses nothing, a power cut may lose the last seconds and
may leave files empty or torn. It is not the default.
"""

from __future__ import annotations

import builtins
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from reverie.errors import Busy, StoreUnwritable
from reverie.store.filesystem import reading, replacing
from reverie.store.filesystem.extending import Extending, TailView
from reverie.store.filesystem.hold import Held, Holding
from reverie.store.filesystem.kept import MOST_OPEN, Kept
from reverie.store.filesystem.paths import Tree, parts, place, refusal
from reverie.store.filesystem.platform import native
from reverie.store.filesystem.syscalls import Syscalls


class Disk:
    """The files of one workspace. Every path is a POSIX string relative to `root`, checked by `store.filesystem.paths`.

    Methods raise UnsafePath for what must not be opened, StoreUnwritable when the system refuses, Busy when another
    writer keeps the file longer than `wait` seconds, NotAWorkspace when the root is gone. Safe for threads and
    forks. A few appended files stay open between appends until `close`; a closed disk may be used again.
    """

    def __init__(
        self,
        root: Path,
        *,
        ops: Syscalls | None = None,
        durability: Literal["full", "os"] = "full",
        wait: float = 5.0,
        may_be_missing: bool = False,
    ) -> None:
        """Bind to a workspace folder, which may be reached through links; a missing one may read as empty."""
        self.root = Path(os.path.realpath(root))
        self._ops = ops or native()
        self._tree = Tree(self._ops, str(self.root), may_be_missing)
        self._full = durability == "full"
        self._holding = Holding(self._tree, wait, self._full)
        self._kept = Kept(self._holding)
        self._extending = Extending(self._holding)

    def close(self) -> None:
        """Close the files that appends left open."""
        self._kept.close()

    def read(self, path: str) -> bytes | None:
        """Return the file's bytes; None when absent."""
        return reading.read(self._tree, path)

    def read_from(self, path: str, offset: int) -> bytes:
        """Return the bytes from `offset` on; empty when the file is absent or not longer."""
        return reading.read(self._tree, path, offset=offset) or b""

    def pieces(
        self, path: str, offset: int = 0, *, size: int = reading.PIECE
    ) -> Generator[bytes, None, None]:
        """Yield what `read_from` returns, `size` bytes at a time."""
        return reading.pieces(self._tree, path, offset=offset, size=size)

    def stat(self, path: str) -> os.stat_result | None:
        """Return what lies at `path`, whatever it is and without following a link; None when absent."""
        return reading.look(self._tree, path)

    def glance(self, path: str) -> os.stat_result | None:
        """Return what `stat` does, by the path alone: to see cheaply that nothing is there, or that nothing changed."""
        return reading.glance(self._tree, path)

    def newest_first(self, paths: Iterable[str]) -> builtins.list[tuple[str, os.stat_result]]:
        """Return those paths that are there with what `glance` says of each, the one changed last at the beginning."""
        found = [(path, info) for path in paths if (info := self.glance(path)) is not None]
        return sorted(found, key=lambda one: (one[1].st_mtime_ns, one[0]), reverse=True)

    def size(self, path: str) -> int | None:
        """Return the file's length in bytes; None when absent."""
        return reading.size(self._tree, path)

    def list(self, path: str) -> list[str]:
        """Return the sorted names in the folder, unfinished replacements left out; empty when absent."""
        return reading.names(self._tree, path)

    def statuses(self, path: str) -> builtins.list[tuple[str, os.stat_result]]:
        """Return path and status of everything in the folder, whatever it is, sorted; empty when absent."""
        return reading.statuses(self._tree, path)

    def walk(self, path: str) -> Iterator[str]:
        """Yield the path of each file beneath the folder that may be opened, sorted; `refused` has the others."""
        return (found for found, _ in self.walk_statuses(path))

    def walk_statuses(self, path: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield what `walk` does, each with its status."""
        return ((found, info) for found, info, reason in reading.scan(self._tree, path) if not reason)

    def refused(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield path and reason (the end of a sentence) of each thing beneath the folder that `walk` leaves out."""
        return ((found, reason) for found, _, reason in reading.scan(self._tree, path) if reason)

    def append(self, path: str, data: bytes, *, heal: bool = True, mode: int = 0o600) -> int:
        """Append and sync; return the offset of data's first byte. Makes file and folders when missing.

        Without `heal`, a torn tail is continued instead of closed by a newline.
        """
        return self.append_under(path, lambda _: data, heal=heal, mode=mode)

    def append_under(
        self, path: str, build: Callable[[TailView], bytes], *, heal: bool = True, mode: int = 0o600
    ) -> int:
        """Append what `build` makes of the file's tail under its lock; return the offset of its first byte.

        An empty answer appends nothing. `build` may read any file and must write none.
        """
        self._renew(path)
        with self._appended(path, mode) as (held, same):
            view = self._view(path, held, heal=heal, same=same)
            if data := build(view):
                self._extending.extend(path, held, data=view.closing + data)
            return view.start

    def append_each(self, builds: Mapping[str, Callable[[TailView], bytes]], *, mode: int = 0o600) -> None:
        """Append to every file what its build makes of its tail, and sync them all.

        1. each file is made, and the names above the empty ones synced; 2. each is written; 3. each is synced, always
        under its lock. When it raises nothing is acknowledged, and any file may have what it was to gain.
        """
        paths = list(builds)
        for first in range(0, len(paths), MOST_OPEN):
            group, empty = paths[first : first + MOST_OPEN], []
            for path in group:
                self._renew(path)
                with self._appended(path, mode) as (held, _):
                    empty += [path] if held.size == 0 else []
            self._extending.sync_names(empty)
            for path in group:
                with self._appended(path, mode) as (held, same):
                    view = self._view(path, held, heal=True, same=same)
                    if data := builds[path](view):
                        self._extending.write(path, held, data=view.closing + data, sync=False)
            for path in group:
                with self._appended(path, mode) as (held, _):
                    self._extending.sync(path, held)

    @contextmanager
    def _appended(self, path: str, mode: int) -> Iterator[tuple[Held, bool]]:
        """Hold a file to append to it, made if need be, and say whether it is as this disk left it."""
        with self._kept.file(path, mode=mode) as (held, same):
            if held is None:
                raise StoreUnwritable(f"cannot make {path}: its folder was moved away meanwhile; try again")
            yield held, same

    def _view(self, path: str, held: Held, *, heal: bool, same: bool) -> TailView:
        """Return how the held file ends."""
        size, fd = held.size, held.fd

        def read(offset: int, length: int) -> bytes:
            return reading.piece(self._tree, fd, path=path, size=length, offset=offset)

        torn = heal and size > 0 and read(size - 1, 1) != b"\n"
        return TailView(size, size + torn, read, same)

    def replace(self, path: str, data: bytes, *, mode: int = 0o600) -> None:
        """Put `data` in place of the file, or make it; folders are made when missing."""
        self._kept.drop(path)
        while True:
            with self._holding.file(path) as held:
                if self._swap(path, held, data=data, mode=mode):
                    return

    def rewrite(self, path: str, build: Callable[[bytes | None], bytes | None], *, mode: int = 0o600) -> None:
        """Replace the file by what `build` makes of its bytes (None: absent) under its lock; None changes nothing.

        `build` may run again when another process makes the file meanwhile, may read any file and must write none.
        """
        self._kept.drop(path)
        while True:
            with self._holding.file(path) as held:
                data = build(reading.whole(self._tree, held.fd, path=path) if held else None)
                if data is None or self._swap(path, held, data=data, mode=mode):
                    return

    def rename(self, src: str, dst: str) -> bool:
        """Move a file or folder to a free name; False when `src` is absent. Makes dst's folders when missing.

        Raises StoreUnwritable when `dst` exists: putting one file in another's place is what `replace` is for. No
        file in a folder that is moved may be written meanwhile: only files are held.
        """
        self._renew(src)
        self._kept.drop(src)
        info = self.stat(src)
        if info is None:
            return False
        if not stat.S_ISDIR(info.st_mode):
            with self._holding.file(src) as held:
                return held is not None and self._move(held, src, dst=dst)
        names, name = place(src)
        folder = self._tree.folder(names)
        if folder is None:
            return False
        try:
            return self._move(Held(folder, name, -1, 0), src, dst=dst)
        finally:
            self._ops.close(folder)

    def remove(self, path: str) -> bool:
        """Remove the file; False when absent."""
        self._kept.drop(path)
        with self._holding.file(path) as held:
            if held is None:
                return False
            try:
                self._holding.before_move(held)
                self._ops.unlink(held.name, folder=held.folder)
                self._sync_folder(held.folder)
            except OSError as error:
                raise refusal(error, path, doing="remove") from error
            return True

    def remove_folder(self, path: str) -> bool:
        """Remove the folder, which must be empty; False when absent."""
        names, name = place(path)
        parent = self._tree.folder(names)
        if parent is None:
            return False
        try:
            self._ops.rmdir(name, folder=parent)
            self._sync_folder(parent)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise refusal(error, path, doing="remove") from error
        finally:
            self._ops.close(parent)
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
                if self._full:
                    self._ops.sync(held.fd)
            except OSError as error:
                raise refusal(error, path, doing="cut") from error

    def make_folder(self, path: str) -> None:
        """Make the folder, those above it and the workspace folder itself (`""`), each synced into its parent."""
        if not self.root.is_dir():
            missing = [self.root, *(one for one in self.root.parents if not one.exists())]
            above = Tree(self._ops, str(missing[-1].parent))
            names = tuple(one.name for one in reversed(missing))
            self._ops.close(above.make(names, sync=self._full))
        self._ops.close(self._tree.make(parts(path), sync=self._full))

    def sweep(self, path: str) -> int:
        """Remove the unfinished replacements a crash left in the folder; return how many there were."""
        return replacing.sweep(self._holding, path)

    def suspect(self, path: str) -> bool:
        """Return whether a sync of this file failed in this process and it has not been copied anew since."""
        return path in self._extending.suspect

    def _renew(self, path: str) -> None:
        """Copy a file whose sync failed into a new one; its old pages may be lost without another error."""
        if path in self._extending.suspect:
            self.rewrite(path, lambda old: old)
            self._extending.suspect.discard(path)

    def _sync_folder(self, fd: int) -> None:
        if self._full:
            self._ops.sync_folder(fd)

    def _swap(self, path: str, held: Held | None, *, data: bytes, mode: int) -> bool:
        """Put `data` at `path`; False when nobody held a file there and somebody has made one meanwhile."""
        names, name = place(path)
        folder = self._tree.make(names, sync=self._full)
        try:
            new = replacing.temporary(self._holding, folder, path=path, data=data, mode=mode)
            try:
                if held is not None:
                    self._holding.before_move(held)
                    self._ops.rename(new, name, source=folder, target=folder)
                elif not replacing.claim(self._holding, (folder, new), to=(folder, name)):
                    self._ops.unlink(new, folder=folder)
                    return False
                self._sync_folder(folder)
            except (OSError, Busy) as error:
                with suppress(OSError):
                    self._ops.unlink(new, folder=folder)
                if isinstance(error, Busy):
                    raise
                raise refusal(error, path) from error
        finally:
            self._ops.close(folder)
        if held is None:
            self._extending.sync_names([path])
        return True

    def _move(self, held: Held, src: str, *, dst: str) -> bool:
        names, name = place(dst)
        target = self._tree.make(names, sync=self._full)
        try:
            self._holding.before_move(held)
            if not replacing.claim(self._holding, (held.folder, held.name), to=(target, name)):
                raise StoreUnwritable(f"cannot move {src} to {dst}: that name is taken; look at both files")
            self._sync_folder(target)
            self._sync_folder(held.folder)
        except OSError as error:
            raise refusal(error, src, doing="move") from error
        finally:
            self._ops.close(target)
        return True
