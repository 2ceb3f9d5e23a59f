"""Read a statement into the tokens the near-repeat guard compares.

Owns the cutting of a text into numbers, dates, versions, code, names and words, in English, Chinese and any mix;
promises that every letter, digit and symbol of a text is in some token or in the table of words that say nothing,
so that two texts with equal tokens differ only in those; never judges two texts.

Inflection is undone by rule and never by a stemmer, which would make `engine` of `engineering`; where a rule has two
readings (`planed`: plan, plane) both are forms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace

from reverie.core.guard.attributes import KINDS_OF_TOOLS
from reverie.core.guard.forms import chinese_number, date, number, plain_text, roots, singulars
from reverie.core.guard.grammar import grammar_of
from reverie.core.guard.places import PLACES, TWO_WORDS
from reverie.core.guard.statement import NOTHING, Behind, Reading, Token
from reverie.core.guard.words import (
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
from reverie.core.guard.words_zh import CHINESE, DAY_WORDS_ZH

__all__ = ["SHORT_TEXT", "Reading", "Token", "read"]

_ENGLISH_DAYS = dict(
    zip("monday tuesday wednesday thursday friday saturday sunday".split(), "1234567", strict=True)
)
_LONGEST_PHRASE = 4
_LEADING = frozenset(" \"'(*_-")  # what may stand between a sentence's beginning and its first word
_SENTENCE = frozenset(".!?。！？:：\n")
_TOOLS = frozenset().union(*KINDS_OF_TOOLS)
_STOPS = frozenset(".。!！")
_SHORT = 3
SHORT_TEXT = 1000  # characters; what is worked out for a longer one is not kept for long
_SHORT_WORD = 40  # characters; longer ones are no words of a language, and hardly come again
_PHRASES = frozenset(phrase.partition(" ")[0] for phrase in (*ENGLISH, *TWO_WORDS) if " " in phrase)


def read(text: str) -> Reading:
    """Return the reading of a statement; readings are kept, because each is compared with many."""
    return _read_short(text) if len(text) <= SHORT_TEXT else _read_long(text)


@lru_cache(maxsize=8192)
def _read_short(text: str) -> Reading:
    return _read(text)


@lru_cache(maxsize=4)  # a statement of a megabyte is read once for a comparison, and not kept for long
def _read_long(text: str) -> Reading:
    return _read(text)


def _read(text: str) -> Reading:
    plain = plain_text(text)
    raws = [(found.lastgroup or "", found) for found in grammar_of(plain).finditer(plain)]
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


def _token(form: str, kind: str, raw: str = "", *, name: bool = False) -> Token:
    return Token(frozenset((form,)), kind, raw or form, name=name)


def _single(kind: str, found: re.Match[str], before: list[Token]) -> list[Token]:
    """Return the tokens of anything but a word of letters."""
    raw = found[0]
    if kind in {"iso", "zhdate", "zhday", "day1", "day2", "day3", "time"}:
        return [_token(date(kind, found), "date", raw)]
    if kind == "code":
        return [_token(raw.strip("`"), "code", raw)]
    if kind == "version":
        return [_token(raw.lower().lstrip("v"), "version", raw)]
    if kind == "number":
        return [_token(number(raw), "number", raw)]
    if kind == "zhnumber":
        return [_token(chinese_number(raw.lstrip("第")) + ("th" if raw[0] == "第" else ""), "number", raw)]
    if kind == "zh":
        return _chinese(raw, before)
    if kind in {"mixed", "alnum"}:
        return _mixed(raw)
    if kind == "other" and raw not in "%?°$€£¥+=<>~&^|" and unicodedata.category(raw)[0] in "PZC":
        return [_token(raw, "drop", raw)]
    lowered = raw.casefold()
    if raw == "?":
        return [_token("?", "modality")]
    return [_token(UNITS.get(lowered, lowered), "unit" if lowered in UNITS else "word", raw)]


def _chinese(raw: str, before: list[Token]) -> list[Token]:
    """Return the token of a known Chinese phrase; `的` behind a person or a name says whose something is."""
    if raw in PLACES:
        return [_token(PLACES[raw], "word", raw, name=True)]
    if raw in DAY_WORDS_ZH:
        return [_token(raw, "date", raw)]
    form, kind = CHINESE[raw]
    if form in DAY_WORDS_ZH:
        return [_token(form, "date", raw)]
    if raw == "的" and before and (before[-1].kind == "person" or before[-1].name):
        return [_token("have", "have", raw)]
    if form == "不再是":
        return [_token("不", "negation", raw), _token("anymore", "change", raw)]
    if form in {"戒了", "停止"}:
        return [_token("不", "negation", raw), _token("anymore", "change", raw)]
    return [replace(_token(form, kind, raw), bare=frozenset((raw if kind == "word" else form,)))]


def _mixed(raw: str) -> list[Token]:
    """Return the tokens of letters and digits in one word: a number with its unit, or a code."""
    parts = re.fullmatch(r"(\d+)([a-z]+)", raw.lower())
    if parts and parts[2] in UNITS:
        return [_token(parts[1], "number", raw), _token(UNITS[parts[2]], "unit", raw)]
    if parts and parts[2] in {"st", "nd", "rd", "th"}:
        return [_token(parts[1] + "th", "number", raw)]
    return [_token(SAME_WORDS.get(raw.lower(), raw.lower()), "code", raw)]


def _words(
    raws: list[tuple[str, re.Match[str]]], place: int, text: str, before: list[Token]
) -> tuple[Sequence[Token], int]:
    """Return the tokens of the word at `place`, or of the longest known phrase that begins there, and its length."""
    if raws[place][1][0].casefold() not in _PHRASES:
        return _word(raws[place][1], text, before), 1
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


def _word(found: re.Match[str], text: str, before: list[Token]) -> Sequence[Token]:
    """Return the tokens of one word of letters: itself and what an apostrophe added to it."""
    raw, place = found[0], found.start() - 1
    while place >= 0 and text[place] in _LEADING:
        place -= 1
    opens, behind = place < 0 or text[place] in _SENTENCE, before[-1].behind if before else NOTHING
    return (_of_word if len(raw) <= _SHORT_WORD else _of_word.__wrapped__)(raw, behind, opens)


@lru_cache(maxsize=16_384)
def _of_word(raw: str, behind: Behind, opens: bool) -> tuple[Token, ...]:  # noqa: FBT001 - a part of the key
    """Return the tokens of a word behind another, kept because the same words come again in every statement."""
    head, _, tail = raw.partition("'")
    lowered, tail = head.casefold(), tail.casefold()
    extra: list[Token] = []
    if tail == "t" and lowered.endswith("n"):
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
    tokens = [_classify(head, lowered, behind, opens=opens)]
    if lowered in {"my", "mine"}:
        tokens.append(_token("have", "have", raw))
    return (*tokens, *extra)


def _classify(raw: str, lowered: str, behind: Behind, *, opens: bool) -> Token:
    """Return the token of one word."""
    capital = raw[:1].isupper()
    name = capital and not (opens and (lowered in ENGLISH or lowered in SAME_WORDS))
    return (
        _proper(raw, lowered, opens=opens)
        or _dated(raw, lowered, behind, name=name)
        or _listed(raw, lowered, behind)
        or _inflected(raw, lowered, behind, name=name)
    )


def _proper(raw: str, lowered: str, *, opens: bool) -> Token | None:
    """Return the token of a place, an identifier with inner capitals, or capitals that only spell a listed word."""
    if lowered in PLACES and raw[:1].isupper():
        return _token(PLACES[lowered], "word", raw, name=True)
    if any(c.isupper() for c in raw[1:]) and not raw.isupper() and lowered not in SAME_WORDS:
        return _token(lowered if lowered in _TOOLS else raw, "code", raw, name=True)
    spelled = raw.isupper() and raw != "I" and (len(raw) > 1 or raw == "A")
    if spelled and not opens and lowered in ENGLISH:
        return _token(raw, "word", raw, name=True)
    return None


def _dated(raw: str, lowered: str, behind: Behind, *, name: bool) -> Token | None:
    """Return the token of a month, a weekday or another word for a time."""
    if lowered in {"may", "march"}:
        if name and behind.relates:
            return _token(f"-{MONTHS[lowered]}-", "date", raw)
        return None
    if lowered in MONTHS and (raw[:1].isupper() or len(lowered) > _SHORT):
        return _token(f"-{MONTHS[lowered]}-", "date", raw)
    single = lowered.removesuffix("s")
    if lowered in _ENGLISH_DAYS or single in _ENGLISH_DAYS:
        return _token("w" + _ENGLISH_DAYS[single] + ("" if lowered in _ENGLISH_DAYS else "s"), "date", raw)
    if lowered in UNITS and behind.counts:
        return replace(_token(UNITS[lowered], "unit", raw), bare=frozenset((lowered,)))
    return _token(lowered, "date", raw) if lowered in DAY_WORDS else None


def _listed(raw: str, lowered: str, behind: Behind) -> Token | None:
    """Return the token of a word of the tables, a form of have, or a number word."""
    if lowered in ENGLISH:
        form, kind = ENGLISH[lowered]
        return replace(_token(form, kind, raw), past=lowered in {"was", "were", "had", "did"})
    if lowered in {"has", "have", "having", "owns", "own"}:
        return _token("have", "have", raw)
    if lowered in NUMBER_WORDS:
        return replace(_token(NUMBER_WORDS[lowered], "number", raw), bare=frozenset((lowered,)))
    if lowered in {"called", "named"} and behind.is_noun:
        return _token(lowered, "drop", raw)
    return None


def _inflected(raw: str, lowered: str, behind: Behind, *, name: bool) -> Token:
    """Return a word's token with its inflection undone: plural and verb -s, past, progressive after a form of be."""
    forms, past, count = {lowered}, False, ""
    if lowered in IRREGULAR_PAST:
        forms, past = {IRREGULAR_PAST[lowered]}, True
    elif lowered in IRREGULAR_PLURALS:
        forms, count = {IRREGULAR_PLURALS[lowered]}, "many"
    elif lowered.endswith("ing") and (behind.is_be or behind.is_now) and len(lowered) > _SHORT + 2:
        forms = roots(lowered[:-3])
    elif lowered.endswith("ed") and lowered not in STATES and len(lowered) > _SHORT + 1:
        forms, past = roots(lowered[:-2]), True
    elif (
        lowered.endswith("s")
        and lowered not in NOT_PLURAL
        and not lowered.endswith(("ss", "us", "is"))
        and len(lowered) > _SHORT
    ):
        forms, count = singulars(lowered), "many"
    if behind.is_article:
        count = "one"
    past = past and not behind.is_present
    joined = frozenset(SAME_WORDS.get(form, form) for form in forms)
    return Token(joined, "word", raw, name=name, past=past, count=count, bare=frozenset(forms))


def _settle(tokens: list[Token]) -> list[Token]:
    """Return the tokens after what only neighbours decide: V-ing behind `stopped`, 了 at an end, the perfect."""
    settled: list[Token] = []
    unsettled = False  # whether the token before may decide what this one is
    for place, token in enumerate(tokens):
        if not (token.unsettled or unsettled):
            settled.append(token)
            continue
        unsettled = token.unsettled
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        raw = token.raw.casefold()
        if raw in {"stopped", "quit", "stops", "ceased"} and after and after.raw.casefold().endswith("ing"):
            settled += [_token("not", "negation", raw), _token("anymore", "change", raw)]
        elif settled and settled[-1].form == "anymore" and raw.endswith("ing") and token.kind == "word":
            bases = {SAME_WORDS.get(form, form) for form in roots(raw[:-3])}
            settled.append(Token(frozenset(bases), "word", token.raw))
        elif (
            (
                token.kind == "tense"
                and raw in {"was", "were", "has been"}
                and after
                and after.kind == "change"
            )
            or (
                token.kind == "relation"
                and token.form in {"in", "at", "on"}
                and after
                and after.kind == "date"
            )
            or (raw == "了" and (after is None or after.kind == "drop"))
        ):
            settled.append(replace(token, kind="drop"))
        elif token.kind == "have" and raw in {"has", "have"} and after and after.past:
            settled.append(_token("perfect", "tense", raw))
        else:
            settled.append(token)
    return settled + _no_more(settled)


def _no_more(tokens: list[Token]) -> list[Token]:
    """Return the mark of an end where a Chinese sentence says `不…了`: no longer."""
    spoken = [t for t in tokens if t.raw not in _STOPS]
    ends = bool(spoken) and spoken[-1].raw == "了" and any(t.raw in {"不", "不用"} for t in spoken)
    return [_token("anymore", "change", "了")] if ends else []
