"""How far the notebook has come: the watermark, and the line that says so in `log.md`.

Owns the form of that line and which lines count; promises that the watermark never moves back and never passes a day
that holds a pending entry; never takes a line's word: one counts only if a run's record says the same.

    ## [2026-07-02] ingest | run=dream:20260702-030000 watermark=2026-07-01
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from reverie.core.pages.source import split
from reverie.core.records import Run
from reverie.core.text.names import is_day

_LINE = re.compile(
    r"^## \[(\d{4}-\d{2}-\d{2})\] (\w+) \| run=(\S+) watermark=(\d{4}-\d{2}-\d{2})[ \t]*$", re.MULTILINE
)


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


def standing(text: str, runs: Mapping[str, Run]) -> str:
    """Return the watermark that `log.md` states, by those of its lines that agree with the record of their run."""
    found = (
        mark
        for _, kind, name, mark in _LINE.findall(text)
        if kind == "ingest" and is_day(mark) and (run := runs.get(name)) is not None and run.watermark == mark
    )
    return max(found, default="")


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
