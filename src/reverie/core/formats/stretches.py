"""Files of lines in stretches: some megabytes of whole lines at a time, however large the file.

Owns where a file is cut; promises that the stretches are its bytes in order; never opens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

STRETCH = 4 << 20  # bytes; decoded and parsed, lines take some ten times as much memory


def stretches(pieces: Iterable[bytes], *, size: int = STRETCH, torn: bool = False) -> Iterator[bytes]:
    """Yield whole lines, at least `size` bytes at a time but for the last; with `torn`, one without its end too."""
    held = bytearray()
    for piece in pieces:
        fresh = len(held)
        held += piece
        if len(held) >= size and (end := held.rfind(b"\n", fresh) + 1):
            yield bytes(held[:end])
            del held[:end]
    if end := len(held) if torn else held.rfind(b"\n") + 1:
        yield bytes(held[:end])
