"""Whether a turn that comes under an id stands in its session already.

Owns the memory of where the ids of a session's file stand, one for each file that turns with ids came to; promises that
it reads each byte of a file once, and that a turn is said to stand only where it is found, its words too; never writes,
and never decides whether a turn is stored.
"""

from __future__ import annotations

import re

import msgspec

from reverie.core.records import SessionLine, Turn
from reverie.store import stream
from reverie.store.sessions import identity, path_of
from reverie.store.workspace import Sent, Workspace

_FILES = 256  # of which the ids are remembered
_SAME = 8  # lines with one id that are remembered: a host that gives all turns one id must not make each read them all
_ID = re.compile(rb'"id":"((?:[^"\\]|\\.)*)"')  # of a turn, or of a tool call in it


def ordinal(ws: Workspace, session: str, turn: Turn) -> int:
    """Return the ordinal of the first turn with this id and these words, -1 where none is or it has no id.

    A turn that another process stores at the same moment may be missed: both lines are then read as one turn.
    """
    if not turn.id:
        return -1
    path = path_of(session)
    for offset in _known(ws, path).get(msgspec.json.encode(turn.id)[1:-1], ()):
        raw, newline, _ = ws.disk.read_from(path, offset).partition(b"\n")
        read: stream.Read[SessionLine] = stream.parse(path, raw + newline, kind=SessionLine)
        for one in read.records:
            if isinstance(one, Turn) and identity(one) == identity(turn):
                return one.n
    return -1


def _known(ws: Workspace, path: str) -> dict[bytes, list[int]]:
    """Return at which bytes the lines begin that hold an id, by the id as it is written."""
    sent, size = ws.sent.get(path), ws.disk.size(path) or 0
    if sent is None or size < sent.size:
        if len(ws.sent) >= _FILES:
            ws.sent.clear()
        sent = ws.sent[path] = Sent()
    begun = sent.size
    if size > begun:
        data = ws.disk.read_from(path, begun)
        whole = data.rfind(b"\n") + 1  # a line that is being written is read when it is whole
        for found in _ID.finditer(data, 0, whole):
            line = begun + data.rfind(b"\n", 0, found.start()) + 1
            lines = sent.at.setdefault(found[1], [])
            if len(lines) < _SAME and line not in lines:
                lines.append(line)
        sent.size = begun + whole  # not counted up: two threads may read the same bytes
    return sent.at
