"""The English words for times, and the days they name.

Owns the one pattern that finds them and the reading of each of its forms, by the rules in the docstring of `when`.
Never looks at the words around a time, and never reads a clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules import when
from reverie.model.rules.when import Anchor, Dated

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = "january february march april may june july august september october november december".split()
SHORT_DAYS = {
    "mon": 0,
    "tue": 1,
    "tues": 1,
    "wed": 2,
    "thu": 3,
    "thur": 3,
    "thurs": 3,
    "fri": 4,
    "sat": 5,
    "sun": 6,
}
_SHORT_MONTHS = {name[:3]: at + 1 for at, name in enumerate(_MONTHS)} | {"sept": 9}
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "a couple of": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fourteen": 14,
    "thirty": 30,
}
_RELATIVE = {
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "yesterday": -1,
    "last night": -1,
    "day after tomorrow": 2,
    "day before yesterday": -2,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
}
_STEPS = {"this": 0, "next": 1, "last": -1, "the coming": 1, "the": 0, "": 0, "past": -1}

_MONTH = r"""(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?
    |oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"""
WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b"
_NUMBER = r"""(?:\d{1,3}|a couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen
    |thirty)"""
_UNIT = r"(?:day|week|month|year)"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_PART = r"(?: (?:morning|afternoon|evening|night)\b)?"

_VERSION = Words(r"\b(?:version|release|v|build)[ .]?$", fold=True)
_A_MONTH = Words(_MONTH, fold=True)
FIND = Words(
    rf"""\b(?:(?P<iso>\d{{4}}-\d\d-\d\d)(?![\d-])
    |(?P<slashed>\d{{4}}/\d{{1,2}}/\d{{1,2}})(?![\d/])
    |(?P<dotted>\d{{1,2}}\.\d{{1,2}}\.\d{{4}})(?![\d.])
    |(?:the )?(?P<relative>day after tomorrow|day before yesterday|today|tonight|tomorrow|yesterday|last night
    |this (?:morning|afternoon|evening))\b{_PART}
    |(?:the )?(?P<edge>end|start|beginning) of (?:(?P<edgestep>the|this|next|last) )?
    (?P<edgeunit>day|week|month|quarter|year|{_MONTH})(?![\w-])
    |(?P<acronym>eod|eow|eom|eoy)\b
    |(?:{WEEKDAY},? (?:the )?)?(?P<mday>{_MONTH} {_ORDINAL}(?: ?(?:-|–|to|until|through) ?{_ORDINAL})?)
    (?![\d:.]\d|\w)(?:,? (?P<myear>\d{{4}})\b)?
    |(?:{WEEKDAY},? (?:the )?)?(?P<daym>{_ORDINAL} (?:of )?{_MONTH})(?:,? (?P<yearm>\d{{4}})\b)?
    |(?P<month>{_MONTH}) (?P<monthyear>\d{{4}})\b
    |(?P<beforemonth>in|since|until|by|next|last|this|early|late|mid)[ -](?P<baremonth>{_MONTH})(?! \d)
    |{WEEKDAY},? (?:the )?(?P<named>\d{{1,2}}(?:st|nd|rd|th))\b
    |(?:(?P<daystep>this coming|this past|this|next|last|coming|past) )?(?P<weekday>{WEEKDAY})
    (?:(?: of)? (?P<dayweek>this|next|last) week\b)?{_PART}
    |in (?:about |exactly )?(?P<inn>{_NUMBER}) (?P<inunit>{_UNIT})s?\b(?:' time)?
    |(?:within|in) (?:the )?(?:next )?(?P<within>{_NUMBER}) (?P<withinunit>{_UNIT})s?\b
    |(?P<agon>{_NUMBER}) (?P<agounit>{_UNIT})s? (?P<ago>ago|from now|from today)\b
    |(?P<hours>(?:an?|one|two|three|\d{{1,2}}) (?:hours?|minutes?) ago)\b
    |(?P<spanstep>this|next|last|the coming|past) (?P<spanunit>week|weekend|month|quarter|year)\b(?!-)
    |(?P<beforeday>on|by|until|till|before|due|from) the (?P<ordinal>\d{{1,2}}(?:st|nd|rd|th))
    (?=\s*(?:[.,;:!)]|$|(?:at|and|but|to|for|so|because|with|of (?:this|next) month)\b))
    |(?P<beforeyear>in|since|until|by|from) (?P<year>(?:19|20)\d\d)(?![\w.:-]| \w+s\b)
    )""",
    fold=True,
)


_RUN = re.compile(r"\w+")
_BEGINS = frozenset(  # the words with which `FIND` begins
    r"""day today tonight tomorrow yesterday last this the end start beginning eod eow eom eoy monday tuesday
    wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun jan january feb february mar
    march apr april may jun june jul july aug august sep sept september oct october nov november dec december in since
    until by next early late mid coming past within a an one two three four five six seven eight nine ten eleven twelve
    fourteen thirty on till before due from""".split()
)


def named(text: str) -> Iterator[re.Match[str]]:
    """Yield what `FIND` finds in a text, in order; it is not tried at words with which it does not begin."""
    if not text.isascii():
        yield from FIND.finditer(text)
        return
    at = 0
    for run in _RUN.finditer(text):
        start, word = run.start(), run[0]
        if start >= at and (word[0].isdigit() or word.lower() in _BEGINS):
            found = FIND.match(text, start)
            if found is not None:
                at = found.end()
                yield found


def resolve(match: re.Match[str], anchor: Anchor) -> Dated | None:
    """Return the time a match of `FIND` names, or None if there is no such day."""
    for name, read in _READERS.items():
        if match[name] is not None:
            return read(match, anchor)
    return None


def _one(match: re.Match[str], day: date | None, *, relative: bool = True) -> Dated | None:
    if day is None:
        return None
    return Dated(match.start(), match.end(), day, day, day.isoformat(), relative=relative)


def _hours(match: re.Match[str], anchor: Anchor) -> Dated | None:
    return _one(match, anchor.day)


def _iso(match: re.Match[str], _: Anchor) -> Dated | None:
    if match["dotted"]:
        if _VERSION.search(match.string[max(0, match.start() - 9) : match.start()]):
            return None
        day, month, year = (int(part) for part in match["dotted"].split("."))
    else:
        year, month, day = (int(part) for part in re.split("[-/]", match["iso"] or match["slashed"]))
    return _one(match, when.make(year, month, day=day), relative=False)


def _relative(match: re.Match[str], anchor: Anchor) -> Dated | None:
    return _one(match, when.shift(anchor.day, days=_RELATIVE[" ".join(match["relative"].lower().split())]))


def _edge(match: re.Match[str], anchor: Anchor) -> Dated | None:
    unit, step = match["edgeunit"].lower(), _STEPS[(match["edgestep"] or "").lower()]
    if unit == "day":
        return _one(match, anchor.day)
    if unit in {"week", "month", "quarter", "year"}:
        span = when.period(anchor, unit, step=step)
    else:
        first = when.month_near(anchor, _month(unit))
        span = (first, when.month_end(first))
    if span is None:
        return None
    last = when.shift(span[0], days=4) if unit == "week" else span[1]
    return _one(match, last if match["edge"].lower() == "end" else span[0])


def _acronym(match: re.Match[str], anchor: Anchor) -> Dated | None:
    unit = {"d": "day", "w": "week", "m": "month", "y": "year"}[match["acronym"][-1].lower()]
    if unit == "day":
        return _one(match, anchor.day)
    span = when.period(anchor, unit, step=0)
    return None if span is None else _one(match, when.shift(span[0], days=4) if unit == "week" else span[1])


def _month(word: str) -> int:
    return _SHORT_MONTHS[word.lower().rstrip(".")[:3]]


def _month_day(match: re.Match[str], anchor: Anchor) -> Dated | None:
    words = match["mday"] or match["daym"]
    name = _A_MONTH.search(words)
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    if name is None or not name[0][0].isupper():
        return None  # "may 5" and "mar 10" in lower case are as often no months
    year = match["myear"] or match["yearm"]
    days = [
        when.make(int(year), _month(name[0]), day=number)
        if year
        else when.nearest(anchor, _month(name[0]), day=number)
        for number in numbers
    ]
    first, last = days[0], days[-1]
    if first is None or last is None or last < first:
        return None
    words = first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"
    return Dated(
        match.start(), match.end(), first, last, words, "day" if first == last else "days", relative=False
    )


def _bare_month(match: re.Match[str], anchor: Anchor) -> Dated | None:
    word = match["month"] or match["baremonth"]
    if not word[0].isupper():
        return None
    if match["month"]:
        first = when.make(int(match["monthyear"]), _month(word), day=1)
    else:
        first = when.month_near(anchor, _month(word))
        step = {"last": -1, "next": 1}.get(match["beforemonth"].lower(), 0)
        if step < 0 and first >= anchor.day.replace(day=1):
            first = when.shift(first, months_=-12)
        elif step > 0 and first <= anchor.day:
            first = when.shift(first, months_=12)
    if first is None:
        return None
    return Dated(
        match.start(), match.end(), first, when.month_end(first), f"{first:%Y-%m}", "month", relative=False
    )


def _weekday(match: re.Match[str], anchor: Anchor) -> Dated | None:
    name = match["weekday"].lower()
    index = _DAYS.index(name) if name in _DAYS else SHORT_DAYS[name]
    step = (match["daystep"] or "").lower()
    week = (match["dayweek"] or "").lower()
    if week:
        first = when.monday(anchor.day, _STEPS[week])
        return None if first is None else _one(match, when.shift(first, days=index))
    if step == "next":
        first = when.monday(anchor.day, 1)
        return None if first is None else _one(match, when.shift(first, days=index))
    if step in {"last", "past", "this past"}:
        return _one(match, when.weekday(replace(anchor, past=True), index))
    if step in {"this", "this coming", "coming"}:
        start = replace(anchor, day=anchor.day - timedelta(days=1)) if step == "this" else anchor
        return _one(match, when.weekday(replace(start, past=False), index))
    return _one(match, when.weekday(anchor, index))


def _distance(match: re.Match[str], anchor: Anchor) -> Dated | None:
    word = next(match[name] for name in ("inn", "within", "agon") if match[name])
    unit = next(match[name] for name in ("inunit", "withinunit", "agounit") if match[name]).lower()
    count = int(word) if word.isdigit() else _NUMBERS[word.lower()]
    day = when.distance(anchor, -count if (match["ago"] or "").lower() == "ago" else count, unit=unit)
    if day is not None and match["ago"] and unit == "year":
        return Dated(match.start(), match.end(), day, day, f"{day.year:04d}", "year")
    return _one(match, day)


def _span(match: re.Match[str], anchor: Anchor) -> Dated | None:
    unit, step = match["spanunit"].lower(), _STEPS[match["spanstep"].lower()]
    span = when.period(anchor, unit, step=step)
    if span is None:
        return None
    first, last = span
    if unit == "month":
        return Dated(match.start(), match.end(), first, last, f"{first:%Y-%m}", "month")
    if unit == "year":
        return Dated(match.start(), match.end(), first, last, f"{first.year:04d}", "year")
    words = f"the {unit} of {first.isoformat()}" if unit != "quarter" else f"{first:%Y-%m} to {last:%Y-%m}"
    return Dated(match.start(), match.end(), first, last, words, "days")


def _ordinal(match: re.Match[str], anchor: Anchor) -> Dated | None:
    number = int(re.sub(r"\D", "", match["ordinal"] or match["named"]))
    for step in (0, -1) if anchor.past else (0, 1, 2):
        month = when.shift(anchor.day.replace(day=1), months_=step)
        day = None if month is None else when.make(month.year, month.month, day=number)
        if day is not None and (day <= anchor.day if anchor.past else day >= anchor.day):
            return _one(match, day, relative=False)
    return None


def _year(match: re.Match[str], _: Anchor) -> Dated | None:
    year = int(match["year"])
    return Dated(
        match.start(), match.end(), date(year, 1, 1), date(year, 12, 31), str(year), "year", relative=False
    )


_READERS = {
    **dict.fromkeys(("iso", "slashed", "dotted"), _iso),
    "relative": _relative,
    "edge": _edge,
    "acronym": _acronym,
    **dict.fromkeys(("mday", "daym"), _month_day),
    **dict.fromkeys(("month", "baremonth"), _bare_month),
    "named": _ordinal,
    "weekday": _weekday,
    **dict.fromkeys(("inn", "within", "agon"), _distance),
    "spanunit": _span,
    "hours": _hours,
    "ordinal": _ordinal,
    "year": _year,
}
