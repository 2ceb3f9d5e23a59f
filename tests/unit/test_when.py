"""The dates people say are resolved against the instant at which they said them, and only when they are certain."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar, is_when, parse_instant
from reverie.core.records import Turn
from reverie.model.rules import when_en, when_zh
from reverie.model.rules.turns import extract
from reverie.model.rules.when import Anchor, carry

WEDNESDAY = datetime.fromisoformat("2026-07-01T10:00:00+02:00")
PRESENT = Anchor(WEDNESDAY.date(), WEDNESDAY)
PAST = Anchor(WEDNESDAY.date(), WEDNESDAY, past=True)

ENGLISH = [
    ("by next Friday", "by 2026-07-10"),
    ("on Friday", "on 2026-07-03"),
    ("see her this Friday", "see her on 2026-07-03"),
    ("This Wednesday", "On 2026-07-01"),
    ("on Wednesday", "on 2026-07-08"),
    ("on Friday next week", "on 2026-07-10"),
    ("we meet tomorrow at 5pm", "we meet on 2026-07-02 17:00"),
    ("we meet at 5:30 pm tomorrow", "we meet on 2026-07-02 17:30"),
    ("until Monday morning", "until 2026-07-06"),
    ("the day after tomorrow", "On 2026-07-03"),
    ("due in two weeks", "due 2026-07-15"),
    ("within ten days", "by 2026-07-11"),
    ("by the end of the month", "by 2026-07-31"),
    ("by the end of the week", "by 2026-07-03"),
    ("by the end of next month", "by 2026-08-31"),
    ("by EOM", "by 2026-07-31"),
    ("it ends next month", "it ends in 2026-08"),
    ("due on the 15th", "due on 2026-07-15"),
    ("on July 9", "on 2026-07-09"),
    ("on 9 July 2027", "on 2027-07-09"),
    ("from July 3 to July 9", "from 2026-07-03 to 2026-07-09"),
    ("July 3-9", "2026-07-03 to 2026-07-09"),
    ("in March 2025", "in 2025-03"),
    ("on 24.12.2026", "on 2026-12-24"),
    ("tomorrow's call", "the 2026-07-02 call"),
    ("in October", "in 2026-10"),
    ("we meet next week", "we meet in the week of 2026-07-06"),
    ("by next week", "by 2026-07-12"),
    ("we meet this weekend", "we meet on the weekend of 2026-07-04"),
    ("on Monday the 27th", "on 2026-07-27"),
    ("on Wednesday, July 15", "on 2026-07-15"),
    ("on July 15 (Wednesday)", "on 2026-07-15 (Wednesday)"),
]
ENGLISH_PAST = [
    ("I left on Monday", "I left on 2026-06-29"),
    ("I left yesterday", "I left on 2026-06-30"),
    ("we met last Friday", "we met on 2026-06-26"),
    ("we met three weeks ago", "we met on 2026-06-10"),
    ("it broke last night", "it broke on 2026-06-30"),
    ("I was there in May", "I was there in 2026-05"),
    ("it ended on August 30", "it ended on 2025-08-30"),
    ("I bought it two years ago", "I bought it in 2024"),
]
CHINESE = [
    ("下周五之前交", "2026-07-10之前交"),
    ("周五交", "2026-07-03交"),
    ("本周五交", "2026-07-03交"),
    ("这周二开会", "2026-06-30开会"),
    ("明天下午三点半", "2026-07-02 15:30"),
    ("后天", "2026-07-03"),
    ("两周后", "2026-07-15"),
    ("三天内", "2026-07-04之前"),
    ("月底前", "2026-07-31前"),
    ("月底前三天", "2026-07-28"),
    ("下月初", "2026-08-01"),
    ("年底", "2026-12-31"),
    ("7 月 18 日到 22 日", "2026-07-18到 2026-07-22"),
    ("明年三月", "2027-03"),
    ("15号", "2026-07-15"),
    ("下个月", "2026-08"),
    ("半个月后", "2026-07-16"),
    ("今年", "2026年"),
    ("下周去", "2026-07-06那周去"),
    ("7月15日(周三)", "2026-07-15(周三)"),
]
CHINESE_PAST = [
    ("昨天去了", "2026-06-30去了"),
    ("上周五见了", "2026-06-26见了"),
    ("周一到了", "周一到了"),
    ("三个月前搬了", "2026-04-01搬了"),
    ("前天晚上八点到的", "2026-06-29 20:00到的"),
]
NO_DATES = [
    "every Monday",
    "on Mondays",
    "Monday to Friday",
    "the meeting is on 03/04/2026",
    "my birthday is on March 3",
    "I sat in the sun",
    "I may march on",
    "version 2.10.2024 beta",
    "a second opinion",
    "the 2nd floor",
    "in a few days",
    "soon",
]
NO_CHINESE_DATES = [
    "每周五",
    "一周一次",
    "我的生日是3月8日",
    "每月 1 号",
    "9 号线",
    "3号楼",
    "过两天",
    "第三天",
]


@pytest.mark.parametrize(("text", "expected"), ENGLISH)
def test_english_words_are_resolved(text: str, expected: str) -> None:
    """An English expression, said on Wednesday 2026-07-01, is replaced by its date."""
    assert carry(text, when_en.find(text, PRESENT)) == expected


@pytest.mark.parametrize(("text", "expected"), ENGLISH_PAST)
def test_english_words_look_back_in_the_past(text: str, expected: str) -> None:
    """In a sentence about the past, a weekday, month or day is the latest one."""
    assert carry(text, when_en.find(text, PAST)) == expected


@pytest.mark.parametrize(("text", "expected"), CHINESE)
def test_chinese_words_are_resolved(text: str, expected: str) -> None:
    """A Chinese expression, said on Wednesday 2026-07-01, is replaced by its date."""
    assert carry(text, when_zh.find(text, PRESENT)) == expected


@pytest.mark.parametrize(("text", "expected"), CHINESE_PAST)
def test_chinese_words_look_back_in_the_past(text: str, expected: str) -> None:
    """In a Chinese sentence about the past, a date is the latest one; a range of weekdays is none."""
    assert carry(text, when_zh.find(text, PAST)) == expected


@pytest.mark.parametrize("text", NO_DATES)
def test_what_recurs_or_is_ambiguous_has_no_date(text: str) -> None:
    """What recurs, happens yearly, or could be read in two ways is left as it stands."""
    assert when_en.find(text, PRESENT) == ()


@pytest.mark.parametrize("text", NO_CHINESE_DATES)
def test_what_recurs_in_chinese_has_no_date(text: str) -> None:
    """Recurring days, house numbers and underground lines are no dates."""
    assert when_zh.find(text, PRESENT) == ()


@pytest.mark.parametrize(
    ("zone", "at", "expected"),
    [
        ("Asia/Shanghai", "2026-07-01T20:00:00Z", "2026-07-03"),
        ("America/Los_Angeles", "2026-07-01T03:00:00Z", "2026-07-01"),
        ("Europe/Berlin", "2026-06-30T22:30:00Z", "2026-07-02"),
    ],
)
def test_tomorrow_counts_from_the_day_of_the_speaker(zone: str, at: str, expected: str) -> None:
    """The word "tomorrow" counts from the logical day of the turn in the workspace's zone (P-11, P-12)."""
    turn = Turn(role="user", content="I'll call the bank tomorrow.", at=parse_instant(at), n=0)
    (found,) = extract([turn], Calendar(zone, "00:00"))
    assert found.entry.due == expected


def test_a_late_night_belongs_to_the_day_before() -> None:
    """With a day that starts at 04:00, "tomorrow" said at 01:00 is the date that has already begun."""
    turn = Turn(
        role="user",
        content="I'll call the bank tomorrow.",
        at=parse_instant("2026-07-02T01:00:00+02:00"),
        n=0,
    )
    (found,) = extract([turn], Calendar("Europe/Berlin", "04:00"))
    assert found.entry.due == "2026-07-02"


def test_an_old_message_keeps_its_own_time() -> None:
    """A message imported years later is dated by its own instant, never by the clock (P-11)."""
    turn = Turn(
        role="user",
        content="Yesterday I ran the Graz marathon.",
        at=parse_instant("2019-10-14T09:00:00Z"),
        n=0,
    )
    (found,) = extract([turn], Calendar("UTC", "00:00"))
    assert found.entry.since == "2019-10-13"


DATE_WORDS = st.sampled_from(
    "next last this in on by the end of month week friday May 31 30th 99 days ago 2026-02-30 within 400 years at"
    " 25:00 13pm noon 下周 上 个 月底 三 天 前 内 半 年 明年 13月 40号 2月 30日 点 二十 十".split()
)


@given(words=st.lists(DATE_WORDS, max_size=12), glue=st.sampled_from(["", " "]), past=st.booleans())
def test_any_words_give_valid_dates_in_order(*, words: list[str], glue: str, past: bool) -> None:
    """Whatever words stand together, what is found is valid, in order, does not overlap and is bounded by the text."""
    text = glue.join(words)
    for edge in (WEDNESDAY, WEDNESDAY.replace(year=1), WEDNESDAY.replace(year=9998) + timedelta(days=180)):
        anchor = Anchor(edge.date(), edge, past)
        for find in (when_en.find, when_zh.find):
            end = 0
            for one in find(text, anchor):
                assert end <= one.start < one.end <= len(text)
                assert one.first <= one.last
                assert is_when(anchor.when(one)) or one.first.year < 1000
                end = one.end
