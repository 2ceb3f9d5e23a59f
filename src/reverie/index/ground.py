"""Is the ground of the derived files our own: `.index` a real folder, and its files nobody else's.

Owns the look that every opening of a derived file begins with; promises that nothing is read, written or removed
through a link, symbolic or hard, for a workspace may have come with somebody's repository; never looks inside a file.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_UNWRITABLE: Final = {
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
}


def is_ours(folder: Path) -> bool:
    """Whether `folder` is a real folder of the present user, or not there yet."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _owned(status)


def let_go_of_links(files: Iterable[Path]) -> None:
    """Remove the name of each file that is a link, has another name elsewhere, or is not the present user's.

    What it leads to is not touched: removing a name removes no bytes that have another.
    """
    for file in files:
        with suppress(OSError):
            status = file.lstat()
            if not _plain(status) and not stat.S_ISDIR(status.st_mode):
                file.unlink()


def is_plain(file: Path) -> bool:
    """Whether `file` is there, a file of the present user, and reached by this name alone."""
    try:
        return _plain(file.lstat())
    except OSError:
        return False


def is_unwritable(error: OSError) -> bool:
    """Whether the error says that nothing can be written there, which keeps nobody from reading."""
    return error.errno in _UNWRITABLE


def _plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and _owned(status)


def _owned(status: os.stat_result) -> bool:
    """Whether the present user owns it; where the system has no owners, everything is."""
    user = getattr(os, "geteuid", None)
    return user is None or status.st_uid == user()
