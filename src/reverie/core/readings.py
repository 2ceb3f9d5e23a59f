"""Everything a file says: its text, what is compressed, encoded or nested in it, and the words in broken lines.

Owns decoding for a search; promises that a word which a program could read out of the file is among the readings; never
raises for damaged content.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from reverie import layout
from reverie.core import framing

DEEPEST = 60  # levels of JSON inside JSON that are looked into
_OBJECT = re.compile(rf"{layout.OBJECTS}/objects/[0-9a-f]{{2}}/[0-9a-f]{{38}}")
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_CONTROL = re.compile(r"\\+[nrtbf]")
_GZIP = 31  # zlib's own number for a gzip header around its format
_RECORDS = (".jsonl", ".json", ".jsonl.gz")


def readings(path: str, data: bytes) -> Iterator[str]:
    """Yield the texts of the file at `path`, its name first."""
    yield path.replace("/", "\n")
    if path.endswith(".gz"):
        data, _ = unpacked(data)
    elif _OBJECT.fullmatch(path):
        data = inflated(data)
        data = data[data.find(b"\0") + 1 :]
    yield data.decode("utf-8", "replace")
    if path.endswith(_RECORDS):
        yield from _strings_in(data)


def text_of(data: bytes) -> str | None:
    """Return the bytes as text, stray ones kept as `surrogateescape` does; None for what is no text."""
    return None if b"\0" in data[:8192] else data.decode("utf-8", "surrogateescape")


def unpacked(data: bytes) -> tuple[bytes, bool]:
    """Return what a gzip file of one or more members holds as far as it can be read, and whether that is all."""
    out: list[bytes] = []
    while data:
        member = zlib.decompressobj(wbits=_GZIP)
        try:
            out.append(member.decompress(data))
        except zlib.error:
            return b"".join(out), False
        if not member.eof:
            return b"".join(out), False
        data = member.unused_data
    return b"".join(out), True


def packed(data: bytes) -> bytes:
    """Return a gzip file that holds `data`, the same each time."""
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(data) + packer.flush()


def inflated(data: bytes) -> bytes:
    """Return what a loose git object holds, header included; nothing when it is damaged."""
    try:
        return zlib.decompress(data)
    except zlib.error:
        return b""


def decoded(raw: bytes) -> dict[str, Any]:
    """Return a record's members; an empty one for bytes that verify and are no JSON object."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def unescaped(text: str) -> str:
    """Return text with JSON's escapes resolved, whether or not it is whole JSON."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return _CONTROL.sub(" ", text).replace("\\", "")


def _strings_in(data: bytes) -> Iterator[str]:
    sound, damage = framing.read(data)
    for line in sound:
        yield from _strings(decoded(line.raw), 0)
    for piece in damage:
        yield unescaped(piece.raw.decode("utf-8", "replace"))


def _strings(value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        yield value
        if "\\" in value:
            yield unescaped(value)
    elif isinstance(value, list) and depth <= DEEPEST:
        for one in value:
            yield from _strings(one, depth + 1)
    elif isinstance(value, dict) and depth <= DEEPEST:
        for key, one in value.items():
            yield key
            yield from _strings(one, depth + 1)
            if key == "base64" and isinstance(one, str):
                yield _from_base64(one)


def _from_base64(packed: str) -> str:
    try:
        return unescaped(base64.b64decode(packed).decode("utf-8", "replace"))
    except (binascii.Error, ValueError):
        return ""
