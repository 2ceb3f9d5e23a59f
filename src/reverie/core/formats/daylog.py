"""The daily log: one day's entries as Markdown that people read, write and link to.

Owns the grammar of `archive/YYYY-MM-DD.md`; promises that what `render` wrote `parse` reads back exactly, that a
lean hand-written log is a valid one, and that a line which is neither is reported, never dropped; never opens
the file.

    # Daily Log - 2026-07-01

    ## 14:05 — abc12345 (session:: abc12345-77d0) (at:: 2026-07-01T12:05:33Z)

    - [work] User now works at Microsoft `career` (sig:: 0.82) (origin:: user) ^2b47366a861a87ca
      > I started at Microsoft on Monday

A line is read from its end: the block id, the fields, the tags; what is left is the text. Code fences mean
nothing here: one that a person left open would swallow every entry appended behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from reverie.core.days import Calendar, format_instant, parse_instant
from reverie.core.formats import daylog_text
from reverie.core.formats.daylog_fields import BY_NAME, flaw, is_id, write_fields
from reverie.core.formats.utf8 import to_bytes
from reverie.core.records import Entry
from reverie.core.text.names import valid_category
from reverie.errors import InvalidRecord, UsageError

__all__ = ["Context", "DayLog", "Located", "flaw", "parse", "render"]

EXPLICIT = "remember"  # what stands for the session in the heading of explicit writes
LABEL = 8  # characters of the session that the heading shows

_BULLET = re.compile(
    r"[ \t]*[-*+][ \t]+(?:\[[ xX/<>!?-]\][ \t]+)?(?:\[([^\[\]\s`\\(){}<>]{1,48})\][ \t]+)?(?![ \t])(.+)",
    re.DOTALL,
)
_QUOTE = re.compile(r"[ \t]+>[ ]?(.*)", re.DOTALL)
_HEADING = re.compile(
    r"([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:[ \t]*[—–-]+[ \t]*(.*))?", re.ASCII | re.DOTALL
)
# As most that are written: nothing in them needs an escape.
_OWN_HEADING = re.compile(
    r"## (?:[01]\d|2[0-3]):[0-5]\d — ([\w.@+-]+)(?: \(session:: ([\w.@+-]+)\))? \(at:: (\d{4}-\d\d-\d\dT[\d:]{8}Z)\)",
    re.ASCII,
)
_CHAPTER = re.compile(r"##?[ \t]")
_UNREADABLE = re.compile(r"[\ud800-\udfff]")
_UNLABELLED = re.compile(r"[^\w.@+-]")
_ID_BYTES = 18  # a blank, `^` and 16 hex digits
_MOST_FIELDS = 64
_SHORT = 40  # characters of a field that is kept when it has been read


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Where in a file a parse ended, and what a parse of the bytes behind must know.

    The heading in force (`session`, and `at`, None without one), the number of lines and bytes before, and how
    often each text without id was seen: its next occurrence has another id.
    """

    session: str = ""
    at: datetime | None = None
    line: int = 0
    offset: int = 0
    seen: dict[str, int] = {}


class Located(msgspec.Struct, frozen=True):
    """An entry and its place: the number of its line (from 1), the line's first byte, and the byte behind it.

    `end` lies behind the evidence when there is some.
    """

    entry: Entry
    line: int
    offset: int
    end: int


class DayLog(msgspec.Struct, frozen=True):
    """What stands in a daily log: entries in order, lines that are none (number and text), and where it ended.

    `context` ends at the last whole line: an entry on a line without newline is read, and read again by the
    parse that goes on from there, as the same entry if nothing was added to it.
    """

    entries: tuple[Located, ...]
    unparsed: tuple[tuple[int, str], ...]
    context: Context


def parse(text: str, day: str, *, calendar: Calendar, context: Context | None = None) -> DayLog:
    """Return the entries of the log of `day`, or of what was appended to it behind `context`.

    `text` is UTF-8 read with `surrogateescape`, so that offsets count the file's own bytes; a byte that is no
    UTF-8 is read as U+FFFD. A hand-written entry was said at its heading's time, without one when the day began.
    Raises UsageError when `day` is no date.
    """
    reader = _Reader(day, calendar, context=context or Context())
    if context is None and text.startswith("\ufeff"):
        text, reader.offset = text[1:], 3
    *lines, tail = text.split("\n")
    for line in lines:
        if line:
            reader.read(line, 1)
        else:  # as every second one is
            reader.line += 1
            reader.offset += 1
    end = reader.context()
    if tail:
        joins = len(reader.drafts)
        reader.read(tail, 0)
        if joins == len(reader.drafts) and joins and reader.drafts[-1].end == reader.offset:
            end = reader.context_before(reader.drafts[-1])  # the tail is its evidence, so it may not be whole
    entries = tuple(
        Located(Entry(**draft.values), draft.line, draft.offset, draft.end) for draft in reader.drafts
    )
    return DayLog(entries, tuple(reader.unparsed), end)


def render(entries: Sequence[Entry], calendar: Calendar, *, first: bool, day: str) -> str:
    """Return the text that appends `entries` to the log of `day`; `first` puts the title before it.

    Entries of one session and minute that follow each other share a heading. Raises InvalidRecord for an entry
    of another day, or one that `flaw` finds fault with.
    """
    pieces = [f"# Daily Log - {day}\n"] if first else []
    session, clock, heading_at = "", "", None
    for entry in entries:
        reason = flaw(entry) or (entry.day != day and f"it belongs to {entry.day}")
        if reason:
            raise InvalidRecord(f"The entry {entry.id} cannot be written to the log of {day}: {reason}.")
        now = clock if entry.at == heading_at else calendar.hhmm(entry.at)
        if now != clock or entry.session != session:
            session, clock, heading_at = entry.session, now, entry.at
            pieces.append(_heading(session, clock, entry.at))
        pieces.append(_line(entry, at=entry.at != heading_at))
    return "".join(pieces)


def _heading(session: str, clock: str, at: datetime) -> str:
    if not session:
        return f"\n## {clock} — {EXPLICIT} (at:: {format_instant(at)})\n\n"
    label = _UNLABELLED.sub("-", session[:LABEL])
    full = daylog_text.encode_value(session)
    return f"\n## {clock} — {label} (session:: {full}) (at:: {format_instant(at)})\n\n"


def _line(entry: Entry, *, at: bool) -> str:
    written = daylog_text.encode(entry.text)
    tags = entry.tags
    spelled = bool(tags) and (written[-1] == "`" or not all(map(daylog_text.is_tag, tags)))
    if tags and not spelled:
        written = f"{written} `{' '.join(tags)}`"
    elif written[-1] in ")`":
        written = daylog_text.guard(written, code=not tags)
    line = f"- [{entry.category}] {written}{write_fields(entry, at=at, tags=spelled)} ^{entry.id}\n"
    return f"{line}  > {daylog_text.encode(entry.evidence)}\n" if entry.evidence else line


class _Draft:
    """An entry being read: its place, its values so far, and the mark of its text if its id is derived from it."""

    __slots__ = ("end", "line", "mark", "offset", "values")

    def __init__(self, values: dict[str, Any], mark: str, *, line: int, offset: int) -> None:
        self.values = values
        self.line = line
        self.offset = offset
        self.end = offset
        self.mark = mark


class _Reader:
    """The state of one parse: the heading in force, the place, and what was found."""

    def __init__(self, day: str, calendar: Calendar, *, context: Context) -> None:
        self.day = day
        self.calendar = calendar
        self.begins = calendar.start(day)
        self.session, self.at = context.session, context.at
        self.line, self.offset = context.line, context.offset
        self.seen = dict(context.seen)
        self.drafts: list[_Draft] = []
        self.unparsed: list[tuple[int, str]] = []

    def context(self) -> Context:
        """Return what a parse of the next line must know."""
        return Context(
            session=self.session, at=self.at, line=self.line, offset=self.offset, seen=dict(self.seen)
        )

    def context_before(self, draft: _Draft) -> Context:
        """Return what a parse that begins with `draft`, the last one, must know."""
        seen = dict(self.seen)
        if draft.mark:
            seen[draft.mark] -= 1
        return Context(session=self.session, at=self.at, line=draft.line - 1, offset=draft.offset, seen=seen)

    def read(self, line: str, newline: int) -> None:
        """Take one line, of which `newline` (0 or 1) bytes of line end were cut."""
        offset = self.offset
        self.line += 1
        self.offset += _size(line) + newline
        if line[-1:] == "\r":
            line = line[:-1]
        if not line or line.isspace():
            return
        if not line.isascii() and _UNREADABLE.search(line):
            line = _UNREADABLE.sub("\ufffd", line)
        if line[0] == "#":
            if self.is_heading(line):
                return
        elif (bullet := _BULLET.fullmatch(line)) is not None:
            draft = self.draft(bullet, offset)
            if draft is not None:
                draft.end = self.offset
                self.drafts.append(draft)
                return
        elif self.drafts and self.drafts[-1].end == offset and (quote := _QUOTE.fullmatch(line)):
            draft = self.drafts[-1]
            words = daylog_text.decode(quote[1].rstrip(" \t"))
            before = draft.values.get("evidence")
            draft.values["evidence"] = f"{before}\n{words}" if before else words
            draft.end = self.offset
            return
        self.unparsed.append((self.line, line))

    def is_heading(self, line: str) -> bool:
        """Take a heading: remember what it says, and tell whether it is one of a daily log's."""
        if (own := _OWN_HEADING.fullmatch(line)) is not None:
            label, session, written = own.groups()
            try:
                self.at = parse_instant(written)
            except UsageError:
                pass  # read as what a person wrote
            else:
                self.session = session or ("" if label == EXPLICIT else label)
                return True
        if line[:3] == "## ":
            title, found = _split(line[3:].strip(" \t"), known_only=False)
            match = _HEADING.fullmatch(title)
            if match is not None:
                label = match[3] or ""
                self.session = str(found.get("session", "" if label == EXPLICIT else label))
                self.at = found.get("at") or self.calendar.moment(self.day, f"{int(match[1]):02d}:{match[2]}")
                return True
        if line.rstrip(" \t") == f"# Daily Log - {self.day}":
            return True
        if _CHAPTER.match(line):
            self.session, self.at = "", None  # another chapter: what follows was not said in the last session
        return False

    def draft(self, bullet: re.Match[str], offset: int) -> _Draft | None:
        """Return the entry of a bullet, or None when it holds no text."""
        name, rest = bullet.groups()
        category = _category(name) if name else ""
        if name and not category:
            rest = bullet.string[bullet.start(1) - 1 :]
        rest = rest.rstrip(" \t")
        marked = rest[-_ID_BYTES : -_ID_BYTES + 2] == " ^" and is_id(rest[-16:])
        own = rest[-16:] if marked else ""
        rest, values = _split(rest[:-_ID_BYTES].rstrip(" \t") if marked else rest, known_only=not marked)
        if "tags" not in values and rest[-1:] == "`" and (tags := daylog_text.trailing_tags(rest)):
            rest, values["tags"] = rest[: tags[0]].rstrip(" \t"), tags[1]
        elif rest[-1:] in ")`":
            rest = daylog_text.unguard(rest, code="tags" not in values)
        if not rest or (not category and not rest.strip("-*+_ \t")):
            return None
        text = daylog_text.decode(rest)
        mark = "" if own else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        values["id"] = own or self.derived_id(text, mark)
        values["text"] = text
        values["day"] = self.day
        values["category"] = category or "fact"
        if "at" not in values:
            values["at"] = self.at or self.begins
        if "session" not in values:
            values["session"] = self.session
        return _Draft(values, mark, line=self.line, offset=offset)

    def derived_id(self, text: str, mark: str) -> str:
        """Return the id of a text without one: of its day, its words and how often they stood before."""
        count = self.seen[mark] = self.seen.get(mark, 0) + 1
        return sha256(f"{self.day}\0{text}\0{count}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _split(line: str, *, known_only: bool) -> tuple[str, dict[str, Any]]:
    """Return `line` without the fields at its end, and the values of those we know.

    `known_only`: a field that is unknown, doubled or without a valid value is text that a person wrote. On a
    line of our own it was written by a newer version, and is passed over.
    """
    values: dict[str, Any] = {}
    for _ in range(_MOST_FIELDS):
        found = daylog_text.trailing_field(line)
        if found is None:
            break
        begin, written = found
        attribute, value = _field(written) if len(written) <= _SHORT else _read(written)
        if attribute and attribute not in values:
            values[attribute] = value
        elif known_only:
            break
        line = line[:begin].rstrip(" \t")
    return line, values


def _read(written: str) -> tuple[str, Any]:
    """Return the attribute and the value of the field `name:: value`; no attribute for one unknown or refused."""
    name, _, value = written.partition(":: ")
    field = BY_NAME.get(name)
    if field is not None:
        with suppress(ValueError):
            return field.attribute, field.read(value)
    return "", None


_field = lru_cache(maxsize=2048)(_read)  # most sessions, scores and origins were read a moment ago


@lru_cache(maxsize=1024)
def _category(name: str) -> str:
    """Return the category that stands in brackets, or an empty text when they hold something else."""
    slug = valid_category(name)
    return slug if slug == name.lower() else ""


def _size(line: str) -> int:
    """Return how many bytes of the file `line` was."""
    if line.isascii():
        return len(line)
    try:
        return len(to_bytes(line))
    except UnicodeEncodeError:  # half a surrogate pair that no decoding can give: a text made by hand
        return len(line.encode("utf-8", "surrogatepass"))
