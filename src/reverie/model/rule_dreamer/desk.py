"""The pages a rule dreamer has before it, and the edits it gathers for each.

Owns how lines come onto pages: under which heading, on which page of a series that grew long, in which order edits
are made; promises that a page changes in the lines concerned alone; never decides what a line says.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from msgspec.structs import replace

from reverie.core.dreams.rights import may_change
from reverie.core.pages import front_edit
from reverie.core.pages.citations import link
from reverie.core.pages.front_matter import Front, Reference
from reverie.core.pages.markdown import append_to_section, replace_line
from reverie.core.pages.plain import append, citing
from reverie.core.pages.source import split
from reverie.core.records import Entry
from reverie.core.text.said import said, words
from reverie.core.text.tokens import normalise
from reverie.errors import InvalidRecord
from reverie.model.rule_dreamer.front import MOST_SOURCES, brought_up, ends, sources_of
from reverie.model.rule_dreamer.lines import MOST_CITED, Line, Standing, standing
from reverie.model.rule_dreamer.places import Place, name_bases

MOST_LINES = 300  # a longer page is continued on the next one of its series
MOST_RELATED = 12  # links under Related that a batch adds to one page
RELATED = "Related"
_NL = "\n"
_SWALLOWS = re.compile(r"`{3}|~{3}|<")  # code or HTML that may be open where a line is added


@dataclass(slots=True)
class Slot:
    """A line and the place it goes to; `key` tells it from other lines once it has come to stand on a page."""

    place: Place
    line: Line
    key: int


@dataclass(slots=True)
class _Sheet:
    """A page as it stands, and what is to change on it."""

    path: str
    text: str | None
    rows: dict[int, Standing] = field(default_factory=dict)
    says: Mapping[str, int] = field(default_factory=dict)  # what a line says, normalised -> its number
    edits: dict[int, Callable[[], list[str]]] = field(
        default_factory=dict
    )  # called last: lines still gain citations
    taken: set[int] = field(default_factory=set)
    before: dict[int, str] = field(default_factory=dict)  # the lines that cite, as they stand
    added: list[Slot] = field(default_factory=list)
    related: dict[str, None] = field(default_factory=dict)
    sources: dict[str, Reference] = field(default_factory=dict)  # by resource
    doubtful: bool = False


class Desk:
    """The pages a batch touches."""

    def __init__(
        self, read: Callable[[str], str | None], today: str, *, spelled: Callable[[str], str] = str
    ) -> None:
        """Begin with no page read; `today` is the day that changed pages state, `spelled` names folders as they are."""
        self._read, self._spelled = read, spelled
        self._today = today
        self._sheets: dict[str, _Sheet] = {}
        self._open: dict[
            str, tuple[str, int]
        ] = {}  # base -> the page of the series that takes lines, lines on it
        self._slots: dict[int, str] = {}
        self._next = 0

    # Looking

    def exists(self, base: str) -> bool:
        """Tell whether a base has a page, or gets one from this batch."""
        base = self._spelled(base)
        return base in self._open or self._text(f"{base}.md") is not None

    def spelled(self, place: Place) -> Place:
        """Return a place in the folders that stand, however these are spelled."""
        base = self._spelled(place.base)
        return place if base == place.base else dataclasses.replace(place, base=base)

    def standing(self, page: str, entry: str) -> tuple[str, int] | None:
        """Return page and line of the list item that cites an entry, None when it cannot be changed safely."""
        if not page or not may_change(page):
            return None  # it stands where its owner put it, out of a dream's reach
        rows = self._sheet(page).rows
        found = [row.number for row in rows.values() if entry in row.ids]
        return (page, found[0]) if len(found) == 1 else None

    def saying(self, base: str, what: str) -> tuple[str, int, str] | None:
        """Return page, line and first entry of a line of a series that says exactly `what` (normalised)."""
        for path in self._series(base):
            sheet = self._sheet(path)
            number = sheet.says.get(what)
            if number is not None and number not in sheet.taken:
                return path, number, sheet.rows[number].ids[0]
        return None

    def said(self, page: str, number: int) -> str:
        """Return what a standing line says."""
        return self._sheet(page).rows[number].said

    def cited(self, page: str, number: int) -> tuple[str, ...]:
        """Return what a standing line cites."""
        return self._sheet(page).rows[number].ids

    # Changing

    def add(self, place: Place, line: Line) -> Slot | None:
        """Add a line to the last page of the place's series, or to a new one when that is full."""
        path, taken = self._open.get(place.base) or self._last(place.base)
        size = len(line.lines())
        if taken and taken + size > MOST_LINES:
            path, taken = self._following(place.base, path), 0
        self._open[place.base] = path, taken + size
        slot = self._slot(place, line, path)
        self._sheet(path).added.append(slot)
        return slot

    def take_over(self, page: str, number: int, *, line: Line, until: str) -> Slot:
        """Put a line in the place of a standing one, which stays beneath it as what held until then."""
        sheet = self._sheet(page)
        row = sheet.rows[number]
        sheet.taken.add(number)
        sheet.edits[number] = lambda: row.replaced_by(line, until)
        return self._slot(Place(page.removesuffix(".md"), "", "", ""), line, page)

    def cite(self, page: str, number: int, *, day: str, entry: str) -> None:
        """Let a standing line cite one more entry."""
        sheet = self._sheet(page)
        row = sheet.rows[number]
        fresh = standing(number, row.citing(day, entry), ids=(*row.ids, entry))
        if fresh is not None and number not in sheet.taken and len(row.ids) < MOST_CITED:
            sheet.rows[number] = fresh
            sheet.edits[number] = lambda: [fresh.raw]

    def doubt(self, slot: Slot) -> None:
        """Mark the page of a line for review."""
        self._sheet(self._slots[slot.key]).doubtful = True

    def relate(self, slot: Slot, entry: Entry) -> None:
        """Link the page of a line with the pages of what its entry names, and name the addresses it rests on."""
        sheet = self._sheet(self._slots[slot.key])
        for source in sources_of(entry):
            sheet.sources.setdefault(source.resource, source)
        names = sorted({entry.about, *said(entry.text).names, *(set(entry.tags) & words(entry.text))} - {""})
        for name in names:
            for base in map(self._spelled, name_bases(name)):
                here = sheet.path.removesuffix(".md")
                if base != here and self.exists(base) and len(sheet.related) < MOST_RELATED:
                    sheet.related[base] = None

    def finished(self) -> tuple[dict[str, str | None], dict[int, str]]:
        """Return the texts of the pages that change, and the page each line stands on."""
        pages: dict[str, str | None] = {}
        for path, sheet in sorted(self._sheets.items()):
            text = self._edited(sheet)
            if text is not None and text != sheet.text:
                pages[path] = text
        return pages, self._slots

    # Pages

    def _text(self, path: str) -> str | None:
        sheet = self._sheets.get(path)
        return sheet.text if sheet is not None else self._read(path)

    def _sheet(self, path: str) -> _Sheet:
        sheet = self._sheets.get(path)
        if sheet is None:
            text = self._read(path)
            rows, says = _standing(text or "")
            sheet = self._sheets[path] = _Sheet(path, text, dict(rows), says)
            sheet.before = {number: row.raw for number, row in rows.items()}
        return sheet

    def _series(self, base: str) -> list[str]:
        """Return the pages of a series that stand: `Base.md`, `Base 2.md` and so on."""
        found: list[str] = []
        path = f"{base}.md"
        while self._text(path) is not None:
            found.append(path)
            path = f"{base} {len(found) + 1}.md"
        return found

    def _last(self, base: str) -> tuple[str, int]:
        """Return the last page of a series and the number of its lines; the first one where there is none."""
        found = self._series(base)
        if not found:
            return f"{base}.md", 0
        text = self._text(found[-1]) or ""
        # A page that takes no line (open code at its end, broken front matter) is left to its author.
        return found[-1], text.count("\n") + 1 if _takes_lines(text) else MOST_LINES

    def _following(self, base: str, path: str) -> str:
        number = path.removeprefix(base).removesuffix(".md").strip()
        return f"{base} {int(number or 1) + 1}.md"

    def _slot(self, place: Place, line: Line, path: str) -> Slot:
        self._next += 1
        self._slots[self._next] = path
        return Slot(place, line, self._next)

    def _edited(self, sheet: _Sheet) -> str | None:
        """Return the page's text with everything gathered for it."""
        if not (sheet.edits or sheet.added or sheet.doubtful):
            return None
        sections: dict[str, list[str]] = {}
        for slot in sheet.added:
            sections.setdefault(slot.place.section, []).extend(slot.line.lines())
        if sheet.text is None:
            return self._new_page(sheet, sections)
        text = _with_edits(sheet.text, sheet)
        if links := self._links(sheet, text):
            sections.setdefault(RELATED, []).extend(links)
        for section, lines in sections.items():
            text = append(text, section, lines=lines)
        return brought_up(
            text, sheet.text, today=self._today, doubtful=sheet.doubtful, sources=sheet.sources.values()
        )

    def _new_page(self, sheet: _Sheet, sections: dict[str, list[str]]) -> str:
        place = sheet.added[0].place
        number = sheet.path.removesuffix(".md").removeprefix(place.base).strip()
        title = f"{place.title} {number}".strip()
        front = Front(
            type=place.kind,
            title=title,
            description=place.description,
            status="draft",
            review="needs-review" if sheet.doubtful else "current",
            confidence="high",
            updated=self._today,
        )
        if number:
            earlier = place.base if number == "2" else f"{place.base} {int(number) - 1}"
            sheet.related = {earlier: None, **sheet.related}
        if links := self._links(sheet, ""):
            sections[RELATED] = links
        parts = [f"# {title}", *(f"## {name}\n\n{_NL.join(lines)}" for name, lines in sections.items())]
        body = "\n\n".join(parts)
        front = replace(
            front,
            stale_after=ends(body, self._today),
            sources=tuple(sheet.sources.values())[:MOST_SOURCES],
        )
        return f"{front_edit.render(front)}\n{body}\n"

    def _links(self, sheet: _Sheet, text: str) -> list[str]:
        """Return the lines that link to related pages which the page does not link to yet."""
        return [
            f"- {link(base)}"
            for base in sheet.related
            if f"[[{base}]]" not in text and f"[[{base}|" not in text
        ]


@lru_cache(maxsize=256)  # most pages of a series are those of the nights before
def _standing(text: str) -> tuple[Mapping[int, Standing], Mapping[str, int]]:
    """Return the list items of a page that cite, by number, and the first that says something, normalised."""
    rows: dict[int, Standing] = {}
    says: dict[str, int] = {}
    for number, raw, ids in citing(text):
        row = standing(number, raw, ids=ids)
        if row is not None:
            rows[number] = row
            says.setdefault(normalise(row.said), number)
    return rows, says


def _with_edits(text: str, sheet: _Sheet) -> str:
    """Return the text with its standing lines edited, from the last to the first so that numbers hold."""
    newline = split(text).newline
    for number, build in sorted(sheet.edits.items(), reverse=True):
        text = replace_line(text, number, old=sheet.before[number], new=newline.join(build()))
    return text


def _takes_lines(text: str) -> bool:
    """Tell whether a line added under a heading would be one."""
    if not _SWALLOWS.search(text):
        return True
    try:
        append_to_section(text, "Key Facts", line="- x")
    except InvalidRecord:
        return False
    return True
