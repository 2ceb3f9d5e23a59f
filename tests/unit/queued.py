"""Records queued for the drain, made for the tests beside this file."""

from __future__ import annotations

import pytest
from ledger import NOON, opened

from reverie import layout
from reverie.core.records import Entry, Remember
from reverie.drain import drain
from reverie.store import journal
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed

TODAY = layout.log_file("2026-07-01")


def log(ws: Workspace, day: str = "2026-07-01") -> str:
    """Return the log of a day."""
    return (ws.disk.read(layout.log_file(day)) or b"").decode()


def queue(ws: Workspace, entry: Entry, *, record: str = "") -> None:
    """Queue an entry as it is, past every check."""
    journal.append(ws, Remember(id=record or ws.new_id(), at=ws.clock(), entry=entry))


def entry(number: int, text: str = "", **fields: object) -> Entry:
    """Return an entry with a numbered id."""
    whole = {"id": f"{number:016x}", "text": text or f"Fact {number}", "at": NOON, "day": "2026-07-01"}
    return Entry(**{**whole, **fields})


def interrupted(ws: Workspace, at: int, *, seed: int = 0) -> CrashDisk:
    """Drain the workspace on a disk that crashes at call `at`, and return the disk."""
    disk = CrashDisk(ws.root, crash_at=at, seed=seed)
    with pytest.raises(Crashed):
        drain(opened(ws.root, disk=disk, first=1 << 30))
    disk.cut_power()
    return disk


def copied(ws: Workspace, name: str) -> Workspace:
    """Return a copy of the workspace beside it."""
    copy = opened(ws.root.with_name(name))
    for path in ws.disk.walk(""):
        copy.disk.replace(path, ws.disk.read(path) or b"")
    return copy
