"""The lines of MEMORY.md: an entry as one line, and what other pages say as lines that cite.

Owns the form of a line and the reading of ids out of pages and digests; promises that any text is one line that
cannot be read as anything but words and inline code, ending with the ids it stands on; never decides which lines are
shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from reverie.core.pages.blocks import escape_memory_text
from reverie.core.pages.plain import sketch
from reverie.core.text.patterns import Words

_BREAKS = Words(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BULLET = Words(r"\s*(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_MARKS = Words("^[●○—]{5} +")
_ID = r"[0-9a-f]{16}"
_CITED = Words(rf"\^({_ID})(?![0-9a-zA-Z-])|mem_id:\s*({_ID})(?![0-9a-f])|`({_ID})`")
# A run of blanks is tried once, from where it begins: an entry may hold many thousand.
_CITATION = Words(
    rf"(?<!\s)\s*+(?:(?<!^)[,;·]\s*+)?(?:!?\[\[[^\[\]\r\n|]*#\^{_ID}(?:\|[^\[\]\r\n]*)?\]\]|`(?:mem_id:\s*)?{_ID}`|\(mem_id:\s*{_ID}\))"
    rf"|(?:(?<!\s)\s++\^{_ID})+\s*$"
)
_LINK = Words(r"!?\[\[(?:[^\[\]\r\n|]*\|)?([^\[\]\r\n|]+)\]\]")
# Inline code, or what Markdown and `one_line` write for a character or a line break in words.
_WRITTEN = Words(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)|\\([!-/:-@\[-`{-~])|<br>")
_SECOND_LEVEL = 2
_EMPTY = Words(r"(?<!\s)\s*+(?:\(\s*\)|（\s*）)")


class Cited(msgspec.Struct, frozen=True):
    """A line of a page: the second-level heading it stands under, its text without citations, the ids it cites."""

    section: str
    text: str
    ids: tuple[str, ...]


def one_line(text: str) -> str:
    """Return memory text as one safe line, its line breaks written `<br>`."""
    line = "<br>".join(escape_memory_text(part) for part in _BREAKS.split(text) if part.strip())
    return line.replace("mem_id:", "mem\\_id:")  # else a text could name another entry's id as its own


def id_code(entry: str) -> str:
    """Return how a line names the entry it stands on."""
    return f"`mem_id: {entry}`"


def entry_line(text: str, entry: str, *, marks: str) -> str:
    """Return the line of one entry, without a line break."""
    return f"- {marks} {one_line(text)} {id_code(entry)}"


def cited_line(text: str, ids: Iterable[str]) -> str:
    """Return the line of what a page says about several entries, without a line break."""
    return " ".join((f"- {one_line(text)}", *map(id_code, ids)))


def cited_lines(text: str) -> list[Cited]:
    """Return the list items and paragraphs of a page or digest that cite entries, in the order they stand.

    What is in front matter, fences, HTML and headings does not count. An item over several lines is one.
    """
    return [
        Cited(section, said, ids)
        for section, unit in _units(text)
        if (ids := _ids(unit)) and (said := _said(unit))
    ]


def _units(text: str) -> Iterator[tuple[str, str]]:
    """Yield each item or paragraph with the second-level heading above it, its lines joined by blanks."""
    page = sketch(text)
    hidden = (*((fence.start, fence.end) for fence in page.fences), *page.html)
    title = ""
    for section in page.sections:
        if section.level <= _SECOND_LEVEL:
            title = section.title if section.level == _SECOND_LEVEL else ""
        unit: list[str] = []
        first = page.line_at(section.body)
        for number in range(first, len(page.lines)):
            place = page.lines[number - 1]
            if place >= section.end:
                break
            line = page.line_text(number)
            gone = not line.strip() or any(start <= place < end for start, end in hidden)
            if unit and (gone or _BULLET.match(line) or line.startswith("|")):
                yield title, " ".join(unit)
                unit = []
            if not gone and place >= section.body:
                unit.append(line.strip())
        if unit:
            yield title, " ".join(unit)


def _ids(unit: str) -> tuple[str, ...]:
    found = (next(filter(None, match.groups())) for match in _CITED.finditer(unit))
    return tuple(dict.fromkeys(found))


def _said(unit: str) -> str:
    """Return what the line says: no bullet, no marks, no citations, no escapes, links by the words they show."""
    text = _MARKS.sub("", unit[bullet.end() :] if (bullet := _BULLET.match(unit)) else unit)
    text = _EMPTY.sub("", _CITATION.sub("", text))
    text = _LINK.sub(lambda link: link[1].rpartition("/")[2].partition("#")[0] or link[1], text)
    return _WRITTEN.sub(_as_meant, text).strip()


def _as_meant(written: re.Match[str]) -> str:
    """Return the character that an escape stands for, a line break for `<br>`, and inline code as it is."""
    return written[2] or (written[0] if written[1] else "\n")
