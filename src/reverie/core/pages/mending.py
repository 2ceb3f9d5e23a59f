"""What lint may set right by itself: a link to a page that moved, a line forgotten or never true, a mark for review.

Owns which complaints have a safe remedy and how a page reads with it; promises that only the lines complained of
change, that a link is only led to the one page that can be meant, and that mending twice changes nothing the second
time; never decides whether the page may be installed: that is the policy's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from reverie.core.pages import front_edit
from reverie.core.pages.citations import Link, links
from reverie.core.pages.front_matter import read
from reverie.core.pages.markdown import outline, remove_line
from reverie.core.pages.source import split
from reverie.errors import InvalidRecord

REMOVED = frozenset({"forgotten", "wrong"})  # these lines are taken out
DOUBTFUL = frozenset({"stale", "contradiction", "lost source"})  # these pages are marked for review


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a page: where (page and line), what kind, why it matters, and what to do."""

    page: str
    line: int
    kind: str
    reason: str
    remedy: str


def mended(
    text: str, complaints: Iterable[Complaint], *, moved: Callable[[str], str]
) -> tuple[str, tuple[Complaint, ...]]:
    """Return a page without what can be set right, and what that was.

    `moved` returns where the page that a link names stands now (as a link names it), or nothing when that is not known.
    """
    done: list[Complaint] = []
    wanted = list(complaints)
    doubtful = [one for one in wanted if one.kind in DOUBTFUL]
    broken = [one for one in wanted if one.kind == "broken link"]
    text, relinked = _relinked(text, {one.line for one in broken}, moved)
    done += [one for one in broken if one.line in relinked]
    for one in sorted((one for one in wanted if one.kind in REMOVED), key=lambda one: -one.line):
        text = remove_line(text, one.line, old=outline(text).line_text(one.line))
        done.append(one)
    marked = _marked(text) if doubtful else text
    return marked, (*done, *(doubtful if marked != text else ()))


def _relinked(text: str, lines: set[int], moved: Callable[[str], str]) -> tuple[str, set[int]]:
    """Return the page with the broken links of some lines led to where their pages are now, and those lines."""
    mended_lines: set[int] = set()
    for one in reversed(links(text)):
        target = moved(one.target) if one.line in lines and one.target else ""
        if target:
            text = text[: one.start] + _led_to(text[one.start : one.end], one, target) + text[one.end :]
            mended_lines.add(one.line)
    return text, mended_lines


def _led_to(raw: str, link: Link, target: str) -> str:
    """Return a link as it stands, with another target."""
    at = raw.index(link.target)
    after = raw[at + len(link.target) :].removeprefix(".md")
    return f"{raw[:at]}{target}{after}"


def _marked(text: str) -> str:
    """Return the page marked for review; as it is when it is marked, or cannot be."""
    front = split(text).front
    if front is None or read(front).broken or read(front).review == "needs-review":
        return text
    try:
        return front_edit.set_field(text, "review", value="needs-review")
    except InvalidRecord:
        return text
