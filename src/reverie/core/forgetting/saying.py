"""What turns say of somebody: the sentences that go when all that is said of them is erased.

Owns which ids mean turns, and which words of a turn go with a name; promises that a sentence on which an entry rests
that stays is kept, and that the rest of the turn is never among them; never reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.guard.echoes import sentences
from reverie.core.records import Entry, Turn
from reverie.core.text.phrases import by_first, find, phrase, words

TURN = "turn:"  # how the id of a turn begins


class Saying(NamedTuple):
    """What is to go of a turn, with its session: texts that stand in it."""

    session: str
    turn: Turn
    texts: tuple[str, ...]


def apart(named: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the ids of turns among those that were named, and the others."""
    every = list(dict.fromkeys(named))
    return [one for one in every if one.startswith(TURN)], [one for one in every if not one.startswith(TURN)]


def spoken(turn: Turn) -> tuple[str, ...]:
    """Return the texts of a turn: what was said, and with what its tools were called."""
    return (turn.content, *(call.arguments for call in turn.calls))


def says(turn: Turn, name: str) -> bool:
    """Whether a turn says `name`, on word borders as a topic is matched."""
    return any(excluded_by(text, (name,)) for text in spoken(turn))


def sentences_naming(turn: Turn, name: str) -> tuple[str, ...]:
    """Return the sentences of a turn that say `name`; all of a text in which the name itself spans two."""
    found: list[str] = []
    for text in spoken(turn):
        if excluded_by(text, (name,)):
            found += [one for one in sentences(text) if excluded_by(one, (name,))] or [text]
    return tuple(dict.fromkeys(found))


class Claims:
    """What entries that are kept say and rest on."""

    def __init__(self, kept: Iterable[Entry]) -> None:
        """Read the entries once."""
        self._kept = [
            (words(f"{one.text}\n{one.evidence}"), by_first([phrase(one.evidence)])) for one in kept
        ]

    def without(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the texts that none of them says, and in which the evidence of none stands."""
        return tuple(text for text in texts if phrase(text) and not self._claim(text))

    def _claim(self, text: str) -> bool:
        wanted, said = by_first([phrase(text)]), words(text)
        return any(
            find(entry, wanted, anywhere=True) or find(said, evidence, anywhere=True)
            for entry, evidence in self._kept
        )
