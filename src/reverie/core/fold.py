"""What all events on an entry amount to: its state.

Owns the kinds of events and their meaning; promises that the same entry and the same events, in any order of
arrival and any grouping, give the same state; never looks at the clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from reverie.core.categories import category
from reverie.core.days import parse_instant
from reverie.core.records import Entry, Event

PROTECTED = 0.90  # at or above it an entry neither decays nor leaves MEMORY.md for lack of room
REPEAT_CAP = 0.89  # repeats alone never reach the protected level
REPEAT_STEP = 0.8  # each repeat closes a fifth of the distance to the cap that is left

# kind -> what it does to `entry` (and, for links, to `other`)
KINDS: dict[str, str] = {
    "commitment": "stores a promise at once; the drain writes its line later",
    "pin": "keeps the entry in MEMORY.md and in every context",
    "unpin": "takes a pin back",
    "feedback": "moves the significance, or marks the entry as wrong or outdated",
    "hide": "takes the entry out of recall and MEMORY.md, reversibly",
    "unhide": "takes a hide back",
    "forget": "hides the entry and its evidence for good; the tombstone says the rest",
    "restore": "takes a forget back",
    "supersede": "`entry` is true now, `other` was true before",
    "correct": "`entry` is right, `other` never was",
    "repeat": "`entry` says what `other` says: one more observation of it",
    "strengthen": "`entry` nearly repeats `other`, with no difference that matters",
    "conflict": "`entry` and `other` cannot both hold; a person's word is needed",
    "complete": "the commitment is done",
    "cancel": "the commitment no longer holds",
    "reschedule": "the commitment is due at `when`",
    "confirm": "the entry was confirmed; it stops decaying from its old date",
    "undo": "takes the event `of` back",
}

_FEEDBACK_STEPS = {"helpful": 0.05, "more": 0.10, "less": -0.10}
FEEDBACK_WORDS = ("helpful", "wrong", "outdated", "more", "less")


class EntryState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An entry and everything that happened to it since.

    `sig` is the significance after feedback and repeats, 0 to 1. `wrong` means it never was true, `ended` that
    it no longer is. `confirmed` is when it was last written, repeated or confirmed (UTC): decay counts from it.
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
    def open_commitment(self) -> bool:
        """Whether it is a promise that is neither done nor cancelled."""
        promised = self.entry.category == "commitment" or bool(self.due)
        return promised and not (self.done or self.cancelled) and self.current


def effective(events: Iterable[Event]) -> list[Event]:
    """Return the events that stand, in order of time then id: those undone, and their undoing, are left out.

    An undo may itself be undone; ids seen twice count once.
    """
    ordered = sorted({event.id: event for event in events}.values(), key=lambda event: (event.at, event.id))
    undone: set[str] = set()
    for event in reversed(ordered):
        if event.kind == "undo" and event.id not in undone:
            undone.add(event.of)
    return [event for event in ordered if event.id not in undone and event.kind != "undo"]


def parse_score(value: str) -> float | None:
    """Return the number from 0 to 1 that `value` spells, or None."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 else None


def fold(entry: Entry, events: Iterable[Event]) -> EntryState:
    """Return the state of `entry` after `events`, which may name it as `entry` or as `other`."""
    base = entry.sig if entry.sig is not None else category(entry.category).sig
    state = EntryState(entry=entry, sig=base, confirmed=entry.at, due=entry.due)
    for event in effective(events) if events else ():
        if event.entry == entry.id:
            state = _happened(state, event)
        elif event.other == entry.id:
            state = _pointed_at(state, event)
    return state


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
        "complete": {"done": True},
        "cancel": {"cancelled": True},
        "reschedule": {"due": event.when, "done": False, "cancelled": False},
        "confirm": {"confirmed": max(state.confirmed, event.at)},
        "repeat": {"merged_into": event.other},
        "strengthen": {"merged_into": event.other},
    }
    if event.kind == "feedback":
        return _judged(state, event)
    if event.kind == "conflict":
        return replace(state, conflicts=tuple(sorted({*state.conflicts, event.other})))
    return replace(state, **switches.get(event.kind, {}))


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
        return replace(state, superseded_by=event.entry)
    if event.kind == "correct":
        return replace(state, superseded_by=event.entry, wrong=True)
    if event.kind == "conflict":
        return replace(state, conflicts=tuple(sorted({*state.conflicts, event.entry})))
    if event.kind not in {"repeat", "strengthen"}:
        return state
    raised = state.sig
    if raised < REPEAT_CAP:
        raised = round(raised + (REPEAT_CAP - raised) * (1 - REPEAT_STEP), 6)
    said = parse_instant(event.when) if event.when else event.at
    return replace(
        state,
        sig=raised,
        observations=state.observations + 1,
        confirmed=max(state.confirmed, said),
    )
