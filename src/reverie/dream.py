"""Step 7: closed days become pages of the notebook, in one commit a batch or in no change.

In: entries and raw history of days before today without an outcome, and the notebook. Out: changed pages, an outcome
for each entry that could be settled, the run's record, a line in `notebook/log.md`, `index.md` and the overview page.
It never touches today's entries, a daily log, MEMORY.md, USER.md or SOUL.md.

The order, under the dream lock for the whole call:

1. an interrupted install is finished, and the state is read anew
2. the gates are asked, the instant is noted, and links that no extraction looked for are appended to the events
3. a batch is cut, oldest first; the dreamer proposes, the policy judges, the overview is chosen anew
4. under the write lock: what people changed is committed as theirs, what they changed under the dreamer's hands is left
   to them, and the rest is installed (`store.installing` numbers the writes)
5. what failed is counted, the transcript kept; from 3 again while anything waits

What a crash leaves: before an install's intent nothing, and the batch is dreamt again; after it the install is finished
by the next writer. A link has a derived id, so looking for it again adds none. An entry without an outcome stays
pending, whatever became of the run. A count that is lost costs one more try. What failed `max_retries` times is dreamt
apart, and split until the fault stands alone: that entry is `unprocessable`, stays searchable, and the rest goes on.

Next: `publish`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec

from reverie import layout
from reverie.core.asked import days_wanted
from reverie.core.batch import Part, Shut, after_batch, cut, gate, halves, is_suspect
from reverie.core.due import Due
from reverie.core.fold import EntryState
from reverie.core.overview import Promotion
from reverie.core.policy import Case, judge
from reverie.core.proposal import Judged, Proposal, Settlement, counts_of, outcome_of
from reverie.core.raw_history import Known, by_day, raw_history
from reverie.core.records import Recalled, Run
from reverie.core.run_words import summary
from reverie.core.sight import Alike, Sight, waiting_parts
from reverie.core.watermark import advanced, highest, run_name
from reverie.errors import ReverieError
from reverie.index.state import State
from reverie.model.dreamer import DREAMER, Material, propose
from reverie.store import counters, daylog, history, installing, lease, runs, stream
from reverie.store.counters import DreamCounters
from reverie.store.landing import Landed, Verdict, land, transcript
from reverie.store.staging import Staging
from reverie.store.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamt:
    """What a dream did: `productive` when something was settled, else `nothing` with the `reason` none was.

    `runs` are the records of its batches, `run` and `commit` those of the last; `watermark` is the day the notebook has
    reached; `diff` is what a dry run would change.
    """

    result: str = "nothing"
    reason: str = ""
    runs: tuple[str, ...] = ()
    commit: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    pages: tuple[str, ...] = ()
    watermark: str = ""
    diff: str = ""
    problems: tuple[str, ...] = ()
    due: Due = Due()

    @property
    def run(self) -> str:
        """The name of the last batch's run, empty when there was none."""
        return self.runs[-1] if self.runs else ""

    def __str__(self) -> str:
        """Return what became of the entries, or why nothing did."""
        return (
            summary(self.counts, len({*self.pages} - {layout.OVERVIEW}))
            if self.result == "productive"
            else self.reason
        )


def dream(
    ws: Workspace,
    look: Callable[[], State],
    *,
    masked: Callable[[str], bool],
    alike: Alike | None = None,
    passing_gates: bool = False,
    dry_run: bool = False,
) -> Dreamt:
    """Dream what is pending, batch by batch; raises Busy at once while another dream, lint, undo or erase runs.

    `look` returns the state caught up with the files; it is asked under the lock, for another process may have dreamt
    a moment before. `masked` tells a text that must stay forgotten. `alike` returns entries whose words resemble those
    of one, for links that no extraction has looked for; without it none are. `passing_gates` is a person's own call.
    A dry run settles and counts nothing.
    """
    with lease.driving(ws, "dream"):
        finish(ws)
        night = _Night(ws, look(), masked, dry=dry_run)
        verdict = gate(
            ws.settings.dream,
            night.waiting,
            last=night.before.last,
            now=night.started,
            today=ws.today,
            passing=passing_gates,
        )
        if isinstance(verdict, Shut):
            return Dreamt(reason=verdict.reason, watermark=night.watermark)
        if not dry_run:
            counters.write(ws, msgspec.structs.replace(night.before, last=night.started))
        if alike is not None:
            night.link(alike)
        return night.sleep()


def finish(ws: Workspace) -> Run | None:
    """Complete an install that a crash interrupted; None when there is none. Takes the write lock; raises Busy."""
    return installing.finish(ws)


class _Night:
    """One call of `dream`: what waits, what was read of state and notebook, and what came of it so far."""

    def __init__(self, ws: Workspace, state: State, masked: Callable[[str], bool], *, dry: bool) -> None:
        self._ws, self._masked, self._dry = ws, masked, dry
        raw = raw_history(
            history.read(ws),
            Known(state.outcomes, state.mark, masked),
            calendar=ws.calendar,
            before=ws.today,
        )
        self.waiting = by_day(waiting_parts(state.pending(before=ws.today), state.outcomes), raw.parts)
        self._held = raw.held
        self.before = counters.read(ws, DreamCounters)
        self.started = ws.clock()
        self._failures = dict(self.before.failures)
        self._sight = Sight(
            lambda entry: state.find([entry]).get(entry),
            state.events,
            cited_on=state.cited_on,
            notebook=ws.notebook,
        )
        self._days = daylog.days(ws)
        earlier = runs.read(ws)
        self._names = [one.run for one in earlier]
        self.watermark = highest(earlier)
        recalls: stream.Read[Recalled] = stream.read(ws, layout.RECALL_LOG, Recalled)
        self._promotion = Promotion(self._shown, ws.today, wanted=days_wanted(recalls.records))
        self._done = Dreamt()

    @cached_property
    def _staging(self) -> Staging:
        return Staging(self._ws)

    def link(self, alike: Alike) -> None:
        """Link what waits with what it repeats, changes or contradicts, where no extraction did."""
        made = self._sight.link(self.waiting, alike, by=DREAMER, at=self.started)
        if made and not self._dry:
            stream.append_all(self._ws, layout.EVENTS, made)
        self.waiting = self._sight.seen_again(self.waiting) if made else self.waiting

    def sleep(self) -> Dreamt:
        """Dream batch by batch until nothing waits, or the time is up."""
        settings = self._ws.settings.dream
        tried: set[tuple[str, int]] = set()
        while batch := cut(settings, self._untried(tried), failures=self._failures):
            if (self._ws.clock() - self.started).total_seconds() >= settings.timeout_seconds:
                self._tell([f"stopped after {settings.timeout_seconds} seconds; the rest waits"])
                break
            tried.update(part.key for part in batch)
            if is_suspect(settings, batch, failures=self._failures):
                self._split(batch)
            else:
                self._attempt(batch)
        done = replace(self._done, watermark=self.watermark, diff=self._staging.diff() if self._dry else "")
        if done.result == "nothing":
            return replace(done, reason="nothing could be settled; see the problems")
        return replace(done, due=Due(publish=not self._dry, digest=not self._dry))

    # A batch

    def _untried(self, tried: set[tuple[str, int]]) -> list[Part]:
        return [part for part in self.waiting if part.key not in tried]

    def _split(self, batch: Sequence[Part]) -> None:
        """Dream what has failed too often, in ever smaller halves, until a part that fails stands alone."""
        left, reasons = self._attempt(batch)
        if len(left) == 1 and len(batch) == 1:
            reason = reasons.get(left[0].id, "no page could take it")
            one = Settlement(entry=left[0].id, outcome="unprocessable", part=left[0].number, reason=reason)
            self._land(batch, Judged(pages={}, settlements=(one,), refusals=()))
            self._count({one.entry}, ())
        elif left:
            for half in halves(left) if len(left) == len(batch) else (left,):
                self._split(half)

    def _attempt(self, batch: Sequence[Part]) -> tuple[list[Part], dict[str, str]]:
        """Dream one batch; return the parts at fault, without those left to a person, and why."""
        proposal, problem = self._propose(batch)
        judged = judge(self._case(batch, proposal), proposal)
        reasons = {one.place: one.reason for one in judged.refusals}
        wanted = {one.key for one in judged.settlements}
        failed = [part for part in batch if part.key not in wanted]
        settled: set[str] = set()
        if judged.settlements:
            landed = self._land(batch, judged)
            settled = {one.entry for one in landed.outcomes}
        self._count(settled, failed)
        said = [f"{one.place or 'batch'}: {one.reason}" for one in judged.refusals]
        self._tell((*problem, *said))
        return failed, reasons

    def _propose(self, batch: Sequence[Part]) -> tuple[Proposal, tuple[str, ...]]:
        material = Material(
            parts=tuple(batch),
            replaces={part.id: self._sight.replaced(part.id) for part in batch},
            find=self._sight.find,
            page_of=self._sight.page_of,
            read=self._staging.text,
            today=self._ws.today,
        )
        try:
            return propose(material), ()
        except ReverieError as error:
            return Proposal(pages={}, settlements=()), (f"the dreamer failed: {error}",)

    def _case(self, batch: Sequence[Part], proposal: Proposal) -> Case:
        staged = {path: self._staging.text(path) for path in proposal.pages}
        cited = (one.page for one in proposal.settlements if one.page and one.page not in staged)
        staged.update({path: self._staging.text(path) for path in set(cited)})
        return self._judging(batch, {path: text for path, text in staged.items() if text is not None})

    def _judging(self, batch: Sequence[Part], old: dict[str, str]) -> Case:
        return Case(
            parts=batch,
            old=old,
            existing=self._staging.paths,
            folded=self._staging.folded,
            find=self._sight.find,
            page_of=self._sight.page_of,
            masked=self._masked,
            allow=self._ws.settings.redaction_allow,
            copies={layout.OVERVIEW},
        )

    def _land(self, batch: Sequence[Part], judged: Judged) -> Landed:
        """Install what was judged (or lay it over the notebook, in a dry run) and take note of it."""
        ws, now = self._ws, self._ws.clock()
        name = run_name(now, self._names)
        self._names.append(name)
        of = {part.key: part.of for part in batch}
        outcomes = tuple(outcome_of(one, name, at=now, parts=of[one.key]) for one in judged.settlements)
        pages = {**judged.pages, **self._promoted(judged.pages)}
        settled = {one.key for one in judged.settlements}
        rest = [part for part in self.waiting if part.key not in settled]
        reached = advanced(
            self.watermark,
            days=self._days,
            pending=[*self._held, *(part.day for part in rest)],
            today=ws.today,
        )
        run = Run(
            run=name,
            kind="dream",
            started=now,
            ended=now,
            dreamer=DREAMER,
            result="productive",
            counts=counts_of(outcomes),
            problems=tuple(f"{one.place}: {one.reason}" for one in judged.refusals),
        )
        days = tuple(sorted({part.day for part in batch}))
        if self._dry:
            self._staging.put(pages)
            landed = Landed(run=run, outcomes=outcomes, pages=pages, left=frozenset())
        else:
            verdict = Verdict(pages=pages, outcomes=outcomes, run=run, days=days)
            landed = land(ws, self._staging, verdict, watermark=reached, fallback=self.watermark)
            self._staging.installed(landed.pages)
            for path in landed.left:
                self._staging.forget(path)
            runs.keep_transcript(ws, name, transcript(batch, judged, landed=landed))
        self._note(landed)
        return landed

    def _note(self, landed: Landed) -> None:
        settled = {(one.entry, one.part) for one in landed.outcomes}
        self.waiting = [part for part in self.waiting if part.key not in settled]
        self._sight.place(landed.outcomes)
        self.watermark = max(self.watermark, landed.run.watermark)
        counts = dict(self._done.counts)
        for kind, number in landed.run.counts.items():
            counts[kind] = counts.get(kind, 0) + number
        self._done = replace(
            self._done,
            result="productive" if landed.outcomes else self._done.result,
            runs=self._done.runs if self._dry or not landed.outcomes else (*self._done.runs, landed.run.run),
            commit=landed.run.commit or self._done.commit,
            counts=counts,
            pages=tuple(sorted({*self._done.pages, *landed.pages})),
        )
        self._tell(landed.run.problems if landed.left else ())

    def _count(self, settled: set[str], failed: Sequence[Part]) -> None:
        if self._dry:
            return
        counted = after_batch(self._failures, settled=settled, failed={part.id for part in failed})
        if counted != self._failures:
            self._failures = counted
            counters.write(
                self._ws, msgspec.structs.replace(self.before, last=self.started, failures=counted)
            )

    def _tell(self, problems: Sequence[str]) -> None:
        known = self._done.problems
        self._done = replace(self._done, problems=(*known, *(one for one in problems if one not in known)))

    # The overview

    def _promoted(self, changed: Mapping[str, str]) -> dict[str, str]:
        """Return the overview as it should read once `changed` is installed; nothing when it stays as it is."""
        paths = self._staging.paths | changed.keys()
        promoted = self._promotion.promote(paths, lambda path: changed.get(path) or self._staging.text(path))
        if promoted is None:
            return {}
        judged = judge(
            self._judging((), promoted.quoted),
            Proposal(pages={layout.OVERVIEW: promoted.text}, settlements=()),
        )
        self._tell([f"{one.place}: {one.reason}" for one in judged.refusals])
        return dict(judged.pages)

    def _shown(self, entry: str) -> EntryState | None:
        state = self._sight.find(entry)
        return state if state is not None and not self._masked(state.entry.text) else None
