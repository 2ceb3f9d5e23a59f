"""What waits for a dream, and how much of it one batch takes.

Owns parts, batches and the gates; promises that every part of every pending entry comes up, oldest first, and that an
entry is never cut silently; never looks at the clock or the disk.

A *part* is an entry, or a piece of one too long to be looked at in one go. How an entry is cut depends on its text
alone: outcomes of parts written under other settings still speak of the same pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, timedelta
from typing import Literal

import msgspec

from reverie.core.fold import EntryState
from reverie.core.settings.value import DreamSettings
from reverie.core.text.plural import many
from reverie.core.text.tokens import estimate

PART_CHARACTERS = 8_000  # within the default `batch_tokens` even where each character is a token
_BREAK = re.compile(r"(?:[.!?…](?=\s)|[。！？；]|\n)\s*|\s+")


class Part(msgspec.Struct, frozen=True):
    """An entry's state and the piece of its text in hand: piece `number` (from 0) of `of`.

    `raw` marks a piece of a raw history record in the shape of an entry: its turns are `read` (extracted), or they
    were set `aside` because nothing could read them.
    """

    state: EntryState
    text: str
    number: int = 0
    of: int = 1
    raw: Literal["", "read", "aside"] = ""

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.state.entry.id

    @property
    def day(self) -> str:
        """The entry's day."""
        return self.state.entry.day

    @property
    def key(self) -> tuple[str, int]:
        """What tells this part from every other."""
        return self.id, self.number


class Open(msgspec.Struct, frozen=True):
    """A dream may begin; `sprint` when more waits than one batch takes."""

    sprint: bool


class Shut(msgspec.Struct, frozen=True):
    """No dream begins now, for this reason."""

    reason: str


def parts_of(state: EntryState, settled: Iterable[int] = ()) -> list[Part]:
    """Return the parts of an entry, without those whose numbers are `settled`."""
    pieces = _pieces(state.entry.text)
    gone = frozenset(settled)
    return [
        Part(state, piece, number, len(pieces)) for number, piece in enumerate(pieces) if number not in gone
    ]


def gate(
    settings: DreamSettings,
    waiting: Sequence[Part],
    *,
    last: datetime | None,
    now: datetime,
    today: str,
    passing: bool = False,
) -> Open | Shut:
    """Decide whether a dream begins: `last` is when one last did, `passing` a person's own call.

    While more waits than one batch takes, neither hours nor a number of entries are waited for.
    """
    if not waiting:
        return Shut("no entry of a closed day is pending")
    sprint = len(cut(settings, waiting)) < len(waiting)
    if passing:
        return Open(sprint)
    if not settings.enabled:
        return Shut("dreams are switched off ([dream] enabled = false)")
    if sprint:
        return Open(sprint)
    if just_was(last, now, within=timedelta(hours=settings.min_hours)):
        return Shut(
            f"the last dream began at {last:%Y-%m-%d %H:%M} UTC, less than {settings.min_hours} hours ago"
        )
    entries = len({part.id for part in waiting})
    waited = date.fromisoformat(today) - date.fromisoformat(min(part.day for part in waiting))
    if entries < settings.min_facts and waited.days < settings.max_wait_days:
        return Shut(
            f"{entries} of {settings.min_facts} entries are pending, the oldest for {many(waited.days, 'day')}"
        )
    return Open(sprint)


def just_was(last: datetime | None, now: datetime, *, within: timedelta) -> bool:
    """Tell whether what happens once in a while happened lately, also by a clock that was set back since.

    An instant further ahead than `within` comes from a clock that was wrong, and keeps nobody waiting.
    """
    return last is not None and abs(now - last) < within


def cut(
    settings: DreamSettings, waiting: Sequence[Part], *, failures: Mapping[str, int] | None = None
) -> list[Part]:
    """Return the next batch of `waiting` (oldest first), at least one part when any waits.

    What has failed `max_retries` times comes last, in batches of its own, so that the rest goes on.
    """
    failed = failures or {}
    healthy = waiting
    if failed:
        healthy = [part for part in waiting if failed.get(part.id, 0) < settings.max_retries]
    batch: list[Part] = []
    days: set[str] = set()
    tokens = 0
    for part in healthy or waiting:
        cost = estimate(part.text)
        full = len(batch) >= settings.max_entries or tokens + cost > settings.batch_tokens
        if batch and (full or len(days | {part.day}) > settings.max_days):
            break
        batch.append(part)
        days.add(part.day)
        tokens += cost
    return batch


def is_suspect(settings: DreamSettings, batch: Sequence[Part], *, failures: Mapping[str, int]) -> bool:
    """Tell whether a batch is of what has failed too often, and is to be split until the fault stands alone."""
    return any(failures.get(part.id, 0) >= settings.max_retries for part in batch)


def halves(parts: Sequence[Part]) -> tuple[Sequence[Part], ...]:
    """Return the parts in two halves, or as they are when there is one."""
    middle = len(parts) // 2
    return (parts[:middle], parts[middle:]) if middle else (parts,)


def after_batch(
    failures: Mapping[str, int], *, settled: AbstractSet[str], failed: AbstractSet[str]
) -> dict[str, int]:
    """Return the failures by entry after a batch: those settled are forgotten, those that failed count one more."""
    counted = {entry: number for entry, number in failures.items() if entry not in settled}
    for entry in sorted(failed - settled):
        counted[entry] = counted.get(entry, 0) + 1
    return counted


def _pieces(text: str) -> list[str]:
    """Return the text in pieces of at most PART_CHARACTERS, cut behind a sentence or at a blank where one is near."""
    if len(text) <= PART_CHARACTERS:
        return [text]
    return list(_cut(text))


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PART_CHARACTERS:
        end = start + PART_CHARACTERS
        near = [match.end() for match in _BREAK.finditer(text, end - PART_CHARACTERS // 8, end)]
        stop = near[-1] if near else end
        yield text[start:stop]
        start = stop
    yield text[start:]
