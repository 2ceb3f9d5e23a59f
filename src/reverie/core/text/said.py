"""What a text states that could be made up: numbers, dates, addresses, code and names.

Owns how these are found in any text and compared; promises that what is copied is never taken for new; never decides
what follows from a difference.

Names are words with a capital that do not merely open a sentence, so scripts without capitals have none here: there
the content words speak.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import date, timedelta
from functools import lru_cache

import msgspec

from reverie.core.text.patterns import Words
from reverie.core.text.tokens import stop_terms, terms

_DATE = Words(r"(?<!\d)(\d{4})-(\d{2})(?:-(\d{2}))?(?![\d-])")
_NUMBER = Words(r"\d+(?:[.,:]\d+)*")
_GROUPED = Words(r"\d{1,3}(?:,\d{3})+")
_URL = Words(r"(?:https?|ftp)://[^\s<>\[\]()`\"'，。；）]+", fold=True)
# Tried within a run of backticks as well, a run of many thousand would take minutes.
_SPAN = Words(r"(?<!`)`++([^`\n]+)`+")
# Where a word begins is said for each form: tried at every letter, a word of many thousand would take minutes.
_CODE = Words(
    r"[~.]?/[\w.@-]+(?:/[\w.@-]+)*|(?<!\w)\w++(?:/[\w.@-]+){2,}|(?<!\w)\w*[^\W_]_[^\W_]\w*|(?<!\w)\w++\(\)"
    r"|(?<![a-z])[a-z]\w*+\.(?:[a-z]{1,4})\b(?!\s)"
)
_WORD = Words(r"[^\W\d_]+(?:['’_-][^\W\d_]+)*")
_OPENS = Words(r"(?:^|[.!?:;…—–|>\n]|(?:^|(?<=\s))[-*+]|\d[.)])[\s\"'“‘(\[*_]*$")
_ESCAPE = Words(r"\\(?=[!-/:-@\[-`{-~])")
_MONTHS = "january february march april may june july august september october november december".split()
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec"
    " mon tue wed thu fri sat sun".split()
) | frozenset(_MONTHS)
_NO_NAMES = _CALENDAR | {"user", "agent", "i", "user's", "agent's"}
_NEAR = timedelta(days=14)  # "last Friday", "in ten days": what speech names without a number
_MOST = 9_999  # a larger number in a text counts no days


class Said(msgspec.Struct, frozen=True):
    """What a text states: numbers, dates (`2026-07-01`, `2026-07`), addresses and code as written, names casefolded."""

    numbers: frozenset[str]
    dates: frozenset[str]
    urls: frozenset[str]
    codes: frozenset[str]
    names: frozenset[str]


@lru_cache(
    maxsize=2_048
)  # a night asks the same of each line several times, and of the overview's every night
def said(text: str) -> Said:
    """Return what the text states."""
    text = plain(text)
    bare = _URL.sub(" ", text)
    spans = [match.group(1).strip() for match in _SPAN.finditer(bare)]
    outside = _SPAN.sub(" ", bare)
    return Said(
        numbers=numbers(text),
        dates=frozenset(match.group() for match in _DATE.finditer(text)),
        urls=frozenset(match.group().rstrip(".,;:!?") for match in _URL.finditer(text)),
        codes=frozenset((*spans, *(match.group() for match in _CODE.finditer(outside)))),
        names=names(outside),
    )


def plain(text: str) -> str:
    """Return the text as it reads: Markdown's backslashes gone, compatibility forms in one spelling."""
    return unicodedata.normalize("NFKC", _ESCAPE.sub("", text))


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text outside its dates, without the commas of thousands."""
    found = (match.group() for match in _NUMBER.finditer(_DATE.sub(" ", text)))
    return frozenset(one.replace(",", "") if _GROUPED.fullmatch(one) else one for one in found)


def names(text: str) -> frozenset[str]:
    """Return the names in a text: words with a capital inside a sentence, or one that opens it before another."""
    found: set[str] = set()
    matches = list(_WORD.finditer(text))
    for place, match in enumerate(matches):
        word = _bare(match.group())
        if not word[:1].isupper() or len(word) == 1 or word.casefold() in _NO_NAMES:
            continue
        following = matches[place + 1] if place + 1 < len(matches) else None
        goes_on = following is not None and following.group()[:1].isupper()
        joined = goes_on and following is not None and text[match.end() : following.start()] == " "
        opens = _OPENS.search(text[max(0, match.start() - 12) : match.start()]) or match.start() == 0
        if not opens or (joined and _is_name(word)):
            found.add(word.casefold())
    return frozenset(found)


@lru_cache(maxsize=2_048)
def words(text: str) -> frozenset[str]:
    """Return every word of a text, casefolded."""
    return frozenset(_bare(match.group()).casefold() for match in _WORD.finditer(plain(text)))


@lru_cache(maxsize=2_048)
def content(text: str) -> frozenset[str]:
    """Return the terms of a text that carry content."""
    return frozenset(terms(plain(text))) - stop_terms()


def missing(source: str, line: str, *, context: str = "") -> str:
    """Return what of `source`'s numbers, dates and names `line` lacks, as a phrase; empty when it carries them all.

    `context` is what stands above the line and speaks for it: the page's title and headings.
    """
    want, have = said(source), said(line)
    parts = have.numbers | {piece for one in have.dates for piece in _pieces(one)}
    if lost := sorted(number for number in want.numbers - parts if number.lstrip("0") not in parts):
        return f"the number {lost[0]}"
    if lost := sorted(one for one in want.dates - have.dates if not _told(one, line, parts)):
        return f"the date {lost[0]}"
    if lost := sorted(want.names - words(line) - words(context)):
        return f"the name {lost[0]!r}"
    return ""


def shares_half(source: str, line: str) -> bool:
    """Tell whether the line carries at least half of the source's content words."""
    want = content(source)
    return 2 * len(want & content(line)) >= len(want)


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """What may be stated: everything that stands in some texts, and the dates that follow from theirs."""

    text: str
    numbers: frozenset[str]
    dates: frozenset[str]
    words: frozenset[str]
    days: tuple[date, ...]
    counts: frozenset[int]  # numbers outside dates, which a date may lie days, weeks, months or years away by

    def novel(self, text: str) -> str:
        """Return what of the text stands in none of the sources, as a phrase; empty when nothing does."""
        stated = said(text)
        if new := sorted(one for one in stated.urls if one.casefold() not in self.text):
            return f"the address {new[0]}"
        if new := sorted(one for one in stated.codes if one.casefold() not in self.text):
            return f"the code {new[0]!r}"
        if new := sorted(one for one in stated.dates if not self._follows(one)):
            return f"the date {new[0]}"
        if new := sorted(one for one in stated.numbers if one not in self.numbers):
            return f"the number {new[0]}"
        if new := sorted(stated.names - self.words):
            return f"the name {new[0]!r}"
        return ""

    def _follows(self, one: str) -> bool:
        """Tell whether a date stands in the sources, or lies a counted or a short time from one that does."""
        if one in self.dates or any(known.startswith(one) for known in self.dates):
            return True
        day = _day(one)
        return day is not None and any(self._reaches(known, day) for known in self.days)

    def _reaches(self, known: date, day: date) -> bool:
        apart = abs(day - known)
        if apart <= _NEAR:
            return True
        months = abs((day.year - known.year) * 12 + day.month - known.month)
        same = day.day == known.day
        return any(
            apart.days in (count, count * 7) or (same and months in (count, count * 12))
            for count in self.counts
        )


class _Stated(msgspec.Struct, frozen=True):
    """What a line allows to be stated: how it reads in lower case, its dates, its numbers, its words."""

    text: str
    dates: frozenset[str]
    numbers: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=8_192)  # nearly all lines of the pages that a night touches are those of the night before
def _stated(line: str) -> _Stated:
    read = plain(line)
    dates = frozenset(match.group() for match in _DATE.finditer(read))
    return _Stated(read.casefold(), dates, numbers(read), words(read))


def sources(texts: Iterable[str]) -> Sources:
    """Return what `texts` allow to be stated: nothing of it goes over the end of a line."""
    lines = [_stated(line) for line in "\n".join(texts).split("\n")]
    dates = frozenset[str]().union(*(line.dates for line in lines))
    days = sorted(filter(None, map(_day, dates)))
    stated = frozenset[str]().union(*(line.numbers for line in lines))
    counts = frozenset(
        int(number) for number in stated if number.isdigit() and len(number) <= len(str(_MOST))
    )
    every = stated | {piece for one in dates for piece in _pieces(one)}
    stripped = frozenset(number.lstrip("0") for number in every if number.lstrip("0"))
    return Sources(
        text="\n".join(line.text for line in lines),
        numbers=every | stripped,
        dates=dates,
        words=frozenset[str]().union(*(line.words for line in lines)),
        days=tuple(days),
        counts=counts - {0},
    )


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")


def _is_name(word: str) -> bool:
    """Tell whether a word that opens a sentence is more than a grammar word."""
    return not frozenset(terms(word)) <= stop_terms()


def _pieces(one: str) -> set[str]:
    """Return a date's year, month and day as numbers, with and without leading zeros."""
    pieces = one.split("-")
    return {*pieces, *(piece.lstrip("0") for piece in pieces)}


def _told(one: str, line: str, parts: Iterable[str]) -> bool:
    """Tell whether a line tells a date in other words: its month by name, its day and year as numbers."""
    pieces = one.split("-")
    month = int(pieces[1])
    if not 1 <= month <= len(_MONTHS):
        return False
    name, have = _MONTHS[month - 1], frozenset(parts)
    named = any(word == name or word == name[:3] for word in words(line))
    return named and pieces[0] in have and all(piece.lstrip("0") in have for piece in pieces[2:])


def _day(one: str) -> date | None:
    try:
        return date.fromisoformat(one)
    except ValueError:
        return None
