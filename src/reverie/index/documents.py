"""What the text index holds of a row: its words, the words around it, and the values it is filtered by.

Owns the make-up of a document; promises that a row and its window are cut by `core.text.tokens` alone, and that a huge
neighbour cannot drown the turn it stands beside; never touches the disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from reverie.core.search.rank import REACH
from reverie.core.search.rows import Row
from reverie.core.text import tokens

NEIGHBOUR: Final = 256  # terms of a neighbouring turn a window takes in
_VALUE: Final = 100  # characters of a filter value kept readable; a longer one is known by its hash

_DAY_ONE: Final = 1
DAY_LAST: Final = date.max.toordinal()

Turns = Callable[[str, range], Iterable[Row]]  # (session, ordinals) -> those turns


class Document(NamedTuple):
    """One row as an index of words takes it."""

    num: int
    day: str
    own: Sequence[str]
    window: Sequence[str]
    facets: Sequence[str]


def spoken(row: Row) -> str:
    """Return what an embedder is given of a row: its heading and its own words, without the turns around it.

    Windows help words and hurt vectors: the mean of five turns lies near none of them.
    """
    return f"{row.heading}\n{row.text}" if row.heading else row.text


@lru_cache(maxsize=512)
def ordinal(day: str, otherwise: int = _DAY_ONE) -> int:
    """Return the number of a logical day, `otherwise` for what is none."""
    try:
        return date.fromisoformat(day[:10]).toordinal()
    except ValueError:
        return otherwise


def own(row: Row) -> Sequence[str]:
    """Return the terms of a row: who said it, its heading and tags, and its text."""
    text = f"{row.person}\n{row.heading}\n{' '.join(row.tags)}\n{row.text}"
    return tokens.search_terms(text) if row.n < 0 else _terms(text)


@lru_cache(maxsize=2_048)
def _terms(text: str) -> tuple[str, ...]:
    """Return the terms of a turn; cached because it stands in the windows of its neighbours too."""
    return tuple(tokens.search_terms(text))


def views(rows: Sequence[Row], turns: Turns) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return for each row its terms, alone and with those of the turns around it; any other row is its own window.

    Rows that stand beside each other in a session, in order, share one reading of their neighbours.
    """
    around = _surroundings(rows, turns)
    found: list[tuple[Sequence[str], Sequence[str]]] = []
    for row in rows:
        mine = own(row)
        if row.n < 0 or not row.session:
            found.append((mine, mine))
            continue
        words: list[str] = []
        for n in range(row.n - REACH, row.n + REACH + 1):
            beside = row if n == row.n else around.get((row.session, n))
            if beside is not None:
                words += mine if beside is row else own(beside)[:NEIGHBOUR]
        found.append((mine, words))
    return found


def _surroundings(rows: Sequence[Row], turns: Turns) -> dict[tuple[str, int], Row]:
    """Return the turns in and around `rows` by session and ordinal; `rows` themselves win."""
    placed = sorted({(row.session, row.n) for row in rows if row.n >= 0 and row.session})
    around: dict[tuple[str, int], Row] = {}
    for session, group in groupby(placed, key=lambda place: place[0]):
        ordinals = [n for _, n in group]
        first = ordinals[0]
        for place, n in enumerate(ordinals):
            if place + 1 == len(ordinals) or ordinals[place + 1] - n > 2 * REACH:
                for turn in turns(session, range(first - REACH, n + REACH + 1)):
                    around[session, turn.n] = turn
                first = ordinals[place + 1] if place + 1 < len(ordinals) else n
    around.update({(row.session, row.n): row for row in rows if row.n >= 0 and row.session})
    return around


def facets(row: Row) -> list[str]:
    """Return the values of a row that a filter can ask for."""
    named = [
        ("kind", row.kind),
        ("session", row.session),
        ("person", row.person),
        ("category", row.category),
        ("scope", row.scope),
        *(("tag", tag) for tag in row.tags),
    ]
    return [facet(name, value) for name, value in named if value]


@lru_cache(maxsize=2_048)  # most rows share theirs with the row before
def facet(name: str, value: str) -> str:
    """Return one filter value as the index holds it."""
    if value.isascii() and len(value) <= _VALUE:
        return f"{name}:{value}"
    if len(value) > _VALUE:
        value = hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
    return f"{name}:{value.encode('utf-8', 'replace').decode()}"


def means_alike(old: Row, new: Row) -> bool:
    """Whether what a vector is made of, and what it is filtered by, is the same in both."""
    return (spoken(old), old.day, facets(old)) == (spoken(new), new.day, facets(new))
