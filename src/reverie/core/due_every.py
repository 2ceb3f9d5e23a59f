"""Promises that come again: how often, and when next.

Owns the grammar of `every` and the arithmetic of occurrences; promises that the series follows from its first date
alone, so that a month's 31st comes back after a February, and that the time on the wall stays the same when the clocks
change; never asks what time it is.

    every = [ number " " ] unit | weekday { "," weekday } ;
    unit  = "day" | "week" | "month" | "year" ;                   "days" and so on behind a number
    weekday = "monday" | … | "sunday" ;

`canonical` also reads "daily", "weekly", "monthly", "yearly", "weekday" (monday to friday), short names of days, and a
leading "every".
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import count
from zoneinfo import ZoneInfo

from reverie.core.days import Calendar, day_after, format_instant, is_when, parse_instant, utc, when_bounds
from reverie.core.text.names import is_day
from reverie.errors import UsageError

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNITS = ("day", "week", "month", "year")
MOST = 999  # of a unit: three years of days, which no promise skips

_WORDS = {
    "daily": "day",
    "weekly": "week",
    "fortnightly": "2 weeks",
    "monthly": "month",
    "quarterly": "3 months",
    "yearly": "year",
    "annually": "year",
    "weekday": ",".join(WEEKDAYS[:5]),
    "weekdays": ",".join(WEEKDAYS[:5]),
}
_COUNTED = re.compile(r"(?:(\d{1,3}) +)?(day|week|month|year)s?", re.ASCII)
_SHORT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_LOCAL = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d))?", re.ASCII)
_WEEK, _YEAR = 7, 12


def canonical(text: str) -> str:
    """Return how often, in the one form that is stored; raises UsageError for what is no such thing."""
    said = " ".join(text.casefold().split()).removeprefix("every ")
    said = _WORDS.get(said, said)
    counted = _COUNTED.fullmatch(said)
    if counted is not None:
        number = int(counted[1] or 1)
        if number:
            return counted[2] if number == 1 else f"{number} {counted[2]}s"
    named = [_weekday(word) for word in re.split(r"[ ,]+(?:and +)?", said)] if said else []
    if named and all(day is not None for day in named):
        return ",".join(WEEKDAYS[day] for day in sorted({day for day in named if day is not None}))
    message = (
        f"{text[:40]!r} is no repetition: write day, week, month, year, 2 weeks, friday or monday,thursday"
    )
    raise UsageError(message)


def is_every(text: str) -> bool:
    """Whether `text` says how often, in the form that is stored."""
    try:
        return canonical(text) == text
    except UsageError:
        return False


def first(every: str, day: str) -> str:
    """Return the first date on or after `day` that the weekdays of `every` name; empty when it names none."""
    wanted = _weekdays(every)
    days = (date.fromisoformat(day_after(day, number)) for number in range(_WEEK))
    return next((one.isoformat() for one in days if one.weekday() in wanted), "")


def following(every: str, due: str, *, begun: str, now: datetime, calendar: Calendar) -> str:
    """Return when a promise falls due after `due`, the first time that is not over at `now`.

    `begun` is the first date of the series, or instant; `due` the occurrence that is kept. A date stays a date, an
    instant keeps its time on the calendar's wall. Empty when the years that dates have are used up.
    """
    kept, clock = _place(due, calendar)
    start, _ = _place(begun, calendar)
    for day in _series(every, start):
        when = day.isoformat() if clock is None else format_instant(_instant(day, clock, calendar))
        over = calendar.end(when) if clock is None else _instant(day, clock, calendar)
        if day > kept and over > now:
            return when
    return ""


def resolved(when: str, calendar: Calendar) -> str:
    """Return `when` as it is stored: a date and time without an offset is the calendar's own time, as an instant.

    An instant may leave out its seconds. Whatever else it is comes back as it is; whoever stores it checks it. A time
    that the clock jumps over counts on.
    """
    short = _SHORT.fullmatch(when.strip())
    if short is not None:
        return f"{short[1]}T{short[2]}:00{short[3]}"
    match = _LOCAL.fullmatch(when.strip())
    if match is None or not is_day(match[1]):
        return when.strip()
    try:
        clock = time(int(match[2]), int(match[3]), int(match[4] or 0))
    except ValueError:
        return when.strip()
    return format_instant(_instant(date.fromisoformat(match[1]), clock, calendar))


def zoneless(said: str, stored: str, *, calendar: Calendar) -> str:
    """Return why a time of day, `stored` from what was `said`, is not taken where nobody set a zone, or nothing.

    Said with an offset it is; without one it could be any hour.
    """
    said = said.strip()
    if not (_has_clock(stored) and is_when(stored)) or is_when(said) or _SHORT.fullmatch(said):
        return ""
    wall = f"{calendar.local(parse_instant(stored)):%Y-%m-%dT%H:%M}"
    return f"due {wall} has no zone: add an offset, as in {wall}+02:00, or set `zone` (here: {calendar.zone})"


def past(due: str, at: datetime, *, calendar: Calendar) -> str:
    """Return why a promise made at an instant cannot be due then, or nothing."""
    if not due or when_bounds(due, calendar)[1] > at:
        return ""
    return f"due {due} lies in the past: give a date to come, or in `at` when it was promised"


def can_recur(due: str) -> bool:
    """Whether a series can begin there: on a date or at an instant, not in a month or a year."""
    return is_when(due) and (is_day(due) or _has_clock(due))


def _has_clock(due: str) -> bool:
    return ":" in due


def _weekday(word: str) -> int | None:
    """Return the number of a day of the week by its name or the beginning of it, at least three letters."""
    long_enough = 3
    if len(word) < long_enough:
        return None
    return next((number for number, name in enumerate(WEEKDAYS) if name.startswith(word)), None)


def _weekdays(every: str) -> set[int]:
    return {WEEKDAYS.index(name) for name in every.split(",") if name in WEEKDAYS}


def _place(when: str, calendar: Calendar) -> tuple[date, time | None]:
    """Return the date of an occurrence and, of an instant, its time on the calendar's wall."""
    if is_day(when):
        return date.fromisoformat(when), None
    local = calendar.local(parse_instant(when))
    return local.date(), local.time()


def _instant(day: date, clock: time, calendar: Calendar) -> datetime:
    return utc(datetime.combine(day, clock, tzinfo=ZoneInfo(calendar.zone)))


def _series(every: str, start: date) -> Iterator[date]:
    """Yield the dates of a series in order, until the years run out."""
    wanted = _weekdays(every)
    counted = _COUNTED.fullmatch(every)
    number, unit = (int(counted[1] or 1), counted[2]) if counted else (1, "day")
    for place in count():
        try:
            if unit in {"day", "week"}:
                day = start + timedelta(days=place * number * (_WEEK if unit == "week" else 1))
            else:
                day = _months_on(start, place * number * (_YEAR if unit == "year" else 1))
        except (OverflowError, ValueError):
            return
        if not wanted or day.weekday() in wanted:
            yield day


def _months_on(day: date, months: int) -> date:
    """Return the date `months` later, the month's last day where it is shorter."""
    year, month = divmod(day.year * _YEAR + day.month - 1 + months, _YEAR)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
