"""What a dreamer proposes and what the judgement makes of it.

Owns the values that pass between dreamer, policy and install; promises nothing about them: that is the policy's work.

Pages are named relative to the notebook, by POSIX paths (`3_Personal/Preferences.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime

import msgspec

from reverie.core.records import Outcome, OutcomeKind


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one part of an entry; `page`, `into` and `reason` as in `records.Outcome`."""

    entry: str
    outcome: OutcomeKind
    part: int = 0
    page: str = ""
    into: str = ""
    reason: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """The part it settles."""
        return self.entry, self.part


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """Pages with their whole new texts (None to delete one), and what becomes of each part of the batch."""

    pages: Mapping[str, str | None]
    settlements: tuple[Settlement, ...]


class Refusal(msgspec.Struct, frozen=True):
    """A page or an entry that was not accepted, or with no place the whole batch, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        """Return both on one line."""
        return f"{self.place or 'batch'}: {self.reason}"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What holds of a proposal: pages and settlements to install, and what was refused."""

    pages: Mapping[str, str]
    settlements: tuple[Settlement, ...]
    refusals: tuple[Refusal, ...]


def without_pages(outcomes: Iterable[Outcome], gone: AbstractSet[str]) -> tuple[Outcome, ...]:
    """Return the outcomes that still hold when these pages are not installed.

    What was cited there has none, nor has what was merged into or superseded by such an entry.
    """
    held = list(outcomes)
    lost = {one.entry for one in held if one.outcome == "cited" and one.page in gone}
    while True:
        held = [one for one in held if one.entry not in lost]
        more = {one.entry for one in held if one.into in lost}
        if not more:
            return tuple(held)
        lost |= more


def counts_of(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many entries have each outcome; one in parts counts once for each kind."""
    seen = {(one.outcome, one.entry) for one in outcomes}
    kinds = sorted(kind for kind, _ in seen)
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def outcome_of(one: Settlement, run: str, *, at: datetime, parts: int) -> Outcome:
    """Return a settlement as the outcome that a run records at an instant; the entry has so many parts."""
    return Outcome(
        run=run,
        entry=one.entry,
        outcome=one.outcome,
        at=at,
        page=one.page,
        into=one.into,
        reason=one.reason,
        part=one.part,
        parts=parts,
    )
