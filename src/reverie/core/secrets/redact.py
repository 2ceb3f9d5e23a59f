"""Take secrets out of a text before its first byte reaches a disk.

Owns the order in which kinds are looked for; promises that what it returns holds no secret it knows, that doing
it again changes nothing, and that its time grows with the length of the text, whatever the text is; never keeps
or reports a secret, only the kinds it found.

Callers redact each string of a record by itself: text, evidence, tags, tool arguments.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from reverie.core.secrets.assignments import assignments
from reverie.core.secrets.numbers import labelled, numbers
from reverie.core.secrets.stems import stem_of, stems_in
from reverie.core.secrets.table import ADDRESSES, HEADERS, TOKENS, Shape
from reverie.core.text.patterns import Words

Span = tuple[int, int, str]

_ROUNDS = 12  # a removal can uncover a secret glued to it; each round looks once more, until nothing is found
_LONG_RUN = b"x" * 16  # no issued token is shorter, so ordinary prose is searched for none of them
_RUNS = bytes(
    ord("x") if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "_-./+=:%@") else ord(" ")
    for byte in range(256)
)
_KEY_REACH = 200_000  # characters from a key's first line in which its last line is believed to be its own
_KEY_BEGIN = Words(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:")
_KEY_END = Words(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]{40,64}")
_BREAK = r"(?:\s|\\[nrt]|[>|\"'])"
_KEY_HEADER = (
    r"(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines|Charset|Hash)"
    r"[:-][^\n\\]{0,200}"
)
_KEY_LINE = r"(?=[A-Za-z]{0,200}[0-9+/=])[A-Za-z0-9+/=]{16,20000}+"
_KEY_LAST = rf"(?:{_BREAK}{{1,8}}+[A-Za-z0-9+/]{{1,76}}+={{0,2}}(?=\s*(?:\\n|\n|\"|$))(?<![a-z]{{3}}))?"
_KEY_BODY = Words(
    rf"(?:{_BREAK}{{0,8}}+(?:{_KEY_HEADER}|{_KEY_LINE}))*+{_KEY_LAST}(?:\s{{0,3}}=[A-Za-z0-9+/]{{4}})?"
)
_KEY_TAIL_LINE = Words(r"[ \t>]{0,8}(?:[A-Za-z0-9+/]{40,20000}={0,2}|[A-Za-z0-9+/]{4,76}={0,2})[ \t\r]{0,4}")


class _Seen(msgspec.Struct, frozen=True):
    """What one look at a text tells every stage: its bytes in UTF-8, and the stems it holds."""

    encoded: bytes
    stems: frozenset[str]


class Redacted(msgspec.Struct, frozen=True):
    """A text without its secrets, and the kinds that were taken out, sorted, each once."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str, *, allow: Sequence[str] = ()) -> Redacted:
    """Replace every secret by `[redacted:KIND]`.

    `allow` lists false alarms: a string that equals the secret, or the source of a regular expression that
    matches the whole of it (a string that is no valid expression is only compared).
    """
    kinds: set[str] = set()
    seen = _look(text)
    for _ in range(_ROUNDS):
        before = text
        for stage in (_private_keys, _tokens, _numbers, _labelled):
            spans = list(stage(text, seen))
            if spans and allow:
                allowed = _allowance(tuple(allow))
                spans = [span for span in spans if not allowed(text[span[0] : span[1]])]
            if spans:
                text, found = _cut(text, spans)
                seen = _look(text)
                kinds.update(found)
        if text == before:
            break
    return Redacted(text, tuple(sorted(kinds)))


def _look(text: str) -> _Seen:
    encoded = text.encode("utf-8", "surrogatepass")
    return _Seen(encoded, stems_in(text, encoded))


@lru_cache(maxsize=16)
def _allowance(allow: tuple[str, ...]) -> Callable[[str], bool]:
    exact = frozenset(allow)
    patterns: list[re.Pattern[str]] = []
    for source in exact:
        try:
            patterns.append(re.compile(source))
        except re.error:
            continue  # an exact string such as `a(b` is no expression, and is compared above
    return lambda secret: secret in exact or any(pattern.fullmatch(secret) for pattern in patterns)


def _cut(text: str, spans: Iterable[Span]) -> tuple[str, set[str]]:
    """Return the text with the spans replaced, the earliest and then longest winning where they overlap."""
    pieces: list[str] = []
    kinds: set[str] = set()
    done = 0
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < done:
            continue
        pieces += (text[done:start], f"[redacted:{kind}]")
        kinds.add(kind)
        done = end
    pieces.append(text[done:])
    return "".join(pieces), kinds


def _private_keys(text: str, seen: _Seen) -> Iterator[Span]:
    """Yield private key blocks: whole ones, ones whose end is missing, ones whose beginning is missing."""
    if not ("putty" in seen.stems or ("key" in seen.stems and "PRIVATE KEY" in text)):
        return
    ends = [found.span() for found in _KEY_END.finditer(text)]
    begins = [found.span() for found in _KEY_BEGIN.finditer(text)]
    done = 0
    for number, (start, body) in enumerate(begins):
        if start < done:
            continue
        limit = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        place = bisect_left(ends, (body, 0))
        whole = place < len(ends) and ends[place][0] < min(limit, body + _KEY_REACH)
        found = None if whole else _KEY_BODY.match(text, body)
        done = ends[place][1] if whole else found.end() if found else body
        yield start, done, "private-key"
    covered = 0
    for start, end in ends:
        head = _headless(text, start, covered)
        covered = end
        yield head, end, "private-key"


def _headless(text: str, end: int, floor: int) -> int:
    """Return where the lines of key material begin that stand directly before a key's last line."""
    start = end
    while start > floor:
        line = text.rfind("\n", max(floor, start - 20_100), start - 1) + 1
        if line >= start or line < floor or not _KEY_TAIL_LINE.fullmatch(text, line, start - 1):
            break
        start = line
    return start


def _tokens(text: str, seen: _Seen) -> Iterator[Span]:
    """Yield issued tokens, and passwords and tokens inside addresses."""
    words = _long_words(seen.encoded)
    for shape in TOKENS if words else ():
        if any(anchor in words for anchor in shape.anchors):
            yield from _matches(shape, text, text)
    if "://" in seen.stems or "hooks" in words:
        for shape in ADDRESSES:
            yield from _matches(shape, text, text)


def _long_words(encoded: bytes) -> str:
    """Return the runs of token characters that are long enough to be one, a line each."""
    shapes = encoded.translate(_RUNS)
    words: list[bytes] = []
    start = shapes.find(_LONG_RUN)
    while start >= 0:
        end = shapes.find(b" ", start)
        end = len(shapes) if end < 0 else end
        words.append(encoded[start:end])
        start = shapes.find(_LONG_RUN, end)
    return b"\n".join(words).decode()


def _numbers(text: str, seen: _Seen) -> Iterator[Span]:
    return numbers(text, seen.encoded)


def _labelled(text: str, seen: _Seen) -> Iterator[Span]:
    """Yield what headers and labels name as secrets."""
    if not seen.stems:
        return
    lowered = text.replace("\u0130", "I").lower()  # the one letter whose lower case is two characters long
    for shape in HEADERS:
        if any(stem_of(anchor) in seen.stems for anchor in shape.anchors):
            yield from _matches(shape, text, lowered)
    if "ssn" in seen.stems or "social security" in seen.stems:
        yield from labelled(text, lowered)
    yield from assignments(text, lowered, stems=seen.stems)


def _matches(shape: Shape, text: str, searched: str) -> Iterator[Span]:
    """Yield a shape's matches at its anchors; `searched` is the text in the case the anchors are written in."""
    for anchor in shape.anchors:
        place, done = searched.find(anchor), 0
        while place >= 0:
            glued = not shape.free and place > done and (text[place - 1].isalnum() or text[place - 1] in "_-")
            found = None if glued and text[place - 1].isascii() else _at(shape, text, place)
            group = "secret" if found and "secret" in found.re.groupindex else 0
            if found and shape.check(found[group]):
                yield *found.span(group), shape.kind
                done = found.end(group)
            place = searched.find(anchor, max(place + len(anchor), done))


def _at(shape: Shape, text: str, place: int) -> re.Match[str] | None:
    if not shape.back:
        return shape.pattern.match(text, place)
    return shape.pattern.search(text, max(0, place - shape.back), place + 64)
