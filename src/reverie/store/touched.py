"""Whether anything happened in a workspace since it was last looked after, told from the times of its files.

Owns which files a run of everything due reads; promises to read no file but small ones of counters; never writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from reverie import layout
from reverie.core.days import shifted
from reverie.core.slots import Before, Seen
from reverie.errors import UnsafePath
from reverie.store import counters, intents, notes
from reverie.store.counters import ConsolidateCounters, DreamCounters, PublishCounters, SlotCounters
from reverie.store.workspace import Workspace

_FOLDERS = (layout.SEGMENTS, layout.DRAINING, layout.SESSIONS)
_FILES = (
    *(layout.EVENTS, layout.TOMBSTONES, layout.REVIEWS, layout.HISTORY, layout.SETTINGS),
    *(layout.MEMORY, layout.USER, layout.SOUL, *intents.PATHS),
)


def seen(ws: Workspace) -> Seen:
    """Return what can be seen of a workspace without opening its memory."""
    dream = counters.read(ws, DreamCounters).last
    waits = bool(counters.read(ws, ConsolidateCounters).failing)
    waits = waits or counters.read(ws, PublishCounters).waiting is not None
    newest = max(_times(ws), default=None)
    return Seen(
        today=ws.today,
        touched=datetime.fromtimestamp(newest, UTC) if newest is not None else None,
        waits=waits,
        opens=shifted(dream, timedelta(hours=ws.settings.dream.min_hours)) if dream else None,
    )


def before(ws: Workspace) -> Before:
    """Return the last slot in which what is due was run."""
    last = counters.read(ws, SlotCounters)
    return Before(last.slot, last.began, last.day)


def use(ws: Workspace, slot: datetime, *, began: datetime, day: str) -> None:
    """Note that a slot was used, so that nobody uses it again."""
    counters.write(ws, SlotCounters(slot, began, day))


def _times(ws: Workspace) -> Iterator[float]:
    """Yield when each of the files that a run reads was last written."""
    for folder in _FOLDERS:
        with suppress(UnsafePath):
            yield from (status.st_mtime for _, status in ws.disk.statuses(folder))
    for path in (*_FILES, *notes.files(ws)):
        status = ws.disk.glance(path)
        if status is not None:
            yield status.st_mtime
