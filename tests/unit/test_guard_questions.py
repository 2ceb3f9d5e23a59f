"""Where the guard asks a person: what may have changed, and what the older statement says besides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie.core.guard.relation import relate
from reverie.core.records import Entry

BEFORE = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def kind(old: str, new: str) -> str:
    """Return what the new text, said five days later, is to the old one."""
    entries = [
        Entry(id=f"{days:016x}", text=text, at=at, day=at.strftime("%Y-%m-%d"), origin="user")
        for days, text, at in ((0, old, BEFORE), (5, new, BEFORE + timedelta(days=5)))
    ]
    relation = relate(entries[1], entries[0])
    return relation.kind if relation else "none"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("User lives in Ghent", "User moved to Amsterdam", "supersedes"),
        ("User lives in Kreuzberg", "User moved to Amsterdam", "contradicts"),
        ("User lives in Berlin", "User moved to Kreuzberg", "contradicts"),
        ("User lives in Berlin", "User lives in Kreuzberg", "none"),
        ("User lives in Berlin", "User moved to Google", "none"),
        ("用户住在成都", "用户搬到青羊区了", "contradicts"),
        ("The flight is at 14:20", "The flight is at 16:50", "contradicts"),
        ("The flight is at 14:20", "The flight is now at 16:50", "supersedes"),
        ("航班是14:20", "航班是16:50", "contradicts"),
        ("The laptop cost 900 euros", "The laptop cost 950 euros", "none"),
        ("The rent is 900 euros", "The rent is 900 dollars", "none"),
        ("The rent is 900 euros", "The rent is now 900 dollars", "supersedes"),
    ],
)
def test_what_may_be_a_change_is_asked_and_not_made(old: str, new: str, expected: str) -> None:
    """An unknown place, another time of one thing or another unit replaces nothing without a mark of change."""
    assert kind(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User works at Google, and User's sister Ana is allergic to nuts", "User now works at Microsoft"),
        ("用户在谷歌工作，老婆苏敏是医生", "用户现在在微软工作"),
        ("User's manager is Dana, Dana is vegan", "User's manager is Ben"),
    ],
)
def test_a_fact_told_beside_the_one_that_changed_is_not_replaced_with_it(old: str, new: str) -> None:
    """A statement that goes on about somebody else is put in review when its first clause is overtaken."""
    assert kind(old, new) == "contradicts"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("User's sister Lea studies law", "User's sister's name is Lena, not Lea", "contradicts"),
        ("User's sister Lea studies law", "Correction: User's sister Lena studies law, not Lea", "corrects"),
        ("User's cat is called Lea", "User's sister's name is Lena, not Lea", "none"),
        ("User's sister Lena was called Lea", "User's sister is Lena, not Lea", "none"),
        ("果果的班主任姓黄", "更正：果果的班主任姓王，不是姓黄，用户备注看错了", "corrects"),
        ("果果的班主任姓黄，说周五开会", "更正：果果的班主任姓王，不是姓黄，用户备注看错了", "contradicts"),
        ("果果的班主任姓王", "果果的班主任换了，果果的班主任现在姓黄", "supersedes"),
        ("果果的班主任姓王", "果果的班主任不姓王，姓黄", "corrects"),
        ("果果春游2026-07-09去动物园", "果果春游改到2026-07-10", "contradicts"),
        ("果果春游2026-07-09去动物园", "果果生日改到2026-07-10", "none"),
        ("The offsite on 2026-07-09 is in Porto", "The offsite moved to 2026-07-16", "contradicts"),
        ("The meeting is on Tuesday", "The meeting moved to 10:00", "none"),
        ("用户在北辰科技做数据分析", "用户2026-06跳槽了，用户现在在远山网络", "supersedes"),
    ],
)
def test_a_correction_or_a_move_asks_about_what_the_old_statement_says_besides(
    old: str, new: str, expected: str
) -> None:
    """What is corrected whole is replaced; a longer statement that holds the wrong word or time is put in review."""
    assert kind(old, new) == expected


def test_an_undated_deed_of_two_days_is_two_deeds() -> None:
    """The same purchase, told on two days without a date, is not folded, in English and in Chinese."""
    assert kind("User bought a bike", "User bought a bike") == "none"
    assert kind("用户买了一辆自行车", "用户买了一辆自行车") == "none"
