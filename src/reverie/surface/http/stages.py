"""The operations that run one stage each, and `consolidate`, which runs all that is due.

Owns what they take and give; promises that each is one line to a verb; never holds up what is quick, for each may take
long.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from reverie.consolidate import Plan
from reverie.core.dreams.dreamt import Dreamt
from reverie.core.sessions.pipeline import Trigger
from reverie.digest import Digested
from reverie.drain import Drained
from reverie.extract import Extracted
from reverie.lint import Linted
from reverie.memory import Memory
from reverie.publish import Published
from reverie.reindex import Reindexed
from reverie.surface import results
from reverie.surface.http.operations import Day, Operation, Takes

Tokens = Annotated[int, Meta(ge=0, le=10_000_000)]


class _Extract(Takes, frozen=True, kw_only=True):
    sessions: Annotated[tuple[str, ...], Meta(description="Which; all if left out.", max_length=10_000)] = ()
    due: Annotated[bool, Meta(description="Only sessions that ended, fell silent or said enough.")] = False


class _Compact(Takes, frozen=True, kw_only=True):
    session: Annotated[str, Meta(description="Which; every session over its budget if left out.")] = ""
    budget: Annotated[Tokens | None, Meta(description="Instead of the setting's.")] = None


class _Dream(Takes, frozen=True, kw_only=True):
    now: Annotated[bool, Meta(description="Do not wait for enough time and entries.")] = False
    dry_run: Annotated[bool, Meta(description="Show the changes as a diff, and write nothing.")] = False
    day: Day = ""
    most: Annotated[int, Meta(description="At most so many entries; 0 for all.", ge=0, le=1_000_000)] = 0


class _Lint(Takes, frozen=True, kw_only=True):
    fix: Annotated[bool, Meta(description="Mend what is safe.")] = False
    due: Annotated[bool, Meta(description="Only when it is time.")] = False
    editorial: Annotated[
        bool | None,
        Meta(description="Let the model that dreams edit pages, too; by default when it is time."),
    ] = None


class _Consolidate(Takes, frozen=True, kw_only=True):
    drain_only: Annotated[bool, Meta(description="Store what is queued, and no more.")] = False
    promote_only: Annotated[bool, Meta(description="Digests and MEMORY.md, and no more.")] = False
    dry_run: Annotated[bool, Meta(description="Say what would happen, and change nothing.")] = False
    after: Annotated[Trigger | None, Meta(description="Only what follows this.")] = None


def _extract(memory: Memory, given: _Extract) -> Extracted:
    return memory.extract(given.sessions or None, moment="tick" if given.due else "hand")


def _compact(memory: Memory, given: _Compact) -> results.Compacting:
    return results.compacted(memory, given.session, budget=given.budget)


def _dream(memory: Memory, given: _Dream) -> Dreamt:
    return memory.dream(now=given.now, dry_run=given.dry_run, day=given.day, most=given.most)


def _consolidate(memory: Memory, given: _Consolidate) -> results.Consolidating:
    plan = Plan(
        drain_only=given.drain_only,
        promote_only=given.promote_only,
        dry_run=given.dry_run,
        after=given.after,
    )
    return results.consolidating(memory.consolidate(plan))


STAGES = (
    Operation(
        id="extract",
        method="post",
        path="/extract",
        summary="Read unread turns and notes into the journal.",
        right="write",
        takes=_Extract,
        gives=Extracted,
        example={"sessions": ["s1"]},
        long=True,
        run=_extract,
    ),
    Operation(
        id="drain",
        method="post",
        path="/drain",
        summary="Store what is queued in the daily logs.",
        right="write",
        gives=Drained,
        long=True,
        run=lambda memory, _: memory.drain(),
    ),
    Operation(
        id="compact",
        method="post",
        path="/compact",
        summary="Move the oldest turns of long sessions into the history.",
        right="write",
        takes=_Compact,
        gives=results.Compacting,
        example={"session": "s1"},
        long=True,
        run=_compact,
    ),
    Operation(
        id="digest",
        method="post",
        path="/digest",
        summary="Summarise sessions; write today, week and long-term anew.",
        right="write",
        gives=Digested,
        long=True,
        run=lambda memory, _: memory.digest(),
    ),
    Operation(
        id="dream",
        method="post",
        path="/dream",
        summary="Fold closed days into the notebook, in one commit or none.",
        right="write",
        takes=_Dream,
        gives=Dreamt,
        example={"now": True, "dry_run": True},
        long=True,
        run=_dream,
    ),
    Operation(
        id="publish",
        method="post",
        path="/publish",
        summary="Compile MEMORY.md within its budget.",
        right="write",
        gives=Published,
        long=True,
        run=lambda memory, _: memory.publish(),
    ),
    Operation(
        id="lint",
        method="post",
        path="/lint",
        summary="Look the notebook over for what is stale, broken, contradicted, orphaned or uncited.",
        right="write",
        takes=_Lint,
        gives=Linted,
        long=True,
        run=lambda memory, given: memory.lint(fix=given.fix, due=given.due, editorial=given.editorial),
    ),
    Operation(
        id="consolidate",
        method="post",
        path="/consolidate",
        summary="Run everything that is due, in order, the drain first; a second run changes nothing.",
        right="write",
        takes=_Consolidate,
        gives=results.Consolidating,
        example={"drain_only": True},
        long=True,
        unplaced=True,
        run=_consolidate,
    ),
    Operation(
        id="reindex",
        method="post",
        path="/reindex",
        summary="Build the derived files again from the others.",
        right="write",
        gives=Reindexed,
        long=True,
        run=lambda memory, _: memory.reindex(),
    ),
)
