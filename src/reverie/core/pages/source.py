"""A page's text taken apart: byte order mark, front matter, body.

Owns where the front matter starts and ends; promises that the parts join to the same text; never reads the YAML.
"""

from __future__ import annotations

import re

import msgspec

_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


class Source(msgspec.Struct, frozen=True):
    """A page's text in parts; `front` is the YAML between the delimiter lines, None when there is none.

    `bom` is a byte order mark or empty; `newline` is the style of the text's first line break.
    """

    bom: str
    newline: str
    front: str | None
    body: str
    opening: str = ""
    closing: str = ""

    @property
    def text(self) -> str:
        """The whole text, exactly as it was split."""
        return f"{self.bom}{self.opening}{self.front or ''}{self.closing}{self.body}"


def split(text: str) -> Source:
    """Split a page into byte order mark, front matter and body; `split(text).text == text` for any text."""
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    first = text.find("\n")
    newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    opening = _OPENING.match(text, len(bom))
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Source(bom, newline, None, text[len(bom) :])
    front = text[opening.end() : closing.start()]
    return Source(bom, newline, front, text[closing.end() :], opening.group(), closing.group())
