"""The journal: queued writes on their way to the daily logs.

Owns `.journal/segments`, `.journal/draining` and `.journal/archive`; promises that what `append` returned from is
on disk in exactly one of them, and that drained records are kept for ever; never reads or writes a daily log.

A record's way: a segment of the process that wrote it → `draining/` (claimed by rename) → `archive/YYYY-MM/` →
`archive/YYYY-MM.jsonl.gz` once the month is over. Whoever reads all of them reads in that order, so that a record
on the move is met at least once; readers drop a record id they have seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from reverie import layout
from reverie.core.formats import framing
from reverie.core.formats.gzipped import pack, unpack
from reverie.core.records import JournalRecord
from reverie.errors import StoreUnwritable, UnsafePath
from reverie.store import stream
from reverie.store.workspace import Workspace

SEGMENT_BYTES = 8_000_000  # a fuller segment is left for the drain and a new one begun
CLAIM_BYTES = (
    32_000_000  # what one drain intent takes at once, so that memory stays flat however long the queue
)
COMPRESSED_BYTES = 64_000_000  # a month of more is not compressed; a busy agent's has some millions


def append(ws: Workspace, record: JournalRecord) -> None:
    """Append one record to this process's segment; on return it is on disk.

    When the segment fails, it is abandoned and the record written once more to a new one, for after an I/O error
    nobody knows what the old file holds; a record that then stands twice has one id. Raises StoreUnwritable.
    """
    append_all(ws, (record,))


def append_all(ws: Workspace, records: Sequence[JournalRecord]) -> None:
    """Append records as `append` does one, all with one write and one sync; none when there are none.

    A process killed in the middle leaves some first ones whole. Raises InvalidRecord, and then nothing was written.
    """
    if not records:
        return
    data = b"".join(framing.frame(record) for record in records)
    try:
        offset = ws.disk.append(_segment(ws), data)
    except StoreUnwritable:
        ws.segment = ""
        offset = ws.disk.append(_segment(ws), data)
    if offset + len(data) > SEGMENT_BYTES:
        ws.segment = ""


def _segment(ws: Workspace) -> str:
    """Return the path of this process's segment, naming a new one when there is none."""
    if not ws.segment:
        ws.segment = f"{ws.clock():%Y%m%dT%H%M%S}-{ws.new_id()}.jsonl"
    return f"{layout.SEGMENTS}/{ws.segment}"


def waiting_files(ws: Workspace) -> Iterator[str]:
    """Yield the paths of all queued files: segments, then those a drain has claimed.

    The second folder is looked at only when the files of the first have been used: a segment that is claimed
    meanwhile is then met there, where a list of both made beforehand would miss it. A folder that is none holds nothing
    for a reader, so that what is stored is found and a promise is due whatever became of the queue; `shut` names it.
    """
    for folder in (layout.SEGMENTS, layout.DRAINING):
        with suppress(UnsafePath):
            yield from [f"{folder}/{name}" for name in _names(ws, folder)]


def shut(ws: Workspace) -> list[UnsafePath]:
    """Return why folders of the journal may not be opened, each reason once."""
    found: dict[str, UnsafePath] = {}
    for folder in (layout.SEGMENTS, layout.DRAINING, layout.QUARANTINE, layout.JOURNAL_ARCHIVE):
        try:
            ws.disk.list(folder)
        except UnsafePath as error:
            found.setdefault(str(error), error)
    return list(found.values())


def _names(ws: Workspace, folder: str) -> list[str]:
    """Return the names of the record files in `folder`; what may not be opened is left alone, for `check` to name."""
    names = (path.removeprefix(f"{folder}/") for path in ws.disk.walk(folder))
    return [name for name in names if name.endswith(".jsonl") and "/" not in name]


def waiting(ws: Workspace) -> stream.Read[JournalRecord]:
    """Return every record not yet drained, each id once, with the lines that cannot be read.

    Offsets in the result are within each file and of no use across files.
    """
    values: list[tuple[int, JournalRecord]] = []
    damaged: list[stream.Damaged] = []
    seen: set[str] = set()
    for path in waiting_files(ws):
        part: stream.Read[JournalRecord] = stream.read(ws, path, JournalRecord)
        damaged += part.damaged
        values += [(end, record) for end, record in part.values if record.id not in seen]
        seen.update(record.id for record in part.records)
    return stream.Read(values, damaged, 0)


class Queue:
    """What waits for the drain, read again only where it grew; for one open workspace, one thread at a time."""

    def __init__(self, ws: Workspace) -> None:
        """Bind to the workspace; nothing is read yet."""
        self._ws = ws
        self._parts: dict[str, _Part] = {}
        self._records: tuple[JournalRecord, ...] = ()

    def records(self) -> tuple[JournalRecord, ...]:
        """Return every record not yet drained, each id once: the same object while nothing changed."""
        parts = {path: self._part(path) for path in waiting_files(self._ws)}
        if parts != self._parts:
            first: dict[str, JournalRecord] = {}
            for part in parts.values():
                for record in part.records:
                    first.setdefault(record.id, record)
            self._records, self._parts = tuple(first.values()), parts
        return self._records

    def _part(self, path: str) -> _Part:
        """Return what a file holds, from what was read of it before when it is that file, grown or not."""
        before = self._parts.get(path)
        status = self._ws.disk.glance(path)
        if status is None:
            return _Part()
        now = (status.st_ino, status.st_mtime_ns, status.st_size)
        if before is not None and before.seen == now:
            return before
        if before is not None and before.seen[0] == now[0] and before.end <= now[2]:
            grown: stream.Read[JournalRecord] = stream.read(self._ws, path, JournalRecord, start=before.end)
            return _Part(now, grown.end, (*before.records, *grown.records))
        whole: stream.Read[JournalRecord] = stream.read(self._ws, path, JournalRecord)
        return _Part(now, whole.end, tuple(whole.records))


class _Part(NamedTuple):
    """What was read of a file: which file it was (its inode, time and size), up to where, and its records."""

    seen: tuple[int, int, int] = (0, 0, 0)
    end: int = 0
    records: tuple[JournalRecord, ...] = ()


def claim(ws: Workspace) -> list[str]:
    """Move segments into `draining/`, oldest first, and return the names there now, sorted.

    Holding the write lock. Files a drain claimed before and did not finish come first; no more than CLAIM_BYTES
    are claimed at once. A claimed name is new, so a writer that still holds the old path starts another file.
    """
    names = _names(ws, layout.DRAINING)
    if names:
        return names
    size = 0
    for name in _names(ws, layout.SEGMENTS):
        if size > CLAIM_BYTES:
            break
        size += ws.disk.size(f"{layout.SEGMENTS}/{name}") or 0
        claimed = f"{name.removesuffix('.jsonl')}-{ws.new_id()}.jsonl"
        ws.disk.rename(f"{layout.SEGMENTS}/{name}", f"{layout.DRAINING}/{claimed}")
    return _names(ws, layout.DRAINING)


def is_archived(ws: Workspace, name: str) -> bool:
    """Whether a segment was moved to the archive and stands there as it came."""
    months = (month for month in ws.disk.list(layout.JOURNAL_ARCHIVE) if "." not in month)
    return any(ws.disk.size(f"{layout.journal_archive_folder(month)}/{name}") is not None for month in months)


def retire(ws: Workspace, names: list[str]) -> None:
    """Move drained segments into the archive of the present month; those moved before are passed over."""
    folder = layout.journal_archive_folder(f"{ws.clock():%Y-%m}")
    ws.disk.make_folder(folder)
    for name in names:
        if ws.disk.size(f"{layout.DRAINING}/{name}") is not None:
            ws.disk.rename(f"{layout.DRAINING}/{name}", f"{folder}/{name}")


def compress_closed_months(ws: Workspace) -> None:
    """Turn each archive month before the present one into one compressed file, holding the write lock.

    1. the month's `.gz` is replaced by itself plus the plain files; 2. the plain files are removed. A crash between
    leaves records in both, which readers see once; the next run finds them in the `.gz` and only removes the files. A
    month in which much was imported stays in plain files, for a compressed one is held whole by whoever reads it.
    """
    present = f"{ws.clock():%Y-%m}"
    for month in ws.disk.list(layout.JOURNAL_ARCHIVE):
        if "." in month or month >= present:
            continue
        folder = layout.journal_archive_folder(month)
        names = _names(ws, folder)
        if names and sum(ws.disk.size(f"{folder}/{name}") or 0 for name in names) > COMPRESSED_BYTES:
            continue
        if names:
            packed = f"{folder}.jsonl.gz"
            before = ws.disk.read(packed) or b""
            held, _ = unpack(before)
            pieces = (ws.disk.read(f"{folder}/{name}") or b"" for name in names)
            if missing := b"".join(piece for piece in pieces if piece not in held):
                ws.disk.replace(packed, before + pack(missing))
            for name in names:
                ws.disk.remove(f"{folder}/{name}")
        if not ws.disk.list(folder):  # else something that is not ours lies there
            ws.disk.remove_folder(folder)


def archive_files(ws: Workspace) -> list[str]:
    """Return the paths of all archive files, compressed months and plain segments, sorted."""
    return [path for path in ws.disk.walk(layout.JOURNAL_ARCHIVE) if path.endswith((".jsonl", ".jsonl.gz"))]


def read_archive(ws: Workspace, path: str) -> stream.Read[JournalRecord]:
    """Return the records of one archive file; offsets are within the records, uncompressed."""
    data, lost = ws.disk.read(path) or b"", 0
    if path.endswith(".gz"):
        data, lost = unpack(data)
    found: stream.Read[JournalRecord] = stream.parse(path, data, kind=JournalRecord)
    if lost:
        found.damaged.append(stream.Damaged(path, 0, b"", f"{lost} compressed bytes cannot be read"))
    return found


def archived(ws: Workspace) -> Iterator[JournalRecord]:
    """Yield every drained record, file by file; an id may come twice."""
    for path in archive_files(ws):
        yield from read_archive(ws, path).records
