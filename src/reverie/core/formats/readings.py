"""Everything a file says: its text, what is compressed, encoded or nested in it, and the words in broken lines.

Owns decoding for a search; promises that a word which a program could read out of the file is among the readings,
whatever the file is called: packed, in base64, in UTF-16, escaped as in JSON, an address or a web page. Left out are
pictures, sound, and what `containers.closed` names. Never raises for damaged content.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.core.formats.containers import contents
from reverie.core.formats.gzipped import unpack
from reverie.core.formats.utf8 import to_text
from reverie.core.text.patterns import Words

DEEPEST = 60  # levels of JSON inside JSON that are looked into
_OBJECT = re.compile(rf"{layout.OBJECTS}/objects/[0-9a-f]{{2}}/[0-9a-f]{{38}}")
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_CONTROL = re.compile(r"\\+[nrtbf]")
_BASE64 = Words("(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}")  # of one word and more
_NUMBERED = Words("&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));", fold=True)
_TAG = Words("<[^<>]{1,500}>")
_UNICODE_END = 0x110000
_RECORDS = (".jsonl", ".json", ".jsonl.gz")


def readings(path: str, data: bytes) -> Iterator[str]:
    """Yield the texts of the file at `path`, its name first."""
    yield path.replace("/", "\n")
    if path.endswith(".gz"):
        data, _ = unpack(data)
    elif _OBJECT.fullmatch(path):
        data = inflated(data)
        data = data[data.find(b"\0") + 1 :]
    yield from _texts(data)
    for inner in contents(data):
        yield from _texts(inner)
    if path.endswith(_RECORDS):
        yield from _strings_in(data)


def _texts(data: bytes) -> Iterator[str]:
    """Yield bytes as text in each way that may be meant, and what is escaped or in base64 in it."""
    text = data.decode("utf-8", "replace")
    yield text
    if b"\0" in data or data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        yield from (data.decode(name, "replace") for name in ("utf-16-le", "utf-16-be"))
        text = data.replace(b"\0", b"").decode("utf-8", "replace")  # of any width, wherever it begins
        yield text
    if (plain := _plain(text)) != text:
        yield plain
    if "<" in plain:
        yield from (_TAG.sub(between, plain) for between in ("", " "))
    if runs := _BASE64.findall(text):
        yield "\n".join(map(_from_base64, runs))


def _plain(text: str) -> str:
    """Return text with the escapes of JSON, addresses and web pages resolved."""
    if "\\" in text:
        text = unescaped(text)
    if "%" in text or "+" in text:
        text = unquote_plus(text, errors="replace")
    return _NUMBERED.sub(_numbered, text) if "&#" in text else text


def _numbered(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    return chr(code) if code < _UNICODE_END else found[0]


def text_of(data: bytes) -> str | None:
    """Return the bytes as text, stray ones kept as `surrogateescape` does; None for what is no text."""
    return None if b"\0" in data[:8192] else to_text(data)


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
    except framing.NO_JSON:
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
    cut = packed.rstrip("=").replace("-", "+").replace("_", "/")
    cut = cut[: -1 if len(cut) % 4 == 1 else None]  # one character too many, as at the end of a sentence
    try:
        raw = base64.b64decode(cut + "=" * (-len(cut) % 4))
    except (binascii.Error, ValueError):
        return ""
    return unescaped(raw.replace(b"\0", b"").decode("utf-8", "replace"))
