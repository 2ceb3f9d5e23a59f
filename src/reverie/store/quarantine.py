"""What was refused: kept aside byte for byte, listed, and retriable.

Owns `.journal/quarantine`; promises that setting the same thing aside twice keeps it once; never decides what is
refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

import msgspec

from reverie import layout
from reverie.core.text.names import safe_name
from reverie.errors import NotFound, UnsafePath
from reverie.store import stream
from reverie.store.workspace import Workspace


class Rejected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="rejected"):
    """Bytes that were refused: where they stood, why, and the bytes (as text, or base64 when they are not UTF-8)."""

    id: str
    at: datetime
    source: str
    offset: int
    reason: str
    text: str = ""
    base64: str = ""

    @property
    def raw(self) -> bytes:
        """The refused bytes."""
        return base64.b64decode(self.base64) if self.base64 else self.text.encode()


class Settled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="settled"):
    """A rejected record was retried or dropped by a person."""

    id: str
    at: datetime
    how: str


def set_aside(ws: Workspace, damaged: Iterable[stream.Damaged]) -> int:
    """Keep each refused line, and return how many were new; the same place and bytes are kept once."""
    by_source: dict[str, list[stream.Damaged]] = {}
    for line in damaged:
        by_source.setdefault(line.path, []).append(line)
    added = 0
    for source, lines in by_source.items():
        known = {record.id for record in _read(ws, _path(source))}
        fresh = {record.id: record for record in (_rejected(line, ws.clock()) for line in lines)}
        missing = [record for record in fresh.values() if record.id not in known]
        stream.append_all(ws, _path(source), missing)
        added += len(missing)
    return added


def _rejected(line: stream.Damaged, at: datetime) -> Rejected:
    """Return the record that keeps `line`, with an id of its place and bytes."""
    digest = hashlib.sha256(f"{line.path}\0{line.offset}\0".encode() + line.raw).hexdigest()[:16]
    text, packed = _as_text(line.raw)
    return Rejected(
        id=digest, at=at, source=line.path, offset=line.offset, reason=line.reason, text=text, base64=packed
    )


def listed(ws: Workspace) -> list[Rejected]:
    """Return everything set aside and neither retried nor dropped since, oldest first.

    A folder that may not be opened holds nothing; `journal.shut` names it.
    """
    kept: dict[str, Rejected] = {}
    settled: set[str] = set()
    paths: list[str] = []
    with suppress(UnsafePath):
        paths += ws.disk.walk(layout.QUARANTINE)
    for path in paths:
        for record in _read(ws, path):
            if isinstance(record, Rejected):
                kept[record.id] = record
            else:
                settled.add(record.id)
    return sorted(
        (record for record in kept.values() if record.id not in settled),
        key=lambda record: (record.at, record.id),
    )


def find(ws: Workspace, rejected_id: str) -> Rejected:
    """Return the rejected record whose id starts with `rejected_id`; raises NotFound."""
    for record in listed(ws):
        if record.id.startswith(rejected_id):
            return record
    message = f"nothing is set aside under {rejected_id}: `reverie status` lists what is"
    raise NotFound(message)


def legible(record: msgspec.Struct) -> bytes:
    """Return any record as JSON, one that holds half a character too, which no JSONL file takes."""
    return json.dumps(msgspec.to_builtins(record), ensure_ascii=False).encode("utf-8", "backslashreplace")


def settle(ws: Workspace, rejected: Rejected, how: str) -> None:
    """Record that `rejected` was retried or dropped; its bytes stay."""
    stream.append(ws, _path(rejected.source), Settled(id=rejected.id, at=ws.clock(), how=how))


def _path(source: str) -> str:
    """Return the quarantine file for what came from `source`."""
    return f"{layout.QUARANTINE}/{safe_name(source)}.jsonl"


def _read(ws: Workspace, path: str) -> list[Rejected | Settled]:
    """Return the records of one quarantine file."""
    records: stream.Read[Rejected | Settled] = stream.parse(
        path, ws.disk.read_from(path, 0), kind=Rejected | Settled
    )
    return records.records


def _as_text(raw: bytes) -> tuple[str, str]:
    """Return `raw` as text, or as base64 when it is not UTF-8."""
    try:
        return raw.decode(), ""
    except UnicodeDecodeError:
        return "", base64.b64encode(raw).decode()
