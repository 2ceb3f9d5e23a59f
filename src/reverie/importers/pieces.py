"""Large JSON files in pieces: the elements of a top-level array, or lines, without reading the file whole.

Owns finding where an element ends; promises bounded memory whatever the bytes are, and that a piece which is too large,
too deep or cut off is told with its place, and the pieces after it are read; never decodes more than one piece.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from reverie.core.formats import framing
from reverie.errors import UsageError
from reverie.importers.taken import Found
from reverie.importers.turns import Skipped

MAX_PIECE = 24 << 20  # bytes; decoded, JSON takes some six times as much memory
MAX_DEPTH = 100
_KEPT = 100_000  # bytes of a piece too large to read that are kept to show what it was

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Everything up to the next bracket, strings in one step; at the array's own level a comma ends an element too. They
# never go back (`++`), so that no input makes them slow.
_INNER = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_TOP = re.compile(rb'(?:[^"{}\[\],]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_PLAIN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^\s,"{}\[\]]++', re.DOTALL)  # a value without brackets
_OPENING = b"[{"


class Piece(msgspec.Struct, frozen=True):
    """A piece of a file: its number from 1, its bytes, and why they are not to be decoded, if they are not."""

    place: int
    raw: bytes
    trouble: str = ""


def plain(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes as UTF-8 without byte order mark; what is marked as UTF-16 is translated."""
    decoder: codecs.IncrementalDecoder | None = None
    for number, chunk in enumerate(chunks):
        body = chunk
        if number == 0:
            for mark, name in _MARKS:
                if chunk.startswith(mark):
                    body = chunk[len(mark) :]
                    decoder = codecs.getincrementaldecoder(name)("replace") if name != "utf-8" else None
        yield decoder.decode(body).encode("utf-8", "replace") if decoder else body


def lines(chunks: Iterable[bytes]) -> Iterator[Piece]:
    """Yield each line that is not blank, without its end."""
    held, size, place = bytearray(), 0, 0
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            place += 1
            line = bytes(held) + part if held else part
            yield from _line(place, line, size + len(part))
            held, size = bytearray(), 0
        size += len(rest)
        if size <= MAX_PIECE or len(held) < _KEPT:
            held += rest
    yield from _line(place + 1, bytes(held), size)


def _line(place: int, raw: bytes, size: int) -> Iterator[Piece]:
    """Yield the piece that a line is, unless it is blank."""
    if size > MAX_PIECE:
        yield Piece(place, raw[:_KEPT], f"the line has {size:,} bytes: at most {MAX_PIECE:,} can be read")
    elif raw.strip():
        yield Piece(place, raw.rstrip(b"\r"))


def elements(chunks: Iterable[bytes], *, opened: bool = False) -> Iterator[Piece]:
    """Yield each element of the top-level array; text outside it, and an element that is cut off, come with trouble.

    `opened` is for bytes that begin behind the bracket of an array in an object: they are read to where it closes.
    """
    cut = _Cutter(depth=int(opened))
    for chunk in chunks:
        yield from cut.feed(chunk, once=opened)
        if opened and not cut.depth:
            return
    yield from cut.end()


class _Cutter:
    """Where the scan stands: how deep, whether inside a string, and the bytes of the element so far."""

    def __init__(self, *, depth: int = 0) -> None:
        """Stand before the array, or behind its bracket, at depth 1."""
        self.depth, self.deepest, self.place, self.size = depth, 0, 0, 0
        self.string = self.escaped = False
        self.held = bytearray()

    def feed(self, chunk: bytes, *, once: bool = False) -> Iterator[Piece]:
        """Yield the elements that end in `chunk`, `once` up to where the array closes."""
        position = begun = 0
        if self.escaped:
            position, self.escaped = 1, False
        while position < len(chunk):
            position = self._skip(chunk, position)
            if position >= len(chunk):
                break
            mark = chunk[position]
            if self.depth == 1 and mark in b",]}":
                self._hold(chunk[begun:position])
                yield from self._cut()
                begun = position + 1
                self.depth -= mark != ord(b",")
                if once and not self.depth:
                    return
            elif self.depth == 0:
                if mark == ord(b"["):
                    self._hold(chunk[begun:position])
                    yield from self._cut("it stands outside the array")
                    begun, self.depth = position + 1, 1
            else:
                self.depth += 1 if mark in _OPENING else -1
                self.deepest = max(self.deepest, self.depth)
            position += 1
        self._hold(chunk[begun:])

    def end(self) -> Iterator[Piece]:
        """Yield what is left when the file ends."""
        if self.depth:
            if not self.held.strip():
                self.held += b"["
            yield from self._cut("the file ends here, in the middle")
        else:
            yield from self._cut("it stands outside the array")

    def _skip(self, chunk: bytes, position: int) -> int:
        """Return where the next mark stands, or the chunk's length."""
        if self.string:
            position = self._string(chunk, position)
            if position >= len(chunk):
                return position
        found = (_TOP if self.depth == 1 else _INNER).match(chunk, position)
        position = found.end() if found else position
        if chunk[position : position + 1] == b'"':  # a string that does not end in this chunk
            self.string = True
            return self._string(chunk, position + 1)
        return position

    def _string(self, chunk: bytes, position: int) -> int:
        """Return where the text after the string goes on, or the chunk's length when the string does too."""
        found = _STRING.match(chunk, position)
        position = found.end() if found else position
        if position >= len(chunk):
            return position
        if (
            chunk[position : position + 1] == b"\\"
        ):  # the last byte, and what it escapes comes with the next chunk
            self.escaped = True
            return len(chunk)
        self.string = False
        return position + 1

    def _hold(self, part: bytes) -> None:
        self.size += len(part)
        if self.size <= MAX_PIECE:
            self.held += part
        elif len(self.held) > _KEPT:
            del self.held[_KEPT:]

    def _cut(self, trouble: str = "") -> Iterator[Piece]:
        """Yield the element held, unless it is blank, and hold nothing."""
        raw, size, deepest = bytes(self.held).strip(), self.size, self.deepest
        self.held, self.size, self.deepest = bytearray(), 0, 0
        if not raw:
            return
        self.place += 1
        if not trouble and size > MAX_PIECE:
            trouble = f"the element has {size:,} bytes: at most {MAX_PIECE:,} can be read"
        if not trouble and deepest - 1 > MAX_DEPTH:
            trouble = f"it is nested {deepest - 1} deep: at most {MAX_DEPTH}"
        yield Piece(self.place, raw[:_KEPT] if trouble else raw, trouble)


def decoded(piece: Piece) -> Any:  # noqa: ANN401 - foreign JSON
    """Return the JSON value of a piece; raises UsageError with the reason when it has none."""
    if piece.trouble:
        raise UsageError(piece.trouble)
    return value_of(piece.raw)


def value_of(raw: bytes) -> Any:  # noqa: ANN401 - foreign JSON
    """Return the JSON value that `raw` is; raises UsageError when it is none, or too deep."""
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _depth(raw) > MAX_DEPTH:
        raise UsageError(f"it is no JSON to be read: nested deeper than {MAX_DEPTH}")
    try:
        return msgspec.json.decode(raw)
    except framing.NO_JSON as error:
        raise UsageError(f"it is no JSON: {error}") from error


def _depth(raw: bytes) -> int:
    """Return how deep brackets nest in `raw`, strings left out; counting stops beyond the limit."""
    position = depth = deepest = 0
    while position < len(raw) and deepest <= MAX_DEPTH:
        found = _INNER.match(raw, position)
        position = found.end() if found else position
        mark = raw[position : position + 1]
        if not mark or mark == b'"':
            break
        depth += 1 if mark in _OPENING else -1
        deepest = max(deepest, depth)
        position += 1
    return deepest


def past_value(data: bytes, start: int) -> int:
    """Return where the JSON value that begins at byte `start` ends, or the length of `data` when it does not."""
    if plain := _PLAIN.match(data, start):
        return plain.end()
    position, depth = start, 0
    while position < len(data):
        found = _INNER.match(data, position)
        position = (found.end() if found else position) + 1
        depth += 1 if data[position - 1 : position] in {b"[", b"{"} else -1
        if depth <= 0:
            break
    return min(position, len(data))


def each(pieces: Iterable[Piece], one: Callable[[Any, int], Iterator[Found]]) -> Iterator[Found]:
    """Yield what `one` finds in each piece, and why a piece cannot be read."""
    for piece in pieces:
        try:
            yield from one(decoded(piece), piece.place)
        except UsageError as error:
            yield Skipped(piece.place, piece.raw, str(error))
