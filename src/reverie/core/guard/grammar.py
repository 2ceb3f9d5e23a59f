"""The one expression that cuts a statement into dates, times, code, numbers, known Chinese phrases and words.

Owns the order in which they are tried, the longest and most particular first; promises that every character but
blanks falls into exactly one group, and that each part is bounded, so that a hostile text costs no more than its
length; never interprets what it cuts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.core.guard.places import PLACES
from reverie.core.guard.words import MONTHS
from reverie.core.guard.words_zh import CHINESE, DAY_WORDS_ZH, MEASURES, NUMERALS
from reverie.core.text.patterns import Words

_MONTH = f"(?=[{''.join(sorted({name[0] for name in MONTHS}))}])(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_ZH = sorted((w for w in (*CHINESE, *DAY_WORDS_ZH, *PLACES) if not w.isascii()), key=len, reverse=True)


def _by_first(words: Iterable[str]) -> str:
    """Return an expression for the longest of some words, the longest first, that tries none of another beginning."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(re.escape(word[0]), []).append(re.escape(word[1:]))
    found = (f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())
    return f"(?=[{''.join(rests)}])(?:{'|'.join(found)})"


_START, _END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"  # `\b` sees no border between Chinese and a digit
_CLOCK = rf"""{_START}\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s?[ap]\.?m{_END}\.?)?|{_START}\d{{1,2}}\s?[ap]\.?m{_END}\.?
        |(?:[上下]午|晚上|早上|凌晨|中午)?\d{{1,2}}[点點](?:\d{{1,2}}分?|半)?
        |(?:[上下]午|晚上|早上|凌晨|中午)[一二两三四五六七八九十]{{1,3}}[点點](?:[一二三四五六七八九十]{{1,3}}分|半)?"""
_ISO = rf"""{_START}\d{{4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,2}}
        (?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?)?(?![\d.-])"""
_ZH_DATE = r"""\d{4}\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?)?
        |\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?|\d{1,2}[号日](?![线码楼])"""
_CODE = rf"""`[^`\n]{{1,200}}`|https?://[^\s，。；）]+|[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}})+
        |(?:[./~]|\b\w{{1,64}})?/[\w./~-]{{0,255}}\w|{_START}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|(?<!\S)--?[a-z][\w-]+\b|(?<!\w)\#[a-z][\w:.-]{{0,64}}\w"""
_VERSION = rf"""{_START}v?\d+(?:\.\d+){{2,}}(?:[-.]?(?:rc|a|b|alpha|beta|dev|post)\.?\d*)?{_END}
        |{_START}v\d+(?:\.\d+)*{_END}"""
_NUMBER = r"""(?<![A-Za-z0-9_.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?
        (?:\s?(?:[万亿百]|千(?![米克瓦]))|[km](?![a-z\d]))?"""
_HAN_DATES = rf"""(?P<zhdate>{_ZH_DATE})
    | (?P<zhday>(?:下下|上上|下|上|本|这|每)?个?(?:周|星期|礼拜)[一二三四五六日天末])"""
_HAN_WORDS = rf"""(?P<zhnumber>[{NUMERALS}]+(?=[{MEASURES}])|第[{NUMERALS}]+)
    | (?P<zh>{_by_first(_ZH)})"""
_HAN_LETTERS = r"(?P<han>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff])"


_DAYS = rf"""(?P<day1>{_START}(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>\d{{4}}))?{_END})
    | (?P<day2>{_START}(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})\b(?:,?\s+(?P<y2>\d{{4}}))?)
    | (?P<day3>{_START}(?P<m3>{_MONTH})\s+(?P<y3>\d{{4}}){_END})
    | (?P<time>{_CLOCK})"""
_NUMBERS = rf"""(?P<version>{_VERSION})
    | (?P<number>{_NUMBER})
    | (?P<alnum>{_START}[A-Za-z]{{1,64}}\d[A-Za-z0-9]*)"""
_SPECIAL = rf"(?P<special>{_START}(?:[A-Za-z]\+\+|[A-Za-z]\#|(?:AB|[ABO])[+-](?!\w)))"
# As `_WORDS` for a text in ASCII, told by letters alone and not by what each is in Unicode.
_WORDS_ASCII = r"""(?P<word>(?-i:[A-Za-z]+(?:'[A-Za-z]+)*))
    | (?P<mixed>(?-i:[A-Za-z0-9]+))
    | (?P<other>[^\s])"""
_WORDS = r"""(?P<word>[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+(?:'[^\W\d_]+)*)
    | (?P<mixed>[^\W_\u3040-\u30ff\u3400-\u9fff]+)
    | (?P<other>[^\s])"""


def _grammar(*, han: bool, digits: bool, marks: bool) -> Words:
    """Return the expression for a text that may hold Chinese, digits, and the marks of code."""
    tried = (
        (digits, f"(?P<iso>{_ISO})"),
        (han, _HAN_DATES),
        (digits, _DAYS),
        (marks, f"(?P<code>{_CODE})"),
        (digits, _NUMBERS),
        (han, _HAN_WORDS),
        (marks, _SPECIAL),
        (han, _HAN_LETTERS),
        (True, _WORDS if han else _WORDS_ASCII),
    )
    return Words("(?ix)" + "\n    | ".join(part for wanted, part in tried if wanted))


GRAMMAR = _grammar(han=True, digits=True, marks=True)
_ASCII = {
    (digits, marks): _grammar(han=False, digits=digits, marks=marks)
    for digits in (True, False)
    for marks in (True, False)
}
_DIGITS = re.compile(r"[0-9]")
_MARKS = re.compile(r"[`/@_#+~-]")  # one of these is in all code and in each special name


def grammar_of(text: str) -> Words:
    """Return what cuts a text as `GRAMMAR` does, without trying at each of its places what it cannot hold."""
    if not text.isascii():
        return GRAMMAR
    return _ASCII[_DIGITS.search(text) is not None, _MARKS.search(text) is not None]
