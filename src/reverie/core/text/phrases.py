r"""A statement found again in other text: word for word, or said a little differently.

Owns what counts as the same words (spelling, case, punctuation, line breaks and Markdown's emphasis aside) and what
counts as the same statement in other words; promises that a word which could carry a difference is never left out of
the comparison; never reads a file.

A *phrase* is the words of a statement in order. Characters of scripts that write no blanks are words of their own.
The *telling* words are the stems of a statement without grammar, emphasis and the user himself, with a few verbs that
mean the same put under one name. Two statements with the same telling words in the same order say the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from reverie.core.text import patterns
from reverie.core.text.tokens import terms

BORDERLESS = (
    4  # words (or twice as many characters) that are found inside a longer clause too; fewer must stand alone
)

# Scripts without blanks between words: Thai, Lao, Burmese, Khmer, Kana, Han.
_APART = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_APART += "\uf900-\ufaff\U00020000-\U000323af"
# Nobody sees them: soft hyphens, joiners, blanks without width, marks of direction, byte order, an emoji's style.
_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_DROPPED = _UNSEEN + r"\s.,;:!?…\"'“”‘’«»()\[\]{}<>—–_|~`\\^、。，；：！？（）【】《》「」『』·•*\-−"
_SKIP = r"<br\s*/?>|&#x[0-9a-f]{1,6};|&[a-z]{2,8};"
_TOKEN = patterns.Words(
    rf"{_SKIP}"
    rf"|[{_APART}]"
    rf"|(?:(?![{_APART}])[^\W_][\u0300-\u036f{_UNSEEN}]*)+"
    rf"(?:(?:['’](?=[^\W\d_])|(?<=\d)[.,:](?=\d))(?:(?![{_APART}])[^\W_][\u0300-\u036f{_UNSEEN}]*)+)*"
    r"|(?<![^\W_])[-−](?=\d)"
    rf"|[^{_DROPPED}]",
    fold=True,
)
# The same for ASCII in lower case, several times as fast; most text is.
_ASCII = patterns.Words(
    r"[a-z0-9]+(?:'(?=[a-z])[a-z0-9]+|(?<=[0-9])[.,:](?=[0-9])[a-z0-9]+)*"
    rf"|[#$%+/=@\x00-\x08\x0e-\x1b\x7f]|{_SKIP}|&|(?<![a-z0-9])-(?=[0-9])"
)
_MARK = patterns.Words(r"[^\w\s.,;:!?'\"()]")
_UNSEEN_CHARACTER = patterns.Words(f"[{_UNSEEN}]")
_APART_WORD = patterns.Words(f"[{_APART}]")
_BREAK = patterns.Words(r"[\n\r.,;:!?…\"“”()\[\]{}<>—–|>、。，；：！？（）【】《》「」『』·•]")
_JOINERS = frozenset(
    "and or but because since so which who when while if as although though however too that"
    " 和 与 及 但 而 也 或 因 所".split()
)

_GRAMMAR = frozenset(
    "a an the is are am be been being do doe did done has have had of to in on at it it that this i me my mine myself"
    " you your im ive id user just also veri realli quit truli actual definit current now still there here so and"
    " pleas s t well".split()
)
_SAME = {
    word: name
    for name, words in {
        "like": "love enjoy ador fond fan keen",
        "dislike": "hate loath detest dislik",
        "prefer": "favour favor",
        "live": "resid dwell",
        "move": "reloc",
        "buy": "purchas bought",
        "work": "employ",
        "start": "begin began begun",
        "child": "kid children",
        "mother": "mum mom",
        "father": "dad",
        "film": "movi",
        "allerg": "allergi",
    }.items()
    for word in words.split()
}
_HAN_SAME = (
    (patterns.Words("不喜欢|不爱|讨厌"), "厌"),
    (patterns.Words("喜欢|喜爱|热爱|爱(?=[吃喝看听玩])"), "喜"),
    (patterns.Words("居住在?|住在"), "住"),
    (patterns.Words("购买|买了"), "买"),
    (patterns.Words("用户|使用者|我们?|您|非常|真的|特别|[的了着地得很是也就都]"), ""),
)
_HAN = patterns.Words("[\u4e00-\u9fff]")


Phrases = Mapping[str, Sequence[tuple[str, ...]]]


class Words(msgspec.Struct, frozen=True):
    """The words of a text, as compared, each with the offsets at which it stands in `source`."""

    source: str
    texts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def ends(self, number: int) -> bool:
        """Whether a clause ends behind the word with that number."""
        if number + 1 == len(self.texts):
            return True
        return _BREAK.search(self.source, self.spans[number][1], self.spans[number + 1][0]) is not None


def words(text: str) -> Words:
    """Return the words of `text`, with their offsets in it."""
    places = _ASCII.finditer(text.lower()) if text.isascii() else _TOKEN.finditer(text)
    found = [match for match in places if not _is_markup(match[0])]
    return Words(text, tuple(spelled(match[0]) for match in found), tuple(match.span() for match in found))


def phrase(text: str) -> tuple[str, ...]:
    """Return the words of `text` in order, as `find` looks for them."""
    found = _ASCII.findall(text.lower()) if text.isascii() else map(spelled, _TOKEN.findall(text))
    return (
        tuple(word for word in found if not _is_markup(word)) if "<" in text or "&" in text else tuple(found)
    )


def may_stand(said: Words, start: int, *, end: int) -> bool:
    """Whether the words from `start` up to `end` would be a statement there, not a part of a longer or other one.

    A phrase that weighs `BORDERLESS` is one wherever it stands. A lighter one must be a clause: "likes tea" is not said
    by "likes tea ceremonies", nor "drinks tea" by "never drinks tea".
    """
    texts = said.texts
    if end - start >= BORDERLESS and weight(texts[start:end]) >= BORDERLESS:
        return True
    before = start == 0 or texts[start - 1] in _JOINERS or said.ends(start - 1)
    return before and (said.ends(end - 1) or texts[end] in _JOINERS)


def weight(wanted: Sequence[str]) -> float:
    """Return how many words a phrase has, a character of a script without blanks counting half."""
    return sum(0.5 if _is_apart(word) else 1.0 for word in wanted)


def by_first(phrases: Iterable[tuple[str, ...]]) -> Phrases:
    """Return phrases by their first word, as `find` takes them; empty ones are left out."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for one in dict.fromkeys(phrases):
        if one:
            found.setdefault(one[0], []).append(one)
    return found


def find(said: Words, wanted: Phrases, *, anywhere: bool = False) -> list[tuple[int, int]]:
    """Return the offsets at which one of the phrases stands in the words of a text, in order and merged.

    `anywhere` finds them inside a longer clause too, however short they are.
    """
    spans: list[tuple[int, int]] = []
    for at, word in enumerate(said.texts):
        for one in wanted.get(word, ()):
            end = at + len(one)
            if said.texts[at:end] == one and (anywhere or may_stand(said, at, end=end)):
                spans.append((said.spans[at][0], said.spans[end - 1][1]))
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def telling(text: str) -> tuple[str, ...]:
    """Return the telling words of a statement, each once, in the order they are said."""
    if _HAN.search(text):
        for pattern, instead in _HAN_SAME:
            text = pattern.sub(instead, text)
    found = [_SAME.get(term, term) for term in terms(text) if term not in _GRAMMAR]
    marks = [
        word for word in phrase(text) if not any(map(str.isalnum, word))
    ]  # "12 €" is not "12 $", nor 5 °C -5 °C
    return tuple(dict.fromkeys([*found, *marks]))


def spelled(text: str) -> str:
    """Return text with its characters as words are compared: no case, no width, no form, nothing that nobody sees."""
    if text.isascii():
        return text.lower()
    seen = _UNSEEN_CHARACTER.sub("", text)
    return unicodedata.normalize("NFKC", seen).casefold().replace("’", "'").replace("−", "-")


def _is_markup(word: str) -> bool:
    return len(word) > 1 and word[0] in "<&"


def _is_apart(word: str) -> bool:
    return len(word) == 1 and _APART_WORD.match(word) is not None
