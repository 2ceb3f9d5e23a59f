"""Where the rule dreamer puts an entry: which page, under which heading.

Owns the scheme of pages; promises that the same entry, beside the same pages, always goes to the same place; never
reads or writes a page.

User memory goes to `3_Personal`, one page a category; people to `3_Personal/People/NAME`; projects to
`1_Projects/NAME`; the world's knowledge to `2_Wiki`. A subject gets a page of its own once two entries are about it, or
when a writer named it on purpose: one mention alone stays on the page of its category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reverie.core.categories import category
from reverie.core.records import Entry
from reverie.core.text.names import slug
from reverie.core.text.said import words
from reverie.core.text.tokens import query_terms

FACTS = "Key Facts"

_PERSONAL = {
    "preference": ("Preferences", "What the user prefers, likes and dislikes"),
    "personal": ("Personal", "The user's circumstances, family and home"),
    "work": ("Work", "The user's work"),
    "goal": ("Goals", "What the user wants to reach"),
    "commitment": ("Commitments", "What was promised, and by when"),
    "lesson": ("Lessons", "What was learned"),
    "decision": ("Decisions", "What was decided, and when"),
    "procedure": ("Procedures", "How things are done, step by step"),
}
_DATED = frozenset({"decision", "episode"})
_SECTIONS = {
    "decision": "Decisions",
    "procedure": "Procedures",
    "episode": "Events",
    "commitment": "Commitments",
    "lesson": "Lessons",
}
_ABOUT_USER = re.compile(r"(?:the )?user(?:'s|’s)?\b|用户|i\b|my\b", re.IGNORECASE)
_COMPANY = re.compile(
    r"\b(?:inc|llc|ltd|gmbh|ag|corp|company|logistics|bank|university|museum|airlines?|labs?)\b|公司|银行|大学",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w .'’+#&-]{0,60}")
_NOBODY = frozenset({"", "user", "agent", "the user", "the agent", "用户", "助手"})
_WORLDLY = frozenset({"fact", "technical", "project"})


@dataclass(frozen=True, slots=True)
class Place:
    """A page by its path in the notebook without `.md`, how it is described when it is made, and a heading on it."""

    base: str
    title: str
    kind: str
    description: str
    section: str = FACTS


def is_dated(entry: Entry) -> bool:
    """Tell whether the line of an entry opens with its date."""
    return category(entry.category).name in _DATED


def dated(entry: Entry) -> str:
    """Return the day an entry speaks of: when it was true from, else when it was said."""
    return entry.since[:10] if len(entry.since) >= len("2026-07-01") else entry.day


def subjects(entries: Iterable[Entry]) -> Counter[str]:
    """Return how many of the entries are about each subject, by the base paths of the subjects' pages."""
    places = (subject for entry in entries if (subject := subject_of(entry)) is not None)
    return Counter(place.base for place in places)


def place_of(entry: Entry, counted: Counter[str], *, exists: Callable[[str], bool]) -> Place:
    """Return where an entry goes; `counted` are the subjects of its batch, `exists` tells whether a base has a page."""
    subject = subject_of(entry)
    if subject is not None:
        named = bool(entry.about) and not entry.session
        if named or counted[subject.base] > 1 or exists(subject.base):
            return subject
    return _of_category(entry)


def subject_of(entry: Entry) -> Place | None:
    """Return the page of what an entry is about, None when it is about the user or nothing in particular."""
    if entry.status == "discussed":
        return None
    kind = category(entry.category).name
    about = entry.about.strip()
    if about.casefold() not in _NOBODY and _NAME.fullmatch(about):
        return _of_name(about, kind, entry.text)
    topic = next((tag for tag in entry.tags if _is_topic(tag, entry)), "")
    if kind not in _WORLDLY or not topic or (kind == "fact" and _ABOUT_USER.match(entry.text)):
        return None
    if kind == "project":
        return _subject("1_Projects", topic, "project", kind)
    return _subject("2_Wiki/Concepts", topic, "concept", kind)


def name_bases(name: str) -> tuple[str, ...]:
    """Return the bases of the pages that something called `name` may have."""
    stem = _file_name(name)
    return tuple(
        f"{zone}/{stem}" for zone in ("3_Personal/People", "1_Projects", "2_Wiki/Entities", "2_Wiki/Concepts")
    )


def _of_name(name: str, kind: str, text: str) -> Place:
    if kind in {"project", "technical"}:
        return _subject("1_Projects", name, "project", kind)
    if _COMPANY.search(name) or re.search(rf"{re.escape(name)} {_COMPANY.pattern}", text, re.IGNORECASE):
        return _subject("2_Wiki/Entities", name, "entity", kind)
    return _subject("3_Personal/People", name, "entity", kind)


def _subject(zone: str, name: str, kind: str, of: str) -> Place:
    title = name[:1].upper() + name[1:]
    return Place(
        f"{zone}/{_file_name(name)}", title, kind, f"What is known about {name}", _SECTIONS.get(of, FACTS)
    )


def _of_category(entry: Entry) -> Place:
    known = category(entry.category)
    if entry.status == "discussed":
        return Place(
            "2_Wiki/Literature/Mentioned",
            "Mentioned",
            "literature",
            "What documents, tools and pages said, and nobody confirmed",
        )
    if known.name == "episode":
        month = dated(entry)[:7]
        return Place(
            f"3_Personal/Episodes/{month}",
            f"Episodes {month}",
            "personal",
            f"What happened in {month}",
            "Events",
        )
    if known.name == "fact":
        return _of_fact(entry)
    if known.name == "project":
        return Place(
            "1_Projects/Various", "Various projects", "project", "What is known about projects without a page"
        )
    if known.name == "technical":
        return Place(
            "2_Wiki/Concepts/Technical", "Technical", "concept", "Technical facts without a page of their own"
        )
    title, description = _PERSONAL.get(known.name, (known.section, f"What is filed under {known.name}"))
    return Place(f"3_Personal/{_file_name(title)}", title, "personal", description)


def _of_fact(entry: Entry) -> Place:
    if _ABOUT_USER.match(entry.text) or entry.about.strip().casefold() in _NOBODY - {""}:
        return Place(
            "3_Personal/Facts", "Facts", "personal", "What is known about the user and belongs nowhere else"
        )
    if entry.about:
        return Place("3_Personal/People/Others", "Others", "personal", "People who were mentioned once")
    return Place("2_Wiki/Concepts/Facts", "Facts", "concept", "Facts without a page of their own")


def _is_topic(tag: str, entry: Entry) -> bool:
    """Tell whether a tag names a subject: a word of the text, no path, and no category.

    A tag that is no word of the text is a theme ("money"), and a page of a theme would hold whatever touches it.
    """
    plain = tag != entry.category and "/" not in tag and "." not in tag and bool(query_terms(tag))
    return plain and tag.casefold() in words(entry.text)


def _file_name(title: str) -> str:
    """Return a page's file name: the words of its slug, each with a capital.

    Made from the slug, so that titles which differ only in case or punctuation share a page on every file system.
    """
    return " ".join(_capital(word) for word in slug(title).split("-"))


def _capital(word: str) -> str:
    first = word[:1].upper()
    return first + word[1:] if len(first) == 1 and first.lower() == word[:1] else word
