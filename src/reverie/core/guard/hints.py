"""What an agent repeats of its memory, and what a model says a new entry replaces: claims that are checked, not taken.

Owns telling an echo from an observation and turning a model's hint into a question for a person; promises that a hint
alone never replaces anything; never reads or writes an entry elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from reverie.core.days import format_instant
from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.guard.relation import differences, likeness
from reverie.core.records import Entry, Event

_NAMED = 0.75  # likeness of a hint to the statement it names; below it the hint names another, or none


def is_echo(entry: Entry, shown: Iterable[Entry]) -> bool:
    """Whether `entry` only says what the session was shown: an agent that repeats its memory has seen nothing new."""
    return any(_same(entry.text, one.text) for one in shown)


def asked_by(entry: Entry, hint: str, *, others: Iterable[EntryState], at: datetime, by: str) -> Event | None:
    """Return the question whether `entry` replaces the one statement that `hint` names; None when it names none.

    To be asked only where the guard found no relation: both stay, side by side, until a person says.
    """
    named = [one for one in others if one.current and one.entry.id != entry.id and _names(hint, one.entry)]
    if len(named) != 1 or named[0].entry.at > entry.at or _same(entry.text, named[0].entry.text):
        return None
    old = named[0].entry
    return Event(
        id=derived_id("link", "conflict", entry.id, old.id),
        at=at,
        kind="conflict",
        entry=entry.id,
        other=old.id,
        when=format_instant(entry.at),
        why="the model that read it says that it replaces this",
        by=by,
    )


def _names(hint: str, entry: Entry) -> bool:
    return hint == entry.id or likeness(hint, entry.text) >= _NAMED


def _same(one: str, two: str) -> bool:
    return likeness(one, two) == 1.0 and not differences(one, two)
