"""What was promised and is still open, by when it falls due.

Owns the order and the one text form of a promise, which `due`, MEMORY.md and `context` all show; promises that every
open commitment is in exactly one of the four parts; never shows one that was only mentioned (`status:: discussed`).

A promise due on a date, in a month or in a year is overdue once that day, month or year is over in the workspace's
calendar; one due at an instant, from that instant on. It is due today on the last logical day it covers.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from reverie.core.days import Calendar, is_when, parse_instant, when_bounds
from reverie.core.fold import EntryState
from reverie.core.glance.memory_lines import id_code, one_line
from reverie.core.significance import last_day
from reverie.core.text.names import is_day

Part = Literal["overdue", "today", "upcoming", "undated"]

_NEVER = datetime.max.replace(tzinfo=UTC)
_WITHIN_DAY = ("T", "t", " ")  # what stands between the date and the time of an instant


class DueLine(msgspec.Struct, frozen=True):
    """One open promise: where it belongs, the instant by which it is due (the last one for `undated`), as shown."""

    part: Part
    by: datetime
    shown: str
    state: EntryState

    @property
    def line(self) -> str:
        """The promise as ``- overdue 2026-07-03: send the quote (from Agent to Dana) `mem_id: …` ``."""
        entry = self.state.entry
        label = f"{self.part} {self.shown}" if self.shown else "no date"
        again = f", every {one_line(entry.every)}" if entry.every else ""
        who, to = one_line(entry.who), one_line(entry.about)
        named = [f"from {who}" if who else "", f"to {to}" if to and entry.about not in entry.text else ""]
        between = " ".join(filter(None, named))
        return f"- {label}{again}: {one_line(entry.text)}{f' ({between})' if between else ''} {id_code(entry.id)}"


class DueList(msgspec.Struct, frozen=True):
    """The open promises in four parts, each in order of the instant they are due, then of id."""

    overdue: tuple[DueLine, ...] = ()
    today: tuple[DueLine, ...] = ()
    upcoming: tuple[DueLine, ...] = ()
    undated: tuple[DueLine, ...] = ()

    @property
    def lines(self) -> tuple[DueLine, ...]:
        """All of them, the most pressing first."""
        return self.overdue + self.today + self.upcoming + self.undated


def due_lines(states: Iterable[EntryState], now: datetime, *, calendar: Calendar) -> DueList:
    """Return the open commitments among `states` as they stand at `now`."""
    today = calendar.day(now)
    owed = [state for state in states if state.open_commitment and state.entry.status != "discussed"]
    found = [_due_line(state, now, calendar=calendar, today=today) for state in owed]
    found.sort(key=lambda due: (due.by, due.state.entry.id))
    parts: dict[Part, list[DueLine]] = {"overdue": [], "today": [], "upcoming": [], "undated": []}
    for due in found:
        parts[due.part].append(due)
    return DueList(*map(tuple, parts.values()))


def _due_line(state: EntryState, now: datetime, *, calendar: Calendar, today: str) -> DueLine:
    if not is_when(state.due):
        return DueLine("undated", _NEVER, "", state)
    by = when_bounds(state.due, calendar)[1]
    day = last_day(state.due, calendar)
    part: Part = "overdue" if by <= now else "today" if day <= today else "upcoming"
    return DueLine(part, by, shown_when(state.due, calendar), state)


def shown_when(when: str, calendar: Calendar) -> str:
    """Return a `When` as a person reads it: an instant as local date and time, all others as they are."""
    if is_day(when) or not any(mark in when for mark in _WITHIN_DAY):
        return when
    local = calendar.local(parse_instant(when))
    return f"{local:%Y-%m-%d %H:%M}"
