"""Tests of core.significance: decay, protection and the STARE scores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar
from reverie.core.fold import EntryState, fold
from reverie.core.records import Entry, Event
from reverie.core.settings.value import FactSettings
from reverie.core.significance import (
    decayed,
    decays,
    ended,
    faded,
    is_procedure,
    last_day,
    marks,
    protected,
    stare,
    weight,
)

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
FACTS = FactSettings()
UTC_DAYS = Calendar()
BERLIN = Calendar("Europe/Berlin", "00:00")


def state_of(
    text: str = "Zephyr renews every March", *, events: tuple[Event, ...] = (), **fields: object
) -> EntryState:
    """Return the state of an entry written at AT, after `events`."""
    whole = {
        "id": "83f33219d7033862",
        "text": text,
        "at": AT,
        "day": "2026-07-01",
        "origin": "user",
        **fields,
    }
    return fold(Entry(**whole), events)


def event(kind: str, *, days: float = 0, **fields: object) -> Event:
    """Return an event on the entry, `days` after it was written."""
    return Event(
        id=f"{kind}{days}", at=AT + timedelta(days=days), kind=kind, entry="83f33219d7033862", **fields
    )


def test_a_day_costs_a_hundredth() -> None:
    """A fact of significance 0.5 weighs 0.01 less each day and is stored as 0.5 all the while."""
    state = state_of(sig=0.5)
    assert decayed(state, AT, facts=FACTS) == 0.5
    assert decayed(state, AT + timedelta(days=10), facts=FACTS) == 0.4
    assert state.sig == 0.5


def test_the_floor_itself_is_not_faded() -> None:
    """A fact at exactly the floor of 0.2 is shown, and a day later it is faded (R-49)."""
    state = state_of(sig=0.5)
    assert not faded(state, AT + timedelta(days=30), facts=FACTS)
    assert faded(state, AT + timedelta(days=31), facts=FACTS)


def test_a_repeat_or_a_confirmation_starts_the_days_anew() -> None:
    """Decay counts from the last time the entry was confirmed."""
    state = state_of(sig=0.5, events=(event("confirm", days=25),))
    assert decayed(state, AT + timedelta(days=30), facts=FACTS) == 0.45


def test_before_it_was_written_nothing_is_lost() -> None:
    """An instant before the entry, as of a day's first instant, gives the stored significance and not more."""
    assert decayed(state_of(sig=0.5), AT - timedelta(days=9), facts=FACTS) == 0.5


def test_weight_never_falls_below_zero() -> None:
    """A fact years old weighs nothing, not less."""
    assert decayed(state_of(sig=0.5), AT + timedelta(days=3_000), facts=FACTS) == 0.0


@pytest.mark.parametrize(
    ("fields", "events"),
    [
        ({"category": "procedure"}, ()),
        ({"category": "decision"}, ()),
        ({"category": "personal"}, ()),
        ({"category": "personal_info"}, ()),
        ({"category": "commitment"}, ()),
        ({"due": "2026-07-09"}, ()),
        ({"sig": 0.9}, ()),
        ({"sig": 0.3}, (event("pin"),)),
    ],
)
def test_some_entries_do_not_decay(fields: dict[str, object], events: tuple[Event, ...]) -> None:
    """Pins, procedures, decisions, personal entries, open commitments and 0.90 keep their significance."""
    state = state_of(events=events, **fields)
    assert not decays(state)
    assert decayed(state, AT + timedelta(days=3_000), facts=FACTS) == state.sig


def test_a_kept_promise_decays() -> None:
    """A commitment that is done is a memory like any other."""
    assert decays(state_of(category="commitment", events=(event("complete"),)))


@pytest.mark.parametrize(
    ("fields", "events", "kept"),
    [
        ({"sig": 0.1}, (), False),
        ({"sig": 0.1, "category": "decision"}, (), False),
        ({"sig": 0.1, "category": "procedure"}, (), True),
        ({"sig": 0.1, "category": "commitment"}, (), True),
        ({"sig": 0.1}, (event("pin"),), True),
    ],
)
def test_low_significance_fades_unless_protected_or_owed(
    fields: dict[str, object], events: tuple[Event, ...], *, kept: bool
) -> None:
    """What lies below the floor from the start is faded, but never a pin, a procedure or an open commitment."""
    assert faded(state_of(events=events, **fields), AT, facts=FACTS) is not kept


def test_protection_is_by_pin_procedure_or_level() -> None:
    """A pin, a procedure and a significance of 0.90 protect; 0.89 does not."""
    assert protected(state_of(events=(event("pin"),)))
    assert protected(state_of(category="procedure"))
    assert protected(state_of(sig=0.90))
    assert not protected(state_of(sig=0.89))
    assert not protected(state_of(events=(event("pin"), event("unpin", days=1))))


@pytest.mark.parametrize("origin", ["tool", "file", "web", "import"])
def test_outside_text_is_no_procedure(origin: str) -> None:
    """Text of tool, file, web or import origin does not become a procedure by calling itself one (P-18)."""
    state = state_of(category="procedure", origin=origin)
    assert not is_procedure(state)
    assert not protected(state)


def test_repeats_alone_never_protect() -> None:
    """Fifty repeats leave an entry below the protected level (R-03)."""
    said = tuple(
        Event(id=f"r{n:03d}", at=AT, kind="repeat", entry=f"{n:016x}", other="83f33219d7033862")
        for n in range(50)
    )
    state = state_of(sig=0.5, events=said)
    assert state.observations == 51
    assert not protected(state)


@given(sig=st.floats(0, 1), days=st.floats(-100, 5_000), later=st.floats(0, 5_000), rate=st.floats(0, 1))
def test_time_only_takes_weight(sig: float, days: float, later: float, rate: float) -> None:
    """The weight stays within 0 and 1 and never grows with time."""
    state = state_of(sig=sig)
    facts = FactSettings(max_importance_decay=rate)
    first, second = (weight(state, AT + timedelta(days=n), facts=facts) for n in (days, days + later))
    assert 0.0 <= second <= first <= 1.0


def test_a_protected_entry_weighs_at_least_the_protected_level() -> None:
    """A pin of low significance ranks with the protected ones."""
    assert weight(state_of(sig=0.3, events=(event("pin"),)), AT, facts=FACTS) == 0.9


# STARE


def scores(now: datetime = AT, *, events: tuple[Event, ...] = (), **fields: object) -> str:
    """Return the marks of an entry."""
    return marks(stare(state_of(events=events, **fields), now, calendar=UTC_DAYS))


def test_marks_tell_high_low_and_not_scored() -> None:
    """A score of 0.5 is a full mark, one below an empty one, None a dash."""
    assert marks((0.5, 0.49, None, 0.0, 1.0)) == "●○—○●"


def test_the_default_of_a_category_is_no_score() -> None:
    """An entry nobody judged shows five dashes."""
    assert scores() == "—————"
    assert scores(category="procedure") == "—————"


def test_significance_is_scored_when_somebody_set_it() -> None:
    """The writer's significance, feedback and a repeat each make S a score."""
    repeat = Event(id="r", at=AT, kind="repeat", entry="0" * 16, other="83f33219d7033862")
    assert scores(sig=0.5)[0] == "●"
    assert scores(sig=0.3)[0] == "○"
    assert scores(events=(event("feedback", value="less"),))[0] == "○"
    assert scores(events=(repeat,))[0] == "●"


def test_the_writers_scores_stand() -> None:
    """Given scores are shown as given; where nothing moved the significance, the given S is it."""
    assert scores(stare=(0.8, 0.3, None, None, None)) == "●○———"
    assert (
        scores(stare=(None, 0.1, 0.9, 0.2, 0.7), who="Dana", due="2026-07-01", category="commitment")
        == "—○●○●"
    )
    assert stare(state_of(sig=0.2, stare=(0.9, None, None, None, None)), AT, calendar=UTC_DAYS)[0] == 0.2


@pytest.mark.parametrize(
    ("fields", "score"),
    [
        ({}, None),
        ({"category": "commitment", "due": "2026-07-01"}, 1.0),
        ({"category": "commitment", "due": "2026-06-01"}, 1.0),
        ({"category": "commitment", "due": "2026-07-15"}, 0.5),
        ({"category": "commitment", "due": "2026-07"}, 0.5 ** (30 / 14)),
        ({"until": "2026-07-29"}, 0.25),
        ({"until": "2026-06-30"}, 0.0),
        ({"since": "2026-07-15"}, 0.5),
        ({"since": "2020"}, None),
        ({"since": "2020", "until": "2026-07-15"}, 0.5),
        ({"category": "commitment", "due": "no date at all"}, None),
    ],
)
def test_temporal_is_the_distance_to_the_next_day_that_matters(
    fields: dict[str, object], score: float | None
) -> None:
    """T halves with every fortnight to the day on which the entry falls due, begins or ends."""
    assert stare(state_of(**fields), AT, calendar=UTC_DAYS)[1] == score


@pytest.mark.parametrize(
    ("who", "about", "score"),
    [
        ("", "", None),
        ("user", "", 0.0),
        ("Dana", "", 0.5),
        ("Dana", "user", 0.5),
        ("Dana, Lena", "Zephyr", 0.875),
        ("Dana", "dana", 0.5),
        ("用户", "小红和小明", 0.75),
    ],
)
def test_relational_counts_the_others_named(who: str, about: str, score: float | None) -> None:
    """R grows with the people and things named besides the user and the agent."""
    assert stare(state_of(who=who, about=about), AT, calendar=UTC_DAYS)[3] == score


def test_episodic_is_what_is_known_of_the_occasion() -> None:
    """E is the share of when, who, where and words that an episode has on record."""
    fields = {"category": "event", "since": "2026-06-30", "who": "Dana"}
    whole = {**fields, "session": "s", "turns": "3", "evidence": "Dana called"}
    assert stare(state_of(**fields), AT, calendar=UTC_DAYS)[4] == 0.5
    assert stare(state_of(**whole), AT, calendar=UTC_DAYS)[4] == 1.0
    assert stare(state_of(category="episode"), AT, calendar=UTC_DAYS)[4] is None
    assert stare(state_of(evidence="Dana called"), AT, calendar=UTC_DAYS)[4] is None


@given(
    due=st.sampled_from(
        ["", "2026-07-03", "2026", "0001-01-01", "9999-12-31", "2026-07-03T10:00:00+02:00", "soon"]
    ),
    until=st.sampled_from(["", "2026-02", "9999"]),
    since=st.sampled_from(["", "0001", "2027-01-01"]),
    who=st.text(max_size=20),
    category=st.sampled_from(["fact", "episode", "commitment", "own-kind"]),
)
def test_every_score_is_a_share_or_none(due: str, until: str, since: str, who: str, category: str) -> None:
    """Whatever the fields hold, each score is None or from 0 to 1."""
    state = state_of(due=due, until=until, since=since, who=who, category=category)
    assert all(score is None or 0.0 <= score <= 1.0 for score in stare(state, AT, calendar=BERLIN))


def test_the_writers_until_ends_it() -> None:
    """An entry true until a day has ended when that day is over; an episode and a broken date never have."""
    state = state_of(until="2026-07-01")
    assert not ended(state, AT, calendar=UTC_DAYS)
    assert ended(state, datetime(2026, 7, 2, tzinfo=UTC), calendar=UTC_DAYS)
    assert not ended(
        state_of(until="2026-07-01", category="event"), AT + timedelta(days=9), calendar=UTC_DAYS
    )
    assert not ended(state_of(until="?"), AT, calendar=UTC_DAYS)


def test_a_when_has_a_last_day() -> None:
    """The last day of a month is its last date, of an instant the day it falls on in the zone, of nonsense none."""
    assert last_day("2026-02", BERLIN) == "2026-02-28"
    assert last_day("2026-07-03T23:30:00Z", BERLIN) == "2026-07-04"
    assert last_day("someday", BERLIN) == ""
