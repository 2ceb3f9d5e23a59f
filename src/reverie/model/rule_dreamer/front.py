"""The front matter of a page that a rule dreamer changed: when it was, until when it holds, what it rests on.

Owns `updated`, `stale_after` and `sources`; promises that a date or a source which a person wrote stays, that
`stale_after` is the first day after today on which a line that holds now ends by its own words, and that every other
byte is as it was; never says what no line and no entry says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.core.entries import OWN
from reverie.core.pages import front_edit
from reverie.core.pages.front_matter import Reference, read
from reverie.core.pages.source import split
from reverie.core.records import Entry
from reverie.core.text.said import said
from reverie.errors import InvalidRecord
from reverie.model.rule_dreamer.lines import PREVIOUSLY

MOST_SOURCES = 20
_ADDRESS = 500  # characters; longer ones would make a front matter that nobody reads

_HOLDS = re.compile(
    rf"^[ \t]*- (?!{PREVIOUSLY}).*\buntil (\d{{4}}-\d{{2}}-\d{{2}})\b.*\[\[archive/", re.MULTILINE
)


def sources_of(entry: Entry) -> list[Reference]:
    """Return the addresses that an entry of somebody else's words names, as sources of the page that cites it."""
    if entry.origin in OWN:
        return []
    named = sorted(one for one in said(f"{entry.text}\n{entry.evidence}").urls if len(one) <= _ADDRESS)
    return [Reference(id=entry.id, resource=one) for one in named]


def ends(text: str, today: str) -> str:
    """Return the day on which the first of the lines that hold now ends by its own words, empty when none does."""
    days = [day for day in _HOLDS.findall(text) if day >= today] if "until " in text else []
    return min(days, default="")


def brought_up(
    text: str, before: str, *, today: str, doubtful: bool, sources: Iterable[Reference] = ()
) -> str:
    """Return a page that was changed from `before`, with what its front matter is to say now, where it has one.

    What cannot be changed safely stays as it is.
    """
    front = split(text).front
    if front is None:
        return text
    try:
        text = front_edit.set_updated(text, today)
        text = front_edit.set_field(text, "review", value="needs-review") if doubtful else text
        return _sourced(_lasting(text, before, today), sources)
    except InvalidRecord:
        return text


def _lasting(text: str, before: str, today: str) -> str:
    """Return the page with the `stale_after` of its lines, unless it has one that no line of it explains."""
    wanted = ends(text, today)
    if not wanted and "stale_after" not in (split(text).front or ""):
        return text
    stands = read(split(text).front).stale_after
    if stands == wanted or (stands and stands not in _HOLDS.findall(before)):
        return text
    if not wanted and stands in _HOLDS.findall(text):
        return text  # its day has come: lint says so
    return front_edit.set_field(text, "stale_after", value=wanted or None)


def _sourced(text: str, sources: Iterable[Reference]) -> str:
    """Return the page with the sources it did not name yet behind those it did."""
    new = list(sources)
    if not new:
        return text
    stand = read(split(text).front).sources
    known = {one.resource for one in stand}
    more = {one.resource: one for one in new if one.resource not in known}
    every = (*stand, *more.values())[: max(MOST_SOURCES, len(stand))]
    return front_edit.set_field(text, "sources", value=every) if len(every) > len(stand) else text
