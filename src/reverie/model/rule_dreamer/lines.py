"""The lines a rule dreamer writes, and lines that stand, read so that they can be changed.

Owns the form of a cited line; promises that any text is words there, never markup; never decides what is written.

    - Dana prefers calls before noon. [[archive/2026-07-01#^2b47366a861a87ca]]
    - Currently: User works at Microsoft. [[archive/2026-07-01#^…]]
      - Previously: User works at Google (until 2026-07-01). [[archive/2026-05-02#^…]]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from reverie.core.pages.blocks import escape_memory_text
from reverie.core.pages.citations import cite
from reverie.core.records import Entry
from reverie.model.rule_dreamer.places import dated, is_dated

CURRENTLY = "Currently: "
PREVIOUSLY = "Previously: "
MOST_CITED = 20  # citations on one line; further repeats are counted in the outcomes alone
_KEPT = 1_000  # characters; what a longer line was read as is not remembered

_STEP = re.compile(r"\s*(?:(\d{1,3})[.)]|[-*+•])\s+")
_CITES = re.compile(r"(?:\s*\[\[archive/\d{4}-\d{2}-\d{2}#\^[0-9a-f]{16}\]\])+\s*")
_ITEM = re.compile(r"([ \t]*)- ")
_LABELS = (CURRENTLY, PREVIOUSLY)


@dataclass(slots=True)
class Line:
    """A line to be written: what it says, the entries it cites as (day, id), its steps, and what held before."""

    text: str
    cited: list[tuple[str, str]]
    steps: list[str] = field(default_factory=list)
    label: str = ""
    previous: list[Line] = field(default_factory=list)

    def lines(self, depth: int = 0) -> list[str]:
        """Return the Markdown lines, indented by `depth` levels."""
        indent = "  " * depth
        citations = " ".join(cite(day, entry) for day, entry in self.cited)
        written = [f"{indent}- {self.label}{self.text} {citations}"]
        written += [f"{indent}  {step}" for step in self.steps]
        for old in self.previous:
            written += old.lines(depth + 1)
        return written


@dataclass(frozen=True, slots=True)
class Standing:
    """A list item that stands on a page: its line number, the line, its indent, what it says, its citations' text."""

    number: int
    raw: str
    indent: str
    said: str
    citations: str
    ids: tuple[str, ...]

    def citing(self, day: str, entry: str) -> str:
        """Return the line with one more citation."""
        return f"{self.indent}- {self.said} {self.citations} {cite(day, entry)}"

    def replaced_by(self, line: Line, until: str) -> list[str]:
        """Return the lines that say `line` now, and this one beneath as what held `until` a day, if it ever did."""
        depth = len(self.indent.expandtabs(2)) // 2
        written = line.lines(depth)
        if until:
            written.append(f"{'  ' * (depth + 1)}- {self._as_previous(until)}")
        return written

    def ended(self, until: str) -> str:
        """Return the line as something that held before."""
        return f"{self.indent}- {self._as_previous(until)}"

    def _as_previous(self, until: str) -> str:
        return f"{PREVIOUSLY}{with_note(unlabelled(self.said), f'until {until}')} {self.citations}"


def standing(number: int, raw: str, *, ids: tuple[str, ...]) -> Standing | None:
    """Return a list item whose citations stand at its end, None for any other line: those are left as they are."""
    pieces = _pieces(raw) if len(raw) <= _KEPT else _pieces.__wrapped__(raw)
    return Standing(number, raw, *pieces, ids) if pieces is not None else None


@lru_cache(maxsize=8_192)  # nearly all lines of the pages that a night touches are those of the night before
def _pieces(raw: str) -> tuple[str, str, str] | None:
    """Return indent, words and citations of a list item that cites at its end."""
    item = _ITEM.match(raw)
    found = _CITES.search(raw)
    if item is None or found is None or found.end() != len(raw):
        return None
    return item.group(1), raw[item.end() : found.start()].strip(), found.group().strip()


def unlabelled(said: str) -> str:
    """Return what a line says, without `Currently` or `Previously`."""
    for label in _LABELS:
        said = said.removeprefix(label)
    return said


def line_of(entry: Entry, text: str) -> Line:
    """Return the line of an entry, or of the piece `text` of it, with the dates that its text does not name."""
    head, steps = _steps(text)
    said = escape_memory_text(head)
    if is_dated(entry) and dated(entry) not in said:
        said = f"{dated(entry)}: {said}"
    elif entry.since and entry.since[:10] not in said:
        said = with_note(said, f"since {_short(entry.since)}")
    if entry.until and entry.until[:10] not in said:
        said = with_note(said, f"until {_short(entry.until)}")
    if entry.due and entry.due[:10] not in said:
        said = with_note(said, f"due {_short(entry.due)}")
    if entry.status == "discussed" and entry.origin in {"web", "file", "tool", "import", "other"}:
        said = with_note(said, f"said by: {entry.origin}")
    return Line(said, [(entry.day, entry.id)], steps)


def with_note(said: str, note: str) -> str:
    """Return what is said with a note in brackets, before a final stop; what has the same kind of note keeps it."""
    if f"({note.partition(' ')[0]} " in said:
        return said
    stop = said[-1] if said.endswith((".", "。")) else ""
    return f"{said.removesuffix(stop)} ({note}){stop}"


def _short(when: str) -> str:
    """Return an instant as its date and time of day, anything else as it is."""
    return when[:16].replace("T", " ")


def _steps(text: str) -> tuple[str, list[str]]:
    """Return the first line and the steps beneath it; a text on one line has none."""
    head, *rest = [line for line in text.splitlines() if line.strip()] or [text]
    if not any(_STEP.match(line) for line in rest):
        return text, []
    if _STEP.match(head):
        return text, []
    return head, [_step(line) for line in rest]


def _step(line: str) -> str:
    """Return one step as a list item, numbered as the text numbers it."""
    marker = _STEP.match(line)
    said = escape_memory_text(line[marker.end() :] if marker else line)
    return f"{marker.group(1)}. {said}" if marker and marker.group(1) else f"- {said}"
