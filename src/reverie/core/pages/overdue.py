"""When a page is to be looked at again.

Owns what `stale_after` and a season without a change mean; promises that what is no day is said to be none; never looks
at a clock: the instant is given.
"""

from __future__ import annotations

from datetime import date, datetime

from reverie.core.days import Calendar, when_bounds
from reverie.core.pages.front_matter import DATE, Front
from reverie.errors import UsageError

UNTOUCHED = 90  # days after which a synthesis is doubted


def overdue(front: Front, calendar: Calendar, *, now: datetime) -> str:
    """Return why a page is to be looked at again, empty when it is not; a synthesis is after a season untouched."""
    if front.stale_after:
        try:
            is_over = when_bounds(front.stale_after, calendar)[1] <= now
        except UsageError:
            return f"its stale_after is no day: {front.stale_after[:40]!r}"
        return f"it was to be looked at again after {front.stale_after}" if is_over else ""
    if front.type != "synthesis" or not DATE.fullmatch(front.updated):
        return ""
    try:
        since = date.fromisoformat(calendar.day(now)) - date.fromisoformat(front.updated)
    except ValueError:
        return ""  # a day that no calendar has
    return f"a synthesis that nobody changed for {since.days} days" if since.days >= UNTOUCHED else ""
