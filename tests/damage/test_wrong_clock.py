"""A clock that is wrong by a year, by decades or by millennia: every verb ends in words, and nothing is lost by it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from lived import NOON, copy, open_memory
from planting import LET_GO, World, known
from rounds import Round

from reverie.core.records import Draft, Turn

CLOCKS = {
    "a year back": datetime(2025, 7, 3, 12, tzinfo=UTC),
    "1970": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
    "1969": datetime(1969, 12, 31, 23, tzinfo=UTC),
    "the year 1": datetime(1, 1, 2, 13, tzinfo=UTC),
    "2038": datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    "2262": datetime(2262, 4, 12, tzinfo=UTC),
    "9999": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
}
READS = ("status", "list", "due", "recall", "context", "review", "log", "check", "doctor", "capture", "more")


@pytest.mark.slow
@pytest.mark.parametrize("clock", CLOCKS)
def test_every_verb_ends_in_words_by_a_wrong_clock(world: World, tmp_path: Path, clock: str) -> None:
    """A whole round by a clock that is wrong, then one by the right clock: all that was acknowledged is there."""
    home = copy(world.home, tmp_path / "home")
    wrong = Round(home, days=(CLOCKS[clock] - NOON).days).run()
    assert {name: error for name, error in wrong.errors.items() if name in READS} == {}
    right = Round(home, first=1 << 50, days=3).run()
    assert set(right.errors) <= {"hide", "forget", "erase"}  # of what was let go by the wrong clock
    entries, turns = known(home, first=1 << 52)
    gone = (world.entries | {*wrong.kept, *right.kept}) - entries | (
        world.turns | {*wrong.turns, *right.turns}
    ) - turns
    assert [text for text in gone if text and not any(word in text for word in LET_GO)] == []


@pytest.mark.parametrize("clock", CLOCKS)
def test_what_was_said_by_a_wrong_clock_is_found_by_the_right_one(
    tmp_path: Path, clock: str, world: World
) -> None:
    """Turns and entries of a wrong day are recalled, drained and dreamt like others once the clock is right again."""
    home = copy(world.home, tmp_path / "home")
    days = (CLOCKS[clock] - NOON).days
    with open_memory(home, days=days, first=1 << 48) as memory:
        memory.capture("strange", Turn(role="user", content="My canoe is called Heron.", at=CLOCKS[clock]))
        memory.extract()
    with open_memory(home, days=4, first=1 << 49) as memory:
        memory.remember("The heron nests in May", Draft(sig=0.8))
        memory.consolidate()
        assert any("Heron" in hit.text for hit in memory.recall("canoe heron").hits)
        assert memory.check() == ()
        assert "heron nests" in memory.context().text
