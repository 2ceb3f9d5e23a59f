"""Intents: what a multi-step write is about to do, synced before it begins.

Owns the intent files of the drain and of the dream's install, and knows where every kind stands; promises that whoever
finds one of these knows enough to finish it; never carries one out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Outcome, Run
from reverie.errors import DamagedFile
from reverie.store import quarantine, stream
from reverie.store.workspace import Workspace

PATHS = (
    layout.DRAIN_INTENT,
    layout.INSTALL_INTENT,
    layout.ERASE_INTENT,
)  # of all that may wait to be finished


class DrainIntent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="drain"):
    """The claimed segments, the length of each day's log and of the events before the first write, in bytes.

    Promises stored in the events between `stored_from` and `stored_to` are written by this drain too.
    """

    id: str
    at: datetime
    segments: tuple[str, ...]
    days: dict[str, int]
    events: int
    stored_from: int
    stored_to: int


class Replacement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of an install: its path and the blob ids before and after, empty for absent."""

    path: str
    old: str
    new: str


class InstallIntent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="install"):
    """A judged run about to become visible: the commit, its files, the outcomes and the run's record."""

    run: Run
    files: tuple[Replacement, ...]
    outcomes: tuple[Outcome, ...]
    log_line: str = ""


KINDS: tuple[tuple[str, Any], ...] = (
    (layout.DRAIN_INTENT, DrainIntent),
    (layout.INSTALL_INTENT, InstallIntent),
)
IntentT = TypeVar("IntentT", DrainIntent, InstallIntent)


def read(ws: Workspace, path: str, kind: type[IntentT]) -> IntentT | None:
    """Return the intent at `path`, or None; raises DamagedFile, for guessing what was begun could double it."""
    data = ws.disk.read(path)
    if data is None:
        return None
    found = framing.only(data, kind)
    if found is None:
        message = (
            f"{ws.root / path} is damaged: nothing is written until `reverie check --repair` has settled it"
        )
        raise DamagedFile(message)
    return found


def settle_damaged(ws: Workspace) -> tuple[str, ...]:
    """Set each intent that cannot be read aside and remove it, so that writing goes on; return their paths.

    What it said was begun is done anew: a drain knows by their ids which records it had written, a dream finds its
    entries pending, and a page that was in place already counts as a person's. Raises StoreUnwritable, Busy.
    """
    settled = []
    with ws.writing("repair"):
        for path, kind in KINDS:
            try:
                read(ws, path, kind)
            except DamagedFile:
                data = ws.disk.read(path) or b""
                quarantine.set_aside(ws, [stream.Damaged(path, 0, data, "an intent that cannot be read")])
                ws.disk.remove(path)
                settled.append(path)
    return tuple(settled)


def write(ws: Workspace, path: str, intent: DrainIntent | InstallIntent) -> None:
    """Sync `intent` to `path`; from here on the write will be finished, by us or by whoever comes next."""
    ws.disk.replace(path, framing.frame(intent))


def remove(ws: Workspace, path: str) -> None:
    """Drop the intent: the write is complete."""
    ws.disk.remove(path)
