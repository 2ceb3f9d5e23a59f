"""Which spans of sessions were handed out to be read by a host's own model, and until when.

Owns `.state/counters/lent.json`; promises that a session is handed out to one at a time, that a lease ends by itself
(at its `until`, and whatever the clock did at most LONGEST after now), and that a lost or damaged file costs no more
than a reading that comes too late: the mark of the session decides what is read. Never holds a word of what was said.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.sessions.handed import Lent
from reverie.errors import Busy, Conflict
from reverie.store.workspace import Workspace

PATH = layout.counters_file("lent")
LONGEST = timedelta(days=400)  # the longest that a person's word may be waited for


class _Spans(msgspec.Struct, frozen=True, tag="lent"):
    """The leases that somebody took and did not give back."""

    spans: tuple[Lent, ...] = ()


def held(ws: Workspace) -> dict[str, Lent]:
    """Return the leases that hold now, by session."""
    return {one.session: one for one in _standing(ws, _decoded(ws.disk.read(PATH)))}


def find(ws: Workspace, handle: str) -> Lent:
    """Return the lease of that handle; raises Conflict when it ended."""
    for one in held(ws).values():
        if one.handle == handle:
            return one
    message = f"{handle[:60]!r} is handed out no longer: its turns are unread, ask for them again"
    raise Conflict(message)


def take(ws: Workspace, lent: Lent) -> None:
    """Take a lease, or move the end of the one of that handle; raises Busy while another has the session."""

    def taken(spans: tuple[Lent, ...]) -> tuple[Lent, ...]:
        for one in spans:
            if one.session == lent.session and one.handle != lent.handle:
                message = f"{one.by} is reading {one.session}: ask again when it is done"
                raise Busy(message)
        return (*(one for one in spans if one.handle != lent.handle), lent)

    _change(ws, taken)


def give_back(ws: Workspace, handle: str) -> None:
    """End the lease of that handle; nothing happens when there is none."""
    if any(one.handle == handle for one in held(ws).values()):
        _change(ws, lambda spans: tuple(one for one in spans if one.handle != handle))


def _change(ws: Workspace, change: Callable[[tuple[Lent, ...]], tuple[Lent, ...]]) -> None:
    ws.disk.rewrite(PATH, lambda data: framing.frame(_Spans(change(_standing(ws, _decoded(data))))))


def _standing(ws: Workspace, spans: tuple[Lent, ...]) -> tuple[Lent, ...]:
    now = ws.clock()
    return tuple(one for one in spans if now < one.until <= now + LONGEST)


def _decoded(data: bytes | None) -> tuple[Lent, ...]:
    known = framing.last(data, _Spans)
    return known.spans if known is not None else ()
