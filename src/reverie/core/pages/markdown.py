"""A page's Markdown read for its structure and edited as spans of its text.

Owns headings, sections, what is code and what is hidden, and the three edits a page knows; promises that an edit
leaves every byte outside its span as it was; never renders a page anew.

Offsets are characters of the whole text, front matter and byte order mark included; lines count from 1 there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import msgspec

from reverie.core.pages.source import split
from reverie.errors import InvalidRecord, NotFound
from reverie.later import later

if TYPE_CHECKING:
    from collections.abc import Iterator

    import markdown_it
else:
    markdown_it = later("markdown_it")  # most pages are plain, and read without it

_LINE_BREAK = re.compile(r"\r\n|\r|\n")  # CommonMark's line breaks, not str.splitlines's
_TICKS = re.compile(r"`+")
_COMMENTS = {"<!--": "-->", "%%": "%%"}  # HTML's and Obsidian's own
_COMMENT = re.compile("<!--|%%")
_VISIBLE = re.compile(r"[^\r\n]")
_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])(?:\s|$)")


class Section(msgspec.Struct, frozen=True):
    """A heading and what stands under it, up to the next heading; level 0 is what stands before the first.

    `start` is where the heading begins, `body` where the text under it begins, `end` where that text ends, and
    `stop` where the section with all its subsections ends. `path` are the titles from the top down to its own.
    """

    level: int
    title: str
    path: tuple[str, ...]
    line: int
    start: int
    body: int
    end: int
    stop: int


class Fence(msgspec.Struct, frozen=True):
    """A fenced code block: the word after its opening fence and the offsets it spans."""

    info: str
    start: int
    end: int


class Outline(msgspec.Struct, frozen=True):
    """What a page's text consists of. `lines` are the offsets at which its lines start, and its length."""

    text: str
    lines: tuple[int, ...]
    sections: tuple[Section, ...]
    fences: tuple[Fence, ...]
    code: tuple[tuple[int, int], ...]
    html: tuple[tuple[int, int], ...]

    def line_at(self, offset: int) -> int:
        """Return the number of the line that holds the character at `offset`."""
        return max(bisect_right(self.lines, offset), 1)

    def line_text(self, number: int) -> str:
        """Return the text of a line without its line break."""
        return self.text[self.lines[number - 1] : self.lines[number]].rstrip("\r\n")


@lru_cache(maxsize=32)  # judging, installing and indexing a page each ask for the same text
def outline(text: str) -> Outline:
    """Read a page's structure; any text has one."""
    source = split(text)
    body = len(text) - len(source.body)
    starts = (0, *(match.end() for match in _LINE_BREAK.finditer(text)))
    lines = starts if starts[-1] == len(text) and text else (*starts, len(text))
    above = sum(1 for _ in _LINE_BREAK.finditer(text, 0, body))

    def span(token_map: list[int] | None) -> tuple[int, int]:
        first, last = token_map or [0, 0]
        return lines[min(above + first, len(lines) - 1)], lines[min(above + last, len(lines) - 1)]

    headings: list[tuple[int, str, int, int]] = []
    fences: list[Fence] = []
    code: list[tuple[int, int]] = []
    html: list[tuple[int, int]] = []
    tokens = _parser().parse(source.body)
    for number, token in enumerate(tokens):
        start, end = span(token.map)
        if token.type == "heading_open" and token.level == 0:
            headings.append((int(token.tag[1:]), tokens[number + 1].content.strip(), start, end))
        elif token.type == "fence":
            fences.append(Fence(token.info.strip(), start, end))
            code.append((start, end))
        elif token.type == "code_block":
            code.append((start, end))
        elif token.type == "html_block":
            html.append((start, end))
        elif token.type == "inline" and "`" in token.content:
            code.extend(_code_spans(text, start, end=end))
    sections = tuple(sections_under(headings, body, text=text, starts=starts))
    return Outline(text, lines, sections, tuple(fences), tuple(code), tuple(html))


@cache
def _parser() -> markdown_it.MarkdownIt:
    """Return the parser, of blocks only: inline structure is needed for code alone, whose places it does not give."""
    return markdown_it.MarkdownIt("commonmark").disable(["inline", "text_join"])


def without_code(page: Outline) -> str:
    """Return the text with every character of code blanked; offsets and lines stay."""
    return _blanked(page.text, page.code)


def prose(page: Outline) -> str:
    """Return the text with all that a reader does not see as prose blanked: front matter, code, HTML, comments."""
    body = page.sections[0].body
    text = _blanked(page.text, ((0, body), *page.code, *page.html))
    return _blanked(text, tuple(_comments(text)))


def find_section(page: Outline, heading: str) -> Section | None:
    """Return the first section with that title (without `#`, exact but for outer blanks), or None."""
    wanted = heading.lstrip("#").strip()
    return next((section for section in page.sections if section.level and section.title == wanted), None)


def append_to_section(text: str, heading: str, *, line: str) -> str:
    """Return the text with `line` added at the end of what stands under `heading`, before its subsections.

    `heading` may carry its `#`s; they decide the level (2 without) of the section that is added at the end of the
    page when there is none. A list item joins the list above it; anything else starts a paragraph of its own.
    Raises InvalidRecord, changing nothing, when open code or HTML would swallow the line.
    """
    page = outline(text)
    newline = split(text).newline
    section = find_section(page, heading)
    if section is None:
        places = [_new_section(text, heading, newline=newline)]
    else:
        # Where the section ends in an open fence or HTML block, the line goes first instead of last.
        places = [_at_end(text, section, line=line, newline=newline), (section.body, newline, newline * 2)]
    for place, before, after in places:
        edited = text[:place] + before + line + after + text[place:]
        if _stands_under(outline(edited), place + len(before), heading=heading):
            return edited
    message = f"open code or HTML would swallow a line added under {heading!r}: close it by hand"
    raise InvalidRecord(message)


def replace_line(text: str, number: int, *, old: str, new: str) -> str:
    """Return the text with line `number` replaced, its line break kept; raises NotFound if it does not read `old`."""
    start, end = _line_span(text, number, old=old)
    return text[:start] + new + text[end:]


def remove_line(text: str, number: int, *, old: str) -> str:
    """Return the text without line `number` and its line break; raises NotFound if it does not read `old`."""
    start, end = _line_span(text, number, old=old)
    after = _LINE_BREAK.match(text, end)
    return text[:start] + text[after.end() if after else end :]


# Structure


def sections_under(
    headings: list[tuple[int, str, int, int]], body: int, *, text: str, starts: tuple[int, ...]
) -> Iterator[Section]:
    """Yield the sections of a page: of what stands before the first heading, then of each.

    `headings` are level, title, and the offsets at which one begins and what stands under it; `body` is where the front
    matter ends, `starts` are the offsets of all lines.
    """
    line_of = {start: number for number, start in enumerate(starts, start=1)}
    begins = [start for _, _, start, _ in headings]
    ends = [*begins[1:], len(text)][: len(begins)]
    first = begins[0] if begins else len(text)
    yield Section(0, "", (), line_of.get(body, len(starts)), body, body, first, len(text))
    stops = [len(text)] * len(headings)
    open_above: list[int] = []
    paths: list[tuple[str, ...]] = []
    for number, (level, title, start, _) in enumerate(headings):
        while open_above and headings[open_above[-1]][0] >= level:
            stops[open_above.pop()] = start
        paths.append((*(paths[open_above[-1]] if open_above else ()), title))
        open_above.append(number)
    for (level, title, start, under), path, end, stop in zip(headings, paths, ends, stops, strict=True):
        yield Section(level, title, path, line_of[start], start, under, end, stop)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield closed comments; one that is never closed hides nothing, and is looked for once only."""
    unclosed: set[str] = set()
    place = 0
    while match := _COMMENT.search(text, place):
        opening, place = match.group(), match.end()
        end = -1 if opening in unclosed else text.find(_COMMENTS[opening], place)
        if end < 0:
            unclosed.add(opening)
            continue
        place = end + len(_COMMENTS[opening])
        yield match.start(), place


def _code_spans(text: str, start: int, *, end: int) -> Iterator[tuple[int, int]]:
    """Yield the inline code of one paragraph: a run of backticks up to the next run of the same length."""
    runs = [_unescaped(text, match) for match in _TICKS.finditer(text, start, end)]
    next_same: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        opened, run_end, full_start = runs[number]
        closing[number] = next_same.get(run_end - opened) if run_end > opened else None
        # A backslash does not escape inside code: a run closes with its whole length.
        next_same[run_end - full_start] = number
    number = 0
    while number < len(runs):
        closed = closing[number]
        if closed is not None:
            yield runs[number][0], runs[closed][1]
            number = closed
        number += 1


def _unescaped(text: str, match: re.Match[str]) -> tuple[int, int, int]:
    """Return where a run can open code, its end, and its start; a backslash before it takes one backtick away."""
    before = match.start()
    while before and text[before - 1] == "\\":
        before -= 1
    return match.start() + (match.start() - before) % 2, match.end(), match.start()


def _blanked(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end > done:
            parts += (text[done : max(start, done)], _VISIBLE.sub(" ", text[max(start, done) : end]))
            done = end
    return "".join((*parts, text[done:]))


# Edits


def _at_end(text: str, section: Section, *, line: str, newline: str) -> tuple[int, str, str]:
    """Return the place after the last line that is not blank, and what stands before and after the new line."""
    kept = text[section.body : section.end].rstrip()
    last = kept[_last_break(kept) :]
    joins = bool(_ITEM.match(line)) and bool(kept) and (bool(_ITEM.match(last)) or last.startswith("  "))
    gap = "" if joins else newline
    if not kept and section.body and text[section.body - 1] in "\r\n":
        return section.body, gap, newline
    after = _LINE_BREAK.search(text, section.body + len(kept)) if kept else None
    if after is None:
        return len(text), newline + gap, newline
    return after.start(), newline + gap, ""


def _new_section(text: str, heading: str, *, newline: str) -> tuple[int, str, str]:
    title = heading if heading.startswith("#") else f"## {heading}"
    last = text.rstrip(" \t")
    ends_line = not last or last[-1] in "\r\n"
    ends_blank = not last or last.endswith((newline * 2, "\n\n"))
    gap = newline * (2 - ends_line - ends_blank)
    return len(text), f"{gap}{title}{newline}{newline}", newline


def _stands_under(page: Outline, place: int, *, heading: str) -> bool:
    section = find_section(page, heading)
    swallowed = (*((fence.start, fence.end) for fence in page.fences), *page.html)
    return (
        section is not None
        and section.body <= place < section.end
        and not any(start <= place < end for start, end in swallowed)
    )


def _last_break(text: str) -> int:
    return max(text.rfind("\n"), text.rfind("\r")) + 1


def _line_span(text: str, number: int, *, old: str) -> tuple[int, int]:
    starts = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]
    if 1 <= number <= len(starts):
        start = starts[number - 1]
        after = _LINE_BREAK.search(text, start)
        end = after.start() if after else len(text)
        if text[start:end] == old:
            return start, end
    message = f"line {number} no longer reads {old!r}: read the page again"
    raise NotFound(message)
