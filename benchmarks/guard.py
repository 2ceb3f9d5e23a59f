"""The guard's confusion matrix over the labelled pairs, and what one comparison costs.

Owns the counting; promises that a false merge (a pair labelled `none` or `contradicts` that is folded, replaced or
corrected, in the given order) is printed in full; writes nothing.
"""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie.core.guard.claims import claims
from reverie.core.guard.contrast import differences
from reverie.core.guard.relation import relate
from reverie.core.records import Entry

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
KINDS = ("repeats", "strengthens", "supersedes", "corrects", "contradicts", "none")
APART = frozenset({"none", "contradicts"})
FOLDED = frozenset({"repeats", "strengthens"})
_AT = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)

Pair = tuple[str, str, str]
"""The labelled relation, the older statement and the newer one."""


def pairs(name: str, language: str | None = None) -> list[Pair]:
    """Return the pairs of a data file, or of one language's table in it."""
    table = tomllib.loads((DATA / name).read_text(encoding="utf-8"))
    kinds = table[language] if language else table
    return [(truth, old, new) for truth, rows in kinds.items() for old, new in rows]


def found(old: str, new: str) -> str:
    """Return what the guard says of `new`, said by the user five days after `old`."""
    entries = [
        Entry(id=f"{n:016x}", text=text, at=at, day=at.strftime("%Y-%m-%d"), origin="user", category="fact")
        for n, (text, at) in enumerate(((old, _AT), (new, _AT + timedelta(days=5))))
    ]
    relation = relate(entries[1], entries[0])
    return relation.kind if relation else "none"


def matrix(rows: Iterable[Pair]) -> Counter[tuple[str, str]]:
    """Return how often each labelled relation was found as each relation."""
    return Counter((truth, found(old, new)) for truth, old, new in rows)


def false_merges(rows: Iterable[Pair]) -> list[tuple[str, str, str, str]]:
    """Return the pairs that stand apart and would be folded or replaced: label, finding, older, newer."""
    told = ((truth, found(old, new), old, new) for truth, old, new in rows if truth in APART)
    return [one for one in told if one[1] not in APART]


def table(counts: Counter[tuple[str, str]]) -> str:
    """Return a confusion matrix as text: a row a labelled relation, a column a found one, and the recall."""
    lines = ["labelled \\ found " + " ".join(f"{kind:>11}" for kind in KINDS) + "   recall"]
    for truth in KINDS:
        row = [counts[truth, kind] for kind in KINDS]
        if sum(row):
            recall = counts[truth, truth] / sum(row)
            lines.append(f"{truth:16} " + " ".join(f"{n:11}" for n in row) + f"   {recall:.3f}")
    return "\n".join(lines)


def seconds_a_pair(rows: list[Pair]) -> tuple[float, float]:
    """Return the processor seconds of one comparison of statements read for the first time, and of ones read before."""
    relevant = [(old, new) for _, old, new in rows]
    for cache in (differences, claims):
        cache.cache_clear()
    times = []
    for _ in range(2):
        started = time.process_time()
        for old, new in relevant:
            found(old, new)
        times.append((time.process_time() - started) / len(relevant))
    return times[0], times[1]


def main() -> None:
    """Print the matrix of each set, every false merge and every other miss, and the cost of a comparison."""
    sets = {
        "written with the guard": pairs("guard_pairs.toml"),
        "fresh, English": pairs("guard_pairs_fresh.toml", "en"),
        "fresh, Chinese": pairs("guard_pairs_fresh.toml", "zh"),
        "written after mending": pairs("guard_pairs_fresh.toml", "again"),
    }
    for name, rows in sets.items():
        first, again = seconds_a_pair(rows)
        merged = false_merges(rows)
        print(f"{name}: {len(rows)} pairs, {len(merged)} false merges")
        print(table(matrix(rows)))
        print(f"{first * 1e6:.0f} us a pair read for the first time, {again * 1e6:.0f} us a pair read before")
        for truth, old, new in rows:
            if (kind := found(old, new)) != truth:
                mark = "FALSE MERGE" if truth in APART and kind not in APART else "missed"
                print(f"  {mark}: {truth} found as {kind}: {old} | {new}")
        print()


if __name__ == "__main__":
    main()
