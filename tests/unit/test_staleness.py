"""Tests of how old MEMORY.md may be: by a rule of instants, and by the verbs that keep to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie.core.days import Calendar
from reverie.core.glance.staleness import Freshness, late, stale

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
UTC_DAYS = Calendar()


def at(**passed: float) -> datetime:
    """Return so long after noon."""
    return NOON + timedelta(**passed)


@pytest.mark.parametrize(
    ("seen", "now", "old"),
    [
        (Freshness(), at(days=9), False),
        (Freshness(last=NOON), at(minutes=59), False),
        (Freshness(last=NOON), at(hours=1), True),  # whatever nobody noted
        (Freshness(last=at(hours=11, minutes=30)), at(hours=12), True),  # another day
        (Freshness(last=NOON, waiting=at(seconds=5), pressing=True), at(seconds=59), False),
        (Freshness(last=NOON, waiting=at(seconds=5), pressing=True), at(seconds=60), True),
        (Freshness(last=NOON, waiting=at(seconds=5)), at(minutes=59, seconds=59), False),
        (Freshness(last=NOON, waiting=at(seconds=5)), at(minutes=60), True),
        (Freshness(waiting=NOON), at(minutes=59), False),
        (Freshness(waiting=NOON), at(minutes=60), True),
        (
            Freshness(last=at(days=-1), waiting=at(hours=2)),
            at(days=-1, hours=1),
            True,
        ),  # the clock was set back
    ],
)
def test_how_old_it_may_be(seen: Freshness, now: datetime, *, old: bool) -> None:
    """A notable change waits a minute, another an hour, noted or not, and the day makes it stale by itself."""
    assert stale(seen, now, calendar=UTC_DAYS) is old


def test_late_is_by_the_hour() -> None:
    """Only a change that has waited an hour is late, notable or not."""
    assert not late(Freshness(waiting=NOON, pressing=True), at(minutes=59))
    assert late(Freshness(waiting=NOON), at(hours=1))
    assert not late(Freshness(last=NOON), at(days=3))


def test_five_hundred_small_facts_are_shown_within_the_hour(desk: Desk) -> None:
    """Facts none of which is notable are in the file once an hour has passed and any drain comes by (R-38)."""
    for number in range(500):
        desk.remember(f"Small fact number {number}", sig=0.4)
    desk.memory.drain()
    assert not (desk.root / "MEMORY.md").exists()
    desk.clock.advance(hours=1)
    desk.remember("One more", sig=0.3)
    desk.memory.drain()
    assert "Small fact number 7" in desk.text("MEMORY.md")


@pytest.mark.parametrize("verb", ["context", "recall", "consolidate"])
def test_a_verb_that_reads_shows_what_waited(desk: Desk, verb: str) -> None:
    """A context shows it, a recall leaves it behind when the memory closes, and `consolidate` compiles anyway."""
    desk.remember("User likes tea")
    desk.memory.drain()
    desk.clock.advance(hours=1)
    verbs: dict[str, Callable[[], object]] = {
        "context": desk.memory.context,
        "recall": lambda: (desk.memory.recall("tea"), desk.memory.close()),
        "consolidate": desk.memory.consolidate,
    }
    verbs[verb]()
    assert "User likes tea" in desk.text("MEMORY.md")


@pytest.mark.parametrize("verb", ["context", "recall"])
def test_time_alone_is_noticed(desk: Desk, verb: str) -> None:
    """With nothing written since, the file of a later day is compiled anew, without what has faded by then (R-49)."""
    desk.remember("A quote of little weight", sig=0.5)
    desk.memory.consolidate()
    before = desk.text("MEMORY.md")
    desk.clock.advance(days=40)
    _ = desk.memory.context() if verb == "context" else (desk.memory.recall("quote"), desk.memory.close())
    after = desk.text("MEMORY.md")
    assert after != before
    stamp = (desk.root / ".state/counters/publish.json").read_bytes()
    desk.clock.advance(minutes=5)
    desk.memory.context()
    assert (desk.root / ".state/counters/publish.json").read_bytes() == stamp


def by_hand(desk: Desk) -> None:
    """Write a line into the log of the day as a person would."""
    with (desk.root / "archive/2026-07-01.md").open("a", encoding="utf-8") as file:
        file.write("- [fact] Mira plays the oboe\n")


@pytest.mark.parametrize(
    "happens",
    [
        by_hand,
        lambda desk: desk.remember("Mira plays the oboe", sig=0.3),
        lambda desk: (desk.say("I prefer the oboe to the flute."), desk.memory.extract()),
        lambda desk: desk.page(
            "3_Personal/Overview.md", "## About the User", "", f"- The oboe. {desk.cited(desk.tea)}"
        ),
        lambda desk: desk.flags.update({"publish.commitments": "true"}),
    ],
)
def test_a_change_that_nobody_noted_is_shown_within_the_hour(
    desk: Desk, happens: Callable[[Desk], object]
) -> None:
    """A line written by hand, a small fact that waits for the drain, a page and a setting are in the file by then."""
    desk.tea = desk.remember("User likes tea", sig=0.8)  # type: ignore[attr-defined]
    desk.remember("Tune the oboe", due="2026-07-09")
    desk.memory.drain()
    before = desk.text("MEMORY.md")
    desk.clock.advance(minutes=30)
    happens(desk)
    memory = desk.again()
    memory.context()
    assert desk.text("MEMORY.md") == before
    desk.clock.advance(minutes=30)
    memory.context()
    assert desk.text("MEMORY.md").count("oboe") > before.count("oboe") or "(due / overdue)" in desk.text(
        "MEMORY.md"
    )
    stamp = (desk.root / ".state/counters/publish.json").read_bytes()
    desk.clock.advance(minutes=59)
    memory.context()
    assert (desk.root / ".state/counters/publish.json").read_bytes() == stamp


def test_what_the_minute_held_back_is_shown_after_it(desk: Desk) -> None:
    """Two pins within a minute: the second stands in the file from the first verb on that comes after the minute."""
    tea, bread = desk.remember("User likes tea"), desk.remember("User bakes bread")
    desk.memory.drain()
    desk.memory.pin(tea)
    desk.memory.correct(bread, "User bakes cake", why="change")
    assert "cake" not in desk.text("MEMORY.md")
    desk.clock.advance(seconds=61)
    desk.memory.context()
    assert "cake" in desk.text("MEMORY.md")


@pytest.mark.parametrize(
    "happens",
    [
        lambda desk: desk.memory.correct(desk.tea, "User likes mate", why="change"),
        lambda desk: desk.memory.judge(desk.cocoa, 0.01),
        lambda desk: desk.memory.take_back(desk.memory.history(desk.quote)[0].id),
        lambda desk: desk.memory.erase([desk.tea]),
        lambda desk: (desk.clock.advance(days=1), desk.memory.dream(now=True)),
        lambda desk: desk.remember("Notable", sig=0.7),
        lambda desk: desk.remember("A deadline", due="2026-07-09"),
        lambda desk: desk.remember("A promise", category="commitment"),
        lambda desk: desk.remember("A pin", pin=True),
        lambda desk: desk.memory.feedback(desk.tea, "0.8"),
        lambda desk: desk.memory.pin(desk.tea),
        lambda desk: desk.memory.hide([desk.tea]),
        lambda desk: desk.memory.forget([desk.tea]),
        lambda desk: desk.memory.done(desk.quote),
    ],
)
def test_what_is_notable_is_shown_at_once(tmp_path: Path, happens: Callable[[Desk], object]) -> None:
    """Significance of 0.70, a pin, a deadline, a promise and every word on an entry, a dream too, compile the file."""
    with Desk(tmp_path) as desk:
        desk.tea = desk.remember("User likes tea", sig=0.3)  # type: ignore[attr-defined]
        desk.cocoa = desk.remember("User likes cocoa")  # type: ignore[attr-defined]
        desk.quote = desk.remember("Send Dana the quote", due="2026-07-10")  # type: ignore[attr-defined]
        desk.memory.drain()
        before = desk.text("MEMORY.md")
        desk.clock.advance(minutes=2)
        happens(desk)
        desk.memory.drain()
        assert desk.text("MEMORY.md") != before


@pytest.mark.parametrize("said", ["Remind me to call Dana by 2026-07-20.", "I now work at Microsoft."])
def test_what_an_extraction_brings_is_shown_before_the_drain(desk: Desk, said: str) -> None:
    """A promise that was read, and what replaces something known, compile the file when the extraction ends."""
    desk.remember("User works at Google", sig=0.8)
    desk.memory.drain()
    desk.clock.advance(minutes=2)
    desk.say(said)
    desk.memory.extract()
    assert "Dana" in desk.text("MEMORY.md") or "Microsoft" in desk.text("MEMORY.md")


def test_a_small_fact_waits(desk: Desk) -> None:
    """A fact below 0.70 compiles nothing before its hour, and `status` says so only when the hour is over."""
    desk.remember("Notable", sig=0.7)
    desk.memory.drain()
    before = desk.text("MEMORY.md")
    desk.clock.advance(minutes=2)
    desk.remember("Small", sig=0.69)
    desk.memory.drain()
    assert desk.text("MEMORY.md") == before
    assert desk.memory.status().problems == ()
    desk.clock.advance(minutes=61)
    (problem,) = desk.memory.status().problems
    assert problem.what == "MEMORY.md does not show what changed since 2026-07-01 12:02 UTC"


def test_switched_off_nothing_is_compiled_by_itself(tmp_path: Path) -> None:
    """With `auto_refresh` off neither a change nor the day writes the file, and nobody is told that it is late."""
    with Desk(tmp_path, **{"publish.auto_refresh": "false"}) as desk:
        desk.remember("Notable", sig=0.9)
        desk.memory.drain()
        desk.clock.advance(days=2)
        desk.memory.context()
        assert not (desk.root / "MEMORY.md").exists()
        assert desk.memory.status().problems == ()
        assert desk.memory.publish().changed


def test_a_context_is_answered_though_the_file_cannot_be_compiled(desk: Desk) -> None:
    """A MEMORY.md that a link stands in for keeps nobody from recalling."""
    desk.remember("User likes tea")
    desk.memory.drain()
    desk.clock.advance(hours=2)
    (desk.root / "MEMORY.md").symlink_to(desk.root / "USER.md")
    desk.memory.recall("tea")
    desk.memory.close()
    assert (desk.root / "MEMORY.md").is_symlink()
