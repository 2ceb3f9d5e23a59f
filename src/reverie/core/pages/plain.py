"""Pages in the plain form that Reverie writes, read and extended without a Markdown parser.

Owns what counts as plain: headings, list items and single lines of prose, with no code block, HTML, comment or unusual
mark anywhere; promises the very answers of `citations.citing_lines` and `markdown.append_to_section`, to which every
other page is handed; never guesses: one line that could mean something else makes the whole page not plain.

A dream changes dozens of long lists a night, and parsing them is nearly all it would do.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

import msgspec

from reverie.core.pages.citations import citations, citing_lines
from reverie.core.pages.markdown import Outline, append_to_section, outline, sections_under
from reverie.core.pages.source import split
from reverie.core.text.patterns import Words

_HEADING = Words(r"(#{1,6}) ([^\W_][^#`\\]*)")
_ITEM = Words(r"( {0,8})(?:-|\d{1,3}\.) (?=[^\W_]|[\"'“‘(`《「『\\[])(?!\d{1,9}[.)](?:\s|$))")
_PROSE = Words(r"[^\W\d_]")
_CITES = Words(r"((?: \[\[archive/\d{4}-\d{2}-\d{2}#\^[0-9a-f]{16}\]\])+)$")
_CITATION = Words(r" *\[\[archive/\d{4}-\d{2}-\d{2}#\^[0-9a-f]{16}\]\]")
_ID = Words(r"\^([0-9a-f]{16})\]\]")
_NEVER = Words(r"[\r\t\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|<!|%%|\]:|``|\\`|\A\ufeff|\A---")
_KEPT = 1_000  # characters; what a longer line is, is not remembered
_DEEPER = 2  # blanks by which an item may be deeper than the one before


class _Kind(msgspec.Struct, frozen=True):
    """A line: an item with its indent and what it cites, a heading with its level and title, or prose or nothing."""

    indent: int = -1
    ids: tuple[str, ...] = ()
    level: int = 0
    title: str = ""


class Plain(msgspec.Struct, frozen=True):
    """A plain page: its lines, the number of the first line of its body, its headings, and which lines cite what.

    Lines count from 1. `headings` are line number, level and title.
    """

    lines: tuple[str, ...]
    first: int
    headings: tuple[tuple[int, int, str], ...]
    citing: dict[int, tuple[str, ...]]


@lru_cache(maxsize=256)
def plain(text: str) -> Plain | None:
    """Read a plain page; None when it is not."""
    source = split(text)
    if source.bom or source.newline != "\n" or _NEVER.search(source.body):
        return None
    lines = tuple(text.split("\n"))
    first = len(lines) - source.body.count("\n")
    headings: list[tuple[int, int, str]] = []
    citing: dict[int, tuple[str, ...]] = {}
    depth = -1  # of the item on the line before; -1 when that was no item
    prose = False
    for number in range(first, len(lines) + 1):
        line = lines[number - 1]
        kind = _kind(line) if len(line) <= _KEPT else _kind.__wrapped__(line)
        if kind is None:
            return None
        if kind.indent >= 0:
            if kind.indent > (depth + _DEEPER if depth >= 0 else 0) or prose:
                return None
            depth = kind.indent
            if kind.ids:
                citing[number] = kind.ids
            continue
        if kind.level:
            headings.append((number, kind.level, kind.title))
        elif line and (depth >= 0 or prose):
            return None
        depth, prose = -1, bool(line) and not kind.level
    return Plain(lines, first, tuple(headings), citing)


def citing(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return each line of a page that cites, as `citations.citing_lines` does."""
    page = plain(text)
    if page is None:
        return citing_lines(text)
    return [(number, page.lines[number - 1], ids) for number, ids in page.citing.items()]


def uncited(text: str, page: str) -> str:
    """Return a piece of `page` without its citations and the blanks before them; lines stay lines."""
    if "#^" not in text:
        return text
    if plain(page) is not None and split(text).front is None:  # what front matter says is no citation
        return _CITATION.sub("", text)
    for one in reversed(citations(text)):
        text = text[: one.start].rstrip(" ") + text[one.end :]
    return text


def headings_above(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return for each heading of a page its line and the titles from the top down to its own."""
    page = plain(text)
    if page is None:
        return [(one.line, one.path) for one in outline(text).sections if one.level]
    found: list[tuple[int, tuple[str, ...]]] = []
    above: list[tuple[int, str]] = []
    for number, level, title in page.headings:
        above = [*(one for one in above if one[0] < level), (level, title)]
        found.append((number, tuple(name for _, name in above)))
    return found


def sketch(text: str) -> Outline:
    """Return a page's outline; of a plain page without its inline code, which is all the code it may have."""
    page = plain(text)
    if page is None:
        return outline(text)
    starts = (0, *accumulate(len(line) + 1 for line in page.lines[:-1]))
    headings = [
        (level, title, starts[number - 1], starts[number] if number < len(starts) else len(text))
        for number, level, title in page.headings
    ]
    sections = sections_under(headings, starts[page.first - 1], text=text, starts=starts)
    lines = starts if text and starts[-1] == len(text) else (*starts, len(text))
    return Outline(text, lines, tuple(sections), (), (), ())


def append(text: str, heading: str, *, lines: list[str]) -> str:
    """Return the text with list items added under a heading, as `markdown.append_to_section` does."""
    page = plain(text)
    whole = "\n".join(lines)
    if page is None or plain(f"{whole}\n") is None or not text.endswith("\n"):
        return append_to_section(text, heading, line=split(text).newline.join(lines))
    at = next((place for place, (_, _, title) in enumerate(page.headings) if title == heading), None)
    if at is None:
        gap = "" if text.endswith("\n\n") else "\n"
        return f"{text}{gap}## {heading}\n\n{whole}\n"
    start = page.headings[at][0]
    stop = page.headings[at + 1][0] - 1 if at + 1 < len(page.headings) else len(page.lines)
    last = next((number for number in range(stop, start, -1) if page.lines[number - 1]), start)
    joins = last > start and _ITEM.match(page.lines[last - 1])
    return "\n".join([*page.lines[:last], *([] if joins else [""]), *lines, *page.lines[last:]])


@lru_cache(maxsize=16_384)  # nearly all lines of the pages that a night touches are those of the night before
def _kind(line: str) -> _Kind | None:
    """Return what a line is by itself, None where no plain page may have it."""
    if line.count("`") % 2:
        return None
    item = _ITEM.match(line)
    if item is not None:
        indent, ids = len(item.group(1)), _cited(line, item.end())
        return _Kind(indent=indent, ids=ids) if ids is not None and indent % 2 == 0 else None
    if heading := _HEADING.fullmatch(line):
        return _Kind(level=len(heading.group(1)), title=heading.group(2).strip())
    if line and (not _PROSE.match(line) or "#^" in line or "`" in line):
        return None
    return _Kind()


def _cited(line: str, start: int) -> tuple[str, ...] | None:
    """Return what an item whose words begin at `start` cites; None when it cites in an unusual place."""
    if "#^" not in line:
        return ()
    found = _CITES.search(line)
    if found is None or "[[" in line[start : found.start()] or found.start() < start:
        return None
    return tuple(dict.fromkeys(_ID.findall(found.group())))
