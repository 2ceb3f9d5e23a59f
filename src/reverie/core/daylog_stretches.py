"""A daily log in stretches: some megabytes of whole lines at a time, however many entries a day has.

Owns where a log is cut; promises that the stretches, read one behind the other, give what a parse of the whole gives,
and that no more than a stretch is held; never opens the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from reverie.core.daylog import Context, DayLog, parse
from reverie.core.days import Calendar

STRETCH = 4 << 20  # bytes; decoded and parsed, a log takes some ten times as much memory


def stretches(pieces: Iterable[bytes], *, size: int = STRETCH, torn: bool = False) -> Iterator[bytes]:
    """Yield whole lines, at least `size` bytes at a time but for the last; with `torn`, one without its end too."""
    held = bytearray()
    for piece in pieces:
        fresh = len(held)
        held += piece
        if len(held) >= size and (end := held.rfind(b"\n", fresh) + 1):
            yield bytes(held[:end])
            del held[:end]
    if end := len(held) if torn else held.rfind(b"\n") + 1:
        yield bytes(held[:end])


def parsed(
    found: Iterable[bytes], day: str, *, calendar: Calendar, context: Context | None = None
) -> Iterator[DayLog]:
    """Yield what stands in each stretch of the log of `day`, the first of which begins where `context` ended.

    A stretch's last line counts as unfinished, for its evidence may follow: where another comes it is read again, and
    stands at the beginning of that one too. The file's last line is so read again once something follows it. Of a log
    without a whole line there is one stretch, which is empty.
    """
    held = b""
    for stretch in chain([next(rest := iter(found), b"")], rest):
        data, start = held + stretch, context.offset if context is not None else 0
        text = data[:-1].decode("utf-8", "surrogateescape")
        log = parse(text, day, calendar=calendar, context=context)
        yield log
        context = log.context
        held = data[context.offset - start :]
