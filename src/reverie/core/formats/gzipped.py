"""Gzip files: making one, reading one whole, and what is left of one that was damaged.

Owns putting members together and taking them apart; promises that damage in one member costs that member's rest
alone, and that the lost bytes are counted; never opens a file.
"""

from __future__ import annotations

import zlib

GZIP = 31  # zlib's word for "with a gzip header"

_MEMBER = b"\x1f\x8b\x08"  # how each member begins
_PIECE = 4_096  # what is fed at once, and so at most lost in front of a damaged byte


def pack(data: bytes) -> bytes:
    """Return one gzip member that holds `data`, the same bytes each time."""
    return zlib.compress(data, level=9, wbits=GZIP)


def unpack(data: bytes) -> tuple[bytes, int]:
    """Return what gzip members hold, one after another, and how many compressed bytes could not be read."""
    pieces: list[bytes] = []
    lost, position = 0, 0
    while position < len(data):
        read, end, whole = _member(data, position)
        pieces.append(read)
        if not whole:
            found = data.find(_MEMBER, position + 1)
            end = found if found >= 0 else len(data)
            lost += end - position
        position = end
    return b"".join(pieces), lost


def _member(data: bytes, start: int) -> tuple[bytes, int, bool]:
    """Return what the member at `start` holds, where it ends, and whether it was whole."""
    engine = zlib.decompressobj(wbits=GZIP)
    pieces: list[bytes] = []
    try:
        for at in range(start, len(data), _PIECE):
            pieces.append(engine.decompress(data[at : at + _PIECE]))
            if engine.eof:
                return b"".join(pieces), min(at + _PIECE, len(data)) - len(engine.unused_data), True
    except zlib.error:
        pass
    return b"".join(pieces), start, False
