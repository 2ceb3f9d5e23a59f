"""A promise is closed by a later statement that tells of keeping all of it, and by nothing less."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from desk import NOON, Desk

from reverie.core.days import format_instant, parse_instant
from reverie.core.fold import EntryState, fold
from reverie.core.guard.keeping import keeps
from reverie.core.guard.links import links_of
from reverie.core.records import Entry


def _promise(text: str, **fields: Any) -> Entry:
    told = {"category": "commitment", "due": "2026-07-03", "origin": "user", **fields}
    return Entry(id="1" * 16, text=text, at=NOON, day="2026-07-01", **told)


def _said(text: str, *, days: int = 1, **fields: Any) -> Entry:
    told = {"category": "episode", "origin": "user", **fields}
    return Entry(id="2" * 16, text=text, at=NOON + timedelta(days=days), day="2026-07-02", **told)


def _open(promise: Entry, **changes: Any) -> EntryState:
    return EntryState(entry=promise, sig=0.7, confirmed=promise.at, due=promise.due, **changes)


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        ("User will send Dana the quote by 2026-07-03", "User sent Dana the quote"),
        ("User will send Dana the quote by 2026-07-03", "User finally sent Dana the quote this morning"),
        ("User has to renew their passport before 2026-07-31", "User renewed their passport"),
        ("User must pay the invoice on 2026-07-03", "User has paid the invoice"),
        ("用户要把报价单发给方敏", "报价单用户今天早上已经发给方敏了"),
        ("2026-07-20之前用户得把申请书交了", "用户把申请书交了"),
    ],
)
def test_a_deed_that_is_all_of_the_promise_keeps_it(promise: str, said: str) -> None:
    """The same deed, told as done and later, closes the promise with an event that names it."""
    old, new = _promise(promise), _said(said)
    (link,) = links_of(new, [_open(old)], at=NOON + timedelta(days=2), by="test")
    assert (link.kind, link.entry, link.other) == ("complete", old.id, new.id)
    assert new.id in link.why
    assert fold(old, [link]).done
    assert not fold(old, [link]).open_commitment


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        ("User will send Dana the quote by 2026-07-03", "User sent Ben the quote"),
        ("User will send Dana the quote by 2026-07-03", "User sent the quote"),
        ("User will send Dana the quote by 2026-07-03", "User did not send Dana the quote"),
        ("User will send Dana the quote by 2026-07-03", "User should have sent Dana the quote"),
        ("User will send Dana the quote by 2026-07-03", "Dana sent User the quote"),
        ("User will send Dana the quote by 2026-07-03", "User will send Dana the quote tomorrow"),
        ("User will send Dana two quotes by 2026-07-03", "User sent Dana the quotes"),
        ("Dana will send User the quote", "User sent Dana the quote"),
        ("User must not call the bank", "User called the bank"),
        ("用户要把报价单发给方敏", "报价单用户还没发给方敏"),
        ("用户要把报价单发给方敏", "报价单用户已经发给高远了"),
    ],
)
def test_less_or_other_than_the_promise_keeps_nothing(promise: str, said: str) -> None:
    """Another person, a part, a denial, a plan or the other direction leaves the promise due."""
    links = links_of(_said(said), [_open(_promise(promise))], at=NOON + timedelta(days=2), by="test")
    assert "complete" not in {link.kind for link in links}


def test_only_what_stands_later_and_was_said_by_the_user_or_the_agent_keeps_a_promise() -> None:
    """Earlier words, text of a web page, and what was merely discussed close nothing (P-18)."""
    promise = _promise("User will send Dana the quote")
    assert not keeps(_said("User sent Dana the quote", days=-1), promise)
    assert not keeps(_said("User sent Dana the quote", origin="web"), promise)
    assert not keeps(_said("User sent Dana the quote", status="discussed"), promise)
    assert keeps(_said("User sent Dana the quote", origin="agent"), promise)


def test_a_closed_promise_is_not_closed_again() -> None:
    """A promise that is done gets no second completion."""
    state = _open(_promise("User will send Dana the quote"), done=True)
    links = links_of(_said("User sent Dana the quote"), [state], at=NOON + timedelta(days=2), by="test")
    assert "complete" not in {link.kind for link in links}


def test_a_kept_promise_leaves_the_due_list_and_a_new_date_brings_it_back(tmp_path: Path) -> None:
    """What the user says to have done closes what they said they would do; another date opens it again."""
    with Desk(tmp_path) as desk:
        desk.say("I will send Dana the quote by Friday.")
        desk.memory.extract()
        desk.memory.drain()
        (promise,) = desk.memory.due().lines
        desk.clock.advance(days=1)
        desk.say("I sent Dana the quote.", session="later")
        desk.memory.extract()
        desk.memory.drain()
        assert not desk.memory.due().lines
        desk.clock.advance(minutes=1)
        desk.memory.done(promise.state.entry.id, until="2026-07-10")
        assert [line.shown for line in desk.memory.due().lines] == ["2026-07-10"]


@pytest.mark.parametrize(
    ("first", "third"),
    [
        ("2026-10-16T07:00:00Z", "2026-10-30T08:00:00Z"),  # 9:00 in Berlin, set back on 2026-10-25
        ("2027-03-19T08:00:00Z", "2027-04-02T07:00:00Z"),  # 9:00 in Berlin, set on on 2027-03-28
    ],
)
def test_a_keeping_that_is_told_leaves_the_time_of_day_on_the_wall(
    tmp_path: Path, first: str, third: str
) -> None:
    """A weekly promise of 9:00 that talk tells the keeping of is due at 9:00 again, over both changes of the clocks."""
    begun = parse_instant(first)
    with Desk(tmp_path, now=begun - timedelta(days=1), zone="Europe/Berlin") as desk:
        text = "User will send Dana the weekly report"
        promise = desk.remember(text, due=first, every="week", category="commitment")
        for weeks in (0, 1):
            desk.clock.now = begun + timedelta(weeks=weeks, hours=2)
            desk.say("I sent Dana the weekly report.", session=f"week-{weeks}")
            desk.memory.extract()
            desk.memory.drain()
        assert desk.memory.get(promise).due == third
        assert desk.memory.get(promise).kept == format_instant(begun + timedelta(weeks=1))
        desk.memory.reindex()
        assert desk.memory.get(promise).due == third


def test_a_time_that_is_told_of_twice_is_kept_once() -> None:
    """Two statements about one Friday move a weekly promise by one week, in whatever order they are folded."""
    old = _promise("User will send Dana the report", due="2026-07-03", every="week")
    told = [_said("User sent Dana the report", days=days) for days in (1, 2)]
    told = [msgspec.structs.replace(one, id=f"{number}" * 16) for number, one in enumerate(told, 2)]
    links = [
        link
        for one in told
        for link in links_of(one, [_open(old)], at=NOON + timedelta(days=9), by="test", zone="Europe/Berlin")
    ]
    assert [link.value for link in links] == ["Europe/Berlin"] * 2
    assert fold(old, links).due == fold(old, reversed(links)).due == "2026-07-10"


def test_an_unknown_zone_or_moment_in_the_events_keeps_the_memory_readable() -> None:
    """A link of a newer or damaged writer is counted by UTC and by when it was noted, and fails nothing."""
    old = _promise("User will send Dana the report", due="2026-07-03T09:00:00Z", every="week")
    (link,) = links_of(_said("User sent Dana the report"), [_open(old)], at=NOON, by="test", zone="UTC")
    odd = msgspec.structs.replace(link, value="Mars/Olympus", when="soon", at=NOON + timedelta(days=3))
    assert fold(old, [odd]).due == "2026-07-10T09:00:00Z"
