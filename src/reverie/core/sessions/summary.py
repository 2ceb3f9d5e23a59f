"""What a session's summary says: the turns of a session, some at a time, in a few lines.

Owns how turns are grouped, which lines stand for a group and how a summary file reads; promises that a turn is in one
group only, whenever and however often this runs, and that a line names the entry or the turn it stands on; never says
what is in neither.

    # Session Summary - 2026-07-01 (session:: abc12345-77d0)

    ## 2026-07-01T12:05:33Z

    - Decision: We ship on Friday. `mem_id: 83f33219d7033862`
    - Asked: Please draft the announcement. (turn:: 4)

    (turns:: 0-5)

The last line of a section is written last: a section without it was cut off by a crash, says nothing, and its turns are
summarised again. Where a model wrote the section that line says which, `(turns:: 0-5) (by:: openai:gpt-5-mini)`, and
its lines name one turn each though they may say something of any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from reverie.core.categories import category
from reverie.core.days import Calendar, format_instant
from reverie.core.fold import EntryState
from reverie.core.formats.daylog_text import decode_value, encode_value
from reverie.core.glance.memory_lines import cited_line, one_line
from reverie.core.records import Turn
from reverie.core.sessions.active_window import parse_range, range_of, unread
from reverie.core.text.patterns import Words
from reverie.core.text.tokens import terms

MOST = 12  # entries, and requests, of one section: a summary that lists everything is none
LONGEST = 160  # characters of a request, and thrice that of an entry
NOTHING = "Nothing to note."
ASKED = "Asked"  # the label of what a user asked for

_TITLE = re.compile(r"# Session Summary - (\d{4}-\d\d-\d\d) \(session:: (.*)\)", re.ASCII)
_SECTION = re.compile(r"## (\d{4}-\d\d-\d\dT[\d:.]+Z)", re.ASCII)
_COVERED = re.compile(r"\(turns:: ([\d-]+)\)(?: \(by:: (.*)\))?", re.ASCII)
_MEM_ID = Words(r" `mem_id: ([0-9a-f]{16})`$")
_TURN = re.compile(r" \(turn:: (\d{1,15})\)$", re.ASCII)
_FENCED = Words(r"(?ms)^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)")
_QUOTED = Words(r"(?m)^\s*>.*$")
_SENTENCE = Words(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_REQUEST = Words(
    r"""(?:(?:hi|hey|hello|ok|okay|thanks|so|and|now|also|then|but)[,.!]? )*
    (?:(?:can|could|would|will) (?:you|we)|let's|please
    |(?:help|show|tell|give|find|write|make|create|fix|add|explain|summari[sz]e|translate|list|draft|check|update|remove
    |change|build|run|remind|compare|review|plan|send|book|look|implement|refactor|test|rename|search|suggest|describe
    |generate|set up|move|delete|open|read|walk|go)\b)
    |(?:请|麻烦|帮我|帮忙|能不能|能否|可不可以|给我|写一|查一|解释|总结|翻译|列出|提醒我|看一下|看看)""",
    fold=True,
)
_TERMS = 3  # a question of fewer words asks for nothing that can be told a week later: "and you?"


class Item(msgspec.Struct, frozen=True):
    """A line of a section: what it says, and the entry or the turn (-1: none) it stands on."""

    text: str
    entry: str = ""
    turn: int = -1

    @property
    def line(self) -> str:
        """The line as it stands in the file, its text safe already."""
        if self.entry:
            return f"- {self.text} `mem_id: {self.entry}`"
        return f"- {self.text} (turn:: {self.turn})" if self.turn >= 0 else f"- {self.text}"

    @property
    def request(self) -> str:
        """What a user asked for, empty when the line says something else."""
        return self.text if self.turn >= 0 and self.text.startswith(f"{ASKED}: ") else ""


class Section(msgspec.Struct, frozen=True):
    """What is said of the turns `[first, last]`, the last of which was at the instant `at`.

    `by` is the model that wrote it, empty when it was made by rule.
    """

    at: str
    first: int
    last: int
    items: tuple[Item, ...]
    by: str = ""


class Summary(msgspec.Struct, frozen=True):
    """A summary file: its day, the session's full name, its whole sections; empty names when it has no title."""

    day: str = ""
    session: str = ""
    sections: tuple[Section, ...] = ()

    @property
    def entries(self) -> list[str]:
        """The ids of the entries its lines stand on."""
        return [item.entry for section in self.sections for item in section.items if item.entry]


def groups(
    turns: Sequence[Turn], *, every: int, calendar: Calendar, today: str, ended: bool
) -> list[tuple[Turn, ...]]:
    """Return the turns in groups of `every` of one logical day; what is not complete yet is left for later.

    A smaller group is complete when a turn of another day follows it, its day is over, or the session has ended.
    """
    found: list[tuple[Turn, ...]] = []
    group: list[Turn] = []
    for turn in turns:
        if group and (len(group) == every or calendar.day(turn.at) != calendar.day(group[-1].at)):
            found.append(tuple(group))
            group = []
        group.append(turn)
    if group and (len(group) == every or ended or calendar.day(group[-1].at) < today):
        found.append(tuple(group))
    return found


def section_of(
    turns: Sequence[Turn], states: Iterable[EntryState], *, clean: Callable[[Turn, str], str]
) -> str:
    """Return the section that stands for `turns`: the entries extracted from them, and what the user asked for.

    `clean` returns the text of a turn as it may be written, empty when it may not be.
    """
    first, last = turns[0].n, turns[-1].n
    said = [(begin, state) for state in states if first <= (begin := _begin(state)) <= last and _told(state)]
    kept = sorted(said, key=lambda pair: (-pair[1].sig, pair[0], pair[1].entry.id))[:MOST]
    lines = [
        (begin, cited_line(f"{_label(state)}: {shortened(state.entry.text, 3 * LONGEST)}", [state.entry.id]))
        for begin, state in sorted(kept, key=lambda pair: (pair[0], pair[1].entry.at, pair[1].entry.id))
    ]
    asked = [
        (turn.n, request)
        for turn in turns
        if turn.role == "user" and (request := clean(turn, request_of(turn)))
    ]
    lines += [(n, Item(f"{ASKED}: {one_line(request)}", turn=n).line) for n, request in asked[:MOST]]
    more = len(said) - len(kept) + len(asked[MOST:])
    body = [line for _, line in sorted(lines, key=lambda pair: pair[0])] or [NOTHING]
    if more:
        body.append(f"- and {more} more")
    return _section(turns, body)


def told_section(turns: Sequence[Turn], items: Iterable[Item], *, by: str) -> str:
    """Return the section that stands for `turns` in a model's words, which are made safe here."""
    body = [Item(one_line(item.text), turn=item.turn).line for item in items]
    return _section(turns, body, f" (by:: {encode_value(by)})")


def _section(turns: Sequence[Turn], body: Sequence[str], by: str = "") -> str:
    at = format_instant(turns[-1].at)
    return "\n".join((f"\n## {at}\n", *body, f"\n(turns:: {range_of(turns)}){by}\n"))


def title_of(day: str, session: str) -> str:
    """Return the first line of the summaries of `session` on `day`."""
    return f"# Session Summary - {day} (session:: {encode_value(session)})\n"


def parse(text: str) -> Summary:
    """Return what a summary file says; what is no line of ours is passed over."""
    day = session = at = ""
    items: list[Item] = []
    sections: list[Section] = []
    for line in text.split("\n"):
        if match := _SECTION.fullmatch(line):
            at, items = match[1], []
        elif line.startswith("- "):
            items.append(_item(line))
        elif at and (match := _COVERED.fullmatch(line)) and (span := parse_range(match[1])):
            sections.append(Section(at, *span, tuple(items), decode_value(match[2] or "")))
            at = ""
        elif not day and (match := _TITLE.fullmatch(line)):
            day, session = match[1], decode_value(match[2])
    return Summary(day, session, tuple(sections))


def request_of(turn: Turn) -> str:
    """Return what the turn asks for, its first question or request in its own words; empty when it asks for nothing."""
    own = _QUOTED.sub("", _FENCED.sub("\n", unread(turn)))
    for sentence in _SENTENCE.split(own):
        text = sentence.strip(" \t\r-*#")
        if (text.endswith(("?", "？")) or _REQUEST.match(text)) and len(terms(text)) >= _TERMS:
            return shortened(text, LONGEST)
    return ""


def shortened(text: str, longest: int) -> str:
    """Return the text within `longest` characters, cut behind a word and marked with an ellipsis when it is longer."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 2]
    head, blank, _ = cut.rpartition(" ")
    return f"{head if blank and len(head) * 2 > len(cut) else cut} …"


def _begin(state: EntryState) -> int:
    """Return the first turn that the entry was extracted from, -1 for none."""
    span = parse_range(state.entry.turns)
    return span[0] if span else -1


def _told(state: EntryState) -> bool:
    """Whether a summary tells of the entry: it holds, and it was not merely mentioned."""
    return state.current and not state.cancelled and state.entry.status != "discussed"


def _label(state: EntryState) -> str:
    return "Done" if state.done else category(state.entry.category).name.replace("_", " ").capitalize()


def _item(line: str) -> Item:
    text = line[2:]
    if match := _MEM_ID.search(text):
        return Item(text[: match.start()], entry=match[1])
    if match := _TURN.search(text):
        return Item(text[: match.start()], turn=int(match[1]))
    return Item(text)
