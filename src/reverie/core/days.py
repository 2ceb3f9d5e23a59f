"""Instants, logical days and the clock on the wall.

Owns how an instant is written, which logical day it belongs to and where a day begins; promises that the days
of a calendar follow each other without gap or overlap whatever its zone does to the clock; never asks what time
it is.

Instants are aware and in UTC. A logical day begins at the first instant at which the wall clock reads
`day_starts_at` or later on its date: at the jump when the clock jumps over it, at its first showing when it
shows twice. A date that a zone skipped altogether has a day without length.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

from reverie.core.text.names import is_day
from reverie.errors import BadSettings, UsageError

_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_PLAIN = 20  # characters of `2026-07-01T12:05:33Z`
_SECOND = timedelta(seconds=1)
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_DECEMBER = 12


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days of one workspace: an IANA zone (or `UTC`) and the local time `HH:MM` at which a day begins.

    Raises BadSettings when there is no such zone or time.
    """

    zone: str = "UTC"
    day_starts_at: str = "00:00"
    _zone: ZoneInfo = field(init=False, repr=False, compare=False)
    _begins: timedelta = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        clock = _CLOCK.fullmatch(self.day_starts_at)
        if clock is None:
            raise BadSettings(f"day_starts_at is {self.day_starts_at!r}; write a time of day such as 04:00.")
        try:
            zone = ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError) as error:
            raise BadSettings(
                f"{self.zone!r} is no time zone; write an IANA name such as Europe/Berlin, or UTC."
            ) from error
        object.__setattr__(self, "_zone", zone)
        object.__setattr__(self, "_begins", timedelta(hours=int(clock[1]), minutes=int(clock[2])))

    def local(self, instant: datetime) -> datetime:
        """Return the wall clock of the zone at `instant`. Raises UsageError when `instant` has no zone itself."""
        at = utc(instant)
        try:
            return at.astimezone(self._zone)
        except OverflowError:  # the first and the last hours that a datetime can hold
            return at

    def hhmm(self, instant: datetime) -> str:
        """Return the wall clock of the zone at `instant` as `HH:MM`."""
        local = self.local(instant)
        return f"{local.hour:02d}:{local.minute:02d}"

    def day(self, instant: datetime) -> str:
        """Return the logical day that `instant` belongs to."""
        wall = self.local(instant).replace(tzinfo=None)
        try:
            ordinal = (wall - self._begins).toordinal()
        except OverflowError:
            ordinal = 1
        # A clock set back over the beginning shows yesterday's time again; the day has begun all the same.
        while ordinal < date.max.toordinal() and instant >= _start(self._zone, self._begins, ordinal + 1):
            ordinal += 1
        return date.fromordinal(ordinal).isoformat()

    def start(self, day: str) -> datetime:
        """Return the first instant of `day`. Raises UsageError when `day` is no date."""
        return _start(self._zone, self._begins, _date(day).toordinal())

    def end(self, day: str) -> datetime:
        """Return the instant at which the next day begins. Raises UsageError when `day` is no date."""
        return _start(self._zone, self._begins, _date(day).toordinal() + 1)

    def moment(self, day: str, clock: str) -> datetime:
        """Return the instant within `day` at which the wall clock reads `clock` (`HH:MM`), at its first showing.

        Hours before `day_starts_at` are those of the following morning. A time that the clock jumped over is
        counted on from before the jump. Raises UsageError when `day` is no date or `clock` no time.
        """
        match = _CLOCK.fullmatch(clock)
        if match is None:
            raise UsageError(f"{clock!r} is no time of day; write it as 14:05.")
        passed = timedelta(hours=int(match[1]), minutes=int(match[2]))
        ordinal = _date(day).toordinal() + (passed < self._begins)
        first, last = self.start(day), self.end(day)
        return max(first, min(_instant(self._zone, ordinal, passed), last - timedelta(microseconds=1)))


def utc(instant: datetime) -> datetime:
    """Return `instant` in UTC; one that lies beyond the years 1 to 9999 there is their first or last moment.

    Raises UsageError when it has no zone: Python would take it for the machine's own time.
    """
    if instant.tzinfo is None:
        raise UsageError(f"The time {instant.isoformat()} has no zone; give an aware datetime.")
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        return _FIRST if instant.year == 1 else _LAST


def shifted(instant: datetime, by: timedelta) -> datetime:
    """Return the instant so much later or earlier; the first or last there can be, where a clock stands at the end."""
    try:
        return instant + by
    except OverflowError:
        return _LAST if by > timedelta() else _FIRST


def parse_instant(text: str) -> datetime:
    """Return the instant written in RFC 3339, in UTC; digits beyond microseconds are dropped.

    A leap second is the second before it. Raises UsageError when it is not such an instant or has no offset.
    """
    if _is_plain(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass  # a leap second, or what is none: told below
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no instant; write it as 2026-07-01T12:05:33Z, with an offset.")
    year, month, day, hour, minute, second, fraction, _zulu, sign, hours, minutes = match.groups()
    try:
        zone = UTC if sign is None else _offset(sign, int(hours), int(minutes))
        micro = int((fraction or "0")[:6].ljust(6, "0"))
        if second == "60":
            second, micro = "59", 999_999
        return datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second), micro, tzinfo=zone
        ).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is no instant: {error}.") from error


def _is_plain(text: str) -> bool:
    """Whether `text` has the form that `format_instant` writes without a fraction; Python itself reads that fast."""
    # Of what else has these marks in their places, Python takes the hour 24 alone, and the digits must be ASCII.
    return (
        len(text) == _PLAIN
        and text[4] == text[7] == "-"
        and text[10] == "T"
        and text[13] == text[16] == ":"
        and text[19] == "Z"
        and text[11:13] != "24"
    )


def _offset(sign: str, hours: int, minutes: int) -> timezone:
    ahead = timedelta(hours=hours, minutes=minutes)
    return timezone(-ahead if sign == "-" else ahead)


def format_instant(instant: datetime) -> str:
    """Return `instant` in RFC 3339 and UTC, with a fraction only if there is one.

    Raises UsageError when it has no zone: it could then be any of 26 hours.
    """
    text = utc(instant).replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


WHEN_FORMS = (
    "use YYYY-MM-DD, YYYY-MM or YYYY, or a date and time, as 2026-07-10T15:00+02:00 or, in the workspace's own zone,"
    " 2026-07-10T15:00"
)


def is_when(text: str) -> bool:
    """Tell whether `text` is a date, a month, a year, or an instant with offset."""
    try:
        _span(text)
    except UsageError:
        return False
    return True


def when_bounds(when: str, calendar: Calendar) -> tuple[datetime, datetime]:
    """Return the instants `[start, end)` that a date, month or year covers in the calendar's logical days.

    An instant is both its own start and end. Raises UsageError when `when` is none of them.
    """
    span = _span(when)
    if isinstance(span, datetime):
        return span, span
    first, last = span
    return calendar.start(first.isoformat()), calendar.end(last.isoformat())


def ends_before(until: str, since: str, *, calendar: Calendar) -> bool:
    """Tell whether what is true until `until` would have ended before it began, at `since`; either may be empty.

    A day ends with its last instant, a year with its last day: `until` 2026 is not before `since` 2026-07.
    """
    if not (until and since):
        return False
    begins, _ = when_bounds(since, calendar)
    first, last = when_bounds(until, calendar)
    return first < begins and last <= begins


def day_after(day: str, days: int = 1) -> str:
    """Return the date `days` later (earlier when negative), within what dates can hold. UsageError for no date."""
    ordinal = _date(day).toordinal() + days
    return date.fromordinal(max(1, min(ordinal, date.max.toordinal()))).isoformat()


def _date(day: str) -> date:
    if not is_day(day):
        raise UsageError(f"{day!r} is no date; write it as 2026-07-01.")
    return date.fromisoformat(day)


def _span(when: str) -> datetime | tuple[date, date]:
    """Return an instant, or the first and the last date that `when` covers."""
    if is_day(when):
        return (date.fromisoformat(when),) * 2
    match = _MONTH.fullmatch(when)
    if match is None:
        return parse_instant(when)
    year, first, last = int(match[1]), int(match[2] or 1), int(match[2] or _DECEMBER)
    try:
        return date(year, first, 1), date(year, last, monthrange(year, last)[1])
    except ValueError as error:
        raise UsageError(f"{when!r} is no month or year; write 2026-07 or 2026.") from error


@lru_cache(maxsize=8192)
def _start(zone: ZoneInfo, begins: timedelta, ordinal: int) -> datetime:
    """Return the first instant at which the wall clock reads the date `ordinal` at `begins`, or later."""
    if ordinal > date.max.toordinal():
        return _LAST
    return _instant(zone, ordinal, begins, at_jump=True)


def _instant(zone: ZoneInfo, ordinal: int, passed: timedelta, *, at_jump: bool = False) -> datetime:
    """Return the instant of a wall clock's first showing; one that is jumped over counts on, or is the jump itself."""
    if ordinal > date.max.toordinal():
        return _LAST
    wall = datetime.combine(date.fromordinal(ordinal), time()) + passed
    try:
        before, after = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    except OverflowError:
        return _FIRST if ordinal == 1 else _LAST
    if not at_jump or after >= before:  # not in a jump: there the earlier offset gives the later instant
        return before
    shift = after.astimezone(zone).utcoffset()
    while before - after > _SECOND:
        middle = after + (before - after) // 2
        if middle.astimezone(zone).utcoffset() == shift:
            after = middle
        else:
            before = middle
    return before.replace(microsecond=0)
