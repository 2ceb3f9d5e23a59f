"""One record a line, with a checksum: how every JSONL file of a workspace is written and read.

Owns the frame `{"v":1,…,"crc":"8 hex"}` and its newline; promises that damage costs only the bytes it hit:
every line whose checksum holds is found again, wherever it stands, and all other bytes are reported with their
place; never opens a file.

The checksum is CRC-32 (zlib's) of the object's bytes without the `crc` member, that is with
`,"crc":"xxxxxxxx"` cut out. `v` is the first member and `crc` the last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, overload
from zlib import crc32

import msgspec

from reverie.errors import InvalidRecord, NewerFormat
from reverie.layout import FORMAT

_T = TypeVar("_T")

_HEAD = b'{"v":'
_MEMBER = b',"crc":"'
_TAIL = 18  # bytes of `,"crc":"xxxxxxxx"}`
_TAIL_SHAPE = re.compile(rb',"crc":"[0-9a-f]{8}"\}')
_VERSION = re.compile(rb'\{"v":(\d{1,9})[,}]')
# Instants whose UTC time may lie before year 1 or after 9999: valid in JSON, and beyond what anything here counts with.
_ENDS = (b'"0001-01-01T', b'"9999-12-31T')
_BEYOND = re.compile(rb'"(?:at|timestamp)":"(?:0001-01-01|9999-12-31)T[0-9:.]+[+-]')
_TOO_DEEP = "The record has too many lists and objects in one another: make it flatter."
_PATIENCE = 64  # bytes checked per byte of a damaged line before far starts are given up

# What decoding JSON raises that somebody else wrote: it is none, no text, or nested without end.
NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

TORN = "torn"
MERGED = "left by a merge"
DEEPEST = 200  # lists and objects in one another: readers go down one by one, and not without end

# What git puts around and between the lines of two copies that it cannot merge.
_MARK = re.compile(rb"(?:<<<<<<<|\|\|\|\|\|\|\||>>>>>>>)(?: .*)?|=======")

# A string as a whole, or a bracket outside of one.
_NESTING = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class Line(msgspec.Struct, frozen=True, gc=False):
    """A record whose checksum holds: its place in the file and its bytes, without the newline.

    `end` is where the next record begins: behind the newline when one follows directly.
    """

    offset: int
    end: int
    raw: bytes


class Damage(msgspec.Struct, frozen=True, gc=False):
    """Bytes that are no record: their place, the bytes, and why.

    `reason` is `empty`, `null`, `filled with NUL`, `wrong checksum`, `no checksum`, `left by a merge`, or `torn`: a
    tail without newline, which a writer may still be about to finish.
    """

    offset: int
    end: int
    raw: bytes
    reason: str


def frame(record: msgspec.Struct | Mapping[str, Any], *, version: int = FORMAT) -> bytes:
    """Return the line that stores `record`, with `v`, checksum and newline.

    The record must have no member named `v` or `crc`. Raises InvalidRecord when it cannot be written as JSON, or when
    a member is of a type that no reader would take: a number where a text belongs would be acknowledged, then lost.
    """
    try:
        body = msgspec.json.encode(record)
        if isinstance(record, msgspec.Struct):
            _decoder(type(record)).decode(body)
    except msgspec.ValidationError as error:
        raise InvalidRecord(f"The record could not be read again: {error}.") from error
    except (TypeError, ValueError) as error:  # UnicodeEncodeError, for half a surrogate pair, is a ValueError
        raise InvalidRecord(f"The record cannot be written as JSON: {error}.") from error
    except RecursionError as error:
        raise InvalidRecord(_TOO_DEEP) from error
    if is_deep(body):
        raise InvalidRecord(_TOO_DEEP)
    comma = b"," if len(body) > 2 else b""  # noqa: PLR2004 - `{}`
    head = b'{"v":%d%b%b' % (version, comma, body[1:-1])
    return b'%b,"crc":"%08x"}\n' % (head, crc32(b"}", crc32(head)))


def verifies(raw: bytes) -> bool:
    """Tell whether `raw` is exactly one framed record, without newline, whose checksum holds."""
    return (
        raw[-_TAIL:-10] == _MEMBER
        and raw.startswith(_HEAD)
        and raw.endswith(b'"}')
        and b"%08x" % crc32(b"}", crc32(raw[:-_TAIL])) == raw[-10:-2]
    )


def read(data: bytes, *, start: int = 0) -> tuple[list[Line], list[Damage]]:
    """Return the records and the damage in `data`, each in order of place.

    `start` is the place in the file of the first byte of `data`; all offsets are places in the file. Together
    lines and damage cover every byte, except a line break at the very beginning of a later piece: it ends the
    record before it, which had been whole without.
    """
    lines: list[Line] = []
    damage: list[Damage] = []
    size = len(data)
    position = (data[:1] == b"\n" or 2 * (data[:2] == b"\r\n")) if start else 0
    while position < size:
        found = data.find(b"\n", position)
        stop, after = (size, size) if found < 0 else (found, found + 1)
        raw = data[position:stop]
        if verifies(raw):
            lines.append(Line(start + position, start + after, raw))
        elif raw.endswith(b"\r") and verifies(raw[:-1]):
            lines.append(Line(start + position, start + after, raw[:-1]))
        else:
            _salvage(raw, (start + position, start + after), lines, damage)
        position = after
    return lines, damage


@overload
def decode(line: Line, type_: type[_T], *, path: str = "") -> _T: ...
@overload
def decode(line: Line, type_: Any, *, path: str = "") -> Any: ...  # noqa: ANN401 - a union of records is no `type`
def decode(line: Line, type_: Any, *, path: str = "") -> Any:
    """Return the value of a verified line as `type_`, a record's class or a union of tagged ones.

    Unknown members are ignored. Raises NewerFormat, which names the file at `path`, when a newer version wrote it, and
    InvalidRecord when it is no such record.
    """
    match = _VERSION.match(line.raw)
    if match is None:
        raise InvalidRecord(f"The record at byte {line.offset} does not say its version.")
    if int(match[1]) > FORMAT:
        place = f" of {path}" if path else ""
        raise NewerFormat(
            f"The record at byte {line.offset}{place} has format {int(match[1])}, "
            f"this Reverie reads up to {FORMAT}: upgrade."
        )
    if (_ENDS[0] in line.raw or _ENDS[1] in line.raw) and _BEYOND.search(line.raw):
        raise InvalidRecord(f"The record at byte {line.offset} has a time beyond the years 1 to 9999 in UTC.")
    if is_deep(line.raw):
        raise InvalidRecord(
            f"The record at byte {line.offset} has more than {DEEPEST} levels of lists and objects."
        )
    try:
        return _decoder(type_).decode(line.raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRecord(f"The record at byte {line.offset} is refused: {error}.") from error


@overload
def last(data: bytes | None, type_: type[_T]) -> _T | None: ...
@overload
def last(data: bytes | None, type_: Any) -> Any: ...  # noqa: ANN401 - as in `decode`
def last(data: bytes | None, type_: Any) -> Any:
    """Return the last record in `data` that is a `type_`; None when there is none. Raises NewerFormat.

    For small files that are replaced whole, and may be lost: what is damaged counts as never written.
    """
    for line in reversed(read(data or b"")[0]):
        try:
            return decode(line, type_)
        except InvalidRecord:
            continue
    return None


@overload
def only(data: bytes | None, type_: type[_T]) -> _T | None: ...
@overload
def only(data: bytes | None, type_: Any) -> Any: ...  # noqa: ANN401 - as in `decode`
def only(data: bytes | None, type_: Any) -> Any:
    """Return the record in `data` when all of it is one record that is a `type_`, else None. Raises NewerFormat.

    For files that say what is to be finished: of one that is damaged, nothing may be guessed.
    """
    lines, damage = read(data or b"")
    if damage or len(lines) != 1:
        return None
    try:
        return decode(lines[0], type_)
    except InvalidRecord:
        return None


def is_deep(raw: bytes) -> bool:
    """Tell whether more than DEEPEST lists and objects stand in one another in JSON."""
    if len(raw) <= 2 * DEEPEST or raw.count(b"[") + raw.count(b"{") <= DEEPEST:
        return False
    depth = 0
    for found in _NESTING.finditer(raw):
        mark = raw[found.start()]
        depth += (mark in b"[{") - (mark in b"]}")
        if depth > DEEPEST:
            return True
    return False


@lru_cache(maxsize=64)
def _decoder(type_: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - as in `decode`
    return msgspec.json.Decoder(type_)


def _salvage(raw: bytes, place: tuple[int, int], lines: list[Line], damage: list[Damage]) -> None:
    """Add to `lines` the records that stand whole in a line which as a whole does not verify, the rest to `damage`.

    `place` are the file's offsets of the line's first byte and of the byte behind its newline.
    """
    offset, after = place
    torn = offset + len(raw) == after
    done = 0
    if not raw:
        damage.append(Damage(offset, after, raw, "empty"))
    for begin, end in _whole_objects(raw):
        if begin > done:
            damage.append(_damage(raw[done:begin], offset + done, offset + begin))
        last = end == len(raw) or raw[end:] == b"\r"
        lines.append(Line(offset + begin, after if last else offset + end, raw[begin:end]))
        done = len(raw) if last else end
    if done < len(raw):
        damage.append(_damage(raw[done:], offset + done, after, torn=torn))


def _damage(raw: bytes, offset: int, end: int, *, torn: bool = False) -> Damage:
    bare = raw.strip(b" \t\r")
    if torn:
        reason = TORN
    elif not bare:
        reason = "empty"
    elif not bare.strip(b"\0"):
        reason = "filled with NUL"
    elif bare == b"null":
        reason = "null"
    elif _MARK.fullmatch(bare):
        reason = MERGED
    elif _TAIL_SHAPE.search(bare[-_TAIL:]):
        reason = "wrong checksum"
    else:
        reason = "no checksum"
    return Damage(offset, end, raw, reason)


def _whole_objects(raw: bytes) -> list[tuple[int, int]]:
    """Return the spans of the framed records inside `raw`, which do not overlap.

    Quotes inside a JSON string are escaped, so only a real beginning looks like `{"v":`. The nearest beginning
    before an end is checked with a running checksum, so that a line of many false ends takes linear time;
    those further away (a record may hold another object with a `v`) are tried until patience ends.
    """
    starts = [match.start() for match in re.finditer(re.escape(_HEAD), raw)]
    found: list[tuple[int, int]] = []
    spent, floor, behind = 0, 0, 0  # starts[floor:behind] are the beginnings an end may belong to
    near, running, read_to = -1, 0, 0
    for match in _TAIL_SHAPE.finditer(raw):
        cut, end = match.span()
        while behind < len(starts) and starts[behind] < cut:
            behind += 1
        if behind == floor:
            continue
        if starts[behind - 1] != near:
            near, running = starts[behind - 1], 0
            read_to = near
        running, read_to = crc32(raw[read_to:cut], running), cut
        wanted = raw[end - 10 : end - 2]
        begin = near if b"%08x" % crc32(b"}", running) == wanted else -1
        for index in range(behind - 2, floor - 1, -1):
            if begin >= 0 or spent > _PATIENCE * len(raw):
                break
            spent += end - starts[index]
            if verifies(raw[starts[index] : end]):
                begin = starts[index]
        if begin >= 0:
            found.append((begin, end))
            floor = behind
    return found
