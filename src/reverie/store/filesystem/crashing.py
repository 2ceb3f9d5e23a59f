"""File calls that count themselves, fail on purpose, and lose what was not synced when the power is cut.

Owns the model of what a crash may do; promises that what was synced survives and that everything else may land,
vanish or be torn; never used outside tests (`reverie.testing.CrashDisk`).

The calls really happen, in the real folder. Beside them is kept, for each file since its last sync, what was
written and cut, and, for each folder since its last sync, which names were made, moved or removed. At the crash
each of these lands or vanishes; a write may also be torn: a beginning stays, and the rest is missing, NULs or
junk. A move lands whole or not at all, and for good only once both its folders are synced. Syncing a file says
nothing about its name. After a sync that failed, later syncs of the same file count for nothing, as on Linux.
Seed 0 loses everything unsynced, seed 1 loses nothing, every other seed decides by lot.
"""

# ruff: noqa: D102 - each method's contract stands in `Syscalls`
from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress

import msgspec

from reverie.store.filesystem.syscalls import READ, Syscalls
from reverie.store.filesystem.unsynced import Crashed, File, Lot, Plan

_ASIDE = ".~crash"
Place = tuple[int, int]  # device and inode
Name = tuple[Place, str]  # a name in the folder of that inode


class _Change(msgspec.Struct):
    """One change of names: what each meant before and after, and the folders still to be synced for it."""

    names: dict[Name, tuple[File | Place | None, File | Place | None]]
    waiting: set[Place]


class CrashSyscalls(Syscalls):
    """The platform's calls under a Plan. `calls` counts those that open for writing, write, sync, cut or name."""

    def __init__(self, root: str, plan: Plan) -> None:
        """Begin with everything in the folder `root` taken as synced."""
        self.calls = 0
        self.log: list[str] = []
        self.crashed = False
        self._due = False  # the call that crashes was counted; it comes when that call, or the next one, ends
        self._root = root
        self._plan = plan
        self._owed = False  # a write was cut short by a full disk: the next one meets it
        self._where: dict[int, str] = {}
        self._files: dict[Place, File] = {}
        self._changes: list[_Change] = []

    def open(self, name: str, flags: int, *, mode: int = 0o600, folder: int | None = None) -> int:
        self._alive()
        where = name if folder is None else f"{self._where[folder]}/{name}".lstrip("/")
        makes = folder is not None and flags & os.O_CREAT and not self._exists(name, folder)
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._count("make" if makes else "open", where)
        fd = super().open(name, flags, mode=mode, folder=folder)
        self._where[fd] = "" if folder is None else where
        if makes and folder is not None:
            self._files.pop(_place(super().fstat(fd)), None)  # others may have removed what had this inode
            self._note({(folder, name): (None, self._file(fd))})
        if self._due:
            self.close(fd)
        self._end()
        return fd

    def close(self, fd: int) -> None:
        self._where.pop(fd, None)
        super().close(fd)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        file, data, owed = self._file(fd), bytes(data), self._owed
        self._owed = False
        try:
            self._count("write", f"{self._where[fd]} {len(data)}")
        except OSError as error:
            if owed or error.errno != errno.ENOSPC or len(data) < 2:  # noqa: PLR2004 - one byte has no half
                raise
            self._owed, data = True, data[: len(data) // 2]
        if owed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        file.pending.append((file.written(), data))
        taken = super().write(fd, data)
        self._end()
        return taken

    def sync(self, fd: int) -> None:
        file = self._file(fd)
        try:
            self._count("sync", self._where[fd])
        except OSError:
            file.doomed = True
            raise
        self._end()
        if not file.doomed:
            file.settle()

    def sync_folder(self, fd: int) -> None:
        self._count("sync", f"{self._where[fd]}/")
        self._end()
        here = _place(super().fstat(fd))
        for change in self._changes:
            change.waiting.discard(here)
        for at, change in enumerate(self._changes):
            if not change.waiting:
                for earlier in self._changes[:at]:
                    for name in change.names:
                        earlier.names.pop(name, None)  # what is on the medium now is what this one says
        self._changes = [change for change in self._changes if change.waiting]

    def truncate(self, fd: int, size: int) -> None:
        file = self._file(fd)
        self._count("cut", f"{self._where[fd]} {size}")
        file.pending.append(size)
        super().truncate(fd, size)
        self._end()

    def chmod(self, fd: int, mode: int) -> None:
        self._alive()
        super().chmod(fd, mode)

    def rename(self, old: str, new: str, *, source: int, target: int) -> None:
        self._count("rename", f"{self._where[source]}/{old} {self._where[target]}/{new}")
        moved, replaced = self._entry(old, source), self._entry(new, target)
        super().rename(old, new, source=source, target=target)
        self._note({(source, old): (moved, None), (target, new): (replaced, moved)}, gone=replaced)
        self._end()

    def unlink(self, name: str, *, folder: int) -> None:
        self._count("unlink", f"{self._where[folder]}/{name}")
        gone = self._entry(name, folder)
        super().unlink(name, folder=folder)
        self._note({(folder, name): (gone, None)}, gone=gone)
        self._end()

    def mkdir(self, name: str, *, folder: int) -> None:
        self._count("mkdir", f"{self._where[folder]}/{name}")
        super().mkdir(name, folder=folder)
        self._note({(folder, name): (None, self._entry(name, folder))})
        self._end()

    def rmdir(self, name: str, *, folder: int) -> None:
        self._count("rmdir", f"{self._where[folder]}/{name}")
        gone = self._entry(name, folder)
        super().rmdir(name, folder=folder)
        self._note({(folder, name): (gone, None)})
        self._end()

    def stat(self, name: str, *, folder: int) -> os.stat_result:
        self._alive()
        return super().stat(name, folder=folder)

    def look(self, path: str) -> os.stat_result:
        self._alive()
        return super().look(path)

    def read(self, fd: int, size: int, *, offset: int) -> bytes:
        self._alive()
        return super().read(fd, size, offset=offset)

    def names(self, folder: int) -> list[str]:
        self._alive()
        return super().names(folder)

    def lock(self, fd: int) -> bool:
        self._alive()
        return super().lock(fd)

    def cut_power(self) -> None:
        """Crash now, leaving on the real disk what a power cut would leave; nothing happens a second time."""
        if self.crashed:
            return
        self.crashed = True
        lot = Lot(self._plan)
        final: dict[Name, File | Place | None] = {}
        for change in self._changes:
            landed = lot.lands()
            for name, (before, after) in change.names.items():
                if landed:
                    final[name] = after
                else:
                    final.setdefault(name, before)
        torn = {place: file for place, file in self._files.items() if file.pending}
        for file in self._known(final, torn):
            file.survive(lot)
        self._put_back(torn)
        self._put_names(final)

    @staticmethod
    def _known(final: dict[Name, File | Place | None], torn: dict[Place, File]) -> list[File]:
        files = [*torn.values(), *(entry for entry in final.values() if isinstance(entry, File))]
        return list({id(file): file for file in files}.values())

    def _put_back(self, torn: dict[Place, File]) -> None:
        """Write what survived into the files themselves, wherever their names are."""
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = os.path.join(folder, name)
                file = torn.get(_place(os.lstat(path)))
                if file is not None:
                    with open(path, "wb") as out:
                        out.write(file.synced)

    def _put_names(self, final: dict[Name, File | Place | None]) -> None:
        """Give each unsynced name what the crash left it: a file, a folder, or nothing."""
        wanted = {folder for folder, _ in final}
        folders: dict[Place, int] = {}  # open, for moving one aside changes the paths of those within
        for path, _, _ in os.walk(self._root):
            fd = os.open(path, os.O_RDONLY)
            if (place := _place(os.fstat(fd))) in wanted:
                folders[place] = fd
            else:
                os.close(fd)
        aside = os.path.join(self._root, _ASIDE)
        os.mkdir(aside)
        here = {name: entry for name, entry in final.items() if name[0] in folders}
        kept = _set_aside(aside, [(folders[folder], name) for folder, name in here])
        for (folder, name), entry in here.items():
            if isinstance(entry, File):
                fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=folders[folder])
                with os.fdopen(fd, "wb") as out:
                    out.write(entry.synced)
            elif entry in kept:
                os.rename(kept.pop(entry), name, dst_dir_fd=folders[folder])
            elif entry is not None:
                os.mkdir(name, 0o700, dir_fd=folders[folder])
        shutil.rmtree(aside)
        for fd in folders.values():
            os.close(fd)

    def _alive(self) -> None:
        if self.crashed:
            raise Crashed
        self._end()  # the call to crash at has failed by itself

    def _count(self, kind: str, where: str) -> None:
        """Count a call, fail it if the plan says so, and note when it is the one to crash at."""
        self._alive()
        self.calls += 1
        self.log.append(f"{kind} {where}")
        plan = self._plan
        self._due = self.calls == plan.crash_at
        if self.calls == plan.fail_at or (plan.forever and 0 < plan.fail_at < self.calls):
            raise OSError(plan.error, os.strerror(plan.error))

    def _end(self) -> None:
        """Crash when the counted call was the one to crash at."""
        if self._due:
            self.cut_power()
            raise Crashed

    def _exists(self, name: str, folder: int) -> bool:
        try:
            super().stat(name, folder=folder)
        except FileNotFoundError:
            return False
        return True

    def _file(self, fd: int) -> File:
        """Return what is known of an open file; what others wrote into it counts as synced."""
        info = super().fstat(fd)
        file = self._files.get(_place(info))
        if file is None or file.written() != info.st_size:
            content = bytearray(super().read(fd, info.st_size, offset=0))
            file = self._files[_place(info)] = File(content)
        return file

    def _entry(self, name: str, folder: int) -> File | Place | None:
        """Return what a name stands for: a file, the inode of a folder, or nothing."""
        try:
            info = super().stat(name, folder=folder)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(info.st_mode):
            return _place(info)
        fd = super().open(name, READ, folder=folder)
        try:
            return self._file(fd)
        finally:
            super().close(fd)

    def _note(
        self,
        names: dict[tuple[int, str], tuple[File | Place | None, File | Place | None]],
        *,
        gone: object = None,
    ) -> None:
        """Note an unsynced change of names, given by open folder; `gone` has lost its last name."""
        places = {
            (_place(super(CrashSyscalls, self).fstat(fd)), name): both for (fd, name), both in names.items()
        }
        self._changes.append(_Change(places, {folder for folder, _ in places}))
        # The system may give the inode to the next file made, which must not inherit these bytes.
        self._files = {place: file for place, file in self._files.items() if file is not gone}


def _place(info: os.stat_result) -> Place:
    return info.st_dev, info.st_ino


def _set_aside(aside: str, names: list[tuple[int, str]]) -> dict[Place, str]:
    """Move what has these names into the folder `aside`; return where each inode went."""
    kept: dict[Place, str] = {}
    for at, (folder, name) in enumerate(names):
        with suppress(FileNotFoundError):
            place = _place(os.stat(name, dir_fd=folder, follow_symlinks=False))
            kept[place] = os.path.join(aside, str(at))
            os.rename(name, kept[place], src_dir_fd=folder)
    return kept
