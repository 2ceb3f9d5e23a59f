"""Tests of promises through the whole memory: when they are due, kept, put off, and due again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from desk import NOON, Desk

from reverie.core.records import Draft
from reverie.errors import InvalidRecord, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_promise_that_comes_again_is_due_until_cancelled(desk: Desk) -> None:
    """Kept, it is due at its next time, once for each time however often that is said; cancelled, it is due no more."""
    water = desk.remember("Water the plants", every="every Friday")
    due = desk.memory.due().lines
    assert [(one.part, one.shown) for one in due] == [("upcoming", "2026-07-03")]
    assert "every friday" in due[0].line
    desk.memory.done(water)
    desk.memory.done(water)  # the same Friday, said twice
    assert [one.shown for one in desk.memory.due().lines] == ["2026-07-10"]
    desk.memory.drain()
    desk.clock.advance(days=20)
    assert [one.part for one in desk.memory.due().lines] == ["overdue"]
    desk.memory.done(water)
    assert [one.shown for one in desk.memory.due().lines] == ["2026-07-24"]
    desk.memory.done(water, until="2026-07-25")
    desk.clock.advance(days=4)
    desk.memory.done(water)
    assert [one.shown for one in desk.memory.due().lines] == ["2026-07-31"]
    desk.memory.done(water, cancelled=True)
    assert desk.memory.due().lines == ()
    assert "(every:: friday)" in desk.text("archive/2026-07-01.md")


def test_a_kept_promise_is_kept_once(desk: Desk) -> None:
    """Saying done or cancelled twice records it once, so that a retried call changes nothing."""
    quote = desk.remember("Send Dana the quote", due="2026-07-10")
    desk.memory.done(quote)
    desk.memory.done(quote)
    assert [one.kind for one in desk.memory.history(quote) if one.kind == "complete"] == ["complete"]


def test_a_due_time_without_a_zone_is_the_workspaces(tmp_path: Path) -> None:
    """A date and time without an offset is taken in the workspace's zone, at first and when put off."""
    with Desk(tmp_path, zone="Europe/Berlin") as desk:
        quote = desk.remember("Send Dana the quote", due="2026-07-10 15:00")
        (one,) = desk.memory.due().lines
        assert (one.by.isoformat(), one.shown) == ("2026-07-10T13:00:00+00:00", "2026-07-10 15:00")
        desk.memory.done(quote, until="2026-07-11 09:00")
        assert desk.memory.get(quote).due == "2026-07-11T07:00:00Z"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"due": "someday"}, "due 'someday' is no date"),
        ({"due": "2026-06-30"}, "due 2026-06-30 lies in the past"),
        ({"due": "2026-07-01T11:59:59Z"}, "lies in the past"),
        ({"due": "2026-07-10", "every": "now and then"}, "is no repetition"),
        ({"every": "week"}, "needs a first date"),
        ({"due": "2026-08", "every": "month"}, "needs a first date"),
    ],
)
def test_a_promise_of_nonsense_is_refused_and_kept(desk: Desk, fields: dict[str, str], said: str) -> None:
    """A due time that is none or past, and a repetition that is none, is a clear error; the text is set aside."""
    with pytest.raises(InvalidRecord, match=said):
        desk.remember("Send Dana the quote", **fields)
    assert desk.memory.due().lines == ()
    assert len(desk.memory.status().quarantine) == 1


def test_a_keyed_promise_repeated_after_its_time_is_known(desk: Desk) -> None:
    """A retry of a keyed promise that comes when it is overdue already is no error and changes nothing."""
    first = desk.remember("Send Dana the quote", due="2026-07-10", key="quote")
    desk.clock.advance(days=30)
    again = desk.memory.remember("Send Dana the quote", Draft(due="2026-07-10", key="quote", origin="user"))
    assert (again.id, again.repeated) == (first, True)


def test_what_was_promised_long_ago_may_be_overdue(desk: Desk) -> None:
    """A promise made in the past, as an import has them, may have been due since."""
    desk.remember("Renew the passport", due="2026-06-10", at=NOON - timedelta(days=30))
    assert [one.part for one in desk.memory.due().lines] == ["overdue"]


def test_a_promise_may_be_due_in_words(desk: Desk) -> None:
    """P-11: words are resolved against when it was said on the workspace's calendar; the answer says the date."""
    quote = desk.memory.remember("Send Dana the quote", Draft(due="by next Friday", origin="user"))
    assert (quote.when, desk.memory.get(quote.id).due) == ("2026-07-10", "2026-07-10")
    before = Draft(
        due="下周五", at=NOON - timedelta(days=30), since="last week", until="next month", origin="user"
    )
    renew = desk.memory.get(desk.memory.remember("Renew the passport", before).id)
    assert (renew.due, renew.entry.since, renew.entry.until) == ("2026-06-12", "2026-05-25", "2026-07-31")
    desk.memory.done(quote.id, until="in two weeks")
    assert desk.memory.get(quote.id).due == "2026-07-15"


@pytest.mark.parametrize(
    "due", ["yesterday", "昨天", "last Friday", "every friday", "03/04/2027", "call tomorrow"]
)
def test_words_that_are_past_or_uncertain_are_refused(desk: Desk, due: str) -> None:
    """A time in words that has gone by, comes again or may be another one stores no promise, and loses no text."""
    with pytest.raises(InvalidRecord):
        desk.remember("Send Dana the quote", due=due)
    assert desk.memory.due().lines == ()
    assert "Send Dana the quote" in desk.memory.review()[0].text


def test_a_promise_is_cancelled_or_put_off(desk: Desk) -> None:
    """Both at once is a contradiction, whoever says it."""
    quote = desk.remember("Send Dana the quote", due="2026-07-10")
    with pytest.raises(UsageError, match="cancelled and until exclude each other"):
        desk.memory.done(quote, cancelled=True, until="2026-07-11")
    assert [one.shown for one in desk.memory.due().lines] == ["2026-07-10"]


@pytest.mark.parametrize(
    ("until", "said"), [("soon", "is no date or time"), ("2026-06-30", "lies in the past")]
)
def test_putting_off_to_nonsense_is_refused(desk: Desk, until: str, said: str) -> None:
    """A promise cannot be put off into the past or to what is no time."""
    quote = desk.remember("Send Dana the quote", due="2026-07-10")
    with pytest.raises(UsageError, match=said):
        desk.memory.done(quote, until=until)
    assert desk.memory.get(quote).due == "2026-07-10"


def test_what_is_no_promise_cannot_be_kept(desk: Desk) -> None:
    """Done on a plain entry is a mistake of the caller."""
    tea = desk.remember("User likes tea")
    with pytest.raises(UsageError, match="is no promise"):
        desk.memory.done(tea)


def test_a_time_needs_a_zone_that_somebody_set(tmp_path: Path) -> None:
    """Where nobody set `zone`, a due time says its offset, seconds or not; a day needs none; extraction needs none."""
    with Desk(tmp_path, zone="") as desk:
        with pytest.raises(InvalidRecord, match="due 2026-07-10T15:00 has no zone: add an offset"):
            desk.remember("Call the clinic", due="2026-07-10 15:00")
        with pytest.raises(InvalidRecord, match="due 2026-07-02T15:00 has no zone: add an offset"):
            desk.remember("Call the clinic", due="tomorrow at 3pm")
        assert "Call the clinic" in desk.memory.review()[0].text
        call = desk.remember("Call the clinic", due="2026-07-10T15:00+02:00")
        day = desk.remember("Send the quote", due="2026-07-10")
        with pytest.raises(UsageError, match="has no zone"):
            desk.memory.done(call, until="2026-07-11 15:00")
        desk.memory.done(call, until="2026-07-11 15:00Z")
        assert desk.memory.get(call).due == "2026-07-11T15:00:00Z"
        assert desk.memory.get(day).due == "2026-07-10"
        desk.say("Remind me to water the plants tomorrow at 9 am.")
        desk.memory.extract()
        assert desk.memory.status().quarantine == desk.again().status().quarantine
        assert len(desk.memory.status().quarantine) == 2
