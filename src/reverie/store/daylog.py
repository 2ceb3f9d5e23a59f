"""Daily logs on disk: reading them, and continuing an append that may have been cut short.

Owns `archive/YYYY-MM-DD.md`; promises that a log only grows, save for the torn end of our own unfinished write, which
is kept in quarantine before it is cut; never decides what is written.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import closing

from reverie import layout
from reverie.core.formats import daylog
from reverie.core.formats.daylog import DayLog
from reverie.core.formats.drain_plan import Part
from reverie.core.formats.stretches import stretches
from reverie.core.formats.utf8 import to_text
from reverie.core.records import Entry
from reverie.core.text.names import is_day
from reverie.store import quarantine, stream
from reverie.store.workspace import Workspace

_ID = re.compile(rb"\^([0-9a-f]{16})")


def days(ws: Workspace) -> list[str]:
    """Return the days that have a log, in order."""
    names = (name.removesuffix(".md") for name in ws.disk.list(layout.ARCHIVE) if name.endswith(".md"))
    return [name for name in names if is_day(name)]


def read(ws: Workspace, day: str) -> DayLog:
    """Return the log of `day`; an absent one is empty. Bytes that are not UTF-8 are read as U+FFFD."""
    data = ws.disk.read(layout.log_file(day)) or b""
    return daylog.parse(to_text(data), day, calendar=ws.calendar)


def standing(
    ws: Workspace, day: str, *, ids: set[str], length: int | None = None, reach: int | None = None
) -> dict[str, str]:
    """Return those of `ids` that have a line in the log of `day`, with its text.

    Looks at the log's first `length` bytes when given, and of those at the last `reach`.
    """
    path = layout.log_file(day)
    end = length if length is not None else ws.disk.size(path) or 0
    start = max(0, end - reach) if reach is not None else 0
    found: dict[str, str] = {}
    with closing(ws.disk.pieces(path, start)) as pieces:
        for number, stretch in enumerate(stretches(_up_to(pieces, end - start), torn=True)):
            cut = stretch.find(b"\n") + 1 if start and not number else 0  # the line that the reach begins in
            data = stretch[cut:]
            if ids.isdisjoint(one.decode() for one in _ID.findall(data)):
                continue
            # The id also stands in links and in quoted words: only a parse knows which line is the entry's own.
            log = daylog.parse(to_text(data), day, calendar=ws.calendar)
            for one in log.entries:
                if one.entry.id in ids:
                    found.setdefault(one.entry.id, one.entry.text)
    return found


def _up_to(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of the pieces."""
    for piece in pieces:
        if size <= 0:
            return
        yield piece[:size]
        size -= len(piece)


def length(ws: Workspace, day: str) -> int:
    """Return the byte of the log of `day` at which the next append begins: one past a last line without an end."""
    path = layout.log_file(day)
    size = ws.disk.size(path) or 0
    return size + 1 if size and ws.disk.read_from(path, size - 1) != b"\n" else size


def append_part(ws: Workspace, part: Part, *, since: int) -> tuple[Entry, ...] | None:
    """Append `part` where the log is exactly as long as the parts before it left it; None when it is not.

    `since` is the byte at which the drain's first part of that day begins.
    """
    if length(ws, part.day) != since + part.start:
        return None
    ws.disk.append(layout.log_file(part.day), part.data)
    return part.entries


def complete_part(ws: Workspace, part: Part, *, parts: Sequence[Part], since: int) -> tuple[Entry, ...]:
    """Append what is missing up to the end of `part`, and return the entries of it that were missing.

    `parts` is all the drain adds to that day, from byte `since` on. What stands there is usually a beginning of their
    bytes: a last line cut short is taken back, and the rest is appended. Where it is no beginning, the end of a torn
    write is set aside and cut, and what a person wrote meanwhile is kept.
    """
    path = layout.log_file(part.day)
    # The newline before `since` ends a line that was there, or is the first byte of our write, and may be torn too.
    lead = b"\n" if since else b""
    expected = lead + b"".join(one.data for one in parts)
    actual = ws.disk.read_from(path, since - len(lead))
    ends = {len(lead) + one.end for one in parts}
    if not expected.startswith(actual):
        actual = _mend(ws, path, at=since - len(lead), actual=actual, expected=expected, ends=ends)
    if expected.startswith(actual):
        whole = max(actual.rfind(b"\n") + 1, len(lead))
        ws.disk.truncate(path, since - len(lead) + whole)
        if whole >= len(lead) + part.end:
            return ()
        ws.disk.append(path, expected[whole : len(lead) + part.end])
        return part.entries if whole <= len(lead) + part.start else ()
    # An editor may have saved what it read before our earlier parts were there: those are looked for as well.
    due = [entry for one in parts if one.chunk <= part.chunk for entry in one.entries]
    there = standing(ws, part.day, ids={entry.id for entry in due})
    absent = tuple(entry for entry in due if entry.id not in there)
    if absent:
        ws.disk.append(path, daylog.render(absent, ws.calendar, first=False, day=part.day).encode())
    return absent


def _mend(
    ws: Workspace, path: str, *, at: int, actual: bytes, expected: bytes, ends: Container[int]
) -> bytes:
    """Return what stands past byte `at` after the torn end of our own write was cut, or `actual` when others wrote.

    Torn is what a power loss leaves behind the common beginning: NUL or other bytes that are no text, or anything
    when all is just as long as our write was.
    """
    pairs = enumerate(zip(actual, expected, strict=False))
    common = next((i for i, (one, two) in pairs if one != two), min(len(actual), len(expected)))
    line = actual[actual.rfind(b"\n", 0, common) + 1 :]
    if len(actual) > len(expected) or (_is_text(line) and len(actual) not in ends):
        return actual
    torn = stream.Damaged(path, at + common, actual[common:], "the torn end of an interrupted write")
    quarantine.set_aside(ws, [torn])
    ws.disk.truncate(path, at + common)
    return actual[:common]


def _is_text(data: bytes) -> bool:
    """Whether `data` can be what a person wrote: UTF-8 without NUL."""
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False
