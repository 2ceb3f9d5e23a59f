"""The history: turns that left the active window, one record a line, each with a cursor.

Owns `history.jsonl`; promises that cursors only grow, whoever writes, and that no turn of a session is archived twice;
never rewrites a record. Turns that no extraction could read are set aside here too; those records say nothing of the
window.

A record's place under the file's lock decides its cursor, and whether its turns are still to be archived: of two
processes that archive the same turns, the second is told that nothing is left to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import msgspec

from reverie import layout
from reverie.core.dreams.raw_history import record_id
from reverie.core.forgetting.mask import Mask
from reverie.core.formats import framing
from reverie.core.records import History
from reverie.core.sessions.active_window import content_of, parse_range
from reverie.errors import InvalidRecord, UnsafePath
from reverie.store import sessions, stream
from reverie.store.filesystem.extending import TailView
from reverie.store.stream import Damaged
from reverie.store.workspace import Workspace

_TAIL_BYTES = 65_536
_NEWEST_BYTES = 250_000
_RECENT_BYTES = (_NEWEST_BYTES, 2_000_000, 16_000_000)
_CURSOR = re.compile(rb'"cursor":(\d{1,15})[,}]')


class _Covers(msgspec.Struct, frozen=True):
    """What the archive of a session is judged by, without the text."""

    cursor: int
    session: str
    turns: str
    aside: bool = False


class Reached(msgspec.Struct, frozen=True):
    """The last ordinal of a session that the history holds (-1: none), as of the file's first `end` bytes."""

    ordinal: int = -1
    end: int = 0


def reached(ws: Workspace, session: str) -> Reached:
    """Return how far `session` has been archived.

    A record of turns that the session does not have, of a file that is lost or was restored older, hides none of those
    it has. The session is read after the history, so turns that came since are no reason to doubt a record.
    """
    data = ws.disk.read_from(layout.HISTORY, 0)
    end = data.rfind(b"\n") + 1
    highest = _highest(data, 0, session)
    if highest < 0:
        return Reached(highest, end)
    used = sessions.load(ws, session).state.turns
    if highest < used or not used:  # where there is no session there is nothing to hide
        return Reached(highest, end)
    return Reached(_highest(data, 0, session, below=used), end)


def append(ws: Workspace, record: History, known: Reached) -> History | None:
    """Append `record` under the next cursor and return it as stored; on return it is on disk.

    None when some of its turns were archived since `known` was read. Raises StoreUnwritable or Busy; then nothing of it
    is stored.
    """
    span = parse_range(record.turns)
    if span is None:
        raise InvalidRecord(f"turns is {record.turns[:40]!r}: write ordinals as 12-13")
    stored: list[History] = []

    def build(tail: TailView) -> bytes:
        since = known.end if known.end <= tail.size else 0
        fresh = _highest(tail.read(since, tail.size - since), since, record.session)
        if span[0] <= max(known.ordinal, fresh):
            return b""
        stored[:] = [msgspec.structs.replace(record, cursor=_last_cursor(tail) + 1)]
        return framing.frame(stored[0])

    ws.disk.append_under(layout.HISTORY, build)
    return stored[0] if stored else None


def set_aside(ws: Workspace, record: History) -> History | None:
    """Append `record`, turns that could not be extracted, which stay in their active window; None when it is there."""
    stored: list[History] = []

    def build(tail: TailView) -> bytes:
        if _is_aside(tail.read(0, tail.size), record):
            return b""
        stored[:] = [msgspec.structs.replace(record, cursor=_last_cursor(tail) + 1, raw=True, aside=True)]
        return framing.frame(stored[0])

    ws.disk.append_under(layout.HISTORY, build)
    return stored[0] if stored else None


def named(ws: Workspace, ids: Collection[str]) -> dict[str, History]:
    """Return the records that outcomes name so, by those ids; nothing is read where there are none."""
    records = read(ws) if ids else ()
    return {name: record for record in records if (name := record_id(record)) in ids}


def read(ws: Workspace, since: int = 0) -> list[History]:
    """Return the records with cursors above `since`, in order."""
    records: stream.Read[History] = stream.read(ws, layout.HISTORY, History)
    return [record for record in records.records if record.cursor > since]


def within(ws: Workspace, most: int) -> list[History]:
    """Return the records in order; none when the file is longer than `most` bytes or may not be opened."""
    try:
        return read(ws) if (ws.disk.size(layout.HISTORY) or 0) <= most else []
    except UnsafePath:
        return []


def recent(ws: Workspace, wanted: Callable[[History], bool], *, characters: int) -> list[History]:
    """Return the newest records that are `wanted`, in order: as many as have `characters` of content together.

    Looks at the file's end alone, at more of it while it has found too little, and at no more than 16 MB of it: a
    prompt costs the same however long nobody dreams.
    """
    for window in _RECENT_BYTES:
        found = [record for record in newest(ws, window) if wanted(record)]
        if sum(len(record.content) for record in found) >= characters:
            break
        if (ws.disk.size(layout.HISTORY) or 0) <= window:
            break
    kept: list[History] = []
    for record in reversed(found):
        kept.append(record)
        characters -= len(record.content)
        if characters <= 0:
            break
    return kept[::-1]


def newest(ws: Workspace, window: int = _NEWEST_BYTES) -> list[History]:
    """Return the newest records in order: those in the last 250 kB of the file, or the last one when it is longer."""
    size = ws.disk.size(layout.HISTORY) or 0
    while True:
        start = max(0, size - window)
        records: stream.Read[History] = stream.read(ws, layout.HISTORY, History, start=start)
        if records.values or start == 0:
            return records.records
        window *= 8


def content(ws: Workspace, record: History, masked: Mask) -> str:
    """Return what the record says without the turns of which something is forgotten; empty when nothing is left.

    A raw record is then laid out anew from the turns that stay; a summary may say anything of them and goes whole.
    """
    span = parse_range(record.turns)
    if span is None or not masked.covers(record.session, record.turns):
        return record.content
    if not record.raw:
        return ""
    turns = sessions.read(ws, record.session, start=span[0], stop=span[1] + 1)
    kept = [turn for turn in turns if not masked.turn(record.session, turn.id)]
    return content_of(kept, ws.calendar)


def verify(ws: Workspace) -> list[Damaged]:
    """Return what is wrong with the history: lines that cannot be read, cursors out of order, turns archived twice."""
    records: stream.Read[History] = stream.read(ws, layout.HISTORY, History)
    found = list(records.damaged)
    last, ends = 0, dict[str, int]()
    for end, record in records.values:
        span = parse_range(record.turns)
        if record.cursor <= last:
            reason = f"cursor {record.cursor} follows {last}"
        elif span is None:
            reason = f"turns {record.turns[:40]!r} are no ordinals"
        elif not record.aside and span[0] <= ends.get(record.session, -1):
            reason = f"turns {record.turns} of {record.session} were archived before"
        else:
            reason = ""
        if reason:
            found.append(Damaged(layout.HISTORY, end, b"", reason))
        last = max(last, record.cursor)
        if span is not None and not record.aside:
            ends[record.session] = max(ends.get(record.session, -1), span[1])
    return found


def _highest(data: bytes, start: int, session: str, *, below: int | None = None) -> int:
    """Return the last ordinal of `session` that records in `data`, which lies at byte `start`, hold; -1 for none.

    Records that reach `below` or beyond are passed over.
    """
    highest = -1
    for line in framing.read(data, start=start)[0]:
        try:
            covers = framing.decode(line, _Covers)
        except InvalidRecord:
            continue
        span = parse_range(covers.turns) if covers.session == session and not covers.aside else None
        if span is not None and (below is None or span[1] < below):
            highest = max(highest, span[1])
    return highest


def _is_aside(data: bytes, record: History) -> bool:
    """Return whether `data` holds the same turns of the same session with the same words, set aside before."""
    wanted = (record.session, record.turns, record.content)
    for line in framing.read(data)[0]:
        try:
            known = framing.decode(line, History)
        except InvalidRecord:
            continue
        if known.aside and (known.session, known.turns, known.content) == wanted:
            return True
    return False


def _last_cursor(tail: TailView) -> int:
    """Return the highest cursor at the file's end, 0 in an empty file.

    A damaged record's cursor counts when it can still be made out: whoever has read up to it would take a new record
    under the same cursor for one it knows.
    """
    window = _TAIL_BYTES
    while True:
        start = max(0, tail.size - window)
        lines, damage = framing.read(tail.read(start, tail.size - start), start=start)
        if lines or start == 0:
            raw = [line.raw for line in lines] + [piece.raw for piece in damage]
            return max((int(found) for piece in raw for found in _CURSOR.findall(piece)), default=0)
        window *= 8
