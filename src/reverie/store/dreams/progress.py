"""Where the dream stands: whether one runs, how far the notebook has come, what the last runs came to.

Owns that one look; promises that it reads small files and no more entries than one batch holds, and waits for nobody;
never says that something is wrong: `status` does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.days import shifted
from reverie.core.dreams.batch import Part, cut
from reverie.core.dreams.dreamt import Wish
from reverie.core.dreams.raw_history import by_day
from reverie.core.dreams.sight import waiting_parts
from reverie.core.records import Run
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import lease
from reverie.store.dreams.night import Entries
from reverie.store.dreams.wanted import wanted
from reverie.store.workspace import Workspace

LAST = 5  # runs told

Phase = Literal["idle", "dreaming", "linting", "undoing", "restoring", "erasing", "installing", "busy"]

_DOING: Mapping[str, Phase] = {
    "dream": "dreaming",
    "lint": "linting",
    "undo": "undoing",
    "restore": "restoring",
    "erase": "erasing",
}


class Ended(msgspec.Struct, frozen=True):
    """How a run ended: its name, when, by whom it was dreamt, its result and its outcomes."""

    run: str
    at: datetime
    dreamer: str
    result: str
    counts: Mapping[str, int]


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The dream at one moment.

    `phase` is what holds the dream lock: `dreaming`, `linting`, `undoing`, `restoring`, `erasing` or else `busy`; also
    `dreaming` while a host drives `run` until `until`; `installing` where an install was interrupted, else `idle`.
    `percent` of what dreams were given has an outcome; `batch` is how many entries and raw records the next one takes,
    the last of them of `batch_until`; `due` is from when the clock lets one begin, `lint_due` from when it lets the
    notebook be looked over. `last` are the latest dreams, `linted` the latest look. `failures` counts tries by entry;
    `gates` are the settings.
    """

    phase: Phase = "idle"
    run: str = ""
    until: datetime | None = None
    began: datetime | None = None
    due: datetime | None = None
    percent: int = 100
    batch: int = 0
    batch_until: str = ""
    last: tuple[Ended, ...] = ()
    linted: Ended | None = None
    lint_due: datetime | None = None
    failures: dict[str, int] = {}
    gates: dict[str, int | float | bool | str] = {}


class Amounts(msgspec.Struct, frozen=True):
    """How many entries and raw records have no outcome, how many have one, and the parts of raw records that wait."""

    pending: int
    settled: int
    raw: Sequence[Part]


def progress(ws: Workspace, runs: Sequence[Run], *, state: Entries, amounts: Amounts) -> Progress:
    """Return where the dream stands."""
    settings, known, held = ws.settings.dream, counters.read(ws, DreamCounters), lease.current(ws)
    batch = _batch(ws, known, state, raw=amounts.raw) if amounts.pending else []
    pending, settled = amounts.pending, amounts.settled
    told = {kind: [_ended(run) for run in runs if run.kind == kind] for kind in ("dream", "lint")}
    since = known.lint or ws.identity().created
    return Progress(
        phase="dreaming" if held else _phase(ws),
        run=held.run if held else "",
        until=held.until if held else None,
        began=known.last,
        due=shifted(known.last, timedelta(hours=settings.min_hours)) if known.last else None,
        percent=100 * settled // (settled + pending) if pending else 100,
        batch=len({part.id for part in batch}),
        batch_until=max((part.day for part in batch), default=""),
        last=tuple(told["dream"][: -LAST - 1 : -1]),
        linted=told["lint"][-1] if told["lint"] else None,
        lint_due=shifted(since, timedelta(days=ws.settings.lint.min_days))
        if ws.settings.lint.enabled
        else None,
        failures=known.failures,
        gates=dataclasses.asdict(settings),
    )


def _ended(run: Run) -> Ended:
    return Ended(run.run, run.ended, run.dreamer, run.result, run.counts)


def _phase(ws: Workspace) -> Phase:
    """Return what is under way, by the words in the dream lock's file if somebody holds it."""
    if said := ws.locks.held_by(layout.DREAM_LOCK):
        return _DOING.get(said.partition(" ")[0].partition(":")[0], "busy")
    return "idle" if ws.disk.size(layout.INSTALL_INTENT) is None else "installing"


def _batch(ws: Workspace, known: DreamCounters, state: Entries, *, raw: Sequence[Part]) -> list[Part]:
    """Return the next batch as a dream would cut it, from as many entries as it may look at."""
    settings = ws.settings.dream
    most = min(known.most or settings.max_entries, settings.max_entries)
    entries = (one for one in state.pending(before=ws.today) if not one.hidden)
    first = islice(entries, most + len(known.failures))
    waiting = wanted(ws, by_day(waiting_parts(first, state.outcomes), raw), Wish())
    return cut(dataclasses.replace(settings, max_entries=most), waiting, failures=known.failures)
