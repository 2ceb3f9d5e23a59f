"""Which of some statements resemble another, by the rarest words they share.

Owns that look-up in memory; promises that its cost follows how many hold the rare words and not how many there are: an
extraction brings statements by the thousand, and to score each for each new one would take a time that grows with
their square; never compares two statements, which is the guard's work.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from reverie.core.guard.signature import searched_by
from reverie.core.text.tokens import query_terms, stop_terms

DEPTH = 20  # statements a new one is compared with
LOOKED_AT = 400  # places in the lists of a word's statements; the rarest words come first
_SHORT = 1000  # characters; the words of a longer text are not kept
_SAY_NOTHING = frozenset(("user", "agent", "用户"))  # whom half of all entries are about


class RareWords:
    """The words of statements, by name."""

    def __init__(self) -> None:
        """Know none."""
        self._terms: dict[str, tuple[str, ...]] = {}
        self._having: dict[str, dict[str, None]] = {}

    def set(self, texts: Mapping[str, str]) -> None:
        """Know these statements and no others; the work follows what changed."""
        for gone in self._terms.keys() - texts.keys():
            for term in self._terms.pop(gone):
                self._having[term].pop(gone, None)
        for name in [one for one in texts if one not in self._terms]:
            self.add(name, texts[name])

    def add(self, name: str, text: str) -> None:
        """Know one more statement, whose name is new."""
        self._terms[name] = _words(text)
        for term in self._terms[name]:
            self._having.setdefault(term, {})[name] = None

    def alike(self, words: Iterable[str], depth: int = DEPTH) -> list[str]:
        """Return the names of the statements that share the rarest of some words, most alike first."""
        having = sorted(filter(None, (self._having.get(term) for term in words)), key=len)
        scores: dict[str, float] = {}
        left = LOOKED_AT
        for names in having:
            left -= len(names)
            if left < 0 and scores:
                break
            weight = math.log(1 + len(self._terms) / len(names))
            if not scores:
                scores = dict.fromkeys(names, weight)
                continue
            before = scores.get
            for name in names:
                scores[name] = before(name, 0.0) + weight
        return sorted(scores, key=scores.__getitem__, reverse=True)[:depth]


def words_by_which(text: str) -> tuple[str, ...]:
    """Return the words by which statements are looked for that may have to do with a new one."""
    own, more = _words(text), searched_by(text)
    if not more:
        return own
    if not own or own[0] in stop_terms():  # it says nothing but what a search leaves out
        return _words(f"{text} {more}")
    return tuple(dict.fromkeys((*own, *_words(more))))


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a statement that may tell it from others, each once."""
    return _words_short(text) if len(text) <= _SHORT else _cut(text)


@lru_cache(maxsize=4096)  # a new statement is looked for, then known to its reading, then known to wait
def _words_short(text: str) -> tuple[str, ...]:
    return _cut(text)


def _cut(text: str) -> tuple[str, ...]:
    return tuple(term for term in dict.fromkeys(query_terms(text)) if term not in _SAY_NOTHING)
