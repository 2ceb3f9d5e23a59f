"""A forget or an erase under way: recorded before it begins, and finished by whoever finds it.

Owns `.state/erase.json`; promises that a forget recorded there is complete once it was finished, however often that
is tried, and that the record of a forget holds no readable text (that of an erase has to); never decides what goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import msgspec

from reverie import layout
from reverie.core.days import shifted
from reverie.core.entries import derived_id
from reverie.core.forgetting.erasure import Eraser, Erasure
from reverie.core.forgetting.mask import Mask
from reverie.core.formats import framing
from reverie.core.records import Event, Tombstone
from reverie.errors import Busy, DamagedFile
from reverie.store import provenance, stream
from reverie.store.dreams.lease import driving
from reverie.store.forgotten import erasing, orders, tombstones
from reverie.store.workspace import Workspace


class Forgetting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="forget"):
    """A forget about to happen: its tombstones, of which there is at least one, and the entries it happens to."""

    id: str
    tombstones: tuple[Tombstone, ...]
    entries: tuple[str, ...]
    by: str = ""


def pending(ws: Workspace) -> Forgetting | Erasure | None:
    """Return what was begun and not finished; raises DamagedFile when that cannot be told."""
    data = ws.disk.read(layout.ERASE_INTENT)
    if data is None:
        return None
    found: Forgetting | Erasure | None = framing.only(data, Forgetting | Erasure)
    if found is None:
        message = f"{layout.ERASE_INTENT} is damaged: remove it, then forget or erase the same entries again"
        raise DamagedFile(message)
    return found


def begin(ws: Workspace, intent: Forgetting | Erasure) -> None:
    """Record what is about to happen, synced."""
    ws.disk.replace(layout.ERASE_INTENT, framing.frame(intent))


def end(ws: Workspace) -> None:
    """Drop the record: everything happened."""
    ws.disk.remove(layout.ERASE_INTENT)


def carry_out(ws: Workspace, intent: Forgetting) -> None:
    """Append what is missing of a forget's tombstones, then of its events, clear the digests, and drop its record.

    Holding the write lock.
    """
    stored: stream.Read[Tombstone] = stream.read(ws, layout.TOMBSTONES, Tombstone)
    known = {(tomb.id, tomb.at) for tomb in stored.records}
    tombstones.append(ws, [tomb for tomb in intent.tombstones if (tomb.id, tomb.at) not in known])
    at = intent.tombstones[0].at
    events = [
        Event(id=derived_id("forget", intent.id, one), at=at, kind="forget", entry=one, by=intent.by)
        for one in intent.entries
    ]
    happened: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event)
    there = {event.id for event in happened.records}
    stream.append_all(ws, layout.EVENTS, [event for event in events if event.id not in there])
    erasing.drop_lines(ws, intent.entries)
    end(ws)


def lift(ws: Workspace, lifted: Iterable[Tombstone], *, by: str) -> tuple[str, ...]:
    """Take tombstones back, with an event `restore` for each entry they name, and return those entries."""
    meant = tuple(lifted)
    # After the event it takes back, whatever the clock says: events count in the order of their instants.
    at = max(ws.clock(), *(shifted(tomb.at, timedelta(microseconds=1)) for tomb in meant))
    back = tuple(dict.fromkeys(entry for tomb in meant for entry in tomb.entries))
    with ws.writing("restore"):
        tombstones.append(ws, [Tombstone(id=tomb.id, at=at, lifted=True, by=by) for tomb in meant])
        events = [Event(id=ws.new_id(), at=at, kind="restore", entry=one, by=by) for one in back]
        stream.append_all(ws, layout.EVENTS, events)
    return back


def erase(
    ws: Workspace, *, what: str, erasure: Erasure | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Do all of `erasing` under the locks; return the files that changed and the places that hold it still.

    Without `erasure`, the one that was interrupted, whoever drives a run: until then nobody can write. What is to be
    done in other workspaces is queued before the record goes. Raises Busy.
    """
    wait = ws.settings.lock_wait_seconds
    dreaming = ws.locks.dream(0, what=what) if erasure is None else driving(ws, what)
    with dreaming, ws.locks.index(wait, what=what), ws.locks.write(wait, what=what):
        for path in (layout.DRAIN_INTENT, layout.INSTALL_INTENT):
            if ws.disk.size(path) is not None:
                message = f"{path} is there: a drain or a dream is not finished; run `reverie drain`, then erase again"
                raise Busy(message)
        interrupted = pending(ws)
        done = _clean(ws, interrupted) if isinstance(interrupted, Erasure) else ((), ())
        if erasure is None:
            return done
        begin(ws, erasure)
        return _clean(ws, erasure)


def _clean(ws: Workspace, erasure: Erasure) -> tuple[tuple[str, ...], tuple[str, ...]]:
    eraser = Eraser(erasure, ws.calendar)
    places = erasing.rewrite(ws, eraser)
    left = erasing.leftovers(ws, eraser)
    orders.hand_on(ws, erasure)
    end(ws)
    return tuple(places), tuple(left)


def look_through(ws: Workspace, mask: Mask, names: Iterable[str]) -> None:
    """Hide what sessions that came in say of what was forgotten before, with the answers to it.

    Where the power fails before it is written, the words themselves are hidden all the same, by what they are.
    """
    if not mask:
        return
    with ws.writing("forget"):
        tombstones.append(ws, [line for name in names for line in provenance.said_again(ws, mask, name)])


def finish(ws: Workspace) -> None:
    """Finish an interrupted forget, holding the write lock; raises Busy when it is an erase that waits to be finished.

    The state is built anew: what only the mask hides may stand in it unmarked.
    """
    intent = pending(ws)
    if isinstance(intent, Erasure):
        message = "an erase was interrupted: open the workspace again to have it finished, then try again"
        raise Busy(message)
    if intent is not None:
        for suffix in ("", "-wal", "-shm"):
            ws.disk.remove(layout.STATE_DB + suffix)
        carry_out(ws, intent)
