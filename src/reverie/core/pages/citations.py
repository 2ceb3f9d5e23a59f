"""Links in a page: citations of daily-log entries, and links to other pages.

Owns the form `[[archive/2026-07-01#^2b47366a861a87ca]]`; promises that code, comments and raw HTML hold no links;
never resolves one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from reverie import layout
from reverie.core.pages.markdown import Outline, outline, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINK = re.compile(r"(?<!\\)(!?)\[\[([^\[\]|\r\n]{1,1000}?)(?:\\?\|([^\[\]\r\n]{0,1000}))?\]\]")
_TARGET = re.compile(rf"{layout.ARCHIVE}/(\d{{4}}-\d{{2}}-\d{{2}})(?:\.md)?#\^([0-9a-f]{{16}})")


class Citation(msgspec.Struct, frozen=True):
    """A link to one entry of a daily log, and the offsets it spans in the page's text."""

    day: str
    id: str
    alias: str
    start: int
    end: int


class Link(msgspec.Struct, frozen=True):
    """A link to a page, heading or block; `target` is empty for a place in the same page."""

    target: str
    heading: str
    block: str
    alias: str
    embedded: bool
    line: int
    start: int
    end: int


def cite(day: str, entry: str, *, alias: str = "") -> str:
    """Return the link to an entry of the daily log of `day`."""
    return f"[[{layout.ARCHIVE}/{day}#^{entry}{f'|{alias}' if alias else ''}]]"


def link(target: str, alias: str = "") -> str:
    """Return the link to a page, vault-relative and without `.md`."""
    return f"[[{target.removesuffix('.md')}{f'|{alias}' if alias else ''}]]"


def citations(text: str) -> tuple[Citation, ...]:
    """Return the citations of a page in the order they stand; those in front matter, code and comments do not count."""
    return tuple(cited for match, _ in _links(outline(text)) if (cited := _citation(match)))


def links(text: str) -> tuple[Link, ...]:
    """Return the links of a page that are no citations."""
    return tuple(_link(match, line) for match, line in _links(outline(text)) if _citation(match) is None)


def citing_lines(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return each line that cites: its number, its text, and the ids it cites, each once."""
    page = outline(text)
    ids: dict[int, dict[str, None]] = {}
    for match, line in _links(page):
        cited = _citation(match)
        if cited is not None:
            ids.setdefault(line, {})[cited.id] = None
    return [(line, page.line_text(line), tuple(found)) for line, found in ids.items()]


def _links(page: Outline) -> Iterator[tuple[re.Match[str], int]]:
    if "[[" not in page.text:
        return
    for match in _LINK.finditer(prose(page)):
        yield match, page.line_at(match.start())


def _citation(match: re.Match[str]) -> Citation | None:
    target = _TARGET.fullmatch(match.group(2).strip())
    if target is None:
        return None
    return Citation(target.group(1), target.group(2), match.group(3) or "", match.start(), match.end())


def _link(match: re.Match[str], line: int) -> Link:
    target, _, place = match.group(2).removesuffix("\\").partition("#")
    heading, block = ("", place[1:]) if place.startswith("^") else (place, "")
    name = target.strip().removesuffix(".md")
    alias = (match.group(3) or "").strip()
    return Link(name, heading.strip(), block, alias, bool(match.group(1)), line, match.start(), match.end())
