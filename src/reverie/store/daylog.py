"""Daily logs on disk: reading them, and continuing an append that may have been cut short.

Owns `archive/YYYY-MM-DD.md`; promises that a log only grows, save for the torn end of our own unfinished write, which
is kept in quarantine before it is cut; never decides what is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie import layout
from reverie.core import daylog
from reverie.core.daylog import DayLog
from reverie.core.drain_plan import Part
from reverie.core.names import is_day
from reverie.core.records import Entry
from reverie.store import quarantine, stream
from reverie.store.workspace import Workspace


def days(ws: Workspace) -> list[str]:
    """Return the days that have a log, in order."""
    names = (name.removesuffix(".md") for name in ws.disk.list(layout.ARCHIVE) if name.endswith(".md"))
    return [name for name in names if is_day(name)]


def read(ws: Workspace, day: str) -> DayLog:
    """Return the log of `day`; an absent one is empty. Bytes that are not UTF-8 are read as U+FFFD."""
    data = ws.disk.read(layout.log_file(day)) or b""
    return daylog.parse(data.decode("utf-8", "surrogateescape"), day, calendar=ws.calendar)


def holds(ws: Workspace, entry: Entry, *, length: int | None) -> bool:
    """Whether the log of the entry's day has a line with its id, within its first `length` bytes when given."""
    data = ws.disk.read(layout.log_file(entry.day)) or b""
    return f"^{entry.id}".encode() in (data if length is None else data[:length])


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
    """Append what is missing of `part` after an interruption, and return the entries that were missing.

    `parts` is all the drain adds to that day, from byte `since` on. What stands there is usually a beginning of their
    bytes: a last line cut short is taken back, and the rest is appended. Where it is no beginning, the end of a torn
    write is set aside and cut, and what a person added meanwhile is kept.
    """
    path = layout.log_file(part.day)
    actual = ws.disk.read_from(path, since)
    expected = b"".join(one.data for one in parts)
    if not expected.startswith(actual):
        actual = _mend(ws, path, at=since, actual=actual, expected=expected)
    if expected.startswith(actual):
        whole = actual.rfind(b"\n") + 1
        ws.disk.truncate(path, since + whole)
        if whole >= part.end:
            return ()
        ws.disk.append(path, part.data[max(0, whole - part.start) :])
        return part.entries if whole <= part.start else ()
    log = daylog.parse(actual.decode("utf-8", "surrogateescape"), part.day, calendar=ws.calendar)
    standing = {located.entry.id for located in log.entries}
    absent = tuple(entry for entry in part.entries if entry.id not in standing)
    if absent:
        ws.disk.append(path, daylog.render(absent, ws.calendar, first=False, day=part.day).encode())
    return absent


def _mend(ws: Workspace, path: str, *, at: int, actual: bytes, expected: bytes) -> bytes:
    """Return what stands past byte `at` after the torn end of our own write was cut, or `actual` when others wrote.

    Torn: what follows the common beginning is one unfinished line or nothing but NUL bytes, as a power loss leaves.
    """
    pairs = enumerate(zip(actual, expected, strict=False))
    common = next((i for i, (one, two) in pairs if one != two), min(len(actual), len(expected)))
    rest = actual[common:]
    if rest.strip(b"\0") and b"\n" in rest:
        return actual
    quarantine.set_aside(
        ws, [stream.Damaged(path, at + common, rest, "the torn end of an interrupted write")]
    )
    ws.disk.truncate(path, at + common)
    return actual[:common]
