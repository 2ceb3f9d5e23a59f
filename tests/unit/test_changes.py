"""What the user says has changed, told in two sessions a day apart, from the turn to what is current."""

from __future__ import annotations

from pathlib import Path

import pytest
from desk import Desk


def told(desk: Desk, first: str, then: str) -> tuple[set[str], list[str]]:
    """Return the texts that are current after both were said and stored, and the topics that wait for a word."""
    for day, words in enumerate((first, then)):
        desk.say(words, session=f"day {day}")
        desk.memory.extract()
        desk.memory.drain()
        desk.clock.advance(days=1)
    texts = {state.entry.text for state in desk.memory.list() if state.current}
    return texts, [item.topic for item in desk.memory.review()]


@pytest.mark.parametrize(
    ("first", "then", "current"),
    [
        (
            "I work at Northwind as a data analyst.",
            "I don't work at Northwind any more. I now work at Halcyon.",
            {"User does not work at Northwind any more", "User now works at Halcyon"},
        ),
        ("I live in Ghent.", "I moved to Amsterdam.", {"User moved to Amsterdam"}),
        ("我在北辰科技做数据分析。", "我跳槽到远山网络了。", {"用户跳槽到远山网络了"}),
        ("我住在成都。", "我搬到昆明了。", {"用户搬到昆明了"}),
        (
            "果果的班主任姓黄。",
            "更正一下，果果的班主任姓王，不是姓黄。",
            {"更正：果果的班主任姓王，不是姓黄"},
        ),
    ],
)
def test_a_change_leaves_the_new_statement_current_and_the_old_one_as_history(
    first: str, then: str, current: set[str], tmp_path: Path
) -> None:
    """Also where the two share no word, the new employer, home or name is current and nothing is asked (R-01, P-10)."""
    with Desk(tmp_path) as desk:
        assert told(desk, first, then) == (current, [])


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("果果每周六上午九点上游泳课。", "游泳课改到周日上午十点了。"),
        ("My sister Lea studies law.", "Sorry, it's Lena, not Lea."),
        ("I live in Kreuzberg.", "I moved to Amsterdam."),
    ],
)
def test_a_doubtful_change_leaves_both_current_and_asks(first: str, then: str, tmp_path: Path) -> None:
    """A moved lesson, a correction of an unsaid thing and a move between unknown places wait for a word."""
    with Desk(tmp_path) as desk:
        texts, topics = told(desk, first, then)
    assert len(texts) == 2
    assert topics == ["contradiction"]
