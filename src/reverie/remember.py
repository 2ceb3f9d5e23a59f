"""Step 2: an explicit write, answered with its id once it is on disk.

In: a text and what the writer says about it, or a judgement on an entry. Out: a journal record for the drain; promises,
pins, corrections and completions go straight into the events, so that they hold from the moment the call returns,
whatever the journal or the drain does.

What survives a crash here: what was acknowledged, exactly once. Each call is one append, or puts one file in the place
of another, so there is no half of it. A keyed call repeated after a crash finds its id taken and changes nothing.

Next: `extract` for what was not said outright, `drain` for the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NoReturn

import msgspec

from reverie import layout
from reverie.core.categories import category, hint
from reverie.core.days import WHEN_FORMS, format_instant, is_when, when_bounds
from reverie.core.due import Due
from reverie.core.due_every import canonical, first, following, is_every, past, resolved, zoneless
from reverie.core.entries import OWN, backwards, derived_id, notable, oversized, problem
from reverie.core.fold import FEEDBACK_WORDS, EntryState, parse_score, undone
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.records import Draft, Entry, Event, Feedback, Origin, Remember
from reverie.core.sessions.intake import mistyped, must_be
from reverie.errors import Busy, Conflict, DamagedFile, DrainFailed, InvalidRecord, UnsafePath, UsageError
from reverie.later import later
from reverie.store import journal, kept_out, notes, quarantine, stream
from reverie.store.workspace import Workspace

if TYPE_CHECKING:
    from reverie.model.rules import when_said as words
else:
    words = later("reverie.model.rules.when_said")

APART = 0.1  # an outside judge who differs by more says why

# What may keep the queue and the drain from being put in order, and no promise from being stored.
UNFINISHED = (DrainFailed, DamagedFile, UnsafePath, Busy)

Known = Callable[[str], Entry | None]  # an entry by its full id, wherever it stands


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """The entry's id, whether it waits for the drain, and why nothing was stored when nothing was.

    `repeated`: the idempotency key had stored the same text before; `asked`: it resembles something forgotten, so that
    it is hidden until a person says what is meant; `hint`: a category that may be a slip; `redacted`: the kinds of
    secrets taken out; `when`: the time at which a promise is due.
    """

    id: str = ""
    queued: bool = False
    repeated: bool = False
    asked: bool = False
    refused: str = ""
    hint: str = ""
    redacted: tuple[str, ...] = ()
    when: str = ""
    due: Due = Due()


def remember(ws: Workspace, text: str, draft: Draft, *, known: Known) -> Remembered:
    """Store `text` as an entry and return its id once it is on disk.

    A promise (category commitment, or with `due`) and a pin are stored at once; everything else waits for the drain and
    is found by recall meanwhile. Raises InvalidRecord (the text is set aside), Conflict, StoreUnwritable, Busy.
    """
    if not ws.settings.enabled:
        return Remembered(refused="memory is switched off for this workspace (`enabled = false`)")
    if reason := mistyped(draft) or oversized(draft):
        raise InvalidRecord(reason)
    entry = entry_of(ws, text, draft)
    if draft.pin:
        must_be_pinnable(entry)
    if topic := excluded_by(entry.text, ws.settings.exclusions):
        kept_out.excluded(ws)
        return Remembered(refused=f"the topic {topic!r} is excluded")
    if reason := _zoneless(ws, draft.due, entry.due) or problem(entry) or backwards(entry, ws.calendar):
        _refuse(ws, entry, reason)
    done = _store_once(ws, entry, draft, known=known) if draft.key else _store(ws, entry, draft)
    if done.repeated:
        return done
    taken = kept_out.taken(ws, entry, (text, draft.evidence, *draft.tags, draft.who, draft.about))
    return msgspec.structs.replace(done, redacted=taken)


def _store_once(ws: Workspace, entry: Entry, draft: Draft, *, known: Known) -> Remembered:
    """Store an entry that a key names, or return that the same was stored before; raises Conflict."""
    # Two callers with one key must not both find the id free.
    with ws.writing("remember"):
        before = known(entry.id)
        if before is None:
            return _store(ws, entry, draft)
        if before.text == entry.text:
            return Remembered(id=entry.id, repeated=True, when=before.due)
        message = f"the key {draft.key!r} already stands for another text, entry {entry.id}: use a new key"
        raise Conflict(message)


def at_once(draft: Draft) -> bool:
    """Whether what a draft says is stored when the call returns, without the queue: a promise or a pin."""
    must_be(draft, Draft)
    return draft.pin or bool(draft.due or draft.every) or category(draft.category).name == "commitment"


def must_be_pinnable(entry: Entry) -> None:
    """Raise UsageError for an entry whose words are neither the user's nor the agent's."""
    if entry.origin not in OWN:  # a web page must not be able to put itself into every context
        raise UsageError(
            f"an entry of origin {entry.origin} cannot be pinned: only what the user or the agent said can;"
            " remember it in your own words"
        )


def entry_of(ws: Workspace, text: str, draft: Draft) -> Entry:
    """Return the entry that `text` and `draft` make, without secrets, on the day it was said."""
    clean = ws.clean
    at = (draft.at or ws.clock()).replace(microsecond=0)
    day, every = ws.calendar.day(at), _every(draft.every)
    due = _when(ws, draft.due, at, last=True) or (first(every, day) if every else "")
    named = "commitment" if due and draft.category == "fact" else draft.category
    return Entry(
        id=derived_id("key", draft.key) if draft.key else ws.new_id(),
        text=clean(text),
        at=at,
        day=day,
        category=category(named).name,
        tags=tuple(clean(tag) for tag in draft.tags),
        sig=draft.stare[0] if draft.sig is None and draft.stare else draft.sig,
        conf=draft.conf,
        who=clean(draft.who),
        about=clean(draft.about),
        since=_when(ws, draft.since, at),
        until=_when(ws, draft.until, at, last=True),
        due=due,
        every=every,
        scope=draft.scope,
        origin=draft.origin,
        status=draft.status,
        stare=draft.stare,
        supersedes=draft.supersedes,
        session=draft.session,
        evidence=clean(draft.evidence),
    )


def _every(said: str) -> str:
    """Return how often in the stored form; what is no repetition as it is, to be refused with its text kept."""
    try:
        return canonical(said) if said else ""
    except UsageError:
        return said


def _when(ws: Workspace, said: str, at: datetime, *, last: bool = False) -> str:
    """Return a time in the stored form, also one in words that were said at `at`; what is none as it is."""
    when = resolved(said, ws.calendar)
    if not when or is_when(when):
        return when
    return words.when_said(when, at, calendar=ws.calendar, last=last) or when


def _zoneless(ws: Workspace, said: str, stored: str) -> str:
    """Return why a time of day that was said without a zone is not taken, or nothing."""
    return "" if ws.settings.zone_said else zoneless(said, stored, calendar=ws.calendar)


def _store(ws: Workspace, entry: Entry, draft: Draft) -> Remembered:
    """Write the one record that stores `entry`."""
    # Only now: a keyed call that is repeated later is none that is new.
    if reason := past(entry.due, entry.at, calendar=ws.calendar):
        _refuse(ws, entry, reason)
    at, due = ws.clock(), Due(publish=notable(entry) or draft.pin)
    if not (draft.pin or entry.due or entry.category == "commitment"):
        record = Remember(
            id=ws.new_id(), at=at, entry=entry, key=derived_id("key", draft.key) if draft.key else ""
        )
        journal.append(ws, record)
        return Remembered(id=entry.id, queued=True, hint=hint(entry.category), due=due | Due(drain=True))
    kind = "pin" if draft.pin else "commitment"
    stored = Event(id=ws.new_id(), at=at, kind=kind, entry=entry.id, body=entry, by=draft.origin)
    stream.append(ws, layout.EVENTS, stored)
    return Remembered(id=entry.id, hint=hint(entry.category), when=entry.due, due=due | Due(drain=True))


def _refuse(ws: Workspace, entry: Entry, reason: str) -> NoReturn:
    """Keep an entry that cannot be stored, if it says anything, and raise InvalidRecord."""
    if entry.text.strip():
        quarantine.set_aside(ws, [stream.Damaged("remember", 0, quarantine.legible(entry), reason)])
    raise InvalidRecord(reason)


def happen(
    ws: Workspace, kind: str, entry: str, *, when: str = "", why: str = "", by: Origin = "user"
) -> Event:
    """Record that `kind` happened to `entry`, and return the event once it is on disk."""
    said = ws.clean(why)
    record = Event(id=ws.new_id(), at=ws.clock(), kind=kind, entry=entry, when=when, why=said, by=by)
    stream.append(ws, layout.EVENTS, record)
    return record


def settle(ws: Workspace, state: EntryState, *, cancelled: bool = False, until: str = "") -> Event | None:
    """Record that a promise was kept, no longer holds, or is due `until` then; None when it was kept already.

    One that comes again is then due at its next time that is not over; each time is kept once. Raises UsageError for
    what is no promise, for a time that is none or past, and for `cancelled` beside `until`.
    """
    entry, now = state.entry, ws.clock()
    if cancelled and until:
        raise UsageError("cancelled and until exclude each other: choose one")
    if not (entry.category == "commitment" or state.due):
        message = f"entry {entry.id} is no promise: `reverie due` lists those there are"
        raise UsageError(message)
    if until:
        when = _when(ws, until, now, last=True)
        none = "" if is_when(when) else f"{until[:40]!r} is no date or time: {WHEN_FORMS}"
        wrong = none or _zoneless(ws, until, when) or past(when, now, calendar=ws.calendar)
        if wrong:
            message = f"it cannot be put off: {wrong}"
            raise UsageError(message)
        return happen(ws, "reschedule", entry.id, when=when)
    if cancelled:
        return None if state.cancelled else happen(ws, "cancel", entry.id)
    if state.done or (state.kept and now <= when_bounds(state.kept, ws.calendar)[1]):
        return None
    if not (is_every(entry.every) and is_when(state.due)):
        return happen(ws, "complete", entry.id)
    again = following(entry.every, state.due, begun=entry.due, now=now, calendar=ws.calendar)
    return happen(ws, "complete", entry.id, when=again)


def judge(ws: Workspace, state: EntryState, value: float, *, why: str = "", by: Origin = "other") -> Event:
    """Record an outside judge's significance, 0 to 1, beside the writer's own.

    One that differs from the writer's by more than APART says why. Raises UsageError.
    """
    score = parse_score(str(value))
    if score is None:
        message = f"{value} is no significance: give a number from 0 to 1"
        raise UsageError(message)
    own = state.entry.sig
    if own is not None and abs(own - score) > APART and not why.strip():
        message = f"the writer's own significance is {own:g}: say why it should be {score:g}"
        raise UsageError(message)
    record = Event(
        id=ws.new_id(),
        at=ws.clock(),
        kind="judge",
        entry=state.entry.id,
        value=f"{score:g}",
        why=ws.clean(why),
        by=by,
    )
    stream.append(ws, layout.EVENTS, record)
    return record


def take_back(ws: Workspace, event: Event, on_entry: Iterable[Event], *, why: str = "") -> Event:
    """Record that `event` is undone, and return the undoing; raises UsageError when it is undone already.

    `on_entry` are all events on the entry that it happened to.
    """
    if event.id in undone(on_entry):
        message = f"the {event.kind} {event.id} was taken back already"
        raise UsageError(message)
    record = Event(
        id=ws.new_id(),
        at=ws.clock(),
        kind="undo",
        entry=event.entry,
        other=event.other,
        of=event.id,
        why=ws.clean(why),
        by="user",
    )
    stream.append(ws, layout.EVENTS, record)
    return record


def feedback(ws: Workspace, entry: str, value: str, *, why: str = "", by: Origin = "agent") -> str:
    """Queue a judgement on `entry` and return the record's id; the next drain applies it, once.

    `value` is helpful, wrong, outdated, more, less, or a number from 0 to 1. Raises UsageError for another.
    """
    if value not in FEEDBACK_WORDS and parse_score(value) is None:
        message = f"{value!r} is no feedback: use {', '.join(FEEDBACK_WORDS)}, or a number from 0 to 1"
        raise UsageError(message)
    record = Feedback(id=ws.new_id(), at=ws.clock(), entry=entry, value=value, why=ws.clean(why), by=by)
    journal.append(ws, record)
    return record.id


def correct(
    ws: Workspace, old: Entry, text: str, *, why: Literal["change", "mistake"], origin: Origin
) -> Remembered:
    """Store `text` in place of `old`: it changed, or it was a mistake and never true.

    One event holds the new entry and the link, so neither can be there without the other.
    """
    draft = Draft(
        category=old.category,
        tags=old.tags,
        sig=old.sig,
        about=old.about,
        who=old.who,
        due=old.due,
        every=old.every,
        scope=old.scope,
        origin=origin,
    )
    new = msgspec.structs.replace(entry_of(ws, text, draft), supersedes=(old.id,))
    if reason := problem(new):
        _refuse(ws, new, reason)
    kind = "supersede" if why == "change" else "correct"
    record = Event(
        id=ws.new_id(),
        at=ws.clock(),
        kind=kind,
        entry=new.id,
        other=old.id,
        when=new.since or format_instant(new.at),  # until then the old one held
        body=new,
        by=origin,
        why=why,
    )
    stream.append(ws, layout.EVENTS, record)
    taken = kept_out.taken(ws, new, (text, *old.tags, old.who, old.about))
    return Remembered(id=new.id, redacted=taken, when=new.due, due=Due(publish=True, drain=True))


def note(ws: Workspace, text: str, *, at: datetime | None = None) -> str:
    """Append `text` to the agent's own note of the day and return the note's path; extraction reads it later."""
    moment = at or ws.clock()
    kept = ws.clean(text)
    if not kept.strip():
        message = "the note is empty: say what is to be noted"
        raise UsageError(message)
    return notes.add(ws, ws.calendar.day(moment), kept)
