"""What in a page would run, load or style something when the page is shown.

Owns the list of such forms; promises that nothing CommonMark or Obsidian takes as raw HTML, script, plugin code
or a link with a scripting scheme passes unseen; never changes a page.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import msgspec

from reverie.core.pages.markdown import Outline, outline, without_code
from reverie.core.text.patterns import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

# Fences whose content a plugin runs. `dataview` and `query` only list pages and are not among them.
_RUNNING = Words(r"(?:dataviewjs|js-engine|templater|customjs|button|meta-bind|run-)", fold=True)
_TAG = Words(r"(?<!\\)(?:\\\\)*<(?:/?[A-Za-z][A-Za-z0-9-]*(?=[\s/>])|!--|\?|![A-Za-z]|!\[CDATA\[)")
_TEMPLATE = Words(r"<%")
_INLINE_SCRIPT = Words(r"`++\s*+\$=")
_BRACKET = Words(r"(?<!\\)(?:\\\\)*(!?\[|\])")
_REFERENCE = Words(r"\s?\[([^\[\]]{0,1000})\]")
_DEFINED = Words(r"(?:^|\n)[ >*+-]*\[([^\[\]]{1,1000})\]:\s*(\S{1,1000})")
_REMOTE = Words(r"<?(?:https?:)?//", fold=True)
_SHOWN = 1_000  # characters of an address or a name that are looked at
_SCHEME = Words(
    r"(?:\]\(<?|\]:<?|(?<!\\)(?:\\\\)*<)"
    r"(?:javascript|vbscript|livescript|data(?!:image/(?:png|jpe?g|gif|webp)[;,])|obsidian|file):"
)
_INVISIBLE = Words(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\\(?=:)")
_NAMED = ("script", "iframe", "style", "object", "embed", "form", "link", "meta", "base", "svg", "math")


class Finding(msgspec.Struct, frozen=True):
    """One piece of active content: its line, what it is, and the first of its words."""

    line: int
    kind: str
    excerpt: str


def active_content(text: str) -> tuple[Finding, ...]:
    """Return what in the page is raw HTML or would run, in the order of lines."""
    page = outline(text)
    found = {*_fences(page), *_html(page), *_links(page), *_templates(page)}
    return tuple(sorted(found, key=lambda finding: (finding.line, finding.kind, finding.excerpt)))


def _finding(page: Outline, offset: int, kind: str) -> Finding:
    line = page.line_at(offset)
    return Finding(line, kind, page.line_text(line).strip()[:80])


def _fences(page: Outline) -> Iterator[Finding]:
    for fence in page.fences:
        if _RUNNING.match(fence.info):
            yield _finding(page, fence.start, "plugin code")


def _html(page: Outline) -> Iterator[Finding]:
    for start, _ in page.html:
        yield _finding(page, start, _tag_kind(page.text[start : start + 200].lstrip()))
    text = without_code(page)
    body = page.sections[0].body
    for match in _TAG.finditer(text, body):
        yield _finding(page, match.start(), _tag_kind(match.group().lstrip("\\")))


def _tag_kind(text: str) -> str:
    name = re.match(r"</?([A-Za-z][A-Za-z0-9-]*)", text)
    if name is None:
        return "comment" if text.startswith("<!--") else "html"
    return name.group(1).lower() if name.group(1).lower() in _NAMED else "html"


def _links(page: Outline) -> Iterator[Finding]:
    text = without_code(page)
    for start in _remote_images(text):
        yield _finding(page, start, "remote image")
    for number in range(1, len(page.lines)):
        line = text[page.lines[number - 1] : page.lines[number]]
        if ":" not in line and "&" not in line:
            continue
        # Entities, escapes, blanks and invisible characters are undone first: browsers undo them too.
        plain = _INVISIBLE.sub("", html.unescape(line)).casefold()
        if _SCHEME.search(plain):
            yield Finding(number, "scripting link", page.line_text(number).strip()[:80])


def _remote_images(text: str) -> Iterator[int]:
    """Yield where images begin that a viewer would fetch from elsewhere, by address or by reference."""
    if "![" not in text:
        return
    defined = {_label(name) for name, address in _DEFINED.findall(text) if _is_remote(address)}
    opened: list[re.Match[str]] = []
    for match in _BRACKET.finditer(text):
        if match.group(1) != "]":
            opened.append(match)
            continue
        start = opened.pop() if opened else match
        if not start.group(1).startswith("!"):
            continue
        named = _REFERENCE.match(text, match.end())
        own = text[start.end() : min(match.start(1), start.end() + _SHOWN)]
        label = (named.group(1) if named else "") or own
        inline = text.startswith("(", match.end())
        if _is_remote(text[match.end() + 1 :][:_SHOWN]) if inline else _label(label) in defined:
            yield start.start(1)


def _is_remote(address: str) -> bool:
    """Tell whether what begins with an address leads to another host, once its disguises are undone."""
    return _REMOTE.match(_INVISIBLE.sub("", html.unescape(address)).replace("\\", "")) is not None


def _label(name: str) -> str:
    return " ".join(name.split()).casefold()


def _templates(page: Outline) -> Iterator[Finding]:
    for match in _TEMPLATE.finditer(page.text):
        yield _finding(page, match.start(), "template code")
    for start, end in page.code:
        if _INLINE_SCRIPT.match(page.text, start, end):
            yield _finding(page, start, "plugin code")
