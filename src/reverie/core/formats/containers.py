"""What is packed in bytes: gzip, zlib and zip, one inside another, whatever the file is called.

Owns telling by the bytes themselves what they are; promises bounded work (`MOST` bytes unpacked, `LEVELS` deep) and
never raises for damage; never unpacks what needs another library: `closed` says that it is there.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

MOST = 64_000_000  # bytes: a packed file of a few kB can say that it holds terabytes
LEVELS = 4
RAW, EITHER = -15, 47  # zlib's own numbers for no header, and for the one that is there

_MEMBER = b"PK\x03\x04"
_HEADER = 30  # bytes of a zip member's header before its name
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 1
_CLOSED = re.compile(
    rb"BZh[1-9]1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|%PDF-|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)


def contents(data: bytes) -> Iterator[bytes]:
    """Yield what is packed in `data`, and what is packed in that."""
    left = MOST
    waiting = [(data, 0)]
    while waiting and left > 0:
        whole, depth = waiting.pop()
        for found in _inside(whole, left):
            yield found
            left -= len(found)
            if depth + 1 < LEVELS:
                waiting.append((found, depth + 1))
            if left <= 0:
                return


def closed(data: bytes) -> bool:
    """Whether `data` is of a kind that packs or scrambles its text and is not read here: bzip2, xz, PDF, old Office."""
    if _CLOSED.match(data):
        return True
    return data.startswith(_MEMBER) and bool(int.from_bytes(data[6:8], "little") & _ENCRYPTED)


def _inside(data: bytes, most: int) -> Iterator[bytes]:
    """Yield what `data` holds one level down, at most so many bytes of each."""
    if data[:2] == b"\x1f\x8b" or (data[:1] == b"\x78" and int.from_bytes(data[:2], "big") % 31 == 0):
        yield from _streams(data, most)
    if data.startswith(_MEMBER):
        yield from _members(data, most)


def _streams(data: bytes, most: int) -> Iterator[bytes]:
    """Yield each gzip or zlib stream of those that stand one behind another."""
    while data:
        found, data = _inflated(data, EITHER, most)
        if not found:
            return
        yield found


def _members(data: bytes, most: int) -> Iterator[bytes]:
    """Yield the compressed members of a zip file; those merely stored stand in its bytes as they are."""
    view, at = memoryview(data), data.find(_MEMBER)
    while at >= 0:
        header = data[at : at + _HEADER]
        if len(header) == _HEADER and int.from_bytes(header[8:10], "little") == _DEFLATED:
            size, name, extra = (
                int.from_bytes(header[s:e], "little") for s, e in ((18, 22), (26, 28), (28, 30))
            )
            start = at + _HEADER + name + extra
            following = data.find(_MEMBER, start)
            end = start + size if size else following if following > 0 else len(data)
            found, _ = _inflated(view[start:end], RAW, most)
            if found:
                yield found
        at = data.find(_MEMBER, at + 4)


def _inflated(data: bytes | memoryview, kind: int, most: int) -> tuple[bytes, bytes]:
    """Return what a stream holds as far as it can be read, and what stands behind it."""
    stream = zlib.decompressobj(wbits=kind)
    try:
        found = stream.decompress(data, most)
    except zlib.error:
        return b"", b""
    return found, stream.unused_data if stream.eof else b""
