"""The beginning of a stream, by which its format is told, and then all of it again.

Owns how far a stream is read before anybody knows what it is; promises at most a piece of it, and that who reads on
gets every byte; never keeps what was read on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from reverie.errors import UsageError
from reverie.importers.pieces import MAX_PIECE, past_value, value_of

_MEMBER = re.compile(rb'\s*+"((?:[^"\\]++|\\.)*+)"\s*+:\s*+', re.DOTALL)
_COMMA = re.compile(rb"\s*+,")


class Head:
    """What was read of a stream so far; `ended` when that is all of it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        """Read up to the first byte that is not blank."""
        self._stream = iter(chunks)
        self._read: list[bytes] = []
        self._size = 0
        self.ended = False
        self.until(lambda chunk: bool(chunk.strip()))

    def until(self, enough: Callable[[bytes], bool]) -> None:
        """Read on until a chunk is enough, the stream ends, or a whole piece was read."""
        while not self.ended and self._size <= MAX_PIECE:
            chunk = next(self._stream, None)
            self.ended = chunk is None
            if chunk is not None:
                self._read.append(chunk)
                self._size += len(chunk)
                if enough(chunk):
                    return

    def whole(self) -> None:
        """Read a whole piece, or all there is."""
        self.until(lambda _: False)

    def seen(self) -> bytes:
        """Return what was read."""
        return b"".join(self._read)

    def begins(self, mark: bytes) -> bool:
        """Whether `mark` stands first in it, blanks left out."""
        return self.seen().lstrip().startswith(mark)

    def is_lines(self) -> bool:
        """Whether its first line is JSON by itself, and something stands behind it."""
        if b"\n" not in self.seen().lstrip():
            self.until(lambda chunk: b"\n" in chunk)
        line, _, behind = self.seen().lstrip().partition(b"\n")
        try:
            value_of(line)
        except UsageError:
            return False
        if not behind.strip():
            self.until(lambda chunk: bool(chunk.strip()))
            behind = self.seen().lstrip().partition(b"\n")[2]
        return bool(behind.strip())

    def list_in(self, names: Iterable[str]) -> int | None:
        """Return the byte past the bracket that opens the first list under one of `names` in an object, or None."""
        head, wanted = self.seen(), {name.encode() for name in names}
        at = head.find(b"{") + 1
        while (member := _MEMBER.match(head, at)) is not None:
            at = member.end()
            if member[1] in wanted and head[at : at + 1] == b"[":
                return at + 1
            comma = _COMMA.match(head, past_value(head, at))
            if comma is None:
                return None
            at = comma.end()
        return None

    def stream(self, start: int = 0) -> Iterator[bytes]:
        """Yield every byte from `start` on, which lies in what was read."""
        while self._read:
            chunk = self._read.pop(0)
            if len(chunk) > start:
                yield chunk[start:]
            start = max(0, start - len(chunk))
        yield from self._stream
