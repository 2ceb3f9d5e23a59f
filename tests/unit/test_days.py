"""Logical days: where they begin, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reverie.core.days import (
    Calendar,
    day_after,
    format_instant,
    is_when,
    parse_instant,
    when_bounds,
)
from reverie.errors import BadSettings, UsageError

ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/Los_Angeles",
    "America/Havana",  # 01:00 is set back to 00:00
    "America/Sao_Paulo",  # 00:00 used to jump to 01:00
    "Africa/Cairo",  # 00:00 jumps to 01:00
    "Asia/Shanghai",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",  # half an hour of summer time
    "Pacific/Apia",  # skipped 2011-12-30
    "Pacific/Kiritimati",
    "America/St_Johns",  # set back at 00:01 until 2011
    "America/Juneau",  # had one day twice in 1867
    "Etc/GMT+12",
]
STARTS = ["00:00", "00:30", "02:30", "04:00", "23:59"]
INSTANTS = st.datetimes(datetime(1860, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.sampled_from(ZONES), st.sampled_from(STARTS), INSTANTS)
@example("America/Havana", "00:30", datetime(2026, 11, 1, 5, 15, tzinfo=UTC))
@example("Pacific/Apia", "04:00", datetime(2011, 12, 30, 12, 0, tzinfo=UTC))
@example("Pacific/Apia", "00:00", datetime(2011, 12, 30, 10, 0, tzinfo=UTC))
@example("America/Juneau", "00:00", datetime(1867, 10, 19, 3, 0, tzinfo=UTC))
def test_an_instant_lies_within_its_own_day(zone: str, starts: str, instant: datetime) -> None:
    """Days follow each other without gap or overlap in every zone, at every hour (P-12)."""
    calendar = Calendar(zone, starts)
    day = calendar.day(instant)
    assert calendar.start(day) <= instant < calendar.end(day)
    assert calendar.end(day) == calendar.start(day_after(day))


@given(st.sampled_from(ZONES), st.sampled_from(STARTS), INSTANTS)
def test_a_day_begins_when_the_wall_clock_first_reads_its_beginning(
    zone: str, starts: str, instant: datetime
) -> None:
    """At its first instant the wall reads `day_starts_at` or later on its date, and a moment before it did not."""
    calendar = Calendar(zone, starts)
    day = calendar.day(instant)
    begins = datetime.fromisoformat(f"{day}T{starts}")
    first = calendar.start(day)
    assert calendar.local(first).replace(tzinfo=None) >= begins
    assert calendar.local(first - timedelta(microseconds=1)).replace(tzinfo=None) < begins


@given(st.sampled_from(ZONES), st.sampled_from(STARTS), INSTANTS, st.times())
def test_a_time_of_day_lies_within_its_day(zone: str, starts: str, instant: datetime, clock: object) -> None:
    """The instant of a heading's time belongs to the day the heading stands in."""
    calendar = Calendar(zone, starts)
    day = calendar.day(instant)
    assert calendar.day(calendar.moment(day, str(clock)[:5])) == day


@pytest.mark.parametrize(
    ("zone", "starts", "instant", "day"),
    [
        ("UTC", "00:00", "2026-07-01T23:59:59Z", "2026-07-01"),
        ("UTC", "04:00", "2026-07-02T03:59:59Z", "2026-07-01"),
        ("UTC", "04:00", "2026-07-02T04:00:00Z", "2026-07-02"),
        ("Asia/Shanghai", "00:00", "2026-07-01T16:00:00Z", "2026-07-02"),
        ("America/Los_Angeles", "00:00", "2026-07-02T06:59:00Z", "2026-07-01"),
        ("Asia/Shanghai", "04:00", "2026-07-01T19:59:00Z", "2026-07-01"),
        ("Europe/Berlin", "00:00", "2026-03-28T23:30:00Z", "2026-03-29"),
        ("Europe/Berlin", "02:30", "2026-03-29T01:00:00Z", "2026-03-29"),
        ("Europe/Berlin", "02:30", "2026-10-25T00:30:00Z", "2026-10-25"),
        ("Europe/Berlin", "02:30", "2026-10-25T01:15:00Z", "2026-10-25"),
    ],
)
def test_evenings_and_nights_fall_on_the_day_people_call_them(
    zone: str, starts: str, instant: str, day: str
) -> None:
    """Midnight, four o'clock, east and west of UTC, and both ends of summer time (R-40)."""
    assert Calendar(zone, starts).day(parse_instant(instant)) == day


def test_a_clock_set_back_stays_on_its_day() -> None:
    """Half past midnight shown a second time does not bring yesterday back."""
    calendar = Calendar("America/Havana", "00:30")
    first = calendar.start("2026-11-01")
    hours = [calendar.day(first + timedelta(minutes=10 * n)) for n in range(12)]
    assert hours == ["2026-11-01"] * 12
    assert calendar.end("2026-11-01") - first == timedelta(hours=25)


def test_a_skipped_date_has_no_length() -> None:
    """Samoa had no 30 December 2011; no instant falls on it."""
    calendar = Calendar("Pacific/Apia")
    assert calendar.start("2011-12-30") == calendar.end("2011-12-30") == calendar.start("2011-12-31")


def test_early_hours_belong_to_the_evening_before() -> None:
    """With days that begin at four, half past two under a day's heading is the next morning (L-23)."""
    calendar = Calendar("Europe/Berlin", "04:00")
    assert calendar.moment("2026-07-01", "02:30") == datetime(2026, 7, 2, 0, 30, tzinfo=UTC)
    assert calendar.moment("2026-07-01", "14:05") == datetime(2026, 7, 1, 12, 5, tzinfo=UTC)
    assert calendar.hhmm(datetime(2026, 7, 1, 12, 5, 33, tzinfo=UTC)) == "14:05"


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.integers(-840, 840),
)
def test_instants_survive_writing_and_reading(instant: datetime, minutes: int) -> None:
    """Any instant in any offset is written in UTC and read as the same instant."""
    text = format_instant(instant.astimezone(timezone(timedelta(minutes=minutes))))
    assert text.endswith("Z")
    assert parse_instant(text) == instant
    assert parse_instant(text).tzinfo is UTC


@given(
    st.lists(
        st.sampled_from(["00", "12", "24", "31", "60", "2.", "0,", "٠1", "W1", "+1"]), min_size=5, max_size=5
    )
)
@example(["02", "28", "23", "59", "60"])
@example(["07", "01", "24", "00", "00"])
def test_the_form_that_is_written_is_read_like_every_other(pairs: list[str]) -> None:
    """`Z` is read quickly; it means, and refuses, what `+00:00` does behind the same characters."""
    month, day, hour, minute, second = pairs
    text = f"2026-{month}-{day}T{hour}:{minute}:{second}"
    try:
        instant = parse_instant(f"{text}+00:00")
    except UsageError:
        with pytest.raises(UsageError):
            parse_instant(f"{text}Z")
    else:
        assert parse_instant(f"{text}Z") == instant


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-07-01T12:05:33Z", "2026-07-01T12:05:33Z"),
        ("2026-07-01t14:05:33.500+02:00", "2026-07-01T12:05:33.5Z"),
        ("2026-07-01 00:00:00.123456789-00:30", "2026-07-01T00:30:00.123456Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999Z"),
    ],
)
def test_instants_are_written_one_way(text: str, written: str) -> None:
    """Offset, fraction, blank for T and leap second all end in one form."""
    assert format_instant(parse_instant(text)) == written


@pytest.mark.parametrize(
    "text",
    ["", "2026-07-01", "2026-07-01T12:05:33", "2026-13-01T00:00:00Z", "2026-07-01T24:00:00Z", "2026-07-01T12:05Z",
     "2026-07-01T12:05:33+25:00", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+10:00", "٢٠٢٦-07-01T12:05:33Z", "now"],
)  # fmt: skip
def test_what_is_no_instant_with_offset_is_refused(text: str) -> None:
    """A time without offset, or none at all, is a usage error that shows how to write one."""
    with pytest.raises(UsageError, match="no instant"):
        parse_instant(text)


def test_a_time_without_zone_is_refused_everywhere() -> None:
    """Python would take it for the machine's own time, so neither writing nor placing it is possible."""
    naive = datetime(2026, 7, 1, 12, 0)  # noqa: DTZ001
    for call in (format_instant, Calendar().day, Calendar().hhmm):
        with pytest.raises(UsageError, match="no zone"):
            call(naive)


@pytest.mark.parametrize(
    ("when", "start", "end"),
    [
        ("2026-07-03", "2026-07-02T22:00:00Z", "2026-07-03T22:00:00Z"),
        ("2026-03", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"),
        ("2026-12", "2026-11-30T23:00:00Z", "2026-12-31T23:00:00Z"),
        ("2026", "2025-12-31T23:00:00Z", "2026-12-31T23:00:00Z"),
        ("2026-07-03T09:00:00+02:00", "2026-07-03T07:00:00Z", "2026-07-03T07:00:00Z"),
    ],
)
def test_a_when_covers_its_days(when: str, start: str, end: str) -> None:
    """Dates, months and years are bounded by the calendar's days; an instant is its own bound."""
    bounds = when_bounds(when, Calendar("Europe/Berlin"))
    assert [format_instant(instant) for instant in bounds] == [start, end]
    assert is_when(when)


@pytest.mark.parametrize("when", ["9999", "9999-12-31", "0001", "0001-01-01"])
def test_the_ends_of_the_calendar_have_bounds(when: str) -> None:
    """The first and the last year that a date can hold do not overflow."""
    for zone in ("UTC", "Pacific/Kiritimati", "Etc/GMT+12"):
        start, end = when_bounds(when, Calendar(zone))
        assert start < end


@pytest.mark.parametrize(
    "when", ["", "26", "2026-7", "2026-13", "0000", "2026-02-30", "yesterday", "2026-07-01T10:00"]
)
def test_what_is_no_when_is_refused(when: str) -> None:
    """Half dates and words are no `When`."""
    assert not is_when(when)
    with pytest.raises(UsageError):
        when_bounds(when, Calendar())


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "America", "../../etc/passwd", "Europe/Berlin\0", "CET+1"]
)
def test_an_unknown_zone_is_a_bad_setting(zone: str) -> None:
    """A zone that does not exist, a folder of zones and a path are refused with a sentence."""
    with pytest.raises(BadSettings, match="no time zone"):
        Calendar(zone)


@pytest.mark.parametrize("starts", ["", "4", "24:00", "04:60", "04:00:00", "4:00"])
def test_a_wrong_beginning_is_a_bad_setting(starts: str) -> None:
    """`day_starts_at` is two digits, colon, two digits."""
    with pytest.raises(BadSettings, match="day_starts_at"):
        Calendar("UTC", starts)


def test_calendars_are_values() -> None:
    """Two calendars of the same zone and beginning are equal and hash alike."""
    assert Calendar("Asia/Tokyo", "04:00") == Calendar("Asia/Tokyo", "04:00")
    assert len({Calendar("Asia/Tokyo"), Calendar("Asia/Tokyo"), Calendar("UTC")}) == 2


def test_dates_step_over_months_and_stop_at_the_ends() -> None:
    """A day later or earlier is a date; there is none before the first or after the last."""
    assert day_after("2026-02-28") == "2026-03-01"
    assert day_after("2026-03-01", -1) == "2026-02-28"
    assert day_after("9999-12-31") == "9999-12-31"
    with pytest.raises(UsageError):
        day_after("2026-02-30")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "Etc/GMT+12"])
@pytest.mark.parametrize(
    "instant",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=23))),
        datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(-timedelta(hours=23))),
    ],
)
def test_an_instant_beyond_what_utc_can_hold_has_a_day_all_the_same(zone: str, instant: datetime) -> None:
    """An instant whose UTC time lies before year 1 or after 9999 counts as the first or last moment, never fails."""
    assert Calendar(zone).day(instant)[:4] in {"0001", "9999"}
    assert Calendar(zone).hhmm(instant)
    assert format_instant(instant)[:4] in {"0001", "9999"}
