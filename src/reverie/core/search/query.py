"""What a query asks for, besides its words: days, quoted phrases, when, and of whom.

Owns the reading of queries in English and Chinese; promises that any text parses and that relative days are
counted from the given reference day; never reads the clock.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

import msgspec

from reverie.core.text import tokens
from reverie.core.text.cues import MONTHS, WEEKDAYS
from reverie.core.text.patterns import Words


class Period(NamedTuple):
    """Days `[first, last]` that a query names, both included."""

    first: date
    last: date


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed query.

    `words` are its plain words for matching names; `phrases` the quoted parts, normalised; `asks_when` says the
    answer is a date; `of_assistant`, that it is about what the assistant said; `overall`, that it asks for a summary.
    `stems` are the terms that are looked for in a text as they stand.
    """

    text: str
    terms: tuple[str, ...]
    words: frozenset[str]
    stems: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    periods: tuple[Period, ...] = ()
    asks_when: bool = False
    of_assistant: bool = False
    overall: bool = False


_TELLING = 3  # letters of a Latin stem that do not stand in words by chance
_STEMS = 24  # of a long query only so many are looked for
_QUOTED = Words(r"[\"“”„«»「『]([^\"“”„«»「」『』]{2,200})[\"“”«»」』]")
_WORD = Words(r"\w+")
_WHEN = Words(
    r"\bwhen\b|\bhow (?:long|old|recently)\b|\b(?:what|which) (?:date|day|month|year|time|week)\b"
    r"|什么时候|何时|哪天|哪一天|几月|几号|哪年|多久|いつ",
    fold=True,
)
_ASSISTANT = Words(
    r"\byou (?:\w+ly )?(?:said|told|suggested|recommended|mentioned|gave|explained|advised|proposed|promised|wrote)\b"
    r"|\bdid you (?:say|tell|suggest|recommend|mention|give|explain|advise|propose|promise|write)\b"
    r"|\byour (?:suggestions?|advice|recommendations?|answer|reply|explanation|promises?)\b|\bthe assistant\b"
    r"|你(?:之前|上次|曾经|当时|曾)?(?:说|建议|推荐|提到|告诉|答应|给我|解释|承诺)|助手",
    fold=True,
)
_OVERALL = Words(r"\bsummar\w*|\boverview\b|\brecap\b|总结|概括|概述|回顾|まとめ", fold=True)
_MONTH = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<y>(?:19|20)\d\d)"
_HAN_NUMBERS = {han: n for n, han in enumerate("零一二三四五六七八九十", start=0)} | {
    "两": 2,
    "日": 7,
    "天": 7,
    "十一": 11,
    "十二": 12,
}
_COUNTS = {
    word: n
    for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_COUNTS |= {"a": 1, "an": 1, "couple": 2, "few": 3}

_DAY_PATTERNS = tuple(
    Words(pattern, fold=True)
    for pattern in (
        rf"(?<!\d){_YEAR}[-/.年](?P<n>\d{{1,2}})[-/.月](?P<d>\d{{1,2}})[日号]?(?!\d)",
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: {_YEAR})?\b",
        rf"\b{_MONTH} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,? {_YEAR})?\b(?!\d)",
        r"(?<![\d年])(?P<n>\d{1,2})月(?P<d>\d{1,2})[日号]",
    )
)
_MONTH_PATTERNS = tuple(
    Words(pattern, fold=True)
    for pattern in (
        rf"(?<!\d){_YEAR}[-/年](?P<n>\d{{1,2}})(?:月|\b)",
        rf"\b{_MONTH},?(?: of)? {_YEAR}\b",
        rf"\b(?:in|of|since|during|last|this|early|late|mid|by|until|before|after) {_MONTH}(?!\w)",
        r"(?P<n>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?!前)",
    )
)
_YEAR_PATTERN = Words(rf"(?<![\d-]){_YEAR}年?(?![\d-])")
_NEAR = (  # words and the offset of their day
    (Words(r"\bday before yesterday\b|(?<!大)前天", fold=True), -2),
    (Words(r"(?<!before )\byesterday\b|\blast night\b|昨[天晚日]", fold=True), -1),
    (
        Words(r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|今[天晚日早]", fold=True),
        0,
    ),
    (Words(r"(?<!after )\btomorrow\b|明[天晚日早]", fold=True), 1),
    (Words(r"\bday after tomorrow\b|后天", fold=True), 2),
)
_SEVERAL = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few"
_HAN_SEVERAL = r"\d{1,3}|[一二两三四五六七八九十]"
_HAN_UNIT = r"天|日|周|星期|礼拜|月|年"
_AGO = Words(
    rf"\b(?P<c>{_SEVERAL}) (?P<u>day|week|month|year)s? ago\b"
    rf"|(?P<hc>{_HAN_SEVERAL})个?(?P<hu>{_HAN_UNIT})[之以]?前",
    fold=True,
)
_PAST = Words(
    rf"\b(?:past|last|previous) (?P<c>{_SEVERAL}) (?P<u>day|week|month|year)s\b"
    rf"|(?:最近|过去|近)(?P<hc>{_HAN_SEVERAL})个?(?P<hu>{_HAN_UNIT})",
    fold=True,
)
_TURNED = Words(
    r"\b(?P<t>last|past|previous|this|next) (?P<u>week|weekend|month|year)\b"
    r"|(?P<ht>上上|上|这|本|下|去|今|前|明)(?:一)?个?(?P<hu>周末|周|星期|礼拜|月|年)(?P<hd>[一二三四五六日天])?",
    fold=True,
)
_WEEKDAY = Words(rf"\b(?P<t>last|this|next|on) (?P<w>{'|'.join(WEEKDAYS)})\b", fold=True)
_TURNS = {
    "last": -1,
    "past": -1,
    "previous": -1,
    "this": 0,
    "next": 1,
    "上上": -2,
    "上": -1,
    "这": 0,
    "本": 0,
    "下": 1,
}
_TURNS |= {"去": -1, "今": 0, "前": -2, "明": 1}
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "周末": "weekend",
    "月": "month",
    "年": "year",
}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def parse(text: str, today: date) -> Query:
    """Return what `text` asks for; relative days count from `today`, the asker's logical day."""
    plain = tokens.normalise(text[:50_000])
    terms = tuple(tokens.query_terms(text))
    short = text[:2_000]  # a longer query is a pasted text, whose dates are not what is asked for
    return Query(
        text=text,
        terms=terms,
        stems=tuple(term for term in terms if len(term) >= _TELLING or not term.isascii())[:_STEMS],
        words=frozenset(_WORD.findall(plain)),
        phrases=tuple(dict.fromkeys(tokens.normalise(found) for found in _QUOTED.findall(short))),
        periods=tuple(dict.fromkeys(_periods(short, today))),
        asks_when=bool(_WHEN.search(short)),
        of_assistant=bool(_ASSISTANT.search(short)),
        overall=bool(_OVERALL.search(short)),
    )


def _periods(text: str, today: date) -> list[Period]:
    """Return the days `text` names, most exact first; what an exact form used is not read again."""
    found: list[Period] = []
    for pattern in _DAY_PATTERNS:
        text = _take(pattern, text, found, today)
    for pattern in _MONTH_PATTERNS:
        text = _take(pattern, text, found, today)
    found += [_year(int(match["y"])) for match in _YEAR_PATTERN.finditer(text)]
    found += [_shifted(today, offset) for pattern, offset in _NEAR if pattern.search(text)]
    for match in _AGO.finditer(text):
        found.append(_ago(today, _count(match["c"] or match["hc"]), _unit(match)))
    for match in _PAST.finditer(text):
        reach = _count(match["c"] or match["hc"]) * _UNIT_DAYS[_unit(match)]
        found.append(Period(_shifted(today, -reach).first, today))
    for match in _TURNED.finditer(text):
        found += _turned(match, today)
    for match in _WEEKDAY.finditer(text):
        found.append(_weekday(match, today))
    return found


def _take(pattern: Words, text: str, found: list[Period], today: date) -> str:
    """Move what `pattern` matches in `text` to `found` and return the rest."""

    def read(match: re.Match[str]) -> str:
        period = _calendar(match.groupdict(), today)
        if period is None:
            return match[0]
        found.append(period)
        return " "

    return pattern.sub(read, text)


def _calendar(groups: dict[str, str | None], today: date) -> Period | None:
    """Return the period of a matched date; a missing year is the latest one that is not after `today`."""
    name, number, day, year = (groups.get(key) for key in ("m", "n", "d", "y"))
    if name:
        if name in {"may", "march", "mar"} and not day and not year:
            return None  # in small letters these are verbs
        month = next(n for n, full in enumerate(MONTHS, start=1) if full.startswith(name.lower()[:3]))
    else:
        month = _han(number or "0")
    when = int(year) if year else today.year
    try:
        if day:
            exact = date(when, month, int(day))
            if not year and exact > today:
                exact = date(when - 1, month, int(day))
            return Period(exact, exact)
        start = date(when, month, 1)
        if not year and start > today:
            start = date(when - 1, month, 1)
    except ValueError:  # no such day, as in 31 June or month 13
        return None
    return _month(start)


def _year(year: int) -> Period:
    return Period(date(year, 1, 1), date(year, 12, 31))


def _month(day: date) -> Period:
    first = day.replace(day=1)
    after = (first + timedelta(days=31)).replace(day=1)
    return Period(first, after - timedelta(days=1))


def _shifted(today: date, days: int) -> Period:
    """Return the day `days` from `today`, held within what a date can be."""
    day = date.fromordinal(max(1, min(date.max.toordinal() - 400, today.toordinal() + days)))
    return Period(day, day)


def _ago(today: date, count: int, unit: str) -> Period:
    """Return about `count` units before `today`: speakers round, so the period is half a unit wide on each side."""
    slack = _UNIT_DAYS[unit] // 2
    return Period(
        _shifted(today, -count * _UNIT_DAYS[unit] - slack).first,
        _shifted(today, -count * _UNIT_DAYS[unit] + slack).last,
    )


def _turned(match: re.Match[str], today: date) -> list[Period]:
    """Return the period of `last week`, `this month`, `下周三` and their like."""
    turn = _TURNS[(match["t"] or match["ht"]).lower()]
    unit = _unit(match)
    if (match["ht"] or "") in ({"上", "下", "上上"} if unit == "year" else {"去", "今", "前", "明"}):
        return []  # 上年 is ambiguous, and 去月 is not said
    monday = _shifted(today, -today.weekday() + 7 * turn).first
    if unit == "week":
        if match["hd"]:
            return [_shifted(monday, _han(match["hd"]) - 1)]
        return [Period(monday, monday + timedelta(days=6))]
    if unit == "weekend":
        return [Period(monday + timedelta(days=4), monday + timedelta(days=6))]
    if unit == "month":
        return [
            _month(_shifted(today.replace(day=15), 30 * turn).first)
        ]  # mid-month, a month is 30 days long
    return [_year(max(date.min.year, min(date.max.year, today.year + turn)))]


def _weekday(match: re.Match[str], today: date) -> Period:
    """Return the day of `on Monday` (the latest), `last Monday` (before today) or `next Monday` (after it)."""
    ahead = WEEKDAYS.index(match["w"].lower()) - today.weekday()
    turn = match["t"].lower()
    if turn == "next":
        return _shifted(today, ahead + 7 if ahead <= 0 else ahead)
    if ahead > 0 or (turn == "last" and ahead == 0):
        ahead -= 7
    return _shifted(today, ahead)


def _unit(match: re.Match[str]) -> str:
    return match["u"].lower() if match["u"] else _UNITS[match["hu"]]


def _count(word: str) -> int:
    first = word.lower().split()[0]
    return _COUNTS.get(first) or _han(first)


def _han(word: str) -> int:
    return int(word) if word.isdecimal() else _HAN_NUMBERS.get(word, 0)
