"""What a drain will write, worked out before it writes.

Owns the validation of queued records and the bytes each day's log gains; promises that the same records give the
same bytes, so that an interrupted drain can be continued; never touches a file.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec

from reverie.core.days import Calendar
from reverie.core.entries import is_id, problem
from reverie.core.fold import FEEDBACK_WORDS, parse_score
from reverie.core.formats import daylog
from reverie.core.records import Entry, Extraction, Feedback, JournalRecord, Remember
from reverie.core.scopes import flaw_of_copy

CHUNK = 1_000  # entries written under one hold of the write lock


class Refused(msgspec.Struct, frozen=True):
    """A record or entry that cannot be stored: the segment (empty: the events), where its line ends, its JSON, why."""

    segment: str
    end: int
    raw: bytes
    reason: str


class Plan(msgspec.Struct):
    """Entries to store in order, feedback to apply, what is refused, and how many ids came again unchanged."""

    entries: list[Entry] = msgspec.field(default_factory=list)
    feedback: list[Feedback] = msgspec.field(default_factory=list)
    refused: list[Refused] = msgspec.field(default_factory=list)
    repeated: int = 0


class Part(msgspec.Struct, frozen=True):
    """What one chunk appends to one day's log: its bytes and where they lie past the day's recorded length."""

    chunk: int
    day: str
    start: int
    data: bytes
    entries: tuple[Entry, ...]

    @property
    def end(self) -> int:
        """The byte just past the part, counted from the recorded length."""
        return self.start + len(self.data)


def make_plan(
    queued: Iterable[tuple[str, int, JournalRecord]],
    stored: Sequence[Entry],
    *,
    logged: Mapping[str, str],
    members: Container[str] = (),
) -> Plan:
    """Return the plan for `queued` records `(segment, end, record)` and for promises already `stored` as events.

    `logged` are the ids among them whose lines stood in the logs before this drain, with the lines' texts: a record
    queued once more after it was drained (a restored backup, a copy that a synchronising program made) adds nothing.
    `members` are the workspaces whose copies are stored here.
    """
    plan = Plan()
    seen: dict[str, Entry] = {}
    judged: set[str] = set()
    for entry in stored:
        if reason := problem(entry):
            plan.refused.append(Refused("", 0, msgspec.json.encode(entry), reason))
        elif entry.id not in logged and entry.id not in seen:
            seen[entry.id] = entry
            plan.entries.append(entry)
    for segment, end, record in queued:
        if isinstance(record, Feedback):
            _plan_feedback(plan, judged, segment, end, record)
            continue
        for entry in entries_of(record):
            reason = problem(entry) or flaw_of_copy(entry, members)
            taken = seen[entry.id].text if entry.id in seen else logged.get(entry.id)
            if not reason and taken is not None:
                if taken == entry.text:
                    plan.repeated += 1
                    continue
                reason = f"id {entry.id} is already taken by another text: use another idempotency key"
            if reason:
                plan.refused.append(Refused(segment, end, msgspec.json.encode(entry), reason))
            else:
                seen[entry.id] = entry
                plan.entries.append(entry)
    return plan


def entries_of(record: JournalRecord) -> tuple[Entry, ...]:
    """Return the entries a journal record brings."""
    if isinstance(record, Remember):
        return (record.entry,)
    return record.entries if isinstance(record, Extraction) else ()


def _plan_feedback(plan: Plan, judged: set[str], segment: str, end: int, record: Feedback) -> None:
    """Add feedback to the plan, or refuse it."""
    if record.id in judged:
        plan.repeated += 1
    elif not is_id(record.entry) or (
        record.value not in FEEDBACK_WORDS and parse_score(record.value) is None
    ):
        reason = f"feedback {record.value[:40]!r} is neither one of {', '.join(FEEDBACK_WORDS)} nor a number 0 to 1"
        plan.refused.append(Refused(segment, end, msgspec.json.encode(record), reason))
    else:
        judged.add(record.id)
        plan.feedback.append(record)


def lay_out(entries: Sequence[Entry], calendar: Calendar, *, new: Container[str]) -> dict[str, list[Part]]:
    """Return the parts of each day's log, in the order they are written.

    `new` are the days that have no log yet: theirs begins with its title.
    """
    parts: dict[str, list[Part]] = {}
    for chunk, first in enumerate(range(0, len(entries), CHUNK)):
        days: dict[str, list[Entry]] = {}
        for entry in entries[first : first + CHUNK]:
            days.setdefault(entry.day, []).append(entry)
        for day, of_day in days.items():
            before = parts.setdefault(day, [])
            text = daylog.render(of_day, calendar, first=day in new and not before, day=day)
            data = text.encode()
            before.append(Part(chunk, day, before[-1].end if before else 0, data, tuple(of_day)))
    return parts
