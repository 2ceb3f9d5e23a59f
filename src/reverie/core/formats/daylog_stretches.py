"""A daily log in stretches, however many entries a day has.

Owns how one stretch goes on behind another; promises that they give what a parse of the whole gives, and that no more
than a stretch is held; never opens the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from reverie.core.days import Calendar
from reverie.core.formats.daylog import Context, DayLog, parse
from reverie.core.formats.utf8 import to_text


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
        text = to_text(data[:-1])
        log = parse(text, day, calendar=calendar, context=context)
        yield log
        context = log.context
        held = data[context.offset - start :]
