"""Where the dream stands: whether one runs, how far the notebook has come, what the last runs came to.

Owns that one look; promises that it reads small files alone and takes no lock; never says that something is wrong:
`status` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.records import Run
from reverie.store import counters, lease
from reverie.store.counters import DreamCounters
from reverie.store.workspace import Workspace

LAST = 5  # runs told


class Ended(msgspec.Struct, frozen=True):
    """How a run ended: its name, when, by whom it was dreamt, its result and its outcomes."""

    run: str
    at: datetime
    dreamer: str
    result: str
    counts: Mapping[str, int]


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The dream at one moment.

    `phase` is `dreaming` while a host drives `run` until `until`, `installing` where an install was interrupted, else
    `idle`. `percent` of what dreams were given has an outcome; `batch` is how many entries the next one takes at most,
    `due` from when the clock lets one begin. `failures` counts tries by entry; `gates` are the settings.
    """

    phase: Literal["idle", "dreaming", "installing"] = "idle"
    run: str = ""
    until: datetime | None = None
    began: datetime | None = None
    due: datetime | None = None
    percent: int = 100
    batch: int = 0
    last: tuple[Ended, ...] = ()
    failures: dict[str, int] = {}
    gates: dict[str, int | bool] = {}


def progress(ws: Workspace, runs: Sequence[Run], *, pending: int, settled: int) -> Progress:
    """Return where the dream stands; `pending` entries have no outcome, `settled` have one."""
    settings, known, held = ws.settings.dream, counters.read(ws, DreamCounters), lease.current(ws)
    interrupted = ws.disk.size(layout.INSTALL_INTENT) is not None
    most = min(known.most or settings.max_entries, settings.max_entries)
    return Progress(
        phase="dreaming" if held else "installing" if interrupted else "idle",
        run=held.run if held else "",
        until=held.until if held else None,
        began=known.last,
        due=known.last + timedelta(hours=settings.min_hours) if known.last else None,
        percent=100 * settled // (settled + pending) if pending else 100,
        batch=min(most, pending),
        last=tuple(
            Ended(one.run, one.ended, one.dreamer, one.result, one.counts)
            for one in [run for run in runs if run.kind == "dream"][: -LAST - 1 : -1]
        ),
        failures=known.failures,
        gates={
            "enabled": settings.enabled,
            "min_hours": settings.min_hours,
            "min_facts": settings.min_facts,
            "max_days": settings.max_days,
            "max_wait_days": settings.max_wait_days,
            "max_retries": settings.max_retries,
            "timeout_seconds": settings.timeout_seconds,
        },
    )
