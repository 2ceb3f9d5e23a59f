"""Everything that is due, in order, once: what cron, the daemon or a person at the keyboard runs.

Owns the order of the stages and which failures stop a run; promises that the drain comes first, always, and that a
second run right after the first changes nothing; never does a stage's work itself.

The order: drain, extract (what is unread), drain (what was extracted), compact, digest, dream, publish. A failed drain
stops the run and is raised; any other stage that fails is named in `problems`, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from reverie.drain import Drained
from reverie.dream import Dreamt
from reverie.errors import DrainFailed, ReverieError
from reverie.extract import Extracted
from reverie.publish import Published


class Verbs(Protocol):
    """The verbs a run calls: `reverie.Memory` has them."""

    def drain(self) -> Drained:
        """Store what is queued."""

    def extract(self) -> Extracted:
        """Read what is unread."""

    def compact_all(self) -> object:
        """Compact every session over its budget."""

    def digest(self) -> object:
        """Summarise, and write the digests anew."""

    def dream(self) -> Dreamt:
        """Dream, when the gates are open."""

    def publish(self, *, at_once: bool = False) -> Published:
        """Compile MEMORY.md."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a run is wanted: all of it, the drain alone, or promotion (digests and MEMORY.md) alone.

    >>> memory.consolidate(Plan(promote_only=True)).stages
    ('digest', 'publish')
    """

    drain_only: bool = False
    promote_only: bool = False
    dry_run: bool = False


class Consolidated(msgspec.Struct, frozen=True, kw_only=True):
    """What a run did. `watermark` is the day the notebook has reached, or empty; `problems` are failed stages."""

    agent: str
    plan: Plan
    facts_added: int = 0
    watermark: str = ""
    stages: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the one line that `reverie consolidate` prints."""
        watermark = "n/a" if self.plan.drain_only else self.watermark or "n/a"
        return (
            f"consolidation: agent={self.agent} facts_added={self.facts_added} watermark={watermark}"
            f" dry_run={self.plan.dry_run} drain_only={self.plan.drain_only} promote_only={self.plan.promote_only}"
        )


class _Tally(msgspec.Struct):
    found: int = 0
    watermark: str = ""


def consolidate(verbs: Verbs, plan: Plan, *, agent: str, watermark: str) -> Consolidated:
    """Run what `plan` asks for; `watermark` is where the notebook stands before. Raises DrainFailed.

    A dry run names the stages in their order and runs none.
    """
    tally = _Tally(watermark=watermark)
    ran: list[str] = []
    problems: list[str] = []
    for name, stage in _stages(verbs, plan, tally):
        try:
            if not plan.dry_run:
                stage()
            ran.append(name)
        except DrainFailed:
            raise
        except ReverieError as error:
            problems.append(f"{name}: {error}")
    return Consolidated(
        agent=agent,
        plan=plan,
        facts_added=tally.found,
        watermark=tally.watermark,
        stages=tuple(ran),
        problems=tuple(problems),
    )


def _stages(verbs: Verbs, plan: Plan, tally: _Tally) -> list[tuple[str, Callable[[], object]]]:
    """Return the stages of `plan` in order."""

    def extract() -> None:
        tally.found += verbs.extract().entries

    def dream() -> None:
        tally.watermark = verbs.dream().watermark or tally.watermark

    promotion: list[tuple[str, Callable[[], object]]] = [("digest", verbs.digest), ("publish", verbs.publish)]
    if plan.drain_only:
        return [("drain", verbs.drain)]
    if plan.promote_only:
        return promotion
    return [
        ("drain", verbs.drain),
        ("extract", extract),
        ("drain", verbs.drain),
        ("compact", verbs.compact_all),
        ("digest", verbs.digest),
        ("dream", dream),
        ("publish", verbs.publish),
    ]
