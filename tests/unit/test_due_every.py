"""Tests of promises that come again: the grammar of `every`, and when the next one is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar, parse_instant, when_bounds
from reverie.core.due_every import WEEKDAYS, can_recur, canonical, first, following, is_every, resolved
from reverie.errors import UsageError

BERLIN = Calendar("Europe/Berlin", "00:00")
THURSDAY = datetime(2026, 7, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("day", "day"),
        ("daily", "day"),
        ("every week", "week"),
        ("Weekly", "week"),
        ("2 weeks", "2 weeks"),
        ("1 month", "month"),
        ("every 3 months", "3 months"),
        ("annually", "year"),
        ("Every Friday", "friday"),
        ("fri", "friday"),
        ("thursday, monday", "monday,thursday"),
        ("mon and wed", "monday,wednesday"),
        ("weekday", "monday,tuesday,wednesday,thursday,friday"),
    ],
)
def test_how_often_has_one_form(said: str, stored: str) -> None:
    """Whatever people write for it, how often is stored in one form, which is its own."""
    assert canonical(said) == stored
    assert is_every(stored)
    assert canonical(stored) == stored


@pytest.mark.parametrize(
    "said", ["", "never", "0 days", "1000 days", "fr", "friday or so", "week;", "2", "-1 day"]
)
def test_what_is_no_repetition_is_refused(said: str) -> None:
    """Words that are no repetition are an error which shows what is."""
    with pytest.raises(UsageError, match="is no repetition: write day"):
        canonical(said)
    assert not is_every(said)


@pytest.mark.parametrize(
    ("every", "due", "begun", "again"),
    [
        ("day", "2026-07-02", "2026-07-02", "2026-07-03"),
        ("week", "2026-07-02", "2026-07-02", "2026-07-09"),
        ("week", "2026-06-11", "2026-06-04", "2026-07-02"),  # three weeks missed: the first that is not over
        ("friday", "2026-07-03", "2026-07-03", "2026-07-10"),  # kept a day early
        ("monday,friday", "2026-07-03", "2026-07-03", "2026-07-06"),
        ("month", "2027-01-31", "2027-01-31", "2027-02-28"),
        ("month", "2027-02-28", "2027-01-31", "2027-03-31"),  # the 31st comes back
        ("year", "2028-02-29", "2028-02-29", "2029-02-28"),
        ("2 weeks", "2026-07-13", "2026-07-06", "2026-07-20"),  # put off by a week: back to the series
    ],
)
def test_the_next_time_follows_from_the_first(every: str, due: str, begun: str, again: str) -> None:
    """The next occurrence is the first of the series after the one that was kept and not over yet."""
    assert following(every, due, begun=begun, now=THURSDAY, calendar=BERLIN) == again


def test_the_time_on_the_wall_stays_when_the_clocks_change() -> None:
    """A promise due at nine in Berlin is due at nine after the clocks went back as well."""
    due = "2026-10-21T07:00:00Z"  # 09:00, summer time
    now = parse_instant(due)
    assert following("week", due, begun=due, now=now, calendar=BERLIN) == "2026-10-28T08:00:00Z"


def test_a_series_ends_with_the_years() -> None:
    """Past the last year that a date has there is no next time, and nothing breaks."""
    assert following("999 days", "9999-12-01", begun="9999-12-01", now=THURSDAY, calendar=BERLIN) == ""


@given(
    every=st.sampled_from(
        ["day", "3 days", "week", "2 weeks", "month", "5 months", "year", *WEEKDAYS, "monday,sunday"]
    ),
    start=st.dates(datetime(2020, 1, 1).date(), datetime(2027, 1, 1).date()),  # noqa: DTZ001
    days=st.integers(0, 900),
)
def test_keeping_always_moves_on(every: str, start: object, days: int) -> None:
    """Whenever it is kept, the next time lies after the kept one, is not over, and keeping it moves on again."""
    begun = str(start)
    now = when_bounds(begun, BERLIN)[0] + timedelta(days=days)
    again = following(every, begun, begun=begun, now=now, calendar=BERLIN)
    assert again > begun
    assert when_bounds(again, BERLIN)[1] > now
    assert following(every, again, begun=begun, now=now, calendar=BERLIN) > again


def test_days_of_the_week_name_the_first_date() -> None:
    """Without a due date, days of the week begin with the next such day, today included; units begin nowhere."""
    assert first("friday", "2026-07-02") == "2026-07-03"
    assert first("thursday", "2026-07-02") == "2026-07-02"
    assert first("week", "2026-07-02") == ""


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("2026-07-10 15:00", "2026-07-10T13:00:00Z"),
        ("2026-07-10T15:00:30", "2026-07-10T13:00:30Z"),
        ("2026-03-29 02:30", "2026-03-29T01:30:00Z"),  # jumped over: counts on
        ("2026-07-10T15:00:00-04:00", "2026-07-10T15:00:00-04:00"),
        ("2026-07-10", "2026-07-10"),
        ("2026-07", "2026-07"),
        ("2026-07-10 25:00", "2026-07-10 25:00"),
        ("2026-02-30 10:00", "2026-02-30 10:00"),
        ("soon", "soon"),
    ],
)
def test_a_time_without_a_zone_is_the_workspaces(said: str, stored: str) -> None:
    """A date and time without an offset is the workspace's own; everything else is left to be checked as it is."""
    assert resolved(said, BERLIN) == stored


def test_a_series_begins_on_a_date_or_at_an_instant() -> None:
    """A month or a year is no beginning of a series."""
    assert can_recur("2026-07-10")
    assert can_recur("2026-07-10T13:00:00Z")
    assert not can_recur("2026-07")
    assert not can_recur("")
