"""Search by reading: rows the text index has not taken in, scored as it would score them.

Owns the scan of a few hundred rows; promises scores comparable with those of the text index (the same formula,
document frequencies and lengths); never reads a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from reverie.core.rank import OWN, WINDOW

K1: Final = 1.2  # both as built into tantivy
B: Final = 0.75


class Statistics(NamedTuple):
    """What is known of the indexed documents: how many, the mean length of each view, and who holds a term."""

    documents: int
    lengths: dict[str, float]
    frequency: Callable[[str, str], int]


def scores(
    terms: Sequence[str], views: Mapping[str, Sequence[Sequence[str]]], statistics: Statistics
) -> list[float]:
    """Return the BM25 score of each pending row over both views.

    `views` holds the rows' terms under `own` and `window`. BM25 as in Robertson and Zaragoza, "The Probabilistic
    Relevance Framework" (2009), with the logarithm's argument raised by one, as Lucene and tantivy do.
    """
    total = [0.0] * len(views["own"])
    for field, weight in (("own", OWN), ("window", WINDOW)):
        counted = [Counter(document) for document in views[field]]
        count = statistics.documents + len(counted)
        mean = statistics.lengths[field] or sum(map(len, views[field])) / max(len(counted), 1) or 1.0
        for term in terms:
            holders = statistics.frequency(field, term) + sum(term in document for document in counted)
            idf = math.log(1.0 + (count - holders + 0.5) / (holders + 0.5)) if holders <= count else 0.0
            for place, document in enumerate(counted):
                often = document[term]
                if often:
                    norm = K1 * (1.0 - B + B * len(views[field][place]) / mean)
                    total[place] += weight * idf * often * (K1 + 1.0) / (often + norm)
    return total
