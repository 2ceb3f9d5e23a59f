"""What all events on an entry amount to: its state.

Owns the kinds of events and their meaning; promises that the same entry and the same events, in any order of
arrival and any grouping, give the same state; never looks at the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from reverie.core.categories import category
from reverie.core.days import Calendar, format_instant, parse_instant, when_bounds
from reverie.core.due_every import can_recur, following, is_every
from reverie.core.records import Entry, Event, Score
from reverie.errors import BadSettings, UsageError

PROTECTED = 0.90  # at or above it an entry neither decays nor leaves MEMORY.md for lack of room
REPEAT_CAP = 0.89  # repeats alone never reach the protected level
REPEAT_STEP = 0.8  # each repeat closes a fifth of the distance to the cap that is left

# kind -> what it does to `entry` (and, for links, to `other`)
KINDS: dict[str, str] = {
    "commitment": "stores a promise at once; the drain writes its line later",
    "pin": "keeps the entry in MEMORY.md and in every context",
    "unpin": "takes a pin back",
    "feedback": "moves the significance, or marks the entry as wrong or outdated",
    "judge": "an outside judge's significance, kept beside the writer's own, with the reason",
    "use": "the entry was used: it breaks ties and moves nothing",
    "hide": "takes the entry out of recall and MEMORY.md, reversibly",
    "unhide": "takes a hide back",
    "forget": "hides the entry and its evidence for good; the tombstone says the rest",
    "restore": "takes a forget back",
    "supersede": "`entry` is true now, `other` was true before",
    "correct": "`entry` is right, `other` never was",
    "repeat": "`entry` says what `other` says: one more observation of it",
    "strengthen": "`entry` nearly repeats `other`, with no difference that matters",
    "conflict": "`entry` and `other` cannot both hold; a person's word is needed",
    "complete": "the commitment is done; one that comes again is due at `when`",
    "cancel": "the commitment no longer holds",
    "reschedule": "the commitment is due at `when`",
    "confirm": "the entry was confirmed; it stops decaying from its old date",
    "undo": "takes the event `of` back",
}

STORING = frozenset(
    {"commitment", "supersede", "correct"}
)  # with a `body`: undone, they hide what they stored

_UTC = Calendar()
_FEEDBACK_STEPS = {"helpful": 0.05, "more": 0.10, "less": -0.10}
FEEDBACK_WORDS = ("helpful", "wrong", "outdated", "more", "less")


class EntryState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An entry and everything that happened to it since.

    `sig` is the significance after feedback and repeats, 0 to 1. `wrong` means it never was true, `ended` that
    it no longer is. `confirmed` is when it was last written, repeated or confirmed (UTC): decay counts from it.
    `judged` is what an outside judge thinks of it, 0 to 1, `judged_by` and `judged_why` whose word that is and why; it
    counts only where the writer gave none. `replaced` is the `When` until which a superseded one held. `kept` is the
    last occurrence of a promise that comes again and was kept, `uses` how often a host said that it used the entry.
    `along` names the workspace that it was read along from, which alone can change it; it is empty for one's own.
    """

    entry: Entry
    sig: float
    confirmed: datetime
    due: str = ""
    pinned: bool = False
    hidden: bool = False
    forgotten: bool = False
    done: bool = False
    cancelled: bool = False
    wrong: bool = False
    ended: bool = False
    superseded_by: str = ""
    merged_into: str = ""
    observations: int = 1
    conflicts: tuple[str, ...] = ()
    judged: Score = None
    judged_by: str = ""
    judged_why: str = ""
    replaced: str = ""
    kept: str = ""
    uses: int = 0
    along: str = ""

    @property
    def current(self) -> bool:
        """Whether it is shown as true now: not superseded, merged, wrong, ended, hidden or forgotten."""
        return not (
            self.superseded_by
            or self.merged_into
            or self.wrong
            or self.ended
            or self.hidden
            or self.forgotten
        )

    @property
    def over(self) -> bool:
        """Whether what it says holds no more, by its own fate: it never was true, was followed by another, or ended."""
        return bool(self.wrong or self.superseded_by or self.ended)

    @property
    def open_commitment(self) -> bool:
        """Whether it is a promise that is neither done nor cancelled."""
        promised = self.entry.category == "commitment" or bool(self.due)
        return promised and not (self.done or self.cancelled) and self.current


def survivor(state: EntryState, known: Mapping[str, EntryState]) -> EntryState:
    """Return what an entry was merged into, which says the same, at the end of the chain; itself when into nothing."""
    passed: set[str] = set()
    while state.merged_into in known and state.merged_into not in passed:
        passed.add(state.merged_into)
        state = known[state.merged_into]
    return state


def effective(events: Iterable[Event]) -> list[Event]:
    """Return the events that stand, in order of time then id: those undone, and their undoing, are left out.

    An id seen twice counts once.
    """
    known = {event.id: event for event in events}
    gone = undone(known.values())
    standing = (event for event in known.values() if event.id not in gone and event.kind != "undo")
    return sorted(standing, key=lambda event: (event.at, event.id))


def undone(events: Iterable[Event]) -> set[str]:
    """Return the ids of the events that are taken back; an undo may itself be undone, whatever their times."""
    undos = {event.id: event.of for event in events if event.kind == "undo"}
    gone: set[str] = set()
    waiting = Counter(of for of in undos.values() if of in undos)
    ready = [one for one in undos if not waiting[one]]
    while ready:  # from those that nothing undoes: what they undo is settled after them
        one = ready.pop()
        of = undos[one]
        if one not in gone:
            gone.add(of)
        if of in undos:
            waiting[of] -= 1
            if not waiting[of]:
                ready.append(of)
    return gone


def parse_score(value: str) -> float | None:
    """Return the number from 0 to 1 that `value` spells, or None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 else None


def fold(entry: Entry, events: Iterable[Event]) -> EntryState:
    """Return the state of `entry` after `events`, which may name it as `entry` or as `other`."""
    happened = list(events)
    standing = effective(happened) if happened else []
    state = EntryState(entry=entry, sig=_base(entry, standing), confirmed=entry.at, due=entry.due)
    if len(standing) < len(happened) and _withdrawn(entry, happened, standing):
        state = msgspec.structs.replace(state, hidden=True)
    for event in standing:
        if event.entry == entry.id:
            state = _happened(state, event)
        elif event.other == entry.id:
            state = _pointed_at(state, event)
    return state


def _base(entry: Entry, standing: Iterable[Event]) -> float:
    """Return where the significance begins: as the writer gave it, else an outside judge, else as the category has it.

    A judge alone never protects: no more than repeats do.
    """
    if entry.sig is not None:
        return entry.sig
    base = category(entry.category).sig
    for event in standing:
        if event.kind == "judge" and event.entry == entry.id:
            score = parse_score(event.value)
            base = base if score is None else min(score, REPEAT_CAP)
    return base


def _withdrawn(entry: Entry, events: Sequence[Event], standing: Sequence[Event]) -> bool:
    """Whether the entry was stored by events alone, and all of those were undone."""
    stored = {
        event.id for event in events if event.entry == entry.id and event.body and event.kind in STORING
    }
    return bool(stored) and stored.isdisjoint(event.id for event in standing)


def _happened(state: EntryState, event: Event) -> EntryState:
    """Return the state after an event on the entry itself."""
    replace = msgspec.structs.replace
    switches: dict[str, dict[str, Any]] = {
        "pin": {"pinned": True},
        "unpin": {"pinned": False},
        "hide": {"hidden": True},
        "unhide": {"hidden": False},
        "forget": {"forgotten": True},
        "restore": {"forgotten": False},
        "cancel": {"cancelled": True},
        "reschedule": {"due": event.when, "done": False, "cancelled": False},
        "confirm": {"confirmed": max(state.confirmed, event.at)},
        "repeat": {"merged_into": event.other},
        "strengthen": {"merged_into": event.other},
    }
    if event.kind == "feedback":
        return _judged(state, event)
    if event.kind == "complete":
        return _completed(state, event)
    if event.kind == "conflict":
        return replace(state, conflicts=tuple(sorted({*state.conflicts, event.other})))
    if event.kind == "judge":
        return replace(state, judged=parse_score(event.value), judged_by=event.by, judged_why=event.why)
    if event.kind == "use":
        return replace(state, uses=state.uses + 1)
    return replace(state, **switches.get(event.kind, {}))


def _completed(state: EntryState, event: Event) -> EntryState:
    """Return the state after a promise was kept; one that comes again is due anew.

    The event says when, by the workspace's calendar. A link says only when the keeping was told, in `when`, and in
    which zone the time of day stays the same, in `value`; told twice of one time, it is kept once.
    """
    replace = msgspec.structs.replace
    again, entry = "" if event.other else event.when, state.entry
    if not again and is_every(entry.every) and can_recur(entry.due) and can_recur(state.due):
        calendar = _calendar(event.value)
        told = _said(event)
        if event.other and can_recur(state.kept) and told <= when_bounds(state.kept, calendar)[1]:
            return state
        again = following(entry.every, state.due, begun=entry.due, now=told, calendar=calendar)
    return replace(state, due=again, kept=state.due) if again else replace(state, done=True)


def _calendar(zone: str) -> Calendar:
    """Return the calendar of a zone that an event names, that of UTC where it names none that is known here."""
    try:
        return Calendar(zone) if zone else _UTC
    except BadSettings:
        return _UTC


def _judged(state: EntryState, event: Event) -> EntryState:
    """Return the state after feedback: a word, or a number that sets the significance."""
    replace = msgspec.structs.replace
    if event.value == "wrong":
        return replace(state, wrong=True)
    if event.value == "outdated":
        return replace(state, ended=True)
    score = parse_score(event.value)
    if score is None:
        score = min(1.0, max(0.0, state.sig + _FEEDBACK_STEPS.get(event.value, 0.0)))
    confirmed = max(state.confirmed, event.at) if event.value in {"helpful", "more"} else state.confirmed
    return replace(state, sig=round(score, 6), confirmed=confirmed, wrong=False, ended=False)


def _pointed_at(state: EntryState, event: Event) -> EntryState:
    """Return the state after a link from another entry.

    Each repeat closes a fifth of the distance between the significance and the cap, so that many repeats add
    little and none protects. A repeat's `when` is the instant it was said.
    """
    replace = msgspec.structs.replace
    if event.kind == "supersede":
        return replace(state, superseded_by=event.entry, replaced=_since(event))
    if event.kind == "correct":
        return replace(state, superseded_by=event.entry, wrong=True)
    if event.kind == "conflict":
        return replace(state, conflicts=tuple(sorted({*state.conflicts, event.entry})))
    if event.kind not in {"repeat", "strengthen"}:
        return state
    raised = state.sig
    if raised < REPEAT_CAP:
        raised = round(raised + (REPEAT_CAP - raised) * (1 - REPEAT_STEP), 6)
    return replace(
        state,
        sig=raised,
        observations=state.observations + 1,
        confirmed=max(state.confirmed, _said(event)),
    )


def _said(event: Event) -> datetime:
    """Return when the later entry of a link was said; where it does not tell, when the link was made."""
    try:
        return parse_instant(event.when) if event.when else event.at
    except UsageError:
        return event.at


def _since(event: Event) -> str:
    """Return from when what supersedes holds: the date it names, else when it was said, else when that was noted."""
    if event.body is not None:
        return event.body.since or format_instant(event.body.at)
    return event.when or format_instant(event.at)
