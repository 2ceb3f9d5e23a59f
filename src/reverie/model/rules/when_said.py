"""A time in people's words that stands alone, as where something is due: `tomorrow`, `by Friday 5pm`, `下周五之前`.

Owns what may stand beside the words of a time; promises that the words mean what they mean in a turn, and that a text
which holds anything else, two times or one that comes again means none; never reads a clock.
"""

from __future__ import annotations

from datetime import date, datetime

from reverie.core.days import Calendar, format_instant, parse_instant
from reverie.core.text.patterns import Words
from reverie.model.rules import when_en, when_zh
from reverie.model.rules.when import Anchor

LONGEST = 80  # characters; no time is said in more

_HAN = Words(r"[\u3400-\u9fff]")
_BEFORE_EN = Words(r"(?:(?:by|before|on|at|in|until|till|from|since)(?: the)? *|the *)?", fold=True)
_BEFORE_ZH = Words(r"(?:在|到|于|从|自从?|截止到?|直到)? *")
_AFTER_ZH = Words(r" *(?:之前|以前|前|截止|到期|内|起|开始)?")
_CLOSER = Words(r"\b(?:hours?|minutes?)\b", fold=True)  # than a day, which is what the rules make of it


def when_said(text: str, at: datetime, *, calendar: Calendar, last: bool = False) -> str:
    """Return the date, month, year or instant that a text means which was said at `at`, "" where it means none.

    Of a stretch, such as next week, it is the first day, or with `last` the last one.
    """
    if len(text) > LONGEST or _CLOSER.search(text):
        return ""
    anchor = Anchor(date.fromisoformat(calendar.day(at)), calendar.local(at))
    chinese = _HAN.search(text) is not None
    found = (when_zh if chinese else when_en).find(text, anchor)
    if len(found) != 1:
        return ""
    (one,) = found
    before, after = text[: one.start], text[one.end :]
    alone = _BEFORE_ZH.fullmatch(before) and _AFTER_ZH.fullmatch(after) if chinese else _alone(before, after)
    if not alone:
        return ""
    when = anchor.when(one, last=last)
    return format_instant(parse_instant(when)) if one.clock is not None else when


def _alone(before: str, after: str) -> bool:
    """Whether around an English time nothing stands but the word that leads to it."""
    return _BEFORE_EN.fullmatch(before) is not None and after in {"", "."}
