"""Everything that is due, in order, once: what cron, the daemon or a person at the keyboard runs.

Owns the order of the stages and which failures stop a run; promises that the drain comes first, always, that it does
not matter who runs it or whether two do, and that a second run right after the first changes nothing; never does a
stage's work itself.

`STAGES` is the order, `core.sessions.pipeline` the table of what follows which trigger; a run after a trigger takes the
stages that the table names for it, in this order. Summaries come after extraction, for a line of theirs names the entry
it stands on. A failed drain stops the run and is raised; any other stage that fails is named in `problems`, and the
rest goes on. What a stage reports without failing stands there too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Protocol

import msgspec

from reverie.compact import Compacted, is_over
from reverie.core.sessions.pipeline import STEPS, Step, Trigger
from reverie.core.text.plural import many
from reverie.digest import Digested
from reverie.drain import Drained
from reverie.dream import Dreamt
from reverie.errors import Busy, DrainFailed, ReverieError, UsageError
from reverie.extract import Extracted
from reverie.lint import Linted
from reverie.publish import Published
from reverie.store import counters, journal, sessions
from reverie.store.counters import ConsolidateCounters
from reverie.store.workspace import Workspace

# The stages in their order, each with the steps of the table that it takes.
STAGES: tuple[tuple[str, tuple[Step, ...]], ...] = (
    ("drain", ()),  # whatever was asked for
    ("extract", ("extract",)),
    ("drain", ("extract",)),
    ("compact", ("compact",)),
    ("digest", ("summarise", "today", "week", "longterm")),
    ("dream", ("dream",)),
    ("lint", ("dream",)),
    ("publish", ("publish",)),
)
_PROMOTION = ("digest", "publish")
_RECENT = timedelta(minutes=10)


class Verbs(Protocol):
    """The verbs a run calls: `reverie.Memory` has them."""

    def drain(self) -> Drained:
        """Store what is queued."""

    def extract(self) -> Extracted:
        """Read what is unread."""

    def compact_all(self) -> Compacted:
        """Compact every session over its budget."""

    def digest(self) -> Digested:
        """Summarise, and write the digests anew."""

    def dream(self) -> Dreamt:
        """Dream, when the gates are open."""

    def lint(self, *, due: bool = False) -> Linted:
        """Look the notebook over; with `due`, when it is time."""

    def publish(self, *, at_once: bool = False) -> Published:
        """Compile MEMORY.md."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a run is wanted: all of it, the drain alone, or promotion (digests and MEMORY.md) alone.

    `after` names a trigger of `core.sessions.pipeline`, such as `end`; then the stages that follow it run and no
    others.

    >>> memory.consolidate(Plan(promote_only=True)).stages
    ('digest', 'publish')
    """

    drain_only: bool = False
    promote_only: bool = False
    dry_run: bool = False
    after: Trigger | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for two parts at once, each without the other."""
        if self.drain_only and self.promote_only:
            raise UsageError("drain_only and promote_only exclude each other: choose one")

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages wanted, in order."""
        if self.drain_only:
            return ("drain",)
        if self.promote_only:
            return _PROMOTION
        if self.after is None:
            return tuple(name for name, _ in STAGES)
        wanted = STEPS[self.after]
        return tuple(name for name, steps in STAGES if not steps or not set(wanted).isdisjoint(steps))


class Told(msgspec.Struct, frozen=True):
    """What one stage did, in words; `idle` when it found nothing to do."""

    stage: str
    said: str
    idle: bool = False


class Consolidated(msgspec.Struct, frozen=True, kw_only=True):
    """What a run did. `watermark` is the day the notebook has reached, or empty.

    `stages` are those that ran to their end, `told` what each did; `problems` are failed stages and what others
    reported, those of `lasting` will not go away by themselves.
    """

    agent: str
    plan: Plan
    facts_added: int = 0
    watermark: str = ""
    stages: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    problems: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()

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
    problems: list[str] = msgspec.field(default_factory=list)
    lasting: list[str] = msgspec.field(default_factory=list)

    def tell(self, stage: str, *problems: str, passing: bool = False) -> None:
        """Take note of what a stage reports, once."""
        for problem in problems:
            said = problem if problem.startswith(f"{stage}: ") else f"{stage}: {problem}"
            if said not in self.problems:
                self.problems.append(said)
                if not passing:
                    self.lasting.append(said)


def consolidate(
    verbs: Verbs, plan: Plan, *, agent: str, watermark: str, waiting: Mapping[str, str] | None = None
) -> Consolidated:
    """Run what `plan` asks for; `watermark` is where the notebook stands before. Raises DrainFailed.

    A dry run names the stages in their order and runs none; `waiting` says for a stage what it would find.
    """
    tally = _Tally(watermark=watermark)
    stages = _stages(verbs, tally)
    ran: list[str] = []
    told: list[Told] = []
    for name in plan.stages:
        try:
            told.append(
                Told(name, (waiting or {}).get(name, "would run")) if plan.dry_run else stages[name]()
            )
            ran.append(name)
        except DrainFailed:
            raise
        except ReverieError as error:
            tally.tell(name, str(error), passing=isinstance(error, Busy))
    return Consolidated(
        agent=agent,
        plan=plan,
        facts_added=tally.found,
        watermark=tally.watermark,
        stages=tuple(ran),
        told=tuple(told),
        problems=tuple(tally.problems),
        lasting=tuple(tally.lasting),
    )


def waiting(ws: Workspace) -> dict[str, str]:
    """Return what the stages would find that can be told without opening anything derived."""
    long = sum(is_over(ws, name) for name in sessions.names(ws))
    return {
        "drain": f"{many(len(journal.waiting(ws).records), 'record')} queued",
        "compact": f"{many(long, 'session')} over the budget",
    }


def remember_run(ws: Workspace, done: Consolidated) -> None:
    """Note what fails, by stage: what this run found, and what it did not look at; and of a whole one, that it ran.

    A whole run soon after another that found the same writes nothing.
    """
    before = counters.read(ws, ConsolidateCounters)
    found = {name: said for name, said in before.failing.items() if name not in done.plan.stages}
    for problem in done.lasting:
        found.setdefault(problem.partition(":")[0], problem)
    now = msgspec.structs.replace(before, failing=found)
    if done.plan == Plan():
        recent = before.last is not None and before.last <= ws.clock() < before.last + _RECENT
        now = msgspec.structs.replace(now, last=before.last if recent else ws.clock())
    if now != before:
        counters.write(ws, now)


def _stages(verbs: Verbs, tally: _Tally) -> dict[str, Callable[[], Told]]:
    """Return how each stage is run and told of."""

    def drain() -> Told:
        done = verbs.drain()
        tally.tell("drain", *done.problems)
        refused = f", {done.refused} refused and kept aside" if done.refused else ""
        said = f"{many(done.stored, 'entry')} stored, {many(done.feedback, 'judgement')} applied{refused}"
        return Told("drain", said, idle=not (done.stored or done.feedback or done.refused))

    def extract() -> Told:
        done = verbs.extract()
        tally.found += done.entries
        tally.tell("extract", *done.problems)
        said = f"{many(done.entries, 'entry')} found in {many(done.spans, 'span')}"
        return Told("extract", said, idle=not done.spans)

    def compact() -> Told:
        done = verbs.compact_all()
        tally.tell("compact", *filter(None, (done.problem,)))
        said = f"{many(done.archived, 'turn')} moved into the history"
        return Told("compact", said, idle=not done.archived)

    def digest() -> Told:
        done = verbs.digest()
        tally.tell("digest", *done.problems)
        changed = ", ".join(done.changed) or "no digest"
        said = f"{many(done.sections, 'summary')} written, {changed} changed"
        return Told("digest", said, idle=not (done.sections or done.changed))

    def dream() -> Told:
        done = verbs.dream()
        tally.watermark = done.watermark or tally.watermark
        tally.tell("dream", *done.problems, passing=True)  # the runs' records keep them
        return Told("dream", str(done), idle=done.result == "nothing")

    def lint() -> Told:
        done = verbs.lint(due=True)
        if done.edited is not None:
            tally.tell("lint", *filter(None, (done.edited.problem,)), passing=True)
        return Told("lint", done.waits or many(len(done.findings), "finding"), idle=bool(done.waits))

    def publish() -> Told:
        done = verbs.publish()
        tally.tell("publish", *filter(None, (done.problem,)))
        said = "left as it is" if done.waits else f"has {done.characters:,} characters"
        return Told("publish", f"{done.path} {said}", idle=not done.changed)

    return {
        "drain": drain,
        "extract": extract,
        "compact": compact,
        "digest": digest,
        "dream": dream,
        "lint": lint,
        "publish": publish,
    }
