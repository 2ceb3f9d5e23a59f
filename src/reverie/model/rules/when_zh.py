"""The Chinese words for times: one pattern, read once over a sentence.

Owns the vocabulary; the rules are in the docstring of `when`. Never reads a clock.
"""

from __future__ import annotations

import re
from datetime import date, time

from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules import when
from reverie.model.rules.when import Anchor, Dated, DueRole

_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_RELATIVE = {
    "大后天": 3,
    "后天": 2,
    "明": 1,
    "今": 0,
    "昨": -1,
    "前天": -2,
    "大前天": -3,
}
_STEPS = {"上上": -2, "上": -1, "": 0, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEARS = {"前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
_WEEKDAYS = {
    **{char: at for at, char in enumerate("一二三四五六日")},
    **{str(at + 1): at for at in range(7)},
    "天": 6,
}

_N = r"(?:\d{1,3} ?|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_STEP = r"(?:上上|下下|[上下这本])"
_PART = r"(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)"
_TIME = (
    rf"(?P<part>{_PART})?(?:(?P<hour>{_N})点(?:(?P<halfpast>半)|(?P<quarter>[一三])刻|(?P<minute>{_N})分?|整|钟)?"
    rf"|(?P<hour24>\d{{1,2}})[:：](?P<minute24>\d\d)(?!\d))"
)
_FIND = Words(
    rf"""(?P<iso>(?<![\d-])\d{{4}}-\d\d-\d\d(?![\d-]))|(?P<relative>大后天|后天|大前天|前天|[今明昨](?:天
    |日|晚|早|儿)){_PART}?|(?<![每一二两三四几单双隔])(?P<daystep>{_STEP})?个?(?:周|星期
    |礼拜)(?P<weekday>[一二三四五六日天1-6])(?![到至、~-]|次|个|期){_PART}?
    |(?P<weekend>(?<![每]){_STEP}?个?周末)
    |(?P<monthedge>(?<![每个\d])(?:{_STEP}个?)?月(?P<medge>[底末初])(?:前(?P<back>{_N})天)?)
    |(?P<yearedge>[今明去]?年(?P<yedge>[底末初]))(?!级)|(?:(?P<year>\d{{4}}
    |[今明去后前]) ?年的? ?)?(?P<month>{_N})月份?(?: ?(?P<day>{_N})[日号]
    |(?P<mpart>[底末初]))?(?![个\d])
    |(?P<stepmonth>{_STEP}个?)月(?: ?(?P<stepday>{_N})[日号])?(?![底末初])
    |(?<![\d每.第月:个])(?<!月 )(?<!每 )(?P<monthday>{_N})[号日](?![楼线院店机门桌房库码])
    |(?P<week>(?:上上|下下|[上下])个?(?:周|星期|礼拜)|[这本]个?(?:周|星期
    |礼拜))(?![一二三四五六日天末1-6期])|(?P<yearword>(?<!\d)(?:今年|明年|后年|去年|前年))(?!\d
    |[一二三四五六七八九十]+月)|(?P<fullyear>(?:19|20)\d\d) ?年(?!\d|代|前)|(?<![第\d])(?P<count>{_N}
    |半)个?(?P<unit>天|日|星期|周|礼拜|月|年)(?:之|以)?(?P<way>后|前|内)"""
)
_OWN_PART = Words(rf"{_PART}$|[今明昨][晚早]$")
_AFTER = Words(rf"的?{_TIME}")
_BY = Words(r"\s*(?:之前|以前|前(?![天年后])|截止|到期|内)")
_SINCE = Words(r"\s*(?:起|开始|以来|之后|以后)")
_UNTIL_BEFORE = Words(r"(?<![改迟前挪延定约搬期])(?:到|至|直到)\s*$")
_SINCE_BEFORE = Words(r"(?:从|自从|自)\s*$")
_DUE_BEFORE = Words(
    r"(?:截止(?:日期|时间)?|期限|到期日?|ddl|DDL|deadline)\s*(?:是|为|在|到|[:：])?\s*$", fold=True
)
_HABIT = Words(
    r"一般|通常|平时|平常|经常|常常|总是|习惯|往往|一向|向来|从不|从来|偶尔|有时|周末才(?![^,，。]*了)"
)
_YEARLY = Words(r"生日(?:是|在|:|：)|出生|生于|每年|周年|纪念日")


def number(text: str) -> int:
    """Return the value of a number below 1,000 in digits or below 100 in characters."""
    text = text.strip()
    if text.isdigit() and text.isascii():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)
    return _DIGITS[text]


def find(text: str, anchor: Anchor) -> tuple[Dated, ...]:
    """Return the times a Chinese text names, in their order, without overlaps."""
    yearly = _YEARLY.search(text) is not None
    habit = _HABIT.search(text) is not None
    found: list[Dated] = []
    for match in _FIND.finditer(text):
        if yearly and match["month"] and not match["year"]:
            continue
        if habit and (match["weekend"] == "周末" or (match["weekday"] and match["daystep"] is None)):
            continue
        if match["weekday"] and found and when.named(found[-1], text[found[-1].end : match.start()]):
            continue
        one = _resolve(match, anchor)
        if one is not None:
            found.append(_timed(text, _role(text, one)))
    return tuple(found)


def _resolve(match: re.Match[str], anchor: Anchor) -> Dated | None:
    for name, read in _READERS.items():
        if match[name] is not None:
            return read(match, anchor)
    return None


def _one(match: re.Match[str], day: date | None, *, relative: bool = True) -> Dated | None:
    if day is None:
        return None
    return Dated(match.start(), match.end(), day, day, day.isoformat(), relative=relative)


def _iso(match: re.Match[str], _: Anchor) -> Dated | None:
    year, month, day = (int(part) for part in match["iso"].split("-"))
    return _one(match, when.make(year, month, day=day), relative=False)


def _relative(match: re.Match[str], anchor: Anchor) -> Dated | None:
    word = match["relative"]
    days = _RELATIVE.get(word)
    return _one(match, when.shift(anchor.day, days=_RELATIVE[word[0]] if days is None else days))


def _weekday(match: re.Match[str], anchor: Anchor) -> Dated | None:
    index = _WEEKDAYS[match["weekday"]]
    if match["daystep"] is None:
        return _one(match, when.weekday(anchor, index))
    first = when.monday(anchor.day, _STEPS[match["daystep"]])
    return None if first is None else _one(match, when.shift(first, days=index))


def _step(word: str) -> int:
    return _STEPS[re.sub(r"[^上下]", "", word)]


def _span(match: re.Match[str], anchor: Anchor) -> Dated | None:
    unit = "weekend" if match["weekend"] else "week"
    span = when.period(anchor, unit, step=_step(match[unit]))
    if span is None:
        return None
    return Dated(
        match.start(),
        match.end(),
        *span,
        f"{span[0].isoformat()}那{'个周末' if unit == 'weekend' else '周'}",
        "days",
    )


def _edge(match: re.Match[str], anchor: Anchor) -> Dated | None:
    if match["medge"]:
        span = when.period(anchor, "month", step=_step(match["monthedge"]))
        edge = match["medge"]
    else:
        span = when.period(anchor, "year", step=_YEARS.get(match["yearedge"][0], 0))
        edge = match["yedge"]
    if span is None:
        return None
    day = span[0] if edge == "初" else span[1]
    return _one(match, when.shift(day, days=-number(match["back"])) if match["back"] else day)


def _month(match: re.Match[str], anchor: Anchor) -> Dated | None:
    month = number(match["month"])
    if not 1 <= month <= 12:  # noqa: PLR2004
        return None
    year = None
    if match["year"]:
        year = int(match["year"]) if match["year"].isdigit() else anchor.day.year + _YEARS[match["year"]]
    if match["day"]:
        day = number(match["day"])
        made = when.make(year, month, day=day) if year else when.nearest(anchor, month, day=day)
        return _one(match, made, relative=False)
    first = when.make(year, month, day=1) if year else when.month_near(anchor, month)
    if first is None:
        return None
    if match["mpart"]:
        return _one(match, first if match["mpart"] == "初" else when.month_end(first))
    return Dated(
        match.start(), match.end(), first, when.month_end(first), f"{first:%Y-%m}", "month", relative=False
    )


def _step_month(match: re.Match[str], anchor: Anchor) -> Dated | None:
    span = when.period(anchor, "month", step=_step(match["stepmonth"]))
    if span is None:
        return None
    if match["stepday"]:
        return _one(match, when.make(span[0].year, span[0].month, day=number(match["stepday"])))
    return Dated(match.start(), match.end(), *span, f"{span[0]:%Y-%m}", "month")


def _month_day(match: re.Match[str], anchor: Anchor) -> Dated | None:
    day = number(match["monthday"])
    for step in (0, -1) if anchor.past else (0, 1, 2):
        month = when.shift(anchor.day.replace(day=1), months_=step)
        made = None if month is None else when.make(month.year, month.month, day=day)
        if made is not None and (made <= anchor.day if anchor.past else made >= anchor.day):
            return _one(match, made, relative=False)
    return None


def _year(match: re.Match[str], anchor: Anchor) -> Dated | None:
    relative = match["fullyear"] is None
    year = anchor.day.year + _YEARS[match["yearword"][0]] if relative else int(match["fullyear"])
    first = when.make(year, 1, day=1)
    if first is None:
        return None
    return Dated(
        match.start(), match.end(), first, date(year, 12, 31), f"{year:04d}年", "year", relative=relative
    )


def _distance(match: re.Match[str], anchor: Anchor) -> Dated | None:
    unit = {"天": "day", "日": "day", "月": "month", "年": "year"}.get(match["unit"], "week")
    sign = -1 if match["way"] == "前" else 1
    if match["count"] == "半":
        if unit in {"week", "day"}:
            return None
        day = when.distance(
            anchor, sign * (15 if unit == "month" else 6), unit="day" if unit == "month" else "month"
        )
    else:
        day = when.distance(anchor, sign * number(match["count"]), unit=unit)
    one = _one(match, day)
    if one is None or match["way"] != "内":
        return one
    return replace(one, words=f"{one.words}之前", role="by")


_READERS = {
    "iso": _iso,
    "relative": _relative,
    "weekday": _weekday,
    "weekend": _span,
    "monthedge": _edge,
    "yearedge": _edge,
    "month": _month,
    "stepmonth": _step_month,
    "monthday": _month_day,
    "week": _span,
    "yearword": _year,
    "fullyear": _year,
    "count": _distance,
}


def _role(text: str, one: Dated) -> Dated:
    """Say what the characters around the date make of it."""
    if one.role:
        return one
    role: DueRole = ""
    before = text[max(0, one.start - 12) : one.start]
    if _DUE_BEFORE.search(before):
        role = "due"
    elif _BY.match(text, one.end):
        role = "by"
    elif _UNTIL_BEFORE.search(before):
        role = "until"
    elif _SINCE_BEFORE.search(before) or _SINCE.match(text, one.end):
        role = "since"
    return replace(one, role=role)


def _timed(text: str, one: Dated) -> Dated:
    """Take in the time of day that follows the date; a part of day in the date's own words counts for it."""
    if one.first != one.last:
        return one
    match = _AFTER.match(text, one.end)
    own = _OWN_PART.search(text[one.start : one.end])
    clock = None if match is None else _clock(match, own[0] if own else "")
    if match is None or clock is None:
        return one
    moved = replace(one, end=match.end(), words=f"{one.words} {clock:%H:%M}", clock=clock)
    return _role(text, moved)


def _clock(match: re.Match[str], own: str) -> time | None:
    if match["hour24"]:
        return when.at_time(int(match["hour24"]), int(match["minute24"]), half="")
    hour = number(match["hour"])
    part = match["part"] or own
    late = part in {"下午", "傍晚", "晚上", "夜里"} or part.endswith("晚") or (part == "中午" and hour < 10)  # noqa: PLR2004
    if late and hour < 12:  # noqa: PLR2004
        hour += 12
    minute = 30 if match["halfpast"] else 15 * number(match["quarter"]) if match["quarter"] else 0
    return when.at_time(hour, number(match["minute"]) if match["minute"] else minute, half="")
