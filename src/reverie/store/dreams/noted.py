"""What the files of the notebook were found to hold, so that those that stand as they were need no reading.

Owns `.index/noted`: each file's identity (file system, inode, size, times of change) with the id of its content;
promises that a file whose identity is another, or could not tell a change that came since, is not answered for, and
that the note may be lost, damaged or old at the cost of reading alone; never answers for a file that is written next.

A change leaves the identity as it was in these cases alone, so these are not answered for:

- it came in the same tick of the file system's clock: a file is noted once it has been left alone for two seconds
  (git's rule), and nothing is believed where a clock went back, or the file system's is behind ours
- the system keeps no time of change of its own, which nobody can set: on Windows nothing is noted

A program that writes through a memory map may change a file a while later than its time says. Like git, nobody who
looks at times sees that; therefore whoever writes a file compares its content, whatever was noted.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from contextlib import suppress

import msgspec

from reverie import layout
from reverie.errors import Busy, StoreUnwritable, UnsafePath
from reverie.store.workspace import Workspace

WORTH = 64  # files read for want of a note from which on it is worth writing anew: it holds every file
_TICK_NS = 100_000_000  # a time given by the system may be that much older than our clock says
_SETTLED_NS = 2_000_000_000 + _TICK_NS  # the coarsest clock of a file system stands still for two seconds
_CRC = 4

Identity = tuple[int, int, int, int, int]  # file system, inode, size, mtime and ctime in nanoseconds


class _Note(msgspec.Struct, frozen=True, array_like=True):
    """What was found by a look that began at `began` and was written down at `written`, both by our clock."""

    began: int
    written: int
    files: dict[str, tuple[Identity, str]]


class Noted:
    """What is known of files from earlier looks, and what this look adds; made before the first file is looked at."""

    def __init__(self, ws: Workspace) -> None:
        """Read the note, if it can be believed."""
        self._ws = ws
        self._began = time.time_ns()
        self._before = _read(ws, self._began)
        self._found: dict[str, tuple[Identity, str]] = {}
        self._new = 0

    def content(self, path: str, status: os.stat_result) -> str:
        """Return the id of what a file with this status holds; empty where it must be read to know."""
        known = self._before.get(path)
        if known is None or known[0] != identity(status):
            return ""
        self._found[path] = known
        return known[1]

    def add(self, path: str, status: os.stat_result, *, content: str) -> None:
        """Note what was read from a file; `status` is what it was before that."""
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        if self._began - newest >= _SETTLED_NS:
            known = (identity(status), content)
            self._new += self._before.get(path) != known
            self._found[path] = known

    def keep(self) -> None:
        """Write down what was found when that spares enough; where nothing can be written the files are read again."""
        if self._new < WORTH or sys.platform == "win32":
            return
        note = msgspec.msgpack.encode(_Note(self._began, time.time_ns(), self._found))
        with suppress(StoreUnwritable, UnsafePath, Busy):
            self._ws.disk.replace(layout.NOTED, zlib.crc32(note).to_bytes(_CRC) + note)


def _read(ws: Workspace, now: int) -> dict[str, tuple[Identity, str]]:
    """Return what the note holds; nothing when it is absent, damaged or not to be believed."""
    try:
        status, data = ws.disk.stat(layout.NOTED), ws.disk.read(layout.NOTED)
    except (UnsafePath, StoreUnwritable):
        return {}
    if status is None or not data or zlib.crc32(data[_CRC:]) != int.from_bytes(data[:_CRC]):
        return {}
    try:
        note = msgspec.msgpack.decode(data[_CRC:], type=_Note)
    except (msgspec.DecodeError, RecursionError):
        return {}
    # Its own time is the file system's clock when it was written: one behind ours took younger files for settled.
    behind = status.st_mtime_ns + _TICK_NS < note.written
    return {} if behind or now < note.written else note.files


def identity(status: os.stat_result) -> Identity:
    """Return what is another once a file was changed or replaced, two seconds after the last change at the latest."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
