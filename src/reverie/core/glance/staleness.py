"""Whether MEMORY.md is older than it may be.

Owns the two intervals; promises that what is notable is shown within minutes of the next verb, everything else within
an hour of it, and the new day on that day; never looks at the clock.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from reverie.core.days import Calendar

AT_MOST_ONCE_IN = timedelta(minutes=1)
WITHIN = timedelta(hours=1)


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """When MEMORY.md was last compiled, since when a change waits to be shown, and whether it is a notable one."""

    last: datetime | None = None
    waiting: datetime | None = None
    pressing: bool = False


def just_now(seen: Freshness, now: datetime) -> bool:
    """Whether it was compiled within the last minute; a clock that was set back makes nobody wait."""
    return seen.last is not None and seen.last <= now < seen.last + AT_MOST_ONCE_IN


def late(seen: Freshness, now: datetime) -> bool:
    """Whether a change has waited for longer than it may; since an instant to come, as after a clock set back, too."""
    return seen.waiting is not None and not seen.waiting <= now < seen.waiting + WITHIN


def stale(seen: Freshness, now: datetime, *, calendar: Calendar) -> bool:
    """Whether it should be compiled at the next opportunity.

    A notable change waits for the minute alone, any other for an hour. So does what nobody noted, as when a person
    writes into a log, a page or the settings: an hour after it was compiled, it is time to look. With the day, other
    promises are due and other entries have faded.
    """
    if just_now(seen, now):
        return False
    if seen.waiting is not None and (seen.pressing or late(seen, now)):
        return True
    if seen.last is None:
        return False
    return seen.last + WITHIN <= now or calendar.day(seen.last) != calendar.day(now)
