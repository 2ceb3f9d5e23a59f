"""A run that somebody drives in several calls: its batch and what was done so far, on disk between them.

Owns `.state/dreams/<run>/`; promises that what a call did is there for the next one, that a run whose lease ended
leaves nothing but this folder, which the next dream removes unless a person is to look at it, and that nothing of the
notebook is touched before the run is judged; never takes a lock: whoever drives holds the lease and the dream lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from stat import S_ISDIR

import msgspec

from reverie import layout
from reverie.errors import Busy, Conflict
from reverie.store import stream
from reverie.store.dreams import lease, reviews
from reverie.store.dreams.dream_deeds import Deed, Saw, Settled, Wrote
from reverie.store.workspace import Workspace

STEPS = "steps.jsonl"
MOST = 16_000_000  # bytes of what one run did; a process that takes it up reads all of it

Mark = tuple[int, int, int]  # a file of steps as it stands: its inode, time and size


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag="begun"):
    """The beginning of a run: who drives it, since when, and the parts (id and number) it is about."""

    run: str
    holder: str
    at: datetime
    parts: tuple[tuple[str, int], ...]


def begin(ws: Workspace, begun: Begun) -> None:
    """Write the beginning of a run; raises Busy when one of its name has begun."""
    if ws.disk.size(_path(begun.run)) is not None:
        message = f"{begun.run} has begun already: try again in a second"
        raise Busy(message)
    stream.append(ws, _path(begun.run), begun)


def load(ws: Workspace, run: str) -> tuple[Begun, list[Deed]]:
    """Return how a run began and what it did; raises Conflict when there is none of that name any more."""
    read: stream.Read[Begun | Deed] = stream.read(ws, _path(run), Begun | Wrote | Settled | Saw)
    begun = next((one for one in read.records if isinstance(one, Begun)), None)
    if begun is None:
        message = f"{run} is under way no longer: start another run; its entries are pending"
        raise Conflict(message)
    return begun, [one for one in read.records if not isinstance(one, Begun)]


def add(ws: Workspace, run: str, deeds: Sequence[Deed]) -> None:
    """Keep what a call did; raises Conflict where the run has done as much as one may, and can only be ended."""
    if (ws.disk.size(_path(run)) or 0) >= MOST:
        message = f"{run} holds as much as a run may: finish it, or give it up, and start another"
        raise Conflict(message)
    stream.append_all(ws, _path(run), deeds)


def mark(ws: Workspace, run: str) -> Mark | None:
    """Return how the steps of a run stand on disk; None where there are none."""
    status = ws.disk.glance(_path(run))
    return None if status is None else (status.st_ino, status.st_mtime_ns, status.st_size)


def close(ws: Workspace, run: str) -> None:
    """Remove what a run kept; nothing happens when it kept nothing."""
    _remove(ws, layout.run_folder(run))


def parts(ws: Workspace, run: str) -> frozenset[tuple[str, int]]:
    """Return the parts that a run is about, none when there is none of that name any more."""
    try:
        return frozenset(load(ws, run)[0].parts)
    except Conflict:
        return frozenset()


def sweep(ws: Workspace) -> None:
    """Remove what runs left behind whose lease has ended and that wait for nobody's word."""
    held = lease.current(ws)
    waiting = {one.path for one in reviews.waiting(ws) if one.topic == reviews.GUEST_DREAM}
    driven = waiting | ({held.run} if held is not None else set())
    kept = {layout.run_folder(run) for run in driven}
    for folder, status in ws.disk.statuses(layout.DREAMS):
        if folder not in kept and S_ISDIR(status.st_mode) and ws.disk.size(f"{folder}/{STEPS}") is not None:
            _remove(ws, folder)


def _remove(ws: Workspace, folder: str) -> None:
    ws.disk.remove(f"{folder}/{STEPS}")
    ws.disk.remove_folder(folder)


def _path(run: str) -> str:
    return f"{layout.run_folder(run)}/{STEPS}"
