"""The generated part of a file that people also write in, and memory text made fit to stand in it.

Owns the markers; promises that text outside them is kept byte for byte, that an edit inside is noticed, and that
memory text can never read as a marker, a fence, a heading, a list or a citation; never guesses at broken markers.

    <!-- reverie:begin sha256=HEX -->
    ... compiled lines ...
    <!-- reverie:end -->

HEX is the SHA-256 of the UTF-8 text between the marker lines, its line breaks as LF.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import msgspec

from reverie.core.pages.source import split
from reverie.core.text.patterns import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN = "reverie:begin"
END = "reverie:end"


class Block(msgspec.Struct, frozen=True):
    """A generated block: where it starts and ends, markers included, its text, and whether that is as written."""

    start: int
    end: int
    inner: str
    digest: str
    intact: bool


class Missing(msgspec.Struct, frozen=True):
    """The text holds no marker at all."""


class Broken(msgspec.Struct, frozen=True):
    """The text holds markers that do not make one block; nothing may be written until a person mends them."""

    reason: str


def digest(inner: str) -> str:
    """Return the SHA-256 that the begin marker states for `inner`."""
    return hashlib.sha256(inner.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()


def find_block(text: str, *, begin: str = BEGIN, end: str = END) -> Block | Missing | Broken:
    """Find the one generated block between the markers named `begin` and `end`.

    Anything that looks like a marker counts, wherever it stands (in code too): reading one as prose would append a
    second block.
    """
    starts = list(re.finditer(rf"<!--\s*{re.escape(begin)}\b", text, re.IGNORECASE))
    stops = list(re.finditer(rf"<!--\s*{re.escape(end)}\b", text, re.IGNORECASE))
    if not starts and not stops:
        return Missing()
    if len(starts) != 1 or len(stops) != 1:
        return Broken(f"found {len(starts)} begin and {len(stops)} end markers where one of each belongs")
    head = re.compile(rf"<!-- {re.escape(begin)} sha256=([0-9a-f]{{64}}) -->[ \t]*\r?\n")
    foot = re.compile(rf"<!-- {re.escape(end)} -->[ \t]*(?:\r?\n|\Z)")
    opening, closing = head.match(text, starts[0].start()), foot.match(text, stops[0].start())
    alone = _starts_line(text, starts[0].start()) and _starts_line(text, stops[0].start())
    if opening is None or closing is None or not alone:
        return Broken("a marker was changed, or does not stand on a line of its own")
    if closing.start() < opening.end():
        return Broken("the end marker stands before the begin marker")
    inner = text[opening.end() : closing.start()]
    stated = opening.group(1)
    return Block(opening.start(), closing.end(), inner, stated, digest(inner) == stated)


def render_block(inner: str, *, begin: str = BEGIN, end: str = END) -> str:
    """Return the block for `inner`, which is made to end with a line break unless empty."""
    inner = inner if not inner or inner.endswith("\n") else inner + "\n"
    return f"<!-- {begin} sha256={digest(inner)} -->\n{inner}<!-- {end} -->\n"


def with_block(text: str, inner: str) -> str | Broken:
    """Return the text with its block holding `inner`, appended when there was none, or why it cannot be."""
    found = find_block(text)
    newline = split(text).newline
    block = render_block(inner).replace("\n", newline)
    if isinstance(found, Broken):
        return found
    if isinstance(found, Block):
        return text[: found.start] + block + text[found.end :]
    if not text.strip("\ufeff"):
        return text + block
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + block


def with_inner(text: str, found: Block, *, inner: str) -> str:
    """Return the text with `inner` in the block found in it, in its line breaks; an edited block stays edited."""
    block = text[found.start : found.end]
    if found.intact:
        newline = "\r\n" if "\r\n" in block else "\n"
        block = render_block(inner.replace("\r\n", "\n")).replace("\n", newline)
    else:
        block = block.replace(found.inner, inner, 1)
    return text[: found.start] + block + text[found.end :]


def _starts_line(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == "\n" or text[:place] == "\ufeff"


# Memory text in a generated line

_BREAKS = Words(r"\s+")
_UNSAFE = Words("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_TICKS = Words(r"`+")
# What would be read as the start of a heading, list, quote, rule, table or task when the text opens a line.
_OPENING = Words(r"(?:#{1,6}|[-+*])(?=\s|$)|>|~{3}|[-*_=](?=(?:\s*[-*_=])*\s*$)|\[(?=[ xX]\]|\w+\])|\|")
_NUMBERED = Words(r"(\d{1,9})([.)])(?=\s|$)")
_BLOCK_ID = Words(r"(?<=\s)\^(?=[A-Za-z0-9-]+$)|^\^(?=[A-Za-z0-9-]+$)")
_REPLACED = (
    (Words(r"\\(?=[!-/:-@\[-`{-~]|$)"), r"\\\\"),  # else it would escape what follows it
    (Words(r"<!"), r"\\<\\!"),
    (Words(r"<%"), "< %"),
    (Words(r"<(?=[A-Za-z/?])"), r"\\<"),
    (Words(r"\[\["), r"\\[\\["),
    (Words(r"\]\("), r"]\\("),
    (Words(r"!\["), r"\\!["),
    (Words(r"%%"), r"%\\%"),
    (Words(r"\$\$"), r"\\$\\$"),
    (Words(r"&(?=#?\w+;)"), r"\\&"),
)
_NOT_CODE = Words(r"\s*\$?=|\s*mem_id:|.*(?:<!--|-->|<%|%%|\[\[)")


def escape_memory_text(text: str) -> str:
    """Return memory text as one line that can only be read as words and inline code.

    Blanks and line breaks collapse to one blank, control characters and bidirectional overrides become U+FFFD.
    Inline code that is closed stays as it is, unless it would hide a marker, a link or code that a plugin runs.
    """
    line = _UNSAFE.sub("\ufffd", _BREAKS.sub(" ", text).strip())
    line = "".join(_escaped_parts(line))
    line = _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line
    line = f"\\{line}" if _OPENING.match(line) else line
    return _BLOCK_ID.sub(r"\\^", line)


def _escaped_parts(line: str) -> Iterator[str]:
    """Yield the line's prose escaped and its closed inline code unchanged."""
    runs = list(_TICKS.finditer(line))
    closings = _closings(runs)
    done = number = 0
    while number < len(runs):
        run = runs[number]
        yield _escaped(line[done : run.start()])
        done = run.end()
        closing = closings[number]
        if closing is not None and not _NOT_CODE.match(line, run.end(), runs[closing].start()):
            done = runs[closing].end()
            yield line[run.start() : done]
            number = closing
        else:
            yield run.group().replace("`", "\\`")
        number += 1
    yield _escaped(line[done:])


def _closings(runs: list[re.Match[str]]) -> list[int | None]:
    """Return for each run of backticks the number of the next run of the same length."""
    closings: list[int | None] = [None] * len(runs)
    later: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number].end() - runs[number].start()
        closings[number] = later.get(length)
        later[length] = number
    return closings


def _escaped(text: str) -> str:
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return text
