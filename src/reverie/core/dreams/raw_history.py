"""Raw records of the history as work for a dream: pending like entries, by the same outcomes.

Owns the id of a record and which of them wait; promises that every raw record of a closed day comes up until it has an
outcome, in parts as a long entry does, and that one whose turns are not extracted yet is held back and holds the
watermark back; never reads the file.

A raw record repeats turns word for word. What they say was extracted into entries of their own, so a dreamer may
decline any number of them, and no page can cite one. One that was set aside because no extraction could read its turns
has no such entries: it is declined by no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.core.days import Calendar
from reverie.core.dreams.batch import Part, parts_of
from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.records import Entry, History, Outcome
from reverie.core.sessions.active_window import parse_range


@dataclass(frozen=True, slots=True)
class Known:
    """What is asked about records: the outcomes of an id, how far a session is extracted, what is forgotten."""

    outcomes: Callable[[str], list[Outcome]]
    mark: Callable[[str], int]
    masked: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class RawHistory:
    """The parts that wait, in order, and the days of records that are held back."""

    parts: list[Part] = field(default_factory=list)
    held: list[str] = field(default_factory=list)


def record_id(record: History) -> str:
    """Return the id by which outcomes name a record."""
    return derived_id("history", str(record.cursor), record.session, record.turns)


def raw_history(records: Iterable[History], known: Known, *, calendar: Calendar, before: str) -> RawHistory:
    """Return what waits of the raw records of days before `before`."""
    found = RawHistory()
    for record in records:
        day = calendar.day(record.timestamp)
        span = parse_range(record.turns)
        if not record.raw or day >= before or span is None:
            continue
        # Which pieces there are follows from the text as it stands in the file; what is forgotten is left out of each.
        parts = parts_of(_state(record, day))
        settled = {one.part for one in known.outcomes(record_id(record)) if one.outcome != "pending"}
        waiting = [part for part in parts if part.number not in settled]
        if waiting and not record.aside and known.mark(record.session) <= span[1]:
            found.held.append(day)
            continue
        found.parts.extend(
            Part(
                part.state,
                _shown(part.text, known.masked),
                part.number,
                part.of,
                raw="aside" if record.aside else "read",
            )
            for part in waiting
        )
    return found


def pending_days(entries: Mapping[str, int], raw: RawHistory) -> dict[str, int]:
    """Return how many entries and records are pending by day, a record in parts counted once."""
    counted = dict(entries)
    for day in (*{part.id: part.day for part in raw.parts}.values(), *raw.held):
        counted[day] = counted.get(day, 0) + 1
    return dict(sorted(counted.items()))


def failed_slices(records: Iterable[History], known: Known) -> str:
    """Return how many records a model was to condense and did not, and why, in words; empty when all are settled."""
    raw = [one for one in records if one.raw and one.why and not one.aside]
    waiting = [one for one in raw if not known.outcomes(record_id(one))]
    if not waiting:
        return ""
    return f"{len(waiting)} slices of sessions were archived word for word, not condensed: {waiting[-1].why}"


def by_day(parts: Sequence[Part], raw: Sequence[Part]) -> list[Part]:
    """Return entries and raw records together, day by day, the entries of a day first."""
    return sorted((*parts, *raw), key=lambda part: part.day)


def _state(record: History, day: str) -> EntryState:
    """Return a record in the shape of an entry, with the least trust there is: it repeats what anybody said."""
    entry = Entry(
        id=record_id(record),
        text=record.content,
        at=record.timestamp,
        day=day,
        category="episode",
        origin="other",
        status="discussed",
        session=record.session,
        turns=record.turns,
    )
    return EntryState(entry=entry, sig=0.0, confirmed=record.timestamp)


def _shown(text: str, masked: Callable[[str], bool]) -> str:
    """Return a piece without the paragraphs that say something forgotten."""
    return "\n\n".join(one for one in text.split("\n\n") if not masked(one))
