"""The figures of a measurement of recall, and how sure they are.

Owns the formulas: shares of the evidence found, mean reciprocal rank, normalised discounted cumulative gain,
bootstrap intervals and McNemar's test; promises the same figures for the same answers (the bootstrap's seed is fixed).
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence

CUTS = (1, 5, 10, 20)
RESAMPLES = 1_000


def figures(ranking: Sequence[str], evidence: frozenset[str], session: Mapping[str, str]) -> dict[str, float]:
    """Return one question's figures, turns by id and sessions by their best turn.

    `frac@k` is the share of the evidence in the first k; `any@k` and `all@k`, whether some or all of it is there;
    `s-` says the same of sessions. `ndcg@10` follows Järvelin and Kekäläinen (2002) with gains of 0 and 1.
    """
    sessions = list(dict.fromkeys(session[id_] for id_ in ranking))
    wanted = frozenset(session[id_] for id_ in evidence)
    values: dict[str, float] = {}
    for prefix, order, meant in (("", list(ranking), evidence), ("s-", sessions, wanted)):
        for k in CUTS:
            found = len(meant.intersection(order[:k]))
            values[f"{prefix}frac@{k}"] = found / len(meant)
            values[f"{prefix}any@{k}"] = float(found > 0)
            values[f"{prefix}all@{k}"] = float(found == len(meant))
        places = [place for place, id_ in enumerate(order, start=1) if id_ in meant]
        values[f"{prefix}mrr"] = 1 / places[0] if places else 0.0
        gain = sum(1 / math.log2(place + 1) for place in places if place <= 10)
        values[f"{prefix}ndcg@10"] = gain / sum(1 / math.log2(n + 2) for n in range(min(len(meant), 10)))
    return values


def mean(answers: Sequence[Mapping[str, float]], name: str) -> float:
    """Return the mean of one figure."""
    return statistics.fmean(one[name] for one in answers)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of `values`."""
    chance = random.Random(1)
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[RESAMPLES * 25 // 1_000], means[RESAMPLES * 975 // 1_000 - 1]


def mcnemar(ours: Sequence[float], theirs: Sequence[float]) -> tuple[int, int, float]:
    """Return how many questions only we answered, only they did, and the exact two-sided p (McNemar, 1947)."""
    won = sum(a > b for a, b in zip(ours, theirs, strict=True))
    lost = sum(a < b for a, b in zip(ours, theirs, strict=True))
    tail = sum(math.comb(won + lost, k) for k in range(min(won, lost) + 1)) / 2 ** (won + lost)
    return won, lost, min(1.0, 2 * tail)
