"""The records of runs, kept for ever, and the transcripts of the latest.

Owns `.state/dreams/`; promises that a run has one record however often its end is repeated, and that no more
transcripts lie there than `dream.transcripts` says; never decides what a run did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from reverie import layout
from reverie.core.dreams.watermark import highest
from reverie.core.entries import is_id
from reverie.core.formats import framing
from reverie.core.records import Outcome, Run
from reverie.store import stream
from reverie.store.workspace import Workspace

_TRANSCRIPT = re.compile(r"[a-z]+-\d{8}-\d{6}(?:-\d+)?\.jsonl")


def read(ws: Workspace) -> list[Run]:
    """Return the records of all runs, in the order they ended; the first of a name counts."""
    found: dict[str, Run] = {}
    written: stream.Read[Run] = stream.read(ws, layout.RUNS, Run)
    for run in written.records:
        found.setdefault(run.run, run)
    return list(found.values())


def append_once(ws: Workspace, run: Run) -> None:
    """Append the record of a run unless it is there."""
    if all(one.run != run.run for one in read(ws)):
        stream.append(ws, layout.RUNS, run)


def append_outcomes(ws: Workspace, run: str, outcomes: Sequence[Outcome], *, again: bool) -> None:
    """Append the outcomes of a run; `again` looks first which of them an interrupted try has written."""
    there: set[tuple[str, int]] = set()
    if again:
        written: stream.Read[Outcome] = stream.read(ws, layout.OUTCOMES, Outcome)
        there = {(one.entry, one.part) for one in written.records if one.run == run}
    stream.append_all(ws, layout.OUTCOMES, [one for one in outcomes if (one.entry, one.part) not in there])


def standing(ws: Workspace) -> list[Outcome]:
    """Return the last outcome of each part of each entry, whichever run gave it."""
    written: stream.Read[Outcome] = stream.read(ws, layout.OUTCOMES, Outcome)
    return list({(one.entry, one.part): one for one in written.records}.values())


def watermark(ws: Workspace) -> str:
    """Return the day that the notebook has reached, empty before the first dream."""
    return highest(read(ws))


def transcript_file(run: str) -> str:
    """Return the path of a run's transcript."""
    return f"{layout.run_folder(run)}.jsonl"


def keep_transcript(ws: Workspace, run: str, lines: Sequence[Mapping[str, object]]) -> None:
    """Write a run's transcript without secrets, one object a line, and remove those older than the newest ones kept."""
    clean = cache(ws.clean)  # few words come again in nearly every line
    ws.disk.replace(transcript_file(run), b"".join(framing.frame(_clean(line, clean)) for line in lines))
    found = (name for name in ws.disk.list(layout.DREAMS) if _TRANSCRIPT.fullmatch(name))
    names = sorted(found, key=lambda name: name.partition("-")[2])  # by time, whatever kind of run
    for name in names[: -ws.settings.dream.transcripts]:
        ws.disk.remove(f"{layout.DREAMS}/{name}")


def _clean(line: Mapping[str, object], clean: Callable[[str], str]) -> dict[str, object]:
    texts = {name: value for name, value in line.items() if isinstance(value, str)}
    # Of digits alone, an id may be the number of a card.
    texts = {name: value for name, value in texts.items() if not is_id(value) or value.isdigit()}
    return {**line, **{name: clean(value) for name, value in texts.items()}}
