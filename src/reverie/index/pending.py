"""Search by reading: rows the text index has not taken in, scored as it would score them.

Owns the scan of a few hundred rows; promises scores comparable with those of the text index (the same formula,
document frequencies and lengths); never reads a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from reverie.core import tokens
from reverie.core.rank import OWN, WINDOW

K1: Final = 1.2  # both as built into tantivy
B: Final = 0.75


class Pending(NamedTuple):
    """The counted terms of one row, alone and with the turns around it, and how many there are of each."""

    own: Counter[str]
    window: Counter[str]
    lengths: tuple[int, int]


class Statistics(NamedTuple):
    """What is known of the indexed documents: how many, the mean length of each view, and who holds a term."""

    documents: int
    lengths: Mapping[str, float]
    frequency: Callable[[str, str], int]


def counted(own: Iterable[str], window: Iterable[str]) -> Pending:
    """Return a row ready to be scored."""
    views = Counter(own), Counter(window)
    return Pending(*views, (views[0].total(), views[1].total()))


def scores(terms: Sequence[str], rows: Sequence[Pending], *, statistics: Statistics) -> list[float]:
    """Return the BM25 score of each row over both views.

    BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the logarithm's argument
    raised by one, as Lucene and tantivy do.
    """
    total = [0.0] * len(rows)
    for field, weight in (("own", OWN), ("window", WINDOW)):
        own = field == "own"
        views = [row.own if own else row.window for row in rows]
        lengths = [row.lengths[0 if own else 1] for row in rows]
        count = statistics.documents + len(rows)
        mean = statistics.lengths[field] or sum(lengths) / max(len(rows), 1) or 1.0
        for term in terms:
            places = [place for place, view in enumerate(views) if term in view]
            if not places:
                continue
            holders = statistics.frequency(field, term) + len(places)
            heft = weight * tokens.heft(term)
            idf = math.log(1.0 + (count - holders + 0.5) / (holders + 0.5))
            for place in places:
                often = views[place][term]
                norm = K1 * (1.0 - B + B * lengths[place] / mean)
                total[place] += heft * idf * often * (K1 + 1.0) / (often + norm)
    return total
