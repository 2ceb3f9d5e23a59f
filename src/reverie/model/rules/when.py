"""Resolve the dates people say, against the instant at which they said them.

Owns the values and the calendar arithmetic; the words are in `when_en` and `when_zh`. Promises that a date is
resolved against the given instant in the given zone and never against the clock, that what is not certain is left
alone, and that the same text gives the same dates. Never guesses a format: `03/04/2026` is left as it stands.

The anchor is the logical day of the instant. Weeks begin on Monday. The rules, in both languages:

- `Friday`, `on Friday`, `周五`: the coming one, strictly after the anchor; if the sentence tells the past, the last.
  Which of the two a date is that stands in a sentence about the past, `tense_en` and `tense_zh` tell.
- `this Friday`, `本周五`: English takes the coming one (today counts), Chinese the Friday of this week.
- `next Friday`, `下周五`: Friday of next week. `last Friday`: the latest one before; `上周五`: Friday of last week.
- `end of the week` is its Friday; `weekend`, `周末` its Saturday and Sunday; `end of the month`, `月底` the last day.
- `in two weeks`, `两周后` is the exact day; `within two weeks`, `两周内` has that day as its last.
- A month and day without a year takes the nearest such day; in a sentence about the past, the latest one, and of a
  thing to come the next one.
- What recurs (`every Monday`, `每周五`) and what happens yearly (a birthday) has no date.
"""

from __future__ import annotations

import calendar as months
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Literal

import msgspec

Way = Literal["ahead", "behind", ""]  # which side of a moment a time lies on, "" where nothing tells
DueRole = Literal["", "by", "since", "until", "due"]
MAX_COUNT = 400  # the largest number of days, weeks, months or years that is read as a distance


class Dated(msgspec.Struct, frozen=True):
    """A stretch `[start, end)` of a text that names a time.

    `first` and `last` are its days, inclusive; `clock` a time of day if one was said; `words` what stands in its
    place in stored text; `unit` how precise it is. `role` says what the words around it make of it.
    """

    start: int
    end: int
    first: date
    last: date
    words: str
    unit: Literal["day", "days", "month", "year"] = "day"
    role: DueRole = ""
    clock: time | None = None
    relative: bool = True


class Dates(msgspec.Struct, frozen=True):
    """The times that a clause names: `sure` ones, and both readings of those of which nobody can tell which is meant.

    What is unsure stays in stored text as it was said, and no date of an entry follows from it.
    """

    sure: tuple[Dated, ...] = ()
    unsure: tuple[Dated, ...] = ()

    @classmethod
    def between(
        cls,
        coming: tuple[Dated, ...],
        behind: tuple[Dated, ...],
        *,
        way: Callable[[Dated], Way],
    ) -> Dates:
        """Choose for each time between its two readings; one that has the same in both points nowhere."""
        other = {one.start: one for one in behind}
        sure: list[Dated] = []
        unsure: list[Dated] = []
        for one in coming:
            back = other.get(one.start)
            told = "ahead" if one == back else way(one)
            if told == "ahead":
                sure.append(one)
            elif told == "behind" and back is not None:
                sure.append(back)
            else:
                unsure += [one] if back is None else [one, back]
        return cls(tuple(sure), tuple(unsure))


class Anchor(msgspec.Struct, frozen=True):
    """Where relative words count from: the logical day, the zone, and which way they point, if that is known."""

    day: date
    moment: datetime
    past: bool = False
    ahead: bool = False

    def when(self, found: Dated, *, last: bool = False) -> str:
        """Return a `When`: a date, month or year, or an instant with offset if a time of day was said."""
        day = found.last if last else found.first
        if found.clock is not None:
            return datetime.combine(day, found.clock, tzinfo=self.moment.tzinfo).isoformat(timespec="seconds")
        if found.unit == "month" and not last:
            return f"{day:%Y-%m}"
        if found.unit == "year" and not last:
            return f"{day.year:04d}"
        return day.isoformat()


def monday(day: date, weeks: int = 0) -> date | None:
    """Return the Monday of the week `weeks` after the one `day` is in, or None outside of the calendar."""
    return shift(day, days=weeks * 7 - day.weekday())


def shift(day: date, *, days: int = 0, months_: int = 0) -> date | None:
    """Move a day; a day past the end of a month becomes its last. None outside of the calendar."""
    index = day.year * 12 + day.month - 1 + months_
    year, month = index // 12, index % 12 + 1
    if not date.min.year <= year <= date.max.year:
        return None
    moved = date(year, month, min(day.day, months.monthrange(year, month)[1]))
    try:
        return moved + timedelta(days=days)
    except OverflowError:
        return None


def month_end(day: date) -> date:
    """Return the last day of the month that `day` is in."""
    return day.replace(day=months.monthrange(day.year, day.month)[1])


def make(year: int, month: int, *, day: int) -> date | None:
    """Return that date, or None if there is none."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def nearest(anchor: Anchor, month: int, *, day: int) -> date | None:
    """Return the month and day of the year that is nearest to the anchor, or the latest or next one if told."""
    found = [
        made for step in (-1, 0, 1) if (made := make(anchor.day.year + step, month, day=day)) is not None
    ]
    if anchor.past:
        return max((made for made in found if made <= anchor.day), default=None)
    if anchor.ahead:
        return min((made for made in found if made >= anchor.day), default=None)
    return min(found, key=lambda made: (abs((made - anchor.day).days), made), default=None)


def weekday(anchor: Anchor, index: int) -> date | None:
    """Return a bare weekday: the coming one, or the one before in a past sentence."""
    ahead = (index - anchor.day.weekday() - 1) % 7 + 1
    behind = (anchor.day.weekday() - index - 1) % 7 + 1
    return shift(anchor.day, days=-behind if anchor.past else ahead)


def month_near(anchor: Anchor, month: int) -> date:
    """Return the first day of a month named without a year: this or the next such month, or the latest if past."""
    year = anchor.day.year
    if anchor.past and month > anchor.day.month:
        year -= 1
    if not anchor.past and month < anchor.day.month:
        year += 1
    return date(min(max(year, date.min.year), date.max.year), month, 1)


def period(anchor: Anchor, unit: str, *, step: int) -> tuple[date, date] | None:
    """Return first and last day of the week, weekend, month, quarter or year `step` from the anchor's."""
    day = anchor.day
    if unit in {"week", "weekend"}:
        first = monday(day, step)
        if first is None:
            return None
        start = shift(first, days=5) if unit == "weekend" else first
        last = shift(first, days=6)
        return None if start is None or last is None else (start, last)
    size = {"month": 1, "quarter": 3, "year": 12}[unit]
    base = day.replace(month=(day.month - 1) // size * size + 1, day=1)
    first, tail = shift(base, months_=step * size), shift(base, months_=step * size + size - 1)
    return None if first is None or tail is None else (first, month_end(tail))


def distance(anchor: Anchor, count: int, *, unit: str) -> date | None:
    """Return the day `count` units after the anchor (before it if negative)."""
    if abs(count) > MAX_COUNT:
        return None
    if unit in {"day", "week"}:
        return shift(anchor.day, days=count * (7 if unit == "week" else 1))
    return shift(anchor.day, months_=count * (12 if unit == "year" else 1))


def at_time(hour: int, minute: int, *, half: str) -> time | None:
    """Return a time of day; `half` is `am`, `pm` or empty. None if there is no such time."""
    if half and not 1 <= hour <= 12:  # noqa: PLR2004
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None  # noqa: PLR2004


def named(day: Dated, between: str) -> bool:
    """Say whether a weekday that follows a day, `between` them, only names it: "July 15 (Wednesday)"."""
    return not day.relative and between in {"", " ", "(", " (", "（", ",", ", ", "，"}


def carry(text: str, found: tuple[Dated, ...]) -> str:
    """Return the text with each date in place of the words that named it."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], one.words]
        at = one.end
    return "".join(parts) + text[at:]
