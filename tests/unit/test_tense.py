"""A date points where its sentence says: to a thing to come or back to what was, and nowhere where none can tell."""

import pytest

from reverie.core.days import Calendar, parse_instant
from reverie.core.records import Entry, Turn
from reverie.model.grounding import absolute, dates_named, ground
from reverie.model.rules.turns import extract

BERLIN = Calendar("Europe/Berlin", "00:00")
MONDAY = parse_instant("2026-11-30T10:00:00+01:00")

AHEAD = [
    ("I've got an interview on Thursday.", "2026-12-03"),
    ("Called Dr. Weiss, I've got an appointment on December 3rd at 8:30", "2026-12-03T08:30:00+01:00"),
    ("I've got a dentist appointment on Friday", "2026-12-04"),
    ("I have a dentist appointment on January 5th", "2027-01-05"),
    ("I've got a meeting tomorrow", "2026-12-01"),
    ("I booked a flight to Rome on May 3", "2027-05-03"),
    ("My flight is on August 1", "2027-08-01"),
    ("I have an exam on July 10th", "2027-07-10"),
    ("I was invited to a wedding on December 5th", "2026-12-05"),
    ("I was invited to a wedding in December", "2026-12"),
    ("I've been invited to a conference on January 20", "2027-01-20"),
    ("Lea invited me to her party on Saturday", "2026-12-05"),
    ("Lea sent me tickets for December 20th", "2026-12-20"),
    ("We bought concert tickets for March 3", "2027-03-03"),
    ("The dentist appointment was moved to Friday", "2026-12-04"),
    ("My surgery was rescheduled for December 14th", "2026-12-14"),
    ("The launch was pushed to December 10", "2026-12-10"),
    ("I received an invitation for January 10th", "2027-01-10"),
    ("We've got guests coming over on Saturday", "2026-12-05"),
    ("I was assigned to the Zurich project, starting Monday", "2026-12-07"),
    ("I was given an exam slot on December 9", "2026-12-09"),
    ("I just have one meeting on Friday", "2026-12-04"),
    ("我拿到了1月5日的面试通知", "2027-01-05"),
    ("我收到了周五的面试通知", "2026-12-04"),
    ("我订了1月3号去上海的机票", "2027-01-03"),
    ("牙医预约改到周五了", "2026-12-04"),
    ("公司安排了周四的体检", "2026-12-03"),
]
BEHIND = [
    ("I had an interview on Thursday", "2026-11-26"),
    ("I met Lea on Friday", "2026-11-27"),
    ("On Friday I met Lea", "2026-11-27"),
    ("I got a promotion on Friday", "2026-11-27"),
    ("I've got promoted on Friday", "2026-11-27"),
    ("I went to a wedding on Saturday", "2026-11-28"),
    ("I took the exam on Friday", "2026-11-27"),
    ("I missed my flight on Friday", "2026-11-27"),
    ("I ran a marathon on Sunday", "2026-11-29"),
    ("I got married on May 3", "2026-05-03"),
    ("我参加了周六的婚礼", "2026-11-28"),
    ("周五我收到了面试通知", "2026-11-27"),
    ("我周五去了医院", "2026-11-27"),
]
UNTOLD = [
    ("We decided on Friday to use Postgres", "on Friday"),
    ("The meeting on Friday was cancelled", "on Friday"),
    ("I got an invitation on Friday", "on Friday"),
    ("I finished the report by Friday", "by Friday"),
]


def entries(said: str) -> list[Entry]:
    """What the extractor finds in one message of that Monday."""
    turn = Turn(role="user", content=said, at=MONDAY, session="s", n=1)
    return [found.entry for found in extract([turn], BERLIN)]


@pytest.mark.parametrize(("said", "since"), AHEAD + BEHIND)
def test_a_date_points_where_its_verb_says(said: str, since: str) -> None:
    """An event's date is the coming one or the one before, by what the verb nearest before it tells."""
    assert [entry.since for entry in entries(said)] == [since]
    assert since[:10] in entries(said)[0].text


@pytest.mark.parametrize(("said", "since"), [("我收到了11月2日的演出票", "2027-11-02"), *AHEAD[-5:]])
def test_a_model_is_held_to_the_same_direction(said: str, since: str) -> None:
    """The dates of what a model quotes point the way they do by rule."""
    assert [one.first.isoformat() for one in dates_named(said, MONDAY, calendar=BERLIN)] == [since]


@pytest.mark.parametrize(("said", "words"), UNTOLD)
def test_a_date_of_which_none_can_tell_the_direction_stays_as_it_was_said(said: str, words: str) -> None:
    """The entry keeps the words and has no date, and a model may take them either way."""
    (entry,) = entries(said)
    assert words in entry.text
    assert (entry.since, entry.until, entry.due) == ("", "", "")
    assert absolute(said, MONDAY, calendar=BERLIN) == said
    turn = Turn(role="user", content=said, at=MONDAY, session="s", n=1)
    allowed = ground([turn], BERLIN)
    assert allowed.has_date("2026-11-27")
    assert allowed.has_date("2026-12-04")


def test_a_bound_in_the_past_and_one_to_come_are_told_apart() -> None:
    """What one was until Friday ended last Friday, what was granted until Friday lasts to the coming one."""
    assert [entry.until for entry in entries("I was in Rome until Friday")] == ["2026-11-27"]
    assert [entry.until for entry in entries("I got an extension until Friday")] == ["2026-12-04"]
