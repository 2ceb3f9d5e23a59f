"""What recalls say of entries: on how many days each was wanted.

Owns how the recall log is read as a signal for the overview page; promises that a thousand recalls of one day weigh as
much as one, so that nothing is promoted by being asked for again and again; never reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from reverie.core.records import Recalled

FIRST = 3  # of what a recall shows: what stands further down was shown because there was room


def days_wanted(log: Iterable[Recalled]) -> Mapping[str, int]:
    """Return by id on how many days (UTC) a recall showed it among its first, or a host said that it used it."""
    days: dict[str, set[date]] = {}
    for line in log:
        for one in (*line.shown[:FIRST], *line.used):
            days.setdefault(one, set()).add(line.at.date())
    return {one: len(those) for one, those in days.items()}
