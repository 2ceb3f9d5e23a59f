"""The whole life of the turns of one conversation, on a clock that follows it.

Owns the order of a demo's days and nights; promises that each turn is captured at the time it was said, that a dream
follows each day, and that the memory is left as on the morning after the last one; never prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from reverie.core.entries import derived_id
from reverie.core.records import Draft, Turn
from reverie.dream import Dreamt
from reverie.entrance import Opening
from reverie.errors import InvalidRecord
from reverie.memory import Memory
from reverie.opening import make_workspace
from reverie.surface.cli.demo_talk import Talk
from reverie.surface.own_settings import keep_settings

_NIGHT = timedelta(hours=3)  # after the day's end
_MORNING = timedelta(hours=9)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A turn out of which secrets were taken before it was written."""

    session: str
    n: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DayLived:
    """What one day brought: its turns and sessions, the entries found, and what the dream of the night did."""

    day: str
    turns: int
    sessions: int
    entries: int
    dreamt: Dreamt


@dataclass(slots=True)
class Life:
    """A demo's memory and what is known about it that the memory itself does not tell."""

    talk: Talk
    memory: Memory
    ids: dict[tuple[str, int], str] = field(default_factory=dict)
    redacted: list[Redacted] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    days: list[DayLived] = field(default_factory=list)


class _Clock:
    """A clock that shows the time of the conversation."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the instant shown."""
        return self.now


def begin(talk: Talk, folder: Path, *, config_dir: Path) -> tuple[Life, _Clock]:
    """Make the workspace of a demo, and the clock it lives by."""
    clock = _Clock(talk.turns[0].at)
    numbers = iter(range(1 << 62))
    opening = Opening(
        path=folder,
        agent=talk.agent,
        config_dir=config_dir,
        environment={},
        flags={"zone": talk.zone},
        clock=clock,
        new_id=lambda: derived_id("demo", talk.agent, str(next(numbers))),
    )
    memory = Memory(make_workspace(opening))
    keep_settings(memory.opened.writable, {"zone": talk.zone})
    return Life(talk, memory), clock


def live(life: Life, clock: _Clock) -> Iterator[DayLived]:
    """Live through the conversation day by day; each is yielded when its night is over."""
    last = {turn.session: turn.id for turn in life.talk.turns}
    calendar = life.talk.calendar
    for day, said in groupby(life.talk.turns, key=lambda turn: calendar.day(turn.at)):
        turns = list(said)
        before = life.memory.status().entries
        for turn in turns:
            clock.now = turn.at
            _capture(life, turn)
            if last[turn.session] == turn.id:
                _end(life.memory, turn.session)
        if not life.days:
            _greet(life, day)
        clock.now = calendar.end(day) + _NIGHT
        dreamt = _night(life.memory)
        entries = life.memory.status().entries - before
        life.days.append(DayLived(day, len(turns), len({turn.session for turn in turns}), entries, dreamt))
        yield life.days[-1]
    clock.now = calendar.end(life.days[-1].day) + _MORNING
    life.memory.digest()
    life.memory.publish()


def _capture(life: Life, turn: Turn) -> None:
    """Store one turn, and note what the demo tells about it later."""
    try:
        done = life.memory.capture(turn.session, turn)
    except InvalidRecord as error:
        life.refused.append(str(error))
        return
    life.ids[turn.session, done.n] = turn.id
    if done.redacted:
        life.redacted.append(Redacted(turn.session, done.n, done.redacted))


def _end(memory: Memory, session: str) -> None:
    """Do what follows the end of a session: it is read, stored, and shows in today's digest and MEMORY.md."""
    memory.end(session)
    memory.extract([session])
    memory.drain()
    memory.digest()
    memory.publish(at_once=False)


def _greet(life: Life, day: str) -> None:
    """Write something outright, as an agent does that was asked to remember."""
    text = f"First talked with {life.talk.user} on {day}"
    life.memory.remember(text, Draft(category="episode", about=life.talk.user, key="demo-first-talk"))


def _night(memory: Memory) -> Dreamt:
    """Do what follows the end of a day: whatever was not read is, and the day is dreamt into the notebook."""
    memory.extract()
    memory.drain()
    memory.compact_all()
    memory.digest()
    dreamt = memory.dream(now=True)
    memory.publish()
    return dreamt


def turns_of(life: Life, session: str, *, turns: str) -> list[str]:
    """Return the file's own ids of the turns `12` or `12-13` of a session."""
    first, _, stop = turns.partition("-")
    if not first.isdigit():
        return []
    ordinals = range(int(first), int(stop or first) + 1)
    return [life.ids[session, n] for n in ordinals if (session, n) in life.ids]


def spread(items: Sequence[str], count: int) -> list[str]:
    """Return `count` of the items, evenly spread over them."""
    step = max(len(items) / count, 1.0)
    return [items[int(number * step)] for number in range(min(count, len(items)))]
