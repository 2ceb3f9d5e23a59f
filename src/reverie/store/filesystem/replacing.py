"""Putting one name in the place of another: temporaries, renames onto free names, and what a crash leaves of them.

Owns the names that begin with `.~reverie-`; promises that they are complete and synced before they are renamed, and
that a name is taken only when it is free; never touches a file that is not held.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from reverie.errors import UnsafePath
from reverie.store.filesystem.hold import Holding
from reverie.store.filesystem.paths import parts, refusal
from reverie.store.filesystem.reading import TEMPORARY
from reverie.store.filesystem.syscalls import APPEND, CREATE, Syscalls


def write_all(ops: Syscalls, fd: int, *, data: bytes) -> None:
    """Write every byte, however little the system takes at once."""
    view = memoryview(data)
    while view:
        taken = ops.write(fd, view)
        if taken <= 0:
            raise OSError(
                errno.EIO, os.strerror(errno.EIO)
            )  # else a device that takes nothing loops for ever
        view = view[taken:]


def temporary(holding: Holding, folder: int, *, path: str, data: bytes, mode: int) -> str:
    """Write and sync a file of an unused name in the open folder of `path`; return the name."""
    ops, name = holding.ops, TEMPORARY + os.urandom(8).hex()
    try:
        with holding.names(folder, path):
            fd = ops.open(name, APPEND | CREATE, mode=mode, folder=folder)
            # Locked while it is written: an unlocked one was left by a crash, and `sweep` may have it.
            ops.lock(fd)
        try:
            ops.chmod(fd, mode)
            write_all(ops, fd, data=data)
            if holding.sync:
                ops.sync(fd)
        except OSError:
            with suppress(OSError):
                ops.unlink(name, folder=folder)
            raise
        finally:
            ops.close(fd)
    except OSError as error:
        raise refusal(error, path) from error
    return name


def claim(holding: Holding, old: tuple[int, str], *, to: tuple[int, str]) -> bool:
    """Rename onto a free name, both given as open folder and name; False when it is taken."""
    with holding.names(*to):
        try:
            holding.ops.stat(to[1], folder=to[0])
        except FileNotFoundError:
            holding.ops.rename(old[1], to[1], source=old[0], target=to[0])
            return True
        return False


def sweep(holding: Holding, path: str) -> int:
    """Remove the unfinished replacements a crash left in the folder; return how many there were."""
    folder = holding.tree.folder(parts(path))
    if folder is None:
        return 0
    swept = 0
    try:
        with holding.names(folder, path):
            for name in holding.ops.names(folder):
                if name.startswith(TEMPORARY):
                    swept += _sweep_one(holding, folder, path=f"{path}/{name}")
    except OSError as error:
        raise refusal(error, path, doing="tidy") from error
    finally:
        holding.ops.close(folder)
    return swept


def _sweep_one(holding: Holding, folder: int, *, path: str) -> int:
    try:
        fd = holding.tree.file(folder, path, flags=APPEND)
    except (FileNotFoundError, UnsafePath):
        return 0  # gone, or nothing we made
    try:
        if not holding.ops.lock(fd):
            return 0  # somebody is writing it
        holding.ops.unlink(path.rpartition("/")[2], folder=folder)
    finally:
        holding.ops.close(fd)
    return 1
