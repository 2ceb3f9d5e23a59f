"""What makes an entry valid, and the ids entries get.

Owns the checks every entry passes before it is stored, whoever wrote it; promises that the reason for a refusal
says what to change; never touches a file.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from reverie.core.days import WHEN_FORMS, Calendar, ends_before, is_when
from reverie.core.due_every import can_recur, is_every
from reverie.core.formats.daylog_fields import flaw
from reverie.core.limits import LONGEST, too_long, too_many
from reverie.core.records import Draft, Entry, Origin
from reverie.core.text.names import is_day, valid_category

MAX_TEXT = LONGEST["text"]  # characters; a longer text is a document, which belongs in a file or a page
OWN: frozenset[Origin] = frozenset({"user", "agent"})  # stated by themselves, not read out to them
NOTABLE = 0.70  # a memory at or above it makes MEMORY.md due at once

FIRST_DAY, LAST_DAY = "1970-01-01", "2199-12-31"  # outside lies no day on which anything was said

_ID = re.compile(r"[0-9a-f]{16}")
_HALF = re.compile(r"[\ud800-\udfff]")


def derived_id(*parts: str) -> str:
    """Return 16 hex digits of the SHA-256 of `parts`: the same parts give the same id."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_id(text: str) -> bool:
    """Whether `text` is an id: 16 lower-case hex digits."""
    return _ID.fullmatch(text) is not None


def readable(entry: Entry) -> Entry:
    """Return `entry` with U+FFFD for each half of a surrogate pair, as a hand-written `&#xD800;` is one.

    A log may say so; no database and no JSON can.
    """
    return msgspec.structs.replace(
        entry,
        text=without_halves(entry.text),
        evidence=without_halves(entry.evidence),
        session=without_halves(entry.session),
        about=without_halves(entry.about),
        who=without_halves(entry.who),
        tags=tuple(map(without_halves, entry.tags)),
    )


def without_halves(text: str) -> str:
    """Return `text` with U+FFFD for each half of a surrogate pair."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def problem(entry: Entry) -> str:
    """Return why `entry` cannot be stored, as a sentence that says what to change; empty when it can."""
    if not is_id(entry.id):
        return f"id {entry.id[:40]!r} is not 16 lower-case hex digits"
    if not (entry.text.isascii() and entry.evidence.isascii()) and _HALF.search(entry.text + entry.evidence):
        return "the text holds half a character (a lone surrogate): send valid Unicode"
    if not entry.text.strip():
        return "text is empty: say what is to be remembered"
    if len(entry.text) > MAX_TEXT:
        return f"text has {len(entry.text):,} characters: at most {MAX_TEXT:,} fit; split it or keep it in a file"
    if not is_day(entry.day):
        return f"day {entry.day[:40]!r} is not YYYY-MM-DD"
    # A note may be written for a day to come. By the entry's own instant, not by the clock of whoever checks: one that
    # was set back, or stands at its factory's date, must not put true days aside.
    if not FIRST_DAY <= entry.day <= LAST_DAY or int(entry.day[:4]) > entry.at.year + 1:
        return f"day {entry.day} cannot be: it must lie between {FIRST_DAY} and the end of the year after it was said"
    if valid_category(entry.category) != entry.category:
        return f"category {entry.category[:40]!r} is not a slug; {valid_category(entry.category)!r} would be"
    return _problem_of_sizes(entry) or _problem_of_numbers(entry) or _problem_of_times(entry) or flaw(entry)


def backwards(entry: Entry, calendar: Calendar) -> str:
    """Return why `entry` cannot be true from and until when it says, or nothing.

    Whoever makes an entry asks, and `problem` does not: what stands in a journal or a log already is read as it is.
    """
    if not ends_before(entry.until, entry.since, calendar=calendar):
        return ""
    return f"until {entry.until} lies before from {entry.since}: exchange the two, or give one of them only"


def oversized(draft: Draft) -> str:
    """Return which part of `draft` that makes the entry's own parts is too long, or nothing."""
    when = ("since", "until", "due", "every")
    return too_long(
        [
            ("category", draft.category),
            ("key", draft.key),
            *(("when", getattr(draft, name)) for name in when),
        ]
    )


def _problem_of_sizes(entry: Entry) -> str:
    """Return what of `entry` is too long, or nothing."""
    parts = (
        ("evidence", entry.evidence),
        ("session", entry.session),
        ("who", entry.who),
        ("about", entry.about),
        *(("tag", tag) for tag in entry.tags),
        *(("id", one) for one in entry.supersedes),
    )
    return (
        too_many("tags", len(entry.tags)) or too_many("supersedes", len(entry.supersedes)) or too_long(parts)
    )


def _problem_of_numbers(entry: Entry) -> str:
    """Return what is wrong with the scores of `entry`, or nothing."""
    if entry.sig is None and entry.conf is None and entry.stare is None:
        return ""
    stare = ((f"stare {n}", score) for n, score in enumerate(entry.stare or ()))
    for name, score in (("sig", entry.sig), ("conf", entry.conf), *stare):
        if score is not None and not 0.0 <= score <= 1.0:
            return f"{name} is {score}: it must lie between 0 and 1"
    return ""


def _problem_of_times(entry: Entry) -> str:
    """Return what is wrong with the times of `entry`, or nothing."""
    for name, when in (("from", entry.since), ("until", entry.until), ("due", entry.due)):
        if when and not is_when(when):
            return f"{name} {when[:40]!r} is no date or time: {WHEN_FORMS}"
    if entry.every and not is_every(entry.every):
        return f"every {entry.every[:40]!r} is no repetition: use day, week, month, year, 2 weeks, or days of the week"
    if entry.every and not can_recur(entry.due):
        return f"every {entry.every} needs a first date or instant in `due`"
    return ""


def notable(entry: Entry) -> bool:
    """Whether storing `entry` makes MEMORY.md due at once: high significance, a deadline or a commitment."""
    return (entry.sig or 0.0) >= NOTABLE or bool(entry.due) or entry.category == "commitment"
