"""Read a statement into the tokens the near-repeat guard compares.

Owns the cutting of a text into numbers, dates, versions, code, names and words, in English, Chinese and any mix;
promises that every letter, digit and symbol of a text is in some token or in the table of words that say nothing,
so that two texts with equal tokens differ only in those; never judges two texts.

A token has forms: two tokens are the same if they share one. Inflection is undone by rule and never by a stemmer,
which would make `engine` of `engineering`; where a rule has two readings (`planed`: plan, plane) both are forms.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from reverie.core.guard_places import PLACES, TWO_WORDS
from reverie.core.guard_words import (
    DAY_WORDS,
    ENGLISH,
    IRREGULAR_PAST,
    IRREGULAR_PLURALS,
    MONTHS,
    NOT_PLURAL,
    NUMBER_WORDS,
    SAME_WORDS,
    STATES,
    UNITS,
)
from reverie.core.guard_words_zh import CHINESE, DAY_WORDS_ZH, MEASURES, NUMERALS


@dataclass(frozen=True)
class Token:
    """One thing a statement says; `kind` is one of the tables' kinds or word, number, date, version, unit, code, have."""

    forms: frozenset[str]
    kind: str
    raw: str
    name: bool = False  # written as a name: with a capital inside a sentence, or a known place
    past: bool = False
    count: str = ""  # `one` after a or an, `many` for a plural

    @property
    def form(self) -> str:
        """Return the token's first form in order of letters, for looking it up."""
        return min(self.forms)


@dataclass(frozen=True)
class Reading:
    """A statement: all its tokens, and the marks it carries (`now`, `change`, `correction`)."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def content(self) -> tuple[Token, ...]:
        """Return the tokens that are compared."""
        return tuple(token for token in self.tokens if token.kind not in {"drop", "now"})

    def has(self, *kinds: str) -> bool:
        """Tell whether any token is of one of these kinds."""
        return any(token.kind in kinds for token in self.tokens)


_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ZH = sorted((w for w in (*CHINESE, *DAY_WORDS_ZH, *PLACES) if not w.isascii()), key=len, reverse=True)
_PATTERN = re.compile(
    rf"""(?ix)
    (?P<iso>\b\d{{4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,2}}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?)?(?![\d.-]))
    | (?P<zhdate>\d{{4}}\s?年(?:\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号])?)?|\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号])?|\d{{1,2}}[号日](?![线码楼]))
    | (?P<zhday>(?:下下|上上|下|上|本|这)?个?(?:周|星期|礼拜)[一二三四五六日天末])
    | (?P<day1>\b(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>\d{{4}}))?\b)
    | (?P<day2>\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})\b(?:,?\s+(?P<y2>\d{{4}}))?)
    | (?P<day3>\b(?P<m3>{_MONTH})\s+(?P<y3>\d{{4}})\b)
    | (?P<time>\b\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s?[ap]\.?m\b\.?)?|\b\d{{1,2}}\s?[ap]\.?m\b\.?|(?:[上下]午|晚上|早上|凌晨|中午)?\d{{1,2}}[点點](?:\d{{1,2}}分?|半)?)
    | (?P<code>`[^`\n]{{1,200}}`|https?://[^\s，。；）]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[./~]|\b\w+)?/[\w./~-]*\w|\b[A-Za-z]\w*(?:_\w+)+|--?[a-z][\w-]+\b)
    | (?P<version>\bv?\d+(?:\.\d+){{2,}}(?:[-.]?(?:rc|a|b|alpha|beta|dev|post)\.?\d*)?\b|\bv\d+(?:\.\d+)*\b)
    | (?P<number>(?<![\w.])[-+−]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?(?P<scale>\s?(?:[万亿百]|千(?![米克瓦]))|[km](?![a-z\d]))?)
    | (?P<zhnumber>[{NUMERALS}]+(?=[{MEASURES}])|第[{NUMERALS}]+)
    | (?P<zh>{"|".join(map(re.escape, _ZH))})
    | (?P<special>\b(?:[A-Za-z]\+\+|[A-Za-z]\#|(?:AB|[ABO])[+-](?!\w)))
    | (?P<han>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff])
    | (?P<word>[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+(?:'[^\W\d_]+)*)
    | (?P<mixed>[^\W_\u3040-\u30ff\u3400-\u9fff]+)
    | (?P<other>[^\s])
    """
)
_WEEKDAYS = {"天": "7", "日": "7", "末": "6-7"} | dict(zip("一二三四五六", "123456", strict=True))
_ENGLISH_DAYS = dict(
    zip("monday tuesday wednesday thursday friday saturday sunday".split(), "1234567", strict=True)
)
_LONGEST_PHRASE = 4
_SENTENCE = frozenset(".!?。！？:：\n")
_BE = frozenset("is are am was were be been being".split())
_SHORT = 3
_ES = ("ses", "xes", "zes", "ches", "shes", "oes")
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=8192)
def read(text: str) -> Reading:
    """Return the reading of a statement."""
    plain = _plain(text)
    raws = [(found.lastgroup or "", found) for found in _PATTERN.finditer(plain)]
    tokens: list[Token] = []
    place = 0
    while place < len(raws):
        kind, found = raws[place]
        if kind == "word":
            made, used = _words(raws, place, plain, tokens)
            tokens += made
            place += used
        else:
            tokens += _single(kind, found, tokens)
            place += 1
    return Reading(plain, tuple(_settle(tokens)))


def _plain(text: str) -> str:
    """Return the text with one form for each character: compatibility forms, quotes, digits."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    if not plain.isascii():
        plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain)
    return plain


def _token(form: str, kind: str, raw: str = "", *, name: bool = False) -> Token:
    return Token(frozenset((form,)), kind, raw or form, name=name)


def _single(kind: str, found: re.Match[str], before: list[Token]) -> list[Token]:
    """Return the tokens of anything but a word of letters."""
    raw = found[0]
    if kind in {"iso", "zhdate", "zhday", "day1", "day2", "day3", "time"}:
        return [_token(_date(kind, found), "date", raw)]
    if kind == "code":
        return [_token(raw.strip("`"), "code", raw)]
    if kind == "version":
        return [_token(raw.lower().lstrip("v"), "version", raw)]
    if kind == "number":
        return [_token(_number(raw), "number", raw)]
    if kind == "zhnumber":
        return [_token(_chinese_number(raw.lstrip("第")) + ("th" if raw[0] == "第" else ""), "number", raw)]
    if kind == "zh":
        return _chinese(raw, before)
    if kind == "mixed":
        return _mixed(raw)
    if kind == "other" and raw not in "%?°$€£¥+=<>~&^|" and unicodedata.category(raw)[0] in "PZC":
        return [_token(raw, "drop", raw)]
    lowered = raw.casefold()
    if raw == "?":
        return [_token("?", "modality")]
    return [_token(UNITS.get(lowered, lowered), "unit" if lowered in UNITS else "word", raw)]


def _date(kind: str, found: re.Match[str]) -> str:
    """Return one form for a date or time however it is written."""
    raw = found[0].lower()
    if kind == "time":
        return _time(raw)
    if kind == "zhday":
        shift = raw[: re.search("[周星礼]", raw).start()] if re.search("[周星礼]", raw) else ""  # type: ignore[union-attr]
        return {"": "", "个": ""}.get(shift, shift.removesuffix("个")) + "w" + _WEEKDAYS[raw[-1]]
    if kind.startswith("day"):
        which = kind[-1]
        year, month = found[f"y{which}"], MONTHS[found[f"m{which}"].lower()]
        day = found[f"d{which}"].lstrip("0") or "0" if which != "3" else ""
        return f"{year or ''}-{month}-{day}"
    if "t" in raw or ":" in raw:
        return raw
    numbers = [part.lstrip("0") or "0" for part in re.findall(r"\d+", raw)]
    if kind == "zhdate" and "年" not in raw:
        numbers = ["", *numbers] if "月" in raw else ["", "", *numbers]
    return "-".join([*numbers, "", ""][:3])


def _time(raw: str) -> str:
    """Return a time of day as `h:mm`, with what cannot be read left as it is."""
    digits = re.findall(r"\d+", raw)
    hour, rest = int(digits[0]), digits[1:]
    if "半" in raw:
        rest = ["30"]
    late = re.search(r"p\.?m|下午|晚上", raw) is not None
    early = re.search(r"a\.?m|凌晨", raw) is not None
    noon = 12
    if late and hour < noon:
        hour += noon
    elif early and hour == noon:
        hour = 0
    elif late and hour > noon:
        return raw
    return ":".join([str(hour), *([part.zfill(2) for part in rest] or ["00"])])


def _number(raw: str) -> str:
    """Return one form for equal numbers: no thousands commas, no zeros at the end of a fraction, scale written out."""
    value = raw.strip().replace(",", "").replace("−", "-").removeprefix("+")
    scale = value[-1].lower() if not value[-1].isdigit() else ""
    value = value.rstrip("kKmM万亿千百 ") if scale else value
    whole, _, fraction = value.partition(".")
    fraction = fraction.rstrip("0")
    zeros = {"k": 3, "千": 3, "m": 6, "万": 4, "亿": 8, "百": 2}.get(scale, 0)
    fraction, moved = fraction[zeros:], fraction[:zeros]
    if zeros:
        whole = (whole + moved.ljust(zeros, "0")).lstrip("0") or "0"
    return whole + ("." + fraction if fraction else "")


def _chinese_number(numeral: str) -> str:
    """Return the value of a Chinese numeral below ten thousand, else the numeral itself."""
    digits = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
    if any(c in "万亿" for c in numeral):
        return numeral
    if all(c in digits for c in numeral):
        return "".join(str(digits[c]) for c in numeral)
    total, last = 0, 0
    for c in numeral:
        if c in digits:
            last = digits[c]
        else:
            total += (last or 1) * {"十": 10, "百": 100, "千": 1000}[c]
            last = 0
    return str(total + last)


def _chinese(raw: str, before: list[Token]) -> list[Token]:
    """Return the token of a known Chinese phrase; `的` behind a person or a name says whose something is."""
    if raw in PLACES:
        return [_token(PLACES[raw], "word", raw, name=True)]
    if raw in DAY_WORDS_ZH:
        return [_token(raw, "date", raw)]
    form, kind = CHINESE[raw]
    if raw == "的" and before and (before[-1].kind == "person" or before[-1].name):
        return [_token("have", "have", raw)]
    if form == "不再是":
        return [_token("不", "negation", raw), _token("anymore", "change", raw)]
    if form in {"戒了", "停止"}:
        return [_token("不", "negation", raw), _token("anymore", "change", raw)]
    return [_token(form, kind, raw)]


def _mixed(raw: str) -> list[Token]:
    """Return the tokens of letters and digits in one word: a number with its unit, or a code."""
    parts = re.fullmatch(r"(\d+)([a-z]+)", raw.lower())
    if parts and parts[2] in UNITS:
        return [_token(parts[1], "number", raw), _token(UNITS[parts[2]], "unit", raw)]
    if parts and parts[2] in {"st", "nd", "rd", "th"}:
        return [_token(parts[1] + "th", "number", raw)]
    return [_token(raw.lower(), "code", raw)]


def _words(
    raws: list[tuple[str, re.Match[str]]], place: int, text: str, before: list[Token]
) -> tuple[list[Token], int]:
    """Return the tokens of the word at `place`, or of the longest known phrase that begins there, and its length."""
    words: list[str] = []
    for kind, found in raws[place : place + _LONGEST_PHRASE]:
        gap = text[raws[place + len(words) - 1][1].end() : found.start()] if words else ""
        if kind != "word" or gap.strip():
            break
        words.append(found[0])
    for count in range(len(words), 1, -1):
        phrase = " ".join(words[:count]).casefold()
        if phrase in TWO_WORDS:
            return [_token(TWO_WORDS[phrase], "word", phrase, name=True)], count
        if phrase in ENGLISH:
            return _known(phrase), count
    return _word(raws[place][1], text, before), 1


def _known(phrase: str) -> list[Token]:
    form, kind = ENGLISH[phrase]
    if form == "not no longer":
        return [_token("not", "negation", phrase), _token("anymore", "change", phrase)]
    return [_token(form, kind, phrase)]


def _word(found: re.Match[str], text: str, before: list[Token]) -> list[Token]:
    """Return the tokens of one word of letters: itself and what an apostrophe added to it."""
    raw = found[0]
    head, _, tail = raw.partition("'")
    lowered, tail = head.casefold(), tail.casefold()
    extra: list[Token] = []
    if tail in {"t"} and lowered.endswith("n"):
        lowered, head = {"can": "ca", "won": "wo", "shan": "sha"}.get(lowered, lowered[:-1]), head[:-1]
        extra = [_token("not", "negation", raw)]
        lowered = {"ca": "can", "wo": "will", "sha": "will"}.get(lowered, lowered)
    elif tail == "s":
        extra = (
            [] if lowered in {"it", "that", "he", "she", "what", "who"} else [_token("have", "have", "'s")]
        )
    elif tail in {"ll", "d"}:
        extra = [_token("will" if tail == "ll" else "would", "modality", raw)]
    elif tail and tail not in {"re", "m", "ve"}:
        lowered = raw.casefold()
    lead = text[: found.start()].rstrip(" \"'(*_-")
    opens = not lead or lead[-1] in _SENTENCE
    tokens = [_classify(head, lowered, before, opens=opens)]
    if lowered in {"my", "mine"}:
        tokens.append(_token("have", "have", raw))
    return tokens + extra


def _classify(raw: str, lowered: str, before: list[Token], *, opens: bool) -> Token:
    """Return the token of one word."""
    name = raw[:1].isupper() and not (opens and (lowered in ENGLISH or lowered in SAME_WORDS))
    if lowered in PLACES and raw[:1].isupper():
        return _token(PLACES[lowered], "word", raw, name=True)
    if lowered in ENGLISH and not (
        name and len(raw) > 1 and not opens and lowered in {"us", "may", "will", "like"}
    ):
        form, kind = ENGLISH[lowered]
        return replace(_token(form, kind, raw), past=lowered in {"was", "were", "had", "did"})
    if lowered in {"has", "have", "having", "owns", "own"}:
        return _token("have", "have", raw)
    if lowered in MONTHS and (raw[:1].isupper() or len(lowered) > _SHORT) and lowered not in {"may", "march"}:
        return _token(f"-{MONTHS[lowered]}-", "date", raw)
    if (
        lowered in {"may", "march"}
        and name
        and before
        and before[-1].form in {"in", "by", "all", "until", "since"}
    ):
        return _token(f"-{MONTHS[lowered]}-", "date", raw)
    if lowered in _ENGLISH_DAYS or lowered.removesuffix("s") in _ENGLISH_DAYS:
        many = "s" if lowered not in _ENGLISH_DAYS else ""
        return _token("w" + _ENGLISH_DAYS[lowered.removesuffix("s")] + many, "date", raw)
    if lowered in NUMBER_WORDS:
        return _token(NUMBER_WORDS[lowered], "number", raw)
    if lowered in UNITS and before and before[-1].kind == "number":
        return _token(UNITS[lowered], "unit", raw)
    if lowered in DAY_WORDS:
        return _token(lowered, "date", raw)
    if lowered in {"called", "named"} and before and before[-1].kind == "word" and not before[-1].name:
        return _token(lowered, "drop", raw)
    return _inflected(raw, lowered, before, name=name)


def _inflected(raw: str, lowered: str, before: list[Token], *, name: bool) -> Token:
    """Return a word's token with its inflection undone: plural and verb -s, past, progressive after a form of be."""
    forms, past, count = {lowered}, False, ""
    progressive = (
        bool(before) and before[-1].raw.casefold() in _BE or bool(before) and before[-1].kind == "now"
    )
    if lowered in IRREGULAR_PAST:
        forms, past = {IRREGULAR_PAST[lowered]}, True
    elif lowered in IRREGULAR_PLURALS:
        forms, count = {IRREGULAR_PLURALS[lowered]}, "many"
    elif lowered.endswith("ing") and progressive and len(lowered) > _SHORT + 2:
        forms = _roots(lowered[:-3])
    elif lowered.endswith("ed") and lowered not in STATES and len(lowered) > _SHORT + 1:
        forms, past = _roots(lowered[:-2]), True
    elif (
        lowered.endswith("s")
        and lowered not in NOT_PLURAL
        and not lowered.endswith(("ss", "us", "is"))
        and len(lowered) > _SHORT
    ):
        forms, count = _singulars(lowered), "many"
    forms = {SAME_WORDS.get(form, form) for form in forms}
    if before and before[-1].raw.casefold() in {"a", "an"}:
        count = "one"
    return Token(frozenset(forms), "word", raw, name=name, past=past, count=count)


def _roots(stem: str) -> set[str]:
    """Return what a verb may be without -ed or -ing: `runn` run, `liv` live, `plan` plan or plane, `tri` try."""
    if stem.endswith("i"):
        return {stem[:-1] + "y"}
    if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return {stem[:-1]}
    double = {stem[:-1]} if len(stem) > 1 and stem[-1] == stem[-2] else set()
    return {stem, stem + "e"} | double


def _singulars(word: str) -> set[str]:
    if word.endswith("ies"):
        return {word[:-3] + "y", word[:-1]}
    if word.endswith(_ES):
        return {word[:-2], word[:-1]}
    return {word[:-1]}


def _settle(tokens: list[Token]) -> list[Token]:
    """Return the tokens after what only their neighbours decide: V-ing behind `stopped`, 了 at an end, perfect tense."""
    settled: list[Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        raw = token.raw.casefold()
        if raw in {"stopped", "quit", "stops", "ceased"} and after and after.raw.casefold().endswith("ing"):
            settled += [_token("not", "negation", raw), _token("anymore", "change", raw)]
        elif settled and settled[-1].form == "anymore" and raw.endswith("ing") and token.kind == "word":
            roots = {SAME_WORDS.get(form, form) for form in _roots(raw[:-3])}
            settled.append(Token(frozenset(roots), "word", token.raw))
        elif token.kind == "relation" and token.form == "in" and after and after.kind == "date":
            settled.append(replace(token, kind="drop"))
        elif raw == "了" and (after is None or after.kind == "drop"):
            settled.append(replace(token, kind="drop"))
        elif token.kind == "have" and raw in {"has", "have"} and after and after.past:
            settled.append(_token("perfect", "tense", raw))
        else:
            settled.append(token)
    return settled
