"""Making the search rows of an adapter's values from what `kv.jsonl` gained.

Owns how far that file was read; promises that a value which was overwritten, deleted or given longer life has that row
and no other, and that a file which did not merely grow is read anew; never writes a canonical file.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import msgspec

from reverie.core.days import Calendar
from reverie.core.formats import framing
from reverie.core.formats.key_values import ends, name_of, readable, row_id, row_of
from reverie.core.records import KeyValue
from reverie.core.search.rows import Row
from reverie.errors import InvalidRecord
from reverie.index.places import Files
from reverie.index.protocol import RowStore
from reverie.layout import KV

_SEEN = 256  # bytes that tell whether the file was only added to


def feed(
    files: Files,
    rows: RowStore,
    *,
    calendar: Calendar,
    stamp: str,
    before: str,
    masked: Callable[[Row], bool],
) -> None:
    """Bring the rows of the values up to the file; `before` is the last position, and `stamp` begins the new one."""
    start, seen, data = _gained(files, before)
    changed: dict[str, Row | None] = {}
    lines, _ = framing.read(data, start=start)
    known = rows.get(row_id(name_of(said)) for said in map(_said, lines) if said is not None and said.touch)
    for said in map(_said, lines):
        if said is None:
            continue
        id_ = row_id(name_of(said))
        if said.touch:
            old = changed[id_] if id_ in changed else known.get(id_)
            changed[id_] = None if old is None else msgspec.structs.replace(old, status=ends(said.until))
        else:
            row = row_of(said, calendar)
            changed[id_] = None if row is None or masked(row) else row
    end = lines[-1].end if lines else start
    position = f"{stamp} @{end}.{zlib.crc32((seen + data[: end - start])[-_SEEN:]):08x}"
    fresh = [row for row in changed.values() if row is not None]
    if not start:
        rows.replace_source(KV, fresh, stamp=position)
        return
    rows.delete(id_ for id_, row in changed.items() if row is None)
    rows.upsert(fresh, position=(KV, position))


def _gained(files: Files, before: str) -> tuple[int, bytes, bytes]:
    """Return where to read on, the last bytes before that, and what stands behind it: all, where it changed before."""
    end, _, crc = before.rpartition("@")[2].partition(".")
    reached = int(end) if end.isdecimal() else 0
    seen = min(reached, _SEEN)
    tail = files.read_from(KV, reached - seen) if reached else b""
    if reached and len(tail) >= seen and f"{zlib.crc32(tail[:seen]):08x}" == crc:
        return reached, tail[:seen], tail[seen:]
    return 0, b"", files.read(KV) or b""


def _said(line: framing.Line) -> KeyValue | None:
    try:
        said = framing.decode(line, KeyValue)
    except InvalidRecord:
        return None
    return said if readable(said) else None
