"""A page cut into pieces for the index.

Owns where a page is cut: between paragraphs of one section, else between lines, sentences, words; promises that
every visible character of the body is in a chunk or in the heading path of one; never joins two sections.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from reverie.core.pages.front_matter import read
from reverie.core.pages.markdown import Section
from reverie.core.pages.plain import sketch
from reverie.core.pages.source import split

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 1200
VERSION = (
    1  # goes up whenever a page is cut elsewhere or its rows are made otherwise, so that pages are read again
)

_PARAGRAPH = re.compile(r"(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))+")
# From the coarsest cut to the finest: after a line, after a sentence (Latin and CJK), after a blank.
_CUTS = (
    re.compile(r"\r\n|\r|\n"),
    re.compile(r"[.!?][\"')\]]{0,4}\s+|[。！？][”’」』）]{0,4}"),
    re.compile(r"\s+"),
)


class Chunk(msgspec.Struct, frozen=True):
    """A piece of a page: its text, the title and headings above it, and the line it starts on."""

    text: str
    heading_path: tuple[str, ...]
    line: int


def paragraph_chunks(text: str, limit: int = LIMIT) -> list[Chunk]:
    """Cut a page into chunks of at most `limit` characters.

    The front matter's title leads every heading path; its description is a chunk of its own. A section without
    text that has no subsection either gives a chunk of its title.
    """
    page = sketch(text)
    front = read(split(text).front)
    above = (front.title,) if front.title else ()
    chunks = [Chunk(piece, above, 1) for piece in _pieces(front.description, limit)]
    for number, section in enumerate(page.sections):
        path = (*above, *(title for title in section.path if (title,) != above))
        found = list(_section_chunks(text, section, limit=limit))
        chunks += (Chunk(piece, path, page.line_at(place)) for piece, place in found)
        is_leaf = number + 1 == len(page.sections) or page.sections[number + 1].level <= section.level
        if section.level and section.title and not found and is_leaf:
            chunks.append(Chunk(section.title, path, section.line))
    if not chunks and front.title:
        chunks.append(Chunk(front.title, above, 1))
    return chunks


def _section_chunks(text: str, section: Section, *, limit: int) -> Iterator[tuple[str, int]]:
    """Yield merged paragraphs with their offsets."""
    start = end = -1
    for first, last in _paragraphs(text, section.body, end=section.end):
        if start >= 0 and last - start <= limit:
            end = last
            continue
        if start >= 0:
            yield from _cut(text, (start, end), limit=limit)
        start, end = first, last
    if start >= 0:
        yield from _cut(text, (start, end), limit=limit)


def _paragraphs(text: str, start: int, *, end: int) -> Iterator[tuple[int, int]]:
    for match in _PARAGRAPH.finditer(text, start, end):
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:end].strip():
        yield start, end


def _pieces(text: str, limit: int) -> Iterator[str]:
    if text.strip():
        for piece, _ in _cut(text, (0, len(text)), limit=limit):
            yield piece


def _cut(text: str, span: tuple[int, int], *, limit: int) -> Iterator[tuple[str, int]]:
    """Yield the span in pieces of at most `limit` characters, cut as coarsely as that allows."""
    start, end = span
    while start < end:
        stop = end if end - start <= limit else _cut_place(text, start, latest=start + limit)
        piece = text[start:stop]
        words = piece.strip()
        if words:
            yield words, start + len(piece) - len(piece.lstrip())
        start = stop


def _cut_place(text: str, start: int, *, latest: int) -> int:
    for pattern in _CUTS:
        place = max((match.end() for match in pattern.finditer(text, start, latest)), default=start)
        if place > start:
            return place
    return latest
