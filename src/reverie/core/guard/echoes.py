"""Who repeats in an answer what was just said, in words of their own.

Owns what counts as an echo of an entry; promises that a sentence which shares with it neither a name, a number, two
telling words, nor what a short statement is about is none; never reads a file.

"Noted: no macadamia nuts" says what "I'm allergic to macadamia nuts" says, and shares no evidence with it. So it is
looked for where it must stand: in the answers to the words that are forgotten, and in what is said later there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from reverie.core.records import Entry, Turn
from reverie.core.text.phrases import telling

ENOUGH = 2  # telling words that a sentence shares by more than chance
SHORT = 4  # telling words of a statement that ends in what it is about: "allergic to walnuts", "diagnosed with lupus"
_SENTENCE = re.compile(r"[^.!?。！？…\n\r]+(?:[.!?](?=\S)[^.!?。！？…\n\r]+)*[.!?。！？…]*")
_NAME = re.compile(r"(?<=[\w,;:'\"] )[^\W\d_]*[A-ZÀ-ÖØ-Þ]\w*|\w*\d(?:[\w.,:]*\w)?")
_USER = frozenset({"user", "i", "i'm", "i've", "i'll", "i'd"})


def answers(turns: Sequence[Turn], ordinals: Iterable[int]) -> Iterator[tuple[Turn, bool]]:
    """Yield what others say after the turns with these ordinals, and whether it answers them.

    The answer ends where the user speaks again after it. Several turns of the user's in a row are answered together.
    """
    wanted, begun, answering, answered = set(ordinals), False, False, False
    for turn in turns:
        if turn.n in wanted:
            begun, answering, answered = True, True, False
        elif turn.role == "user":
            answering = answering and not answered
        elif begun:
            answered = True
            yield turn, answering


def echoes(entry: Entry, text: str, *, answering: bool = True) -> list[str]:
    """Return the sentences that repeat what an entry says, or what it was read from.

    In what is said later than the answer, a name or two words are chance: half of what tells is not.
    """
    if not answering:
        told = set(telling(entry.text)) - {"user"}
        later = ((one, set(telling(one)) & told) for one in sentences(text))
        return [one for one, shared in later if len(shared) >= max(ENOUGH, len(told) / 2)]
    said = {*telling(entry.text), *telling(entry.evidence)} - {"user"}
    names = {
        word
        for name in _NAME.findall(f"{entry.text} \n {entry.evidence}")
        if name.casefold() not in _USER
        for word in telling(name)
    }
    return [one for one in sentences(text) if _shares(set(telling(one)), said, names | _about(entry))]


def _about(entry: Entry) -> set[str]:
    """Return the word that a short statement ends in: to answer it with that word alone is to repeat it."""
    told = [word for word in telling(entry.text) if word != "user"]
    return set(told[-1:]) if len(told) <= SHORT else set()


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, without the blanks around them."""
    return (one for match in _SENTENCE.finditer(text) if (one := match[0].strip()))


def _shares(words: set[str], said: set[str], names: set[str]) -> bool:
    return len(words & said) >= ENOUGH or bool(words & names)
