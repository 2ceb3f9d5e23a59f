"""A settings file of another program, in which Reverie asks to be called.

Owns changing it; promises that it is replaced whole or stays as it is, keeps its rights, and was copied beside itself
first; that a link, a file of somebody else's and one that is read-only are refused untouched; never knows what such a
file means.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from reverie.errors import StoreUnwritable, UsageError
from reverie.store.filesystem.disk import Disk

BACKUP = ".before-reverie"  # behind the file's name: how it was before the last change
_PRIVATE = 0o600


def edit(file: Path, change: Callable[[str], str]) -> bool:
    """Put what `change` makes of a file's text (empty: there is none) in its place; False when that is the same.

    Raises UnsafePath, StoreUnwritable, Busy, and UsageError, which names the file, where `change` does.
    """
    disk = Disk(file.parent)
    before = _read(disk, file) if file.parent.is_dir() else None
    after = _changed(file, before, change)
    if after == before or (before is None and not after):
        return False
    disk.make_folder("")
    if before is not None:
        disk.replace(f"{file.name}{BACKUP}", before, mode=_mode(disk, file))
    disk.rewrite(file.name, lambda old: _changed(file, old, change), mode=_mode(disk, file))
    return True


def _read(disk: Disk, file: Path) -> bytes | None:
    """Return the file's bytes; raises StoreUnwritable for one that its owner made read-only."""
    status = disk.stat(file.name)
    if status is not None and not stat.S_ISLNK(status.st_mode) and not status.st_mode & stat.S_IWUSR:
        message = f"{file} is read-only: make it writable (chmod u+w), or add the hooks by hand"
        raise StoreUnwritable(message)
    return disk.read(file.name)


def _changed(file: Path, data: bytes | None, change: Callable[[str], str]) -> bytes:
    try:
        return change((data or b"").decode()).encode()
    except UnicodeDecodeError as error:
        message = f"{file} is not UTF-8 (byte {error.start}): it was left as it is"
        raise UsageError(message) from error
    except UsageError as error:
        message = f"{file} cannot be changed ({error}): it was left as it is; mend it first"
        raise UsageError(message) from error


def _mode(disk: Disk, file: Path) -> int:
    status = disk.stat(file.name)
    return _PRIVATE if status is None else stat.S_IMODE(status.st_mode)
