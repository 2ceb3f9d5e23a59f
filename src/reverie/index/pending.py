"""Search by reading: rows the text index has not taken in, scored as it would score them.

Owns the scan of a few hundred rows; promises scores comparable with those of the text index (the same formula,
document frequencies and lengths); never reads a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, NamedTuple

from reverie.core.search.rank import OWN, WINDOW
from reverie.core.text import tokens

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
    alone = Counter(own)
    views = alone, alone if window is own else Counter(window)
    return Pending(*views, (views[0].total(), views[1].total()))


class Gathered:
    """Rows ready to be scored, by key, with who holds a term."""

    def __init__(self) -> None:
        """Hold none."""
        self._rows: dict[Hashable, Pending] = {}
        self._having: dict[str, tuple[dict[Hashable, int], dict[Hashable, int]]] = {}  # how often, by view
        self._sums = [0, 0]

    def __contains__(self, key: object) -> bool:
        """Tell whether a row is held."""
        return key in self._rows

    def set(self, keys: Iterable[Hashable], new: Mapping[Hashable, Pending]) -> None:
        """Hold the rows of these keys and no others, taking those in `new`; the work follows what changed."""
        wanted = set(keys)
        for key in [one for one in self._rows if one not in wanted or one in new]:
            self._take(key, self._rows.pop(key), held=False)
        for key, row in new.items():
            self._rows[key] = row
            self._take(key, row, held=True)

    def _take(self, key: Hashable, row: Pending, *, held: bool) -> None:
        for view, counts in enumerate((row.own, row.window)):
            self._sums[view] += row.lengths[view] if held else -row.lengths[view]
            for term, often in counts.items():
                if held:
                    self._having.setdefault(term, ({}, {}))[view][key] = often
                    continue
                having = self._having[term]
                del having[view][key]
                if not having[0] and not having[1]:
                    del self._having[term]

    def scores(self, terms: Iterable[str], *, statistics: Statistics) -> dict[Hashable, float]:
        """Return the BM25 score over both views of each row that holds any of `terms`.

        BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the logarithm's argument
        raised by one, as Lucene and tantivy do.
        """
        total: dict[Hashable, float] = {}
        having = [(term, self._having[term]) for term in terms if term in self._having]
        count = statistics.documents + len(self._rows)
        for view, (field, weight) in enumerate((("own", OWN), ("window", WINDOW))):
            mean = statistics.lengths[field] or self._sums[view] / max(len(self._rows), 1) or 1.0
            norms: dict[Hashable, float] = {}
            for term, views in having:
                keys = views[view]
                if not keys:
                    continue
                holders = statistics.frequency(field, term) + len(keys)
                heft = weight * tokens.heft(term)
                idf = math.log(1.0 + (count - holders + 0.5) / (holders + 0.5))
                for key, often in keys.items():
                    if key not in norms:
                        norms[key] = K1 * (1.0 - B + B * self._rows[key].lengths[view] / mean)
                    share = heft * idf * often * (K1 + 1.0) / (often + norms[key])
                    total[key] = total.get(key, 0.0) + share
        return total
