"""When something is due: the one table of what sets a session's reading off, and which steps follow.

Owns the triggers, their order and their steps; promises that what is due follows from the session's state alone, so
that it does not matter who asks, how often, or whether two ask at once; never runs a step and never reads a clock.

A trigger only says that a session is due. What is read is always everything past the session's mark, so whichever
trigger fires first reads it and the others find nothing left.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from reverie.core.days import Calendar
from reverie.core.settings.model import ExtractionSettings

Step = Literal["summarise", "extract", "drain", "compact", "today", "week", "longterm", "dream", "publish"]
Trigger = Literal["hand", "compaction", "end", "turns", "day", "idle", "recovery"]
# Who asks: a person or cron, a compaction, whoever opens the workspace, or a host that looks every so often.
Moment = Literal["hand", "compaction", "open", "tick"]


class Rule(msgspec.Struct, frozen=True):
    """One row of the table: the trigger, what sets it off in words, and the steps that follow it in their order."""

    trigger: Trigger
    when: str
    steps: tuple[Step, ...]


_EACH: tuple[Step, ...] = ("summarise", "extract", "drain", "today", "publish")
PIPELINE: tuple[Rule, ...] = (
    Rule("hand", "somebody asks: `extract`, `consolidate`", ("extract", "drain")),
    Rule("compaction", "turns are about to leave the active window", ("extract", "drain", "compact")),
    Rule("end", "the session was ended", _EACH),
    Rule("turns", "`extraction.every_turns` turns are unread", _EACH),
    Rule(
        "day",
        "its last turn lies on a day before today",
        ("today", "week", "longterm", "extract", "drain", "dream", "publish"),
    ),
    Rule("idle", "nobody spoke for `extraction.idle_minutes`", _EACH),
    Rule("recovery", "the same, found at opening: the host never closed it", _EACH),
)
STEPS: dict[Trigger, tuple[Step, ...]] = {rule.trigger: rule.steps for rule in PIPELINE}


class Rhythm(msgspec.Struct, frozen=True):
    """After how many unread turns, and how many minutes of silence, a session is due."""

    every_turns: int
    idle_minutes: int


def rhythm_of(settings: ExtractionSettings) -> Rhythm:
    """Return the rhythm that the settings name."""
    return Rhythm(settings.every_turns, settings.idle_minutes)


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the table sees it: ordinals used, ordinals read, whether it is open, and when it last spoke."""

    session: str
    turns: int
    read: int
    open: bool = True
    last: datetime | None = None

    @property
    def unread(self) -> int:
        """How many ordinals lie past the mark.

        A mark beyond the last ordinal was reached in a file that is gone: all of the present one is unread.
        """
        return self.turns - self.read if self.read <= self.turns else self.turns


def captured(ordinal: int, rhythm: Rhythm) -> Trigger | None:
    """Return what the turn with this ordinal sets off, judged without knowing the mark, as capture must."""
    return "turns" if ordinal >= 0 and (ordinal + 1) % rhythm.every_turns == 0 else None


def fired(talk: Talk, moment: Moment, *, now: datetime, calendar: Calendar, rhythm: Rhythm) -> Trigger | None:
    """Return the first trigger of the table that a session's state sets off, None when nothing is due or unread."""
    if not talk.unread:
        return None
    silent = talk.last is not None and now - talk.last >= timedelta(minutes=rhythm.idle_minutes)
    holds: dict[Trigger, bool] = {
        "hand": moment == "hand",
        "compaction": moment == "compaction",
        "end": not talk.open,
        "turns": talk.unread >= rhythm.every_turns,
        "day": talk.last is not None and calendar.day(talk.last) < calendar.day(now),
        "idle": silent and moment == "tick",
        "recovery": silent and moment == "open",
    }
    return next((rule.trigger for rule in PIPELINE if holds[rule.trigger]), None)


def due(
    talks: Iterable[Talk], moment: Moment, *, now: datetime, calendar: Calendar, rhythm: Rhythm
) -> dict[str, Trigger]:
    """Return the sessions that are due, each with its trigger, the one that spoke last at the end."""
    asked = sorted(talks, key=lambda talk: (talk.last.timestamp() if talk.last else 0.0, talk.session))
    found = ((talk.session, fired(talk, moment, now=now, calendar=calendar, rhythm=rhythm)) for talk in asked)
    return {session: trigger for session, trigger in found if trigger is not None}
