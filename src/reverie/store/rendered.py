"""What contexts showed to a session, by which it is known when it comes back.

Owns `.state/rendered/<session>.jsonl`; promises that two contexts at once lose neither's lines, and that a damaged note
counts as none; never holds more than the latest lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.text.names import safe_name
from reverie.errors import UnsafePath
from reverie.store.workspace import Workspace

LINES_KEPT = 1_000  # lines a session is known to have been shown: several whole contexts


class Rendered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`.state/rendered/<session>.jsonl`: the lines a session was shown, those of the latest context last."""

    session: str
    at: datetime
    lines: tuple[str, ...]


def rendered_for(ws: Workspace, session: str) -> tuple[str, ...]:
    """Return the lines that contexts showed to the session, for `capture` to mark where they come back.

    None of a note that may not be opened: no turn is lost for it, and `check` names it.
    """
    path = layout.rendered_file(safe_name(session))
    try:
        return () if ws.disk.glance(path) is None else _lines(ws.disk.read(path))
    except UnsafePath:
        return ()


def note(ws: Workspace, session: str, shown: Sequence[str]) -> None:
    """Add lines to what the session is known to have been shown; raises StoreUnwritable, Busy."""
    fresh = set(shown)

    def build(old: bytes | None) -> bytes | None:
        before = _lines(old)
        kept = tuple(dict.fromkeys((*(line for line in before if line not in fresh), *shown)))[-LINES_KEPT:]
        return None if kept == before else framing.frame(Rendered(session=session, at=ws.clock(), lines=kept))

    ws.disk.rewrite(layout.rendered_file(safe_name(session)), build)


def _lines(data: bytes | None) -> tuple[str, ...]:
    """Return the lines of a note; a damaged one counts as none."""
    known = framing.last(data, Rendered)
    return known.lines if known is not None else ()
