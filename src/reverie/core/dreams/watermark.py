"""How far the notebook has come: the watermark, and the line that says so in `log.md`.

Owns the form of that line, which people read; promises that the watermark never moves back and never passes a day that
holds a pending entry; never takes a line's word: the records of runs say how far it is.

    ## [2026-07-02] ingest | run=dream:20260702-030000 watermark=2026-07-01
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from reverie.core.pages.source import split
from reverie.core.records import Run


def advanced(before: str, *, days: Iterable[str], pending: Iterable[str], today: str) -> str:
    """Return the watermark: the last of `days` (that have a log) before today and before every `pending` day.

    `before` is where it stood; a late entry behind it is pending all the same, and moves nothing.
    """
    limit = min((*pending, today))
    return max((before, *(day for day in days if day < limit)))


def log_line(run: Run, day: str) -> str:
    """Return the line of a run in `log.md`, without a line break; `day` is the run's own."""
    return f"## [{day}] ingest | run={run.run} watermark={run.watermark}"


def with_line(text: str, line: str) -> str:
    """Return the text of `log.md` with a line at its end, after a blank one; as it is when the line stands there."""
    if line in text.splitlines():
        return text
    kept, newline = text.rstrip(), split(text).newline
    return f"{kept}{newline * 2 if kept else ''}{line}{newline}"


def highest(runs: Iterable[Run]) -> str:
    """Return the watermark by the runs' records; empty before the first."""
    return max((run.watermark for run in runs), default="")


def run_name(at: datetime, taken: Iterable[str], *, kind: str = "dream") -> str:
    """Return the name of a run of some kind that begins at `at` (UTC), unlike those `taken`."""
    name = f"{kind}:{at:%Y%m%d-%H%M%S}"
    used = frozenset(taken)
    number = 2
    unique = name
    while unique in used:
        unique = f"{name}-{number}"
        number += 1
    return unique
