"""Whether what a model wrote stands in what was said.

Owns finding quoted words in a turn, telling whose words they are, and telling what of a text nobody said; promises that
what is found is a verbatim stretch of the turn, and that names, numbers, dates, addresses and code which stand in no
turn are named as such; never asks whether a statement is true.

Dates are resolved here by the rules of `when`, against the instant of the turn that names them: a date that neither
stands in a turn nor follows from its words by those rules was made up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta

import msgspec
from msgspec.structs import replace

from reverie.core.days import Calendar, is_when
from reverie.core.guard.reading import read
from reverie.core.records import Origin, Turn
from reverie.core.text.patterns import Words
from reverie.core.text.said import Sources, content, sources
from reverie.model.rules import tense_en, tense_zh, when_zh, words_en, words_zh
from reverie.model.rules.sentences import READ, hostile, pieces
from reverie.model.rules.when import Anchor, Dated, Dates

SHORTEST = 4  # characters of a quote without blanks; two in scripts that write words with fewer

_HAN = Words(r"[\u3400-\u9fff]")
_SENTENCE = re.compile(r"[^\n.!?。！？；;]+(?:[.!?。！？；;](?=\S)[^\n.!?。！？；;]*)*[.!?。！？；;]?")
_SPELLED = {
    spelled: str(number)
    for number, words in enumerate(
        (
            "one 一 first", "two 二 两 second twice both 俩", "three 三 third", "four 四 fourth", "five 五 fifth",
            "six 六 sixth", "seven 七 seventh", "eight 八 eighth", "nine 九 ninth", "ten 十 tenth", "eleven 十一",
            "twelve 十二 dozen",
        ),
        1,
    )
    for spelled in words.split()
}  # fmt: skip
_LETTERS = re.compile(r"[a-z]+")
_CHINESE_NUMBER = re.compile(r"[一二三四五六七八九十百零两]{1,6}")
_SAME = str.maketrans("“”„«»‘’`´‐‑–—−…", '"""""\'\'\'\'-----.')
_DROPPED = frozenset("*\\\u200b\u200c\u200d\ufeff`")
_OWN_WORDS = frozenset({"user", "agent"})


class Quote(msgspec.Struct, frozen=True):
    """A stretch `[start, end)` of a turn, and whose words it is: the worst of the origins that it touches."""

    start: int
    end: int
    origin: Origin


class Ground(msgspec.Struct, frozen=True):
    """What may be stated: the sources of some turns, their content words, and the dates that they name or stand on."""

    said: Sources
    terms: frozenset[str]

    def novel(self, text: str) -> str:
        """Return what of a text stands in no turn, as a phrase; empty when nothing does."""
        return self.said.novel(text)

    def speaks_of(self, text: str) -> bool:
        """Tell whether a third of the text's content words stand in the turns: it may use other words, not all."""
        want = {term for term in content(text) - _OWN_WORDS if not any(map(str.isdigit, term))}
        return 3 * len(want & self.terms) >= len(want)

    def has_date(self, when: str) -> bool:
        """Tell whether a `When` lies on a date that was named or was the day of a turn."""
        return is_when(when) and any(known.startswith(when[:10]) for known in self.said.dates)


def ground(turns: Sequence[Turn], calendar: Calendar, *, names: Iterable[str] = ()) -> Ground:
    """Return what the turns allow to be stated; `names` are those of the speakers."""
    texts = [readable(turn) for turn in turns]
    found = sources((*texts, *names, *(calendar.day(turn.at) for turn in turns)))
    dates, clocks = set(found.dates), set[str]()
    for turn, text in zip(turns, texts, strict=True):
        for one in _either(text, turn.at, calendar):
            dates.update(_days(one))
            if one.clock is not None:
                clocks.update(
                    f"{one.clock:%H:%M}|{one.clock.hour}:{one.clock:%M}|{one.clock.hour}".split("|")
                )
    pieces_of_dates = {part.lstrip("0") for one in dates for part in one.split("-")}
    spelled = frozenset(_spelled(found.text))
    return Ground(
        replace(
            found,
            dates=frozenset(dates),
            days=(),
            numbers=found.numbers | spelled | clocks | pieces_of_dates | {p.zfill(2) for p in pieces_of_dates},
        ),
        content("\n".join(texts)),
    )  # fmt: skip


def readable(turn: Turn) -> str:
    """Return the turn's words with each stretch that may not be read made a line break; positions stay as they are."""
    text = turn.content
    for start, end in turn.injected:
        text = text[:start] + "\n" * (min(end, len(text)) - start) + text[end:]
    return text


def located(turn: Turn, quote: str) -> Quote | None:
    """Return where words stand in a turn, whatever their blanks, quotation marks and case; None when nowhere.

    None as well for words too few to prove anything, and for words in a paragraph that orders an agent about.
    """
    text, places = _flat(readable(turn))
    wanted = _flat(quote)[0].strip(" .,;:!?。，；！？\"'")
    if len(wanted.replace(" ", "")) < (2 if _HAN.search(wanted) else SHORTEST):
        return None
    at = text.find(wanted)
    while at >= 0 and not _bounded(text, at, at + len(wanted)):
        at = text.find(wanted, at + 1)
    if at < 0:
        return None
    start, end = places[at], places[at + len(wanted) - 1] + 1
    if hostile(_paragraph(turn.content, start, end)):
        return None
    return Quote(start, end, _origin(turn, start, end))


def flips(text: str, evidence: str) -> bool:
    """Tell whether a text says with, or without, a "not" what its evidence says the other way round."""
    if read(text).has("negation") == read(evidence).has("negation"):
        return False
    return content(text) - _OWN_WORDS <= content(evidence)


def absolute(text: str, at: datetime, *, calendar: Calendar) -> str:
    """Return a text with each relative date in it ("tomorrow", "下周五") in place of its words resolved."""
    parts, last = [], 0
    for start, named in _found(text, at, calendar):
        for one in named.sure:
            if one.relative and one.words:
                parts += [text[last : start + one.start], one.words]
                last = start + one.end
    return "".join((*parts, text[last:]))


def dates_named(text: str, at: datetime, *, calendar: Calendar) -> tuple[Dated, ...]:
    """Return the times that a text said at an instant names for certain, sentence by sentence."""
    return tuple(one for _, named in _found(text, at, calendar) for one in named.sure)


def _either(text: str, at: datetime, calendar: Calendar) -> Iterator[Dated]:
    """Yield the times that a text names, in both readings where nobody can tell which is meant."""
    for _, named in _found(text, at, calendar):
        yield from (*named.sure, *named.unsure)


def anchor_of(at: datetime, calendar: Calendar) -> Anchor:
    """Return what relative words said at an instant count from."""
    return Anchor(date.fromisoformat(calendar.day(at)), calendar.local(at))


def _found(text: str, at: datetime, calendar: Calendar) -> Iterator[tuple[int, Dates]]:
    """Yield the times of each sentence of a text that may name one, with the start of the sentence."""
    for match in _SENTENCE.finditer(text[:READ]):
        sentence = match[0]
        chinese = _HAN.search(sentence) is not None
        if (words_zh if chinese else words_en).MAYBE_DATE.search(sentence.lower()):
            yield match.start(), (tense_zh if chinese else tense_en).dates(sentence, anchor_of(at, calendar))


def _days(one: Dated) -> Iterator[str]:
    """Yield the days that a time covers: first and last, and those between when they are few."""
    yield one.first.isoformat()
    yield one.last.isoformat()
    few = min((one.last - one.first).days, 31)
    yield from ((one.first + timedelta(days=step)).isoformat() for step in range(1, few))


def _spelled(text: str) -> Iterator[str]:
    """Yield in digits the numbers that a text spells in words."""
    for word in _LETTERS.findall(text):
        if word in _SPELLED:
            yield _SPELLED[word]
    for word in _CHINESE_NUMBER.findall(text):
        yield from (_SPELLED[one] for one in (word, *word) if one in _SPELLED)
        if set(word) <= set("一二三四五六七八九十两") and word.count("十") <= 1:
            yield from _value_of(word)


def _value_of(word: str) -> Iterator[str]:
    try:
        yield str(when_zh.number(word))
    except KeyError:
        return


def _flat(text: str) -> tuple[str, list[int]]:
    """Return a text in one spelling and, for each character of it, the place it came from."""
    out: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char in _DROPPED:
            continue
        if char.isspace():
            if out and out[-1] != " ":
                out.append(" ")
                places.append(place)
            continue
        for one in char if char.isascii() else unicodedata.normalize("NFKC", char).translate(_SAME):
            out.append(one.lower())
            places.append(place)
    # A lower-case letter may be two characters; then one place stands for both.
    flat = [(one, place) for text_, place in zip(out, places, strict=True) for one in text_]
    return "".join(one for one, _ in flat), [place for _, place in flat]


def _bounded(text: str, start: int, end: int) -> bool:
    """Tell whether a stretch begins and ends where words do, in scripts that part them."""
    before = text[start - 1 : start] if start else ""
    after = text[end : end + 1]
    cut_before = before.isalnum() and before.isascii() and text[start].isascii() and text[start].isalnum()
    cut_after = after.isalnum() and after.isascii() and text[end - 1].isascii() and text[end - 1].isalnum()
    return not cut_before and not cut_after


def _paragraph(content_: str, start: int, end: int) -> str:
    first = content_.rfind("\n\n", 0, start)
    last = content_.find("\n\n", end)
    return content_[max(first, 0) : last if last >= 0 else len(content_)]


def _origin(turn: Turn, start: int, end: int) -> Origin:
    """Return whose words a stretch is: quotes, fences, pastes and what lies far into a long message are a file's."""
    if turn.role == "tool":
        return "tool"
    if turn.role == "system":
        return "other"
    touched = [
        piece for piece in pieces(turn.content, turn.injected) if piece.start < end and start < piece.end
    ]
    own = bool(touched) and end <= READ and all(piece.kind == "own" for piece in touched)
    if not own:
        return "file"
    return "user" if turn.role == "user" else "agent"
