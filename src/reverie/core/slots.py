"""When a scheduler runs what is due in a workspace: the slot that holds now, and whether anything can have become due.

Owns slots; promises that whoever asks at the same time gets the same slot, so that sleep, a restart and a second
scheduler find one and not several, and that a workspace in which nothing happened is left alone until the day changes;
never reads a clock.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import msgspec

SHORTEST = timedelta(minutes=1)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a workspace found.

    `touched` is when something was last written that a run reads; `waits` whether an earlier run left something to be
    done again; `opens` from when on enough time has passed for the next dream.
    """

    today: str
    touched: datetime | None = None
    waits: bool = False
    opens: datetime | None = None


class Before(msgspec.Struct, frozen=True):
    """The last slot that was used, when its run began, and on which logical day."""

    slot: datetime | None
    began: datetime | None
    day: str


def slot_of(now: datetime, every: timedelta, *, name: str) -> datetime:
    """Return when the slot began in which `now` lies; slots of different names begin at different moments."""
    length = max(every, SHORTEST).total_seconds()
    shift = int(hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8], 16) % int(length)
    begun = (now.timestamp() - shift) // length * length + shift
    return datetime.fromtimestamp(begun, UTC)


def is_due(slot: datetime, before: Before, *, seen: Seen) -> bool:
    """Tell whether a run may find something to do in this slot, which was not used yet.

    A slot is compared for being the same, not for being later: after a clock went wrong the next slot is used again.
    """
    if slot == before.slot:
        return False
    if before.began is None or before.day != seen.today or seen.waits:
        return True
    if seen.touched is not None and seen.touched >= before.began:
        return True
    return seen.opens is not None and before.began < seen.opens <= slot
