"""Reading what a daily log gained, in stretches, from where it was last left.

Owns telling a log that only grew from one whose older bytes changed; promises that all bytes folded before are
compared, and that no more than a stretch is held, however large an import made one day; never changes the state.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import msgspec

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.entries import without_halves
from reverie.core.formats import daylog_stretches
from reverie.core.formats.daylog import Context, DayLog
from reverie.core.formats.stretches import stretches
from reverie.index.places import Files, Position


class LogReading:
    """One reading of the log of `day`, behind `before` where the log still begins with what was read then."""

    def __init__(self, files: Files, day: str, *, before: Position | None, calendar: Calendar) -> None:
        """Compare the log with what was read of it; `goes_on` tells whether it only grew."""
        self.path = layout.log_file(day)
        self._files, self._day, self._calendar = files, day, calendar
        self._context: Context | None = None
        self._size = self._crc = self._again = 0
        self.goes_on = before is not None and self._begins_with(before)
        if before is not None and self.goes_on:
            self._context = msgspec.msgpack.decode(before.context, type=Context)
            # From the line that counted as unfinished on, whose bytes are in the sum already.
            self._size, self._crc, self._again = before.size, before.crc, before.size - self._context.offset

    def logs(self) -> Iterator[tuple[DayLog, Context | None]]:
        """Yield what stands in each stretch, and behind what it stands: the line that ended that one comes again."""
        start = self._context.offset if self._context is not None else 0
        with closing(self._files.pieces(self.path, start)) as pieces:
            whole = self._summed(stretches(pieces))
            for log in daylog_stretches.parsed(
                whole, self._day, calendar=self._calendar, context=self._context
            ):
                yield log, self._context
                self._context = log.context

    def position(self, status: Any) -> Position:  # noqa: ANN401 - os.stat_result
        """Return how far the log was read, once all of it was; `status` is the file's from before."""
        end = self._context or Context()
        reached = msgspec.msgpack.encode(msgspec.structs.replace(end, session=without_halves(end.session)))
        return Position(self._size, status.st_mtime_ns, status.st_ino, self._crc, reached)

    def _begins_with(self, before: Position) -> bool:
        """Tell whether the log begins with the bytes that were read before."""
        crc, left = 0, before.size
        with closing(self._files.pieces(self.path)) as pieces:
            for piece in pieces if left else ():
                crc, left = zlib.crc32(piece[:left], crc), left - min(left, len(piece))
                if not left:
                    break
        return not left and crc == before.crc

    def _summed(self, whole: Iterable[bytes]) -> Iterator[bytes]:
        """Yield each stretch, once what of it is new is in the sum."""
        for stretch in whole:
            fresh = memoryview(stretch)[self._again :]
            self._again = max(0, self._again - len(stretch))
            self._size, self._crc = self._size + len(fresh), zlib.crc32(fresh, self._crc)
            yield stretch
