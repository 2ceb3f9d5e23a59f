"""The dream lock as a lease: who may drive a run that outlives one process, and until when.

Owns `.state/lease.json`; promises that one run at a time is driven, that it is read and changed under the kernel's
dream lock alone, and that a lease ends by itself: at its `until`, and whatever the clock did at most LONGEST after now.
Never ends a run: whoever finds an expired lease may start another, and `renew` tells the first that it lost its own.

A run that begins and ends in one call needs no lease; it holds the kernel's lock throughout (`driving`). One that a
host drives in several calls takes a lease at its start, renews it at each step, and gives it back at its end.
A damaged lease counts as none, for its end cannot be told; its holder learns of it on renewing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

import msgspec

from reverie import layout
from reverie.core.days import format_instant
from reverie.core.formats import framing
from reverie.errors import Busy, Conflict, ReverieError, UsageError
from reverie.store.workspace import Workspace

LONGEST = timedelta(hours=24)  # so that a clock that was wrong for an hour keeps nobody out for a year


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The run that is driven, who drives it (in words a person understands), since when, and until when."""

    run: str
    holder: str
    at: datetime
    until: datetime


def current(ws: Workspace) -> Lease | None:
    """Return the lease that holds now; None when there is none, it expired, or it cannot be read."""
    lease = _read(ws)
    now = ws.clock()
    return lease if lease is not None and now < lease.until <= now + LONGEST else None


def take(ws: Workspace, run: str, *, holder: str, until: datetime) -> Lease:
    """Take the lease for `run` until then, in the place of one that expired; on return it is on disk.

    Taking again what one holds moves its end. Raises Busy when another holds it, or does what `driving` is for at
    this moment; UsageError for an end that is past or more than LONGEST away.
    """
    _must_be_near(ws, until)
    with ws.locks.dream(0, what=run):
        before = current(ws)
        if before is not None and (before.run, before.holder) != (run, holder):
            raise _busy(before)
        return _write(ws, Lease(run=run, holder=holder, at=before.at if before else ws.clock(), until=until))


def renew(ws: Workspace, run: str, until: datetime, *, whole: timedelta = LONGEST) -> Lease:
    """Move the end of the lease that `run` has; one that expired but was not taken over is still its own.

    Raises Conflict when the run has no lease any more: it was released, or another took it over; and when it has had it
    for as long as `whole`, for one that goes on for ever must not keep everybody else out. Busy, UsageError.
    """
    _must_be_near(ws, until)
    with ws.locks.dream(ws.settings.lock_wait_seconds, what=run):
        lease = _read(ws)
        if lease is None or lease.run != run:
            by = f"{lease.run} of {lease.holder} has it" if lease else "it was given back"
            message = (
                f"{run} lost its lease ({by}): start another run; what it had not finished is pending again"
            )
            raise Conflict(message)
        if ws.clock() >= lease.at + whole:
            message = (
                f"{run} has gone on since {format_instant(lease.at)}: end it with what it has, or give it up"
            )
            raise Conflict(message)
        return _write(ws, msgspec.structs.replace(lease, until=until))


def release(ws: Workspace, run: str) -> None:
    """Give the lease of `run` back; nothing happens when it has none. Raises Busy."""
    with ws.locks.dream(ws.settings.lock_wait_seconds, what=run):
        lease = _read(ws)
        if lease is not None and lease.run == run:
            ws.disk.remove(layout.LEASE)


@contextmanager
def driving(ws: Workspace, what: str, *, run: str = "") -> Iterator[None]:
    """Hold the dream lock while doing `what`; raises Busy at once when somebody holds it, or a lease for another run.

    `run` is the run whose step this is. It loses nothing by an expired lease that nobody took over.
    """
    with ws.locks.dream(0, what=what):
        lease = current(ws)
        if lease is not None and lease.run != run:
            raise _busy(lease)
        yield


@contextmanager
def beginning(ws: Workspace, run: str, *, holder: str, until: datetime) -> Iterator[None]:
    """Take the lease for `run` and hold the dream lock while it begins; one that cannot begin keeps nobody out.

    Raises what `take` and `driving` do.
    """
    take(ws, run, holder=holder, until=until)
    begun = False
    try:
        with driving(ws, "dream", run=run):
            yield
        begun = True
    finally:
        if not begun:
            with suppress(ReverieError):  # then it ends by itself
                release(ws, run)


def _read(ws: Workspace) -> Lease | None:
    return framing.only(ws.disk.read(layout.LEASE), Lease)


def _write(ws: Workspace, lease: Lease) -> Lease:
    ws.disk.replace(layout.LEASE, framing.frame(lease))
    return lease


def _must_be_near(ws: Workspace, until: datetime) -> None:
    now = ws.clock()
    if not now < until <= now + LONGEST:
        message = f"the lease cannot end at {format_instant(until)}: choose an end within {LONGEST} from now"
        raise UsageError(message)


def _busy(lease: Lease) -> Busy:
    return Busy(
        f"{lease.run} is driven by {lease.holder} until {format_instant(lease.until)}: wait for its end,"
        " or try again after that"
    )
