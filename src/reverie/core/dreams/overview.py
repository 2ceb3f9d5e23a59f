"""Promotion by rule: the overview page, chosen from all that is known about the user and their projects.

Owns which lines are promoted and how the page changes; promises that all pages compete, whatever they are called, that
the page stays within its size, that each line cites what it stands on, and that text people wrote on the page stays;
never writes a line that no page holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop
from operator import itemgetter

import msgspec

from reverie import layout
from reverie.core.fold import EntryState
from reverie.core.pages import front_edit
from reverie.core.pages.front_matter import Front, read
from reverie.core.pages.markdown import remove_line
from reverie.core.pages.plain import append, citing, headings_above
from reverie.core.pages.source import split
from reverie.core.text.said import missing
from reverie.errors import InvalidRecord

ABOUT = "About the User"
PROJECT = "Project: "
CHARACTERS = 6_000  # MEMORY.md gives overview and recent context a fifth of 25,000 by default; the rest would be unseen
_PROJECTS = "1_Projects/"
_MOST_OF_PAGE = 12  # lines of one page, so that no subject takes the overview from the others
_SHORTEST = len("- [[archive/2026-07-01#^0123456789abcdef]]")  # characters of the least line
_LONGEST = 400  # characters of a line: a longer one is a document, which its page holds
_KEPT = 1_000  # characters; what a longer line was read as is not remembered

Weights = Mapping[str, tuple[bool, float, float]]  # pinned, significance, when confirmed (seconds), by entry

_LINE = re.compile(r"[ \t]*- (.*?)((?:\s*\[\[archive/\d{4}-\d{2}-\d{2}#\^[0-9a-f]{16}\]\])+)[ \t]*")
_ID = re.compile(r"\^([0-9a-f]{16})\]\]")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_PREVIOUS = "Previously: "


class Row(msgspec.Struct, frozen=True):
    """A list item of a page that cites: its line number, its Markdown, the ids."""

    number: int
    line: str
    ids: tuple[str, ...]


class Promoted(msgspec.Struct, frozen=True):
    """A line for the overview: its heading, its Markdown, the ids, and the page and line it is from."""

    section: str
    line: str
    ids: tuple[str, ...]
    place: tuple[str, int]


def is_source(path: str) -> bool:
    """Tell whether a page's lines compete for the overview."""
    return path != layout.OVERVIEW and path.startswith(("3_Personal/", _PROJECTS))


class Overview(msgspec.Struct, frozen=True):
    """The overview's new text, and what it may draw on: the page as it was, titles and lines of the pages it quotes."""

    text: str
    quoted: dict[str, str]


class Promotion:
    """Promotion during one dream: pages that did not change between two batches are read once."""

    def __init__(
        self,
        find: Callable[[str], EntryState | None],
        today: str,
        *,
        wanted: Mapping[str, int] | None = None,
        expect: Callable[[Iterable[str]], None] = lambda _: None,
        weights: Callable[[Iterable[str]], Weights] = lambda _: {},
    ) -> None:
        """Take what returns the state of an entry that may be shown, the present day, and days wanted by id.

        `expect` is told of the entries that `find` is about to be asked for; `weights` says of as many as it can,
        for less than a look at their states, what they weigh, where they hold.
        """
        self._find, self._expect, self._weights = find, expect, weights
        self._today = today
        self._wanted = wanted or {}
        self._rows: dict[str, tuple[str, Sequence[Row]]] = {}

    def promote(self, paths: Iterable[str], read_page: Callable[[str], str | None]) -> Overview | None:
        """Return the overview chosen from the pages at `paths`; None when it stays as it is."""
        rows = {path: self._read(path, read_page(path) or "") for path in sorted(paths) if is_source(path)}
        every = [row.ids for found in rows.values() for row in found]
        weights = self._weights(id_ for ids in every for id_ in ids)
        self._expect(id_ for ids in every for id_ in ids if id_ not in weights)
        chosen = choose(
            rows,
            lambda path: title_of(path, self._rows[path][0]),
            find=self._find,
            wanted=self._wanted,
            weights=weights,
        )
        old = read_page(layout.OVERVIEW)
        text = rewrite(old, chosen, today=self._today)
        if text is None or text == old:
            return None
        quoted: dict[str, str] = {}
        for one in chosen:
            path = one.place[0]
            before = quoted.get(path) or title_of(path, self._rows[path][0])
            quoted[path] = f"{before}\n{one.line}"
        return Overview(text, {**quoted, **({layout.OVERVIEW: old} if old is not None else {})})

    def _read(self, path: str, text: str) -> Sequence[Row]:
        known = self._rows.get(path)
        if known is None or known[0] != text:
            known = self._rows[path] = (text, candidates(text))
        return known[1]


@lru_cache(maxsize=256)
def candidates(text: str) -> tuple[Row, ...]:
    """Return the list items of a page that cite. What held before, and what is too long to promote, is left out."""
    found: list[Row] = []
    if "#^" not in text:
        return ()
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= bool(_FENCE.match(line))
        if fenced or "#^" not in line:
            continue
        said = _promotable(line) if len(line) <= _KEPT else _promotable.__wrapped__(line)
        if said is not None:
            found.append(Row(number, *said))
    return tuple(found)


@lru_cache(maxsize=8_192)  # nearly all lines of a page are those of the night before
def _promotable(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Return how a list item that cites would read on the overview, and the ids; None where it is left out."""
    match = _LINE.fullmatch(line)
    if match is None or match.group(1).startswith(_PREVIOUS) or len(match.group(1)) > _LONGEST:
        return None
    said = match.group(1).removeprefix("Currently: ")
    return f"- {said}{match.group(2)}", tuple(_ID.findall(match.group(2)))


def choose(
    pages: Mapping[str, Sequence[Row]],
    titles: Callable[[str], str],
    *,
    find: Callable[[str], EntryState | None],
    wanted: Mapping[str, int] | None = None,
    weights: Weights | None = None,
) -> list[Promoted]:
    """Return the lines that the overview holds, in the order of their pages; `wanted`: days recalled, by entry."""
    every = list(_ranked(pages, find, wanted=wanted or {}, weights=weights or {}))
    heapify(every)  # the overview holds a few dozen of thousands of lines
    taken: list[Promoted] = []
    size, counted = 0, dict[str, int]()
    shown: set[tuple[str, ...]] = set()
    while every and size + _SHORTEST <= CHARACTERS:
        _, page, _, one = heappop(every)
        full = counted.get(page, 0) >= _MOST_OF_PAGE or size + len(one.line) > CHARACTERS
        if full or one.ids in shown or not _holding(one, find, {}):
            continue
        if any(missing(state.entry.text, one.line) for id_ in one.ids if (state := find(id_)) is not None):
            continue  # it leans on its page's title, and would say less here
        counted[page] = counted.get(page, 0) + 1
        shown.add(one.ids)
        size += len(one.line)
        section = f"{PROJECT}{titles(page)}" if page.startswith(_PROJECTS) else ABOUT
        taken.append(Promoted(section, one.line, one.ids, (page, one.number)))
    return sorted(taken, key=lambda one: (one.section != ABOUT, one.section, one.place))


def rewrite(old: str | None, chosen: Iterable[Promoted], *, today: str) -> str | None:
    """Return the overview with these lines and no other that cites under their headings; None to leave it.

    Whatever else stands on the page stays. It is left when there is nothing to say, or when it cannot be edited.
    """
    wanted = list(chosen)
    if not wanted and old is None:
        return None
    text = old if old is not None else _new_page(today)
    keep = {(one.section, one.line) for one in wanted}
    try:
        text = _without_others(text, keep)
        for section in dict.fromkeys(one.section for one in wanted):
            text = _with_lines(text, section, [one.line for one in wanted if one.section == section])
        if text != old and split(text).front is not None:
            text = front_edit.set_updated(text, today)
    except InvalidRecord:
        return None
    return text


def _ranked(
    pages: Mapping[str, Sequence[Row]],
    find: Callable[[str], EntryState | None],
    *,
    wanted: Mapping[str, int],
    weights: Weights,
) -> Iterator[tuple[tuple[float, ...], str, int, Row]]:
    """Yield rank, page, line and row of each line that holds now, as far as the weights say.

    Pins come first, then what is more significant, was recalled on more days, and was confirmed later.
    """
    for path, found in pages.items():
        for row in found:
            known = _holding(row, find, weights)
            if not known:
                continue
            pinned, sig, confirmed = known[0] if len(known) == 1 else max(known, key=itemgetter(0, 1))
            asked = max(wanted.get(id_, 0) for id_ in row.ids) if wanted else 0
            yield (-pinned, -sig, -asked, -confirmed), path, row.number, row


def _holding(
    row: Row, find: Callable[[str], EntryState | None], weights: Weights
) -> list[tuple[bool, float, float]]:
    """Return the weights of what a line cites and what holds now; none for a line that does not."""
    found: list[tuple[bool, float, float]] = []
    for id_ in row.ids:
        if id_ in weights:
            found.append(weights[id_])
            continue
        state = find(id_)
        if state is None or state.hidden or state.wrong:
            return []
        if _holds(state):
            found.append((state.pinned, state.sig, state.confirmed.timestamp()))
    return found


def _holds(state: EntryState) -> bool:
    return state.current and state.entry.status != "discussed" and not (state.done or state.cancelled)


def _without_others(text: str, keep: set[tuple[str, str]]) -> str:
    """Return the page without the lines under our headings that cite and are no longer wanted."""
    above = headings_above(text)
    for number, raw, _ in reversed(citing(text)):
        title = next((path[-1] for place, path in reversed(above) if place < number), "")
        ours = title == ABOUT or title.startswith(PROJECT)
        if ours and (title, raw) not in keep and raw.startswith("- "):
            text = remove_line(text, number, old=raw)
    return text


def _with_lines(text: str, heading: str, lines: list[str]) -> str:
    above = headings_above(text)
    there = {
        raw
        for number, raw, _ in citing(text)
        if next((path[-1] for place, path in reversed(above) if place < number), "") == heading
    }
    missed = [line for line in lines if line not in there]
    return append(text, heading, lines=missed) if missed else text


def _new_page(today: str) -> str:
    front = Front(
        type="synthesis",
        title="Overview",
        description="What matters most about the user and their projects",
        status="stable",
        review="current",
        confidence="high",
        updated=today,
    )
    return f"{front_edit.render(front)}\n# Overview\n"


def title_of(path: str, text: str) -> str:
    """Return what a project's page is called, without the brackets and bars that a heading has no use for."""
    return read(split(text).front).title or path.rpartition("/")[2].removesuffix(".md")
