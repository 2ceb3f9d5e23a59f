"""What models have used and how they failed: `.state/usage.jsonl`.

Owns that file; promises that a call which was recorded is on disk, so that a restart resets neither rest nor ceilings,
and that the file stays small: older calls are folded into totals of their day; never holds a prompt, a reply or a key.
"""

from __future__ import annotations

from typing import Any

from reverie import layout
from reverie.core.formats import framing
from reverie.core.ledger import Call, UsageLine, folded
from reverie.errors import ModelFailed
from reverie.store import stream
from reverie.store.workspace import Workspace

LARGEST = (
    400_000  # bytes after which calls are folded: well above what is left then, so that it is rarely done
)


def read(ws: Workspace) -> list[UsageLine]:
    """Return totals and calls in the order they were written; damaged lines are left out."""
    found: stream.Read[UsageLine] = stream.read(ws, layout.USAGE, UsageLine)
    return found.records


def record(ws: Workspace, call: Call) -> None:
    """Append what one call used; raises StoreUnwritable."""
    end = stream.append(ws, layout.USAGE, call)
    if end > LARGEST:
        ws.disk.rewrite(layout.USAGE, _folded)


def note(ws: Workspace, failure: ModelFailed, *, purpose: str, model: str) -> None:
    """Record that a reply, which was counted when it came, could not be used by whoever asked."""
    now = ws.clock()
    told: dict[str, Any] = {"at": now, "day": ws.calendar.day(now), "purpose": purpose, "model": model}
    record(ws, Call(**told, kind=failure.kind, problem=str(failure)))


def _folded(data: bytes | None) -> bytes | None:
    """Return the file with its older calls folded; None leaves it, where another process was faster."""
    if data is None or len(data) <= LARGEST:
        return None
    found: stream.Read[UsageLine] = stream.parse(layout.USAGE, data, kind=UsageLine)
    return b"".join(framing.frame(line) for line in folded(found.records))
