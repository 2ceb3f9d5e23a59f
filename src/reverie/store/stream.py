"""Append-only JSONL files: events, outcomes, tombstones, runs and whatever else is one record a line.

Owns appending to and reading from a stream; promises that what `append` returned from is on disk, and that a
damaged line costs that line alone; never rewrites a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from reverie.core.formats import framing
from reverie.errors import InvalidRecord
from reverie.store.workspace import Workspace

RecordT = TypeVar("RecordT")


class Damaged(msgspec.Struct, frozen=True):
    """A line that could not be read: its file, the byte it starts at, its bytes and the reason."""

    path: str
    offset: int
    raw: bytes
    reason: str


class Read(msgspec.Struct, Generic[RecordT], frozen=True):
    """What a stream held from an offset on: values with the offset just past each, damage, and where to read on.

    `end` lies before a last line without an end, which its writer may be about to finish.
    """

    values: list[tuple[int, RecordT]]
    damaged: list[Damaged]
    end: int

    @property
    def records(self) -> list[RecordT]:
        """The values alone, in file order."""
        return [value for _, value in self.values]


def append(ws: Workspace, path: str, record: msgspec.Struct) -> int:
    """Append one record and return the offset it starts at; on return it is on disk.

    Raises StoreUnwritable; then nothing of the record stays behind.
    """
    return ws.disk.append(path, framing.frame(record))


def append_all(ws: Workspace, path: str, records: Sequence[msgspec.Struct]) -> None:
    """Append many records with one write and one sync; none when there are none."""
    if records:
        ws.disk.append(path, b"".join(framing.frame(record) for record in records))


def read(ws: Workspace, path: str, kind: type[RecordT] | Any, *, start: int = 0) -> Read[RecordT]:  # noqa: ANN401
    """Return the records of `path` from byte `start` on, or nothing when the file is absent.

    `kind` is a record's class, or a union of tagged ones, which the type system has no word for.
    """
    return parse(path, ws.disk.read_from(path, start), kind=kind, start=start)


def parse(path: str, data: bytes, *, kind: type[RecordT] | Any, start: int = 0) -> Read[RecordT]:  # noqa: ANN401
    """Return the records in `data`, which lies at byte `start` of `path`; raises NewerFormat.

    A line that verifies but is no `kind` is damage like any other: it is kept aside by whoever reads, not dropped.
    """
    lines, broken = framing.read(data, start=start)
    damaged = [Damaged(path, damage.offset, damage.raw, damage.reason) for damage in broken]
    values: list[tuple[int, RecordT]] = []
    for line in lines:
        try:
            values.append((line.end, framing.decode(line, kind, path=path)))
        except InvalidRecord as error:
            damaged.append(Damaged(path, line.offset, line.raw, str(error)))
    torn = bool(broken) and broken[-1].reason == framing.TORN
    return Read(values, damaged, broken[-1].offset if torn else start + len(data))
