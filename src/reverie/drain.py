"""Step 4: the journal becomes daily logs, each record exactly once.

In: journal segments, and promises stored straight into the events. Out: lines in `archive/YYYY-MM-DD.md`, applied
feedback, an archived journal. No model, no index, no git; nothing is compared but ids and the texts under one id.

The order of a drain, under the write lock, which is released between chunks:

1. segments are claimed by rename into `.journal/draining`
2. an intent is synced: the segments, and the length of each log and of the events
3. refused records are kept in quarantine
4. entries are appended to their days' logs, a chunk at a time, synced
5. feedback is appended as events, synced
6. the position in the events is saved
7. the segments move to the archive
8. the intent is removed

What a crash leaves: before 2, claimed segments, which the next drain takes first. Between 2 and 7, an intent: the
next drain lays out the same bytes again and writes those that are missing past the recorded lengths. After 7 began,
an intent whose segments are partly in the archive: everything was written, so the rest is moved and the intent
removed. An intent whose segments are nowhere is no promise that anything was written: it is dropped, and what is
still queued is drained again. Two drains at once take turns at chunks; each sees by the lengths of the logs what the
other wrote.

A record queued a second time after it was drained is known by its id: it is looked for in the last REACH bytes of its
day's log, and feedback in the last REACH bytes of the events.

Next: `compact` for long sessions, `dream` for closed days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from reverie import layout
from reverie.core.due import Due
from reverie.core.entries import notable
from reverie.core.formats.drain_plan import Part, Plan, entries_of, lay_out, make_plan
from reverie.core.records import Entry, Event, Feedback, JournalRecord
from reverie.core.text.names import is_day
from reverie.errors import Busy, DamagedFile, DrainFailed, NewerFormat, StoreUnwritable, UnsafePath
from reverie.store import counters, daylog, intents, journal, quarantine, stream, subscriptions
from reverie.store.counters import DrainCounters
from reverie.store.intents import DrainIntent
from reverie.store.workspace import Workspace

REACH = 16_000_000  # bytes; a whole day of a busy agent is a few hundred thousand


class Drained(msgspec.Struct, frozen=True, kw_only=True):
    """What a drain did: entries stored, feedback applied, records refused, ids met again, and what became due.

    `problems` are those that do not touch what was queued.
    """

    stored: int = 0
    feedback: int = 0
    refused: int = 0
    repeated: int = 0
    problems: tuple[str, ...] = ()
    due: Due = Due()

    def __add__(self, other: Drained) -> Drained:
        """Return both together."""
        return Drained(
            stored=self.stored + other.stored,
            feedback=self.feedback + other.feedback,
            refused=self.refused + other.refused,
            repeated=self.repeated + other.repeated,
            problems=self.problems + other.problems,
            due=self.due | other.due,
        )


class _Batch(msgspec.Struct):
    """One claim worked out: what will be written, and what the files must look like for that to hold."""

    segments: tuple[str, ...]
    plan: Plan
    parts: dict[str, list[Part]]
    damaged: list[stream.Damaged]
    lengths: dict[str, int]
    stored_from: int
    stored_to: int
    intent: DrainIntent | None = None
    resumed: bool = False


def drain(ws: Workspace) -> Drained:
    """Store everything queued, and return what was done; raises DrainFailed with the queue intact."""
    done = Drained()
    try:
        while (part := _drain_batch(ws)) is not None:
            done += part
    except (StoreUnwritable, UnsafePath, DamagedFile, NewerFormat, Busy) as error:
        message = f"the drain failed and the queue is intact: {error}"
        raise DrainFailed(message) from error
    try:
        with ws.writing("drain"):
            journal.compress_closed_months(ws)
    except (StoreUnwritable, UnsafePath, Busy) as error:
        # Everything is stored; saying that it failed would be a lie, and the next drain compresses as well.
        return done + Drained(problems=(f"a closed month of the journal was not compressed: {error}",))
    return done


def finish(ws: Workspace) -> Drained:
    """Finish a drain that was interrupted after its intent was synced; nothing happens when none was."""
    try:
        interrupted = ws.disk.size(layout.DRAIN_INTENT) is not None
    except UnsafePath as error:
        message = f"the drain failed and the queue is intact: {error}"
        raise DrainFailed(message) from error
    return drain(ws) if interrupted else Drained()


def _drain_batch(ws: Workspace) -> Drained | None:
    """Drain one claim, whose records are let go before the next is read; None when nothing is queued."""
    batch = _next_batch(ws)
    return None if batch is None else _write(ws, batch)


def _next_batch(ws: Workspace) -> _Batch | None:
    """Claim segments, or take up an interrupted drain, and work out what it writes; None when nothing is queued."""
    with ws.writing("drain"):
        intent = intents.read(ws, layout.DRAIN_INTENT, DrainIntent)
        present = tuple(journal.claim(ws))
        if intent is not None and (gone := set(intent.segments) - set(present)):
            if all(journal.is_archived(ws, name) for name in gone):
                _retire(ws, intent)
            else:
                intents.remove(ws, layout.DRAIN_INTENT)
            return _Batch((), Plan(), {}, [], {}, 0, 0)
        stored_from = _position(ws) if intent is None else intent.stored_from
    batch = _work_out(ws, present if intent is None else intent.segments, stored_from, intent)
    return batch if batch.segments or batch.stored_to > batch.stored_from or intent is not None else None


def _position(ws: Workspace) -> int:
    """Return the byte of the events from which promises have no line yet; 0 where no line of theirs begins there."""
    saved = counters.read(ws, DrainCounters).events
    if saved <= 0:
        return 0
    before = ws.disk.read_from(layout.EVENTS, saved - 1)
    return saved if before.startswith(b"\n") else 0


def _work_out(
    ws: Workspace, segments: tuple[str, ...], stored_from: int, intent: DrainIntent | None
) -> _Batch:
    """Read the claimed segments, which nobody changes any more, and lay out what each log gains."""
    queued: list[tuple[str, int, JournalRecord]] = []
    damaged: list[stream.Damaged] = []
    for name in segments:
        read: stream.Read[JournalRecord] = stream.read(ws, f"{layout.DRAINING}/{name}", JournalRecord)
        damaged += read.damaged
        queued += [(name, end, record) for end, record in read.values]
    events: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event, start=stored_from)
    # Up to the last whole line only: what a writer is about to finish, or to take back, belongs to the next drain.
    stored_to = events.end if intent is None else intent.stored_to
    bodies = [event.body for end, event in events.values if event.body is not None and end <= stored_to]
    before = intent.days if intent is not None else {}
    logged = _logged(ws, queued, bodies, before)
    plan = make_plan(queued, bodies, logged=logged, members=subscriptions.members(ws))
    lengths = {day: before.get(day, daylog.length(ws, day)) for day in {entry.day for entry in plan.entries}}
    new = {day for day, length in lengths.items() if length == 0}
    parts = lay_out(plan.entries, ws.calendar, new=new)
    resumed = intent is not None
    return _Batch(segments, plan, parts, damaged, lengths, stored_from, stored_to, intent, resumed=resumed)


def _logged(
    ws: Workspace,
    queued: Sequence[tuple[str, int, JournalRecord]],
    stored: Sequence[Entry],
    before: Mapping[str, int],
) -> dict[str, str]:
    """Return the ids that stood in the logs before this drain began, with their texts.

    `before` are the logs' recorded lengths: what lies past them an interrupted run of this drain wrote.
    """
    days: dict[str, set[str]] = {}
    promised: dict[str, set[str]] = {}
    for entry in stored:
        promised.setdefault(entry.day, set()).add(entry.id)
    for _, _, record in queued:
        for entry in entries_of(record):
            days.setdefault(entry.day, set()).add(entry.id)
    found: dict[str, str] = {}
    for wanted, reach in ((promised, None), (days, REACH)):
        for day, ids in wanted.items():
            if is_day(day):
                found |= daylog.standing(ws, day, ids=ids, length=before.get(day), reach=reach)
    return found


def _write(ws: Workspace, batch: _Batch) -> Drained:
    """Carry out steps 2 to 8 for `batch`; when another drain was there first, nothing more than it left undone."""
    if not batch.segments and batch.stored_to <= batch.stored_from:
        return Drained()
    written = Drained()
    chunk, begun = 0, False
    chunks = max((part.chunk for parts in batch.parts.values() for part in parts), default=-1) + 1
    while chunk <= chunks:
        with ws.writing("drain"):
            if not begun:
                if not _begin(ws, batch):
                    return written
                begun = True
            elif not _still_ours(ws, batch):
                return written
            if chunk < chunks:
                written += _append_chunk(ws, batch, chunk)
            else:
                written += _close(ws, batch)
        chunk += 1
    return written


def _begin(ws: Workspace, batch: _Batch) -> bool:
    """Sync the intent, or confirm the one found, and set refused records aside; False when the files moved on."""
    found = intents.read(ws, layout.DRAIN_INTENT, DrainIntent)
    if (found and found.id) != (batch.intent and batch.intent.id):
        return False
    if found is None:
        lengths = {day: daylog.length(ws, day) for day in batch.lengths}
        position = _position(ws)
        claimed = set(ws.disk.list(layout.DRAINING))
        if (
            lengths != batch.lengths
            or position != batch.stored_from
            or not claimed.issuperset(batch.segments)
        ):
            return False
        batch.intent = DrainIntent(
            id=ws.new_id(),
            at=ws.clock(),
            segments=batch.segments,
            days=batch.lengths,
            events=ws.disk.size(layout.EVENTS) or 0,
            stored_from=batch.stored_from,
            stored_to=batch.stored_to,
        )
        intents.write(ws, layout.DRAIN_INTENT, batch.intent)
    refused = [
        stream.Damaged(
            f"{layout.DRAINING}/{item.segment}" if item.segment else layout.EVENTS,
            item.end,
            item.raw,
            item.reason,
        )
        for item in batch.plan.refused
    ]
    quarantine.set_aside(ws, batch.damaged + refused)
    return True


def _still_ours(ws: Workspace, batch: _Batch) -> bool:
    """Whether the intent on disk is the one this batch carries out: another drain may have finished it."""
    found = intents.read(ws, layout.DRAIN_INTENT, DrainIntent)
    return found is not None and batch.intent is not None and found.id == batch.intent.id


def _append_chunk(ws: Workspace, batch: _Batch, chunk: int) -> Drained:
    """Append what is missing of one chunk to its days' logs, and return what that stored."""
    stored, due = 0, Due()
    for day, parts in batch.parts.items():
        for part in parts:
            if part.chunk == chunk:
                since = batch.lengths[day]
                entries = None if batch.resumed else daylog.append_part(ws, part, since=since)
                if entries is None:
                    entries = daylog.complete_part(ws, part, parts=parts, since=since)
                stored += len(entries)
                if any(notable(entry) for entry in entries):
                    due |= Due(publish=True)
    return Drained(stored=stored, due=due | Due(digest=stored > 0))


def _close(ws: Workspace, batch: _Batch) -> Drained:
    """Apply feedback, save the position, archive the segments and drop the intent."""
    intent = batch.intent
    if intent is None:
        return Drained()
    for day, parts in batch.parts.items():
        # An editor may have saved over the last chunk; once the segments are in the archive nobody looks again.
        if daylog.length(ws, day) != batch.lengths[day] + parts[-1].end:
            daylog.complete_part(ws, parts[-1], parts=parts, since=batch.lengths[day])
    fresh = _fresh(ws, batch.plan.feedback, intent)
    stream.append_all(
        ws,
        layout.EVENTS,
        [
            Event(
                id=record.id,
                at=record.at,
                kind="feedback",
                entry=record.entry,
                value=record.value,
                why=record.why,
                by=record.by,
            )
            for record in fresh
        ],
    )
    counters.write(ws, DrainCounters(events=intent.stored_to))
    _retire(ws, intent)
    return Drained(
        feedback=len(fresh),
        refused=len(batch.plan.refused) + len(batch.damaged),
        repeated=batch.plan.repeated,
        due=Due(publish=bool(fresh)),
    )


def _fresh(ws: Workspace, feedback: Sequence[Feedback], intent: DrainIntent) -> list[Feedback]:
    """Return the feedback that the events do not hold yet."""
    if not feedback:
        return []
    start = max(0, min(intent.events, (ws.disk.size(layout.EVENTS) or 0) - REACH))
    read: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event, start=start)
    applied = {event.id for event in read.records}
    return [record for record in feedback if record.id not in applied]


def _retire(ws: Workspace, intent: DrainIntent) -> None:
    """Move the intent's segments to the archive, then remove the intent: this order, so that none is lost."""
    journal.retire(ws, list(intent.segments))
    intents.remove(ws, layout.DRAIN_INTENT)
