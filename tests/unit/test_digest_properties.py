"""Digests as pure selections, over stores, zones and times of day drawn at random."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_states import generated, state_of

from reverie.core.days import Calendar
from reverie.core.fold import EntryState
from reverie.core.glance.digest_lines import Request, compile_digest, periods
from reverie.core.glance.memory_lines import cited_lines
from reverie.core.settings.value import FactSettings, SummarySettings
from reverie.core.text.tokens import estimate

if TYPE_CHECKING:
    from reverie.core.glance.digest_lines import Period

ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "Pacific/Niue", "Asia/Kathmandu", "America/New_York"]
)
STARTS = st.sampled_from(["00:00", "04:00", "23:30"])
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
INSTANTS = st.integers(0, 2 * 365 * 24 * 60).map(lambda minutes: FIRST + timedelta(minutes=minutes))
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=120).filter(str.strip)


@st.composite
def stores(draw: st.DrawFn, calendar: Calendar, now: datetime) -> list[EntryState]:
    """Return entries of the last weeks, some of them hidden, done or superseded."""
    found = []
    for number in range(draw(st.integers(0, 25))):
        at = now - timedelta(hours=draw(st.integers(0, 24 * 40)))
        happened = draw(st.sampled_from(["", "", "", "hide", "complete", "pin"]))
        found.append(
            state_of(
                number,
                draw(TEXTS),
                happened=happened,
                at=at,
                day=calendar.day(at),
                sig=draw(st.floats(0, 1)),
                category=draw(st.sampled_from(["fact", "preference", "commitment", "decision", "hobby"])),
            )
        )
    return found


def digest(period: Period, states: list[EntryState], calendar: Calendar, now: datetime) -> str:
    """Return one digest as of an instant."""
    today = calendar.start(calendar.day(now))
    return compile_digest(period, states, now=today, facts=FactSettings(), calendar=calendar)


def shown(text: str) -> list[str]:
    """Return the ids a digest names."""
    return [one for line in cited_lines(text) for one in line.ids]


@pytest.mark.slow
@given(st.data(), ZONES, STARTS, INSTANTS, st.integers(100, 2_000))
def test_a_digest_is_a_selection(
    data: st.DataObject, zone: str, start: str, now: datetime, tokens: int
) -> None:
    """Each entry stands in at most one digest, that of its own day, with its id, within the tokens there are (R-40)."""
    calendar = Calendar(zone, start)
    states = data.draw(stores(calendar, now))
    by_id = {state.entry.id: state for state in states}
    settings = SummarySettings(max_today_tokens=tokens, max_week_tokens=tokens, max_longterm_tokens=tokens)
    seen: list[str] = []
    for period in periods(calendar.day(now), settings):
        text = digest(period, states, calendar, now)
        assert estimate(text) <= tokens
        assert digest(period, list(reversed(states)), calendar, now) == text
        ids = shown(text)
        seen += ids
        assert all(period.holds(by_id[one].entry.day) for one in ids)
        assert all(f"`mem_id: {one}`" in text for one in ids)
        assert text.count("\n- ") == len(ids)
        assert not [one for one in ids if by_id[one].hidden or by_id[one].done]
    assert len(set(seen)) == len(seen)


@pytest.mark.slow
@given(st.data(), ZONES, STARTS, INSTANTS)
def test_what_is_hidden_vanishes_and_takes_nothing_along(
    data: st.DataObject, zone: str, start: str, now: datetime
) -> None:
    """Whatever entry is hidden or forgotten is in none of the next digests, and every other line stays."""
    calendar = Calendar(zone, start)
    states = data.draw(stores(calendar, now))
    wanted = periods(calendar.day(now), SummarySettings())
    before = [shown(digest(period, states, calendar, now)) for period in wanted]
    named = [one for ids in before for one in ids]
    if not named:
        return
    gone = data.draw(st.sampled_from(named))
    rest = [state for state in states if state.entry.id != gone]
    after = [shown(digest(period, rest, calendar, now)) for period in wanted]
    assert after == [[one for one in ids if one != gone] for ids in before]


@given(st.dates(date(2026, 1, 1), date(2027, 12, 31)))
def test_the_periods_leave_no_day_out(today: date) -> None:
    """Every day up to today is in exactly one period, and the long term's change on Mondays alone (R-41)."""
    found = periods(today.isoformat(), SummarySettings())
    for back in range(40):
        day = (today - timedelta(days=back)).isoformat()
        assert sum(period.holds(day) for period in found) == 1
    week, longterm = found[1:]
    assert 7 <= (today - date.fromisoformat(week.since)).days <= 13
    before = periods((today - timedelta(days=1)).isoformat(), SummarySettings())[2]
    assert (before == longterm) == (today.weekday() != 0)


def test_the_long_term_changes_once_a_week() -> None:
    """From Monday to Sunday the same store gives the same long-term digest, though its entries age (L-24)."""
    calendar = Calendar("UTC", "00:00")
    states = generated(300)
    texts = []
    for day in range(20, 34):  # 2026-07-20 is a Monday
        now = datetime(2026, 7, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)
        texts.append(digest(periods(calendar.day(now), SummarySettings())[2], states, calendar, now))
    assert len(set(texts[:7])) == len(set(texts[7:])) == 1
    assert texts[0] != texts[7]


def test_requests_name_their_summary() -> None:
    """A request in a digest names the summary it is from, and takes only what entries leave (R-42)."""
    calendar = Calendar("UTC", "00:00")
    period = periods("2026-07-01", SummarySettings(max_today_tokens=100))[0]
    asked = [
        Request(f"2026-07-01T{n:02}:00:00Z", f"Asked: question {n}?", "summaries/x.md") for n in range(20)
    ]
    now = datetime(2026, 7, 1, tzinfo=UTC)
    text = compile_digest(
        period,
        [state_of(1, "Tea is green")],
        requests=asked,
        now=now,
        facts=FactSettings(),
        calendar=calendar,
    )
    assert "Tea is green" in text
    assert "- Asked: question 19? [[summaries/x]]" in text
    assert "question 0?" not in text
    assert estimate(text) <= 100
