"""With what each session begins, by which a copy of it is known.

Owns nothing on disk; promises to read no more of a session's file than its first turn; never writes.
"""

from __future__ import annotations

from contextlib import closing

from reverie.core.records import Opened, SessionLine, Turn
from reverie.store import sessions, stream
from reverie.store.workspace import Workspace

_PIECE = 16_384  # bytes read at a time: most first turns end within one
_LINES = 2  # the session's name, and the turn


def beginnings(ws: Workspace, most: int | None = None) -> dict[str, str]:
    """Return the sessions' names by the id of their first turn; with `most`, of so many that changed last."""
    paths = sessions.files(ws)
    if most is not None and len(paths) > most:
        paths = [path for path, _ in ws.disk.newest_first(paths)[:most]]
    return {turn.id: turn.session for path in paths if (turn := _first(ws, path)) is not None}


def _first(ws: Workspace, path: str) -> Turn | None:
    """Return a session's first turn; None for one that does not begin with its name and a turn."""
    held, name = b"", ""
    with closing(ws.disk.pieces(path, size=_PIECE)) as pieces:
        for piece in pieces:
            held += piece
            if piece.count(b"\n") and held.count(b"\n") >= _LINES:
                break
    head = b"".join(held.splitlines(keepends=True)[:_LINES])
    lines: stream.Read[SessionLine] = stream.parse(path, head, kind=SessionLine)
    for line in lines.records:
        if isinstance(line, Opened):
            name = line.session
        elif isinstance(line, Turn) and name:
            return Turn(role=line.role, content="", at=line.at, session=name, id=line.id)
    return None
