"""A time in words that stands alone means what it means in a turn, and anything that may mean more is no time."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.days import Calendar, is_when
from reverie.model.rules.when_said import when_said

BERLIN = Calendar("Europe/Berlin")
WEDNESDAY = datetime.fromisoformat("2026-07-01T10:00:00+02:00")

MEANT = [
    ("today", "2026-07-01"),
    ("Tomorrow", "2026-07-02"),
    ("tomorrow.", "2026-07-02"),
    ("the day after tomorrow", "2026-07-03"),
    ("friday", "2026-07-03"),
    ("by Friday", "2026-07-03"),
    ("before Friday", "2026-07-03"),
    ("next Friday", "2026-07-10"),
    ("Friday next week", "2026-07-10"),
    ("in two weeks", "2026-07-15"),
    ("within ten days", "2026-07-11"),
    ("next week", "2026-07-12"),
    ("this weekend", "2026-07-05"),
    ("by the end of the month", "2026-07-31"),
    ("EOM", "2026-07-31"),
    ("next month", "2026-08-31"),
    ("in October", "2026-10-31"),
    ("by the 15th", "2026-07-15"),
    ("on July 9", "2026-07-09"),
    ("24.12.2026", "2026-12-24"),
    ("tomorrow at 5pm", "2026-07-02T15:00:00Z"),
    ("Friday 17:30", "2026-07-03T15:30:00Z"),
    ("noon tomorrow", "2026-07-02T10:00:00Z"),
    ("明天", "2026-07-02"),
    ("后天", "2026-07-03"),
    ("周五", "2026-07-03"),
    ("下周五", "2026-07-10"),
    ("下周五之前", "2026-07-10"),
    ("截止周五", "2026-07-03"),
    ("两周后", "2026-07-15"),
    ("十天内", "2026-07-11"),
    ("月底前", "2026-07-31"),
    ("下个月", "2026-08-31"),
    ("7月10号之前", "2026-07-10"),
    ("明天下午三点", "2026-07-02T13:00:00Z"),
    ("明晚8点", "2026-07-02T18:00:00Z"),
]
UNCERTAIN = """\
|soon|asap|someday|sat|weekend|03/04/2026|every friday|monday or tuesday|tomorrow or Friday|call tomorrow|in an hour
an hour ago|5 minutes ago|3pm|in the morning|Friday?|in 4000 days|not tomorrow|tomorrow tomorrow
每周五|国庆|过两天|三小时后|明天开会|明天或后天|不是明天|下午三点
""".replace("\n", "|").split("|")


@pytest.mark.parametrize(("text", "when"), MEANT)
def test_words_alone_mean_what_they_mean_in_a_turn(text: str, when: str) -> None:
    """P-11: a day, a stretch to its last day, or a time on the workspace's clock, in English and in Chinese."""
    assert when_said(text, WEDNESDAY, calendar=BERLIN, last=True) == when


@pytest.mark.parametrize("text", UNCERTAIN)
def test_what_may_mean_more_than_one_time_means_none(text: str) -> None:
    """P-11: what recurs, is closer than a day, stands among other words or is no time at all is never guessed."""
    assert not when_said(text, WEDNESDAY, calendar=BERLIN, last=True)


def test_a_stretch_begins_on_its_first_day() -> None:
    """From when something is true is the first day of a week or month, until when its last."""
    assert when_said("next week", WEDNESDAY, calendar=BERLIN) == "2026-07-06"
    assert when_said("next month", WEDNESDAY, calendar=BERLIN) == "2026-08"


def test_the_day_is_the_workspaces() -> None:
    """R-40: shortly after midnight in a workspace whose day begins at four, tomorrow is the date of the morning."""
    late = datetime.fromisoformat("2026-07-02T01:00:00+02:00")
    owls = Calendar("Europe/Berlin", "04:00")
    assert when_said("tomorrow", late, calendar=owls) == "2026-07-02"
    assert when_said("tomorrow", late, calendar=BERLIN) == "2026-07-03"


WORDS = "by on at next last end of the month Friday tomorrow 12 3pm 下 周 五 月 底 前 明 天".split()


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=6).map(" ".join))
def test_whatever_is_written_is_a_time_or_none(text: str) -> None:
    """No text fails, and what is returned can be stored."""
    when = when_said(text, WEDNESDAY, calendar=BERLIN, last=True)
    assert not when or is_when(when)
