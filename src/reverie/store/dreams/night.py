"""What one call of a dream works with: what waits, what was read of state and notebook, and what came of it so far.

Owns the way from a proposal to what landed: judged against the batch and the pages, the overview chosen anew,
installed in one commit or not at all, failures counted; promises that every road of a dream (rules, a model's agent, a
host that drives its own) is judged and installed by the same hand; never proposes anything, and never takes the dream
lock: whoever uses it holds that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Protocol

import msgspec

from reverie import layout
from reverie.core.dreams.batch import Part, after_batch
from reverie.core.dreams.core_edits import edit_problem
from reverie.core.dreams.dreamt import Dreamt
from reverie.core.dreams.overview import Promotion
from reverie.core.dreams.page_rules import Change
from reverie.core.dreams.policy import Case, judge
from reverie.core.dreams.proposal import Judged, Proposal, Refusal, counts_of, outcome_of
from reverie.core.dreams.raw_history import Known, by_day, raw_history
from reverie.core.dreams.sight import Alike, Seen, Sight, waiting_parts
from reverie.core.dreams.skilled import occasions
from reverie.core.dreams.watermark import advanced, highest, run_name
from reverie.core.fold import EntryState
from reverie.core.formats.utf8 import to_text
from reverie.core.records import Entry, Outcome, Recalled, Run
from reverie.core.search.asked import days_wanted
from reverie.store import counters, daylog, history, stream
from reverie.store.counters import DreamCounters
from reverie.store.dreams import reviews, runs
from reverie.store.dreams.landing import Landed, Verdict, land, transcript
from reverie.store.dreams.reconciling import reconciling
from reverie.store.dreams.staging import Staging
from reverie.store.dreams.whereabouts import Whereabouts
from reverie.store.workspace import Workspace

Lines = Sequence[Mapping[str, object]]  # of a transcript


class Entries(Seen, Protocol):
    """What a dream asks of the derived state."""

    def pending(self, before: str) -> Iterator[EntryState]:
        """Yield the entries of earlier days without an outcome."""

    def outcomes(self, entry_id: str) -> list[Outcome]:
        """Return the outcomes of an entry that stand."""

    def mark(self, session: str) -> int:
        """Return up to which turn a session is extracted."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What a dreamer made of a batch, to be judged: `name` is the run's, `by` who dreamt it.

    `edits` are texts for USER.md, SOUL.md and skills; `said` is what the transcript holds besides; `problems` are what
    went wrong before the judgement.
    """

    batch: tuple[Part, ...]
    proposal: Proposal
    by: str
    name: str = ""
    started: datetime | None = None
    edits: Mapping[str, str] = {}
    said: Lines = ()
    problems: tuple[str, ...] = ()


class Night:
    """One call of a dream, under the dream lock. `dry` lays what is judged over the notebook and writes nothing."""

    def __init__(
        self, ws: Workspace, state: Entries, masked: Callable[[str], bool], *, dry: bool = False
    ) -> None:
        """Read what waits, what failed before and how far the notebook has come."""
        self._ws, self._masked, self._dry = ws, masked, dry
        raw = raw_history(
            history.read(ws), Known(state.outcomes, state.mark, masked), calendar=ws.calendar, before=ws.today
        )
        self.waiting = by_day(waiting_parts(state.pending(before=ws.today), state.outcomes), raw.parts)
        self._held = raw.held
        self.before = counters.read(ws, DreamCounters)
        self.started = ws.clock()
        self.failures = dict(self.before.failures)
        self.most = self.before.most
        self.sight = Sight(state, notebook=ws.notebook)
        self._days = daylog.days(ws)
        earlier = runs.read(ws)
        self._written = frozenset(page for one in earlier for page in one.pages)
        self._cited_on = state.cited_on
        self._names = [one.run for one in earlier]
        self.watermark = highest(earlier)
        recalls: stream.Read[Recalled] = stream.read(ws, layout.RECALL_LOG, Recalled)
        asked, sight = days_wanted(recalls.records), self.sight
        self._promotion = Promotion(
            self._shown, ws.today, wanted=asked, expect=sight.expect, weights=sight.weights
        )
        self.done = Dreamt()

    @cached_property
    def staging(self) -> Staging:
        """The notebook, with what this night changed laid over it."""
        return Staging(self._ws)

    @cached_property
    def whereabouts(self) -> Whereabouts:
        """Where pages stand that some run wrote before."""
        return Whereabouts(self._ws, self.staging, written=self._written, cited_on=self._cited_on)

    def link(self, alike: Alike, *, by: str) -> None:
        """Link what waits with what it repeats, changes or contradicts, where no extraction did."""
        zone = self._ws.calendar.zone
        made = self.sight.link(self.waiting, alike, by=by, at=self.started, zone=zone)
        if made and not self._dry:
            stream.append_all(self._ws, layout.EVENTS, made)
        self.waiting = self.sight.seen_again(self.waiting) if made else self.waiting

    def begun(self) -> None:
        """Note when this dream began, so that the gates know of it."""
        if not self._dry:
            counters.write(self._ws, msgspec.structs.replace(self.before, last=self.started))

    def name(self) -> str:
        """Return a name that no run has, and keep it."""
        name = run_name(self._ws.clock(), self._names)
        self._names.append(name)
        return name

    # A batch

    def attempt(self, attempt: Attempt) -> tuple[list[Part], dict[str, str]]:
        """Judge and install; return the parts at fault, without those left to a person, and why."""
        judged = judge(self._case(attempt), attempt.proposal)
        reasons = {one.place: one.reason for one in judged.refusals}
        wanted = {one.key for one in judged.settlements}
        failed = [part for part in attempt.batch if part.key not in wanted]
        settled: set[str] = set()
        if judged.settlements:
            refused = self._propose(attempt)
            judged = self._beside_people(attempt, judged)
            judged = msgspec.structs.replace(judged, refusals=(*judged.refusals, *refused))
            landed = self.land(attempt, judged)
            settled = {one.entry for one in landed.outcomes}
        elif attempt.said:
            self.failed(attempt, judged.refusals)
        self.count(settled, failed)
        said = [str(one) for one in judged.refusals]
        self.tell((*attempt.problems, *said))
        return failed, reasons

    def _beside_people(self, attempt: Attempt, judged: Judged) -> Judged:
        """Return what holds once the changes that people made meanwhile to the same pages are merged in."""
        merged = {} if self._dry else reconciling(self._ws, self.staging, judged.pages)
        pages, again = {**judged.pages, **merged}, judged
        fallen = set(merged)
        while fallen:
            both = Proposal(pages=pages, settlements=judged.settlements)
            again = judge(self._case(msgspec.structs.replace(attempt, proposal=both)), both)
            stands = {one.key for one in again.settlements}
            # A page whose lines no longer cite what they were to cite is left to the person.
            fallen = pages.keys() & {one.page for one in judged.settlements if one.key not in stands}
            pages = {path: text for path, text in pages.items() if path not in fallen}
        if again is not judged:
            self.tell([f"{one.place} was changed meanwhile: {one.reason}" for one in again.refusals])
        return msgspec.structs.replace(again, refusals=judged.refusals)

    def land(self, attempt: Attempt, judged: Judged) -> Landed:
        """Install what was judged (or lay it over the notebook, in a dry run) and take note of it."""
        ws, now, batch = self._ws, self._ws.clock(), attempt.batch
        name = attempt.name or self.name()
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
        run = self._record(attempt, name, result="productive", refusals=judged.refusals)
        run = msgspec.structs.replace(run, counts=counts_of(outcomes))
        days = tuple(sorted({part.day for part in batch}))
        if self._dry:
            self.staging.put(pages)
            landed = Landed(run=run, outcomes=outcomes, pages=pages, left=frozenset())
        else:
            verdict = Verdict(pages=pages, outcomes=outcomes, run=run, days=days)
            landed = land(ws, self.staging, verdict, watermark=reached, fallback=self.watermark)
            self.staging.installed(landed.pages)
            for path in landed.left:
                self.staging.forget(path)
            runs.keep_transcript(ws, name, [*transcript(batch, judged, landed=landed), *attempt.said])
        self._note(landed)
        return landed

    def failed(self, attempt: Attempt, refusals: Sequence[Refusal] = ()) -> None:
        """Record a run that settled nothing, and keep its transcript."""
        if self._dry:
            return
        name = attempt.name or self.name()
        run = self._record(attempt, name, result="failed", refusals=refusals)
        if not run.problems:
            run = msgspec.structs.replace(run, problems=("it settled nothing",))
        refused = [{"type": "refusal", "place": one.place, "reason": one.reason} for one in refusals]
        runs.append_once(self._ws, run)
        runs.keep_transcript(self._ws, name, [*refused, *attempt.said])

    def count(self, settled: Iterable[str], failed: Iterable[Part]) -> None:
        """Count what failed once more, and forget the failures of what was settled."""
        if self._dry:
            return
        counted = after_batch(
            self.failures, settled=frozenset(settled), failed=frozenset(part.id for part in failed)
        )
        if counted != self.failures:
            self.failures = counted
            self._keep_counters()

    def take_less(self, most: int) -> None:
        """Let the next batches hold at most so many entries, for one of more came to no end; 0 for as many as ever."""
        if most != self.most and not self._dry:
            self.most = most
            self._keep_counters()

    def tell(self, problems: Sequence[str]) -> None:
        """Take note of what went wrong, each once."""
        known = self.done.problems
        new = tuple(dict.fromkeys(one for one in problems if one not in known))
        self.done = replace(self.done, problems=(*known, *new))

    def _keep_counters(self) -> None:
        kept = msgspec.structs.replace(self.before, last=self.started, failures=self.failures, most=self.most)
        counters.write(self._ws, kept)

    def _record(self, attempt: Attempt, name: str, *, result: str, refusals: Sequence[Refusal]) -> Run:
        now = self._ws.clock()
        return Run(
            run=name,
            kind="dream",
            started=attempt.started or now,
            ended=now,
            dreamer=attempt.by,
            result=result,
            problems=(*attempt.problems, *map(str, refusals)),
        )

    def _case(self, attempt: Attempt) -> Case:
        proposal = attempt.proposal
        named = {*proposal.pages, *(one.page for one in proposal.settlements if one.page)}
        staged = {path: self.staging.text(path) for path in named}
        return self._judging(attempt.batch, {path: text for path, text in staged.items() if text is not None})

    def _judging(self, batch: Sequence[Part], old: dict[str, str]) -> Case:
        return Case(
            parts=batch,
            old=old,
            existing=self.staging.paths,
            folded=self.staging.folded,
            folders=self.staging.folders,
            find=self.sight.find,
            page_of=self.sight.page_of,
            masked=self._masked,
            allow=self._ws.settings.redaction_allow,
            copies={layout.OVERVIEW},
        )

    def _note(self, landed: Landed) -> None:
        settled = {(one.entry, one.part) for one in landed.outcomes}
        self.waiting = [part for part in self.waiting if part.key not in settled]
        self.sight.place(landed.outcomes)
        self.watermark = max(self.watermark, landed.run.watermark)
        counts = dict(self.done.counts)
        for kind, number in landed.run.counts.items():
            counts[kind] = counts.get(kind, 0) + number
        named = () if self._dry or not landed.outcomes else (landed.run.run,)
        self.done = replace(
            self.done,
            runs=(*self.done.runs, *named),
            commit=landed.run.commit or self.done.commit,
            counts=counts,
            pages=tuple(sorted({*self.done.pages, *landed.pages})),
        )
        self.tell(landed.run.problems if landed.left else ())

    # What goes with the pages

    def _propose(self, attempt: Attempt) -> list[Refusal]:
        """Put what is proposed for files that are no pages before a person; return what is not, and why.

        Before the install, so that a crash between them costs no proposal: one whose run did not land is a question
        to a person all the same.
        """
        refused: list[Refusal] = []
        for path, text in sorted(attempt.edits.items()):
            skill = path.startswith(f"{layout.SKILLS}/")
            old = to_text(self._ws.disk.read(path))
            reason = edit_problem(
                Change(path, old, text),
                attempt.batch,
                masked=self._masked,
                allow=self._ws.settings.redaction_allow,
                occasions=self._occasions if skill else None,
            )
            if reason:
                refused.append(Refusal(path, reason))
            elif not self._dry:
                why = f"{attempt.name} of {attempt.by} would have it read so"
                reviews.propose(self._ws, "skill" if skill else "core-edit", path, text=text, why=why)
            if not reason:
                self.done = replace(self.done, proposed=tuple(sorted({*self.done.proposed, path})))
        return refused

    def _occasions(self, entry: str) -> tuple[Entry, ...]:
        """Return when an entry was said by the user or the agent; nothing for what may not be seen."""
        state = self._shown(entry)
        return occasions(state, events=self.sight.events, find=self._shown) if state is not None else ()

    def _promoted(self, changed: Mapping[str, str]) -> dict[str, str]:
        """Return the overview as it should read once `changed` is installed; nothing when it stays as it is."""
        self.staging.forget(layout.OVERVIEW)  # people's words on it are taken as they are now
        paths = self.staging.paths | changed.keys()
        promoted = self._promotion.promote(paths, lambda path: changed.get(path) or self.staging.text(path))
        if promoted is None:
            return {}
        judged = judge(
            self._judging((), promoted.quoted),
            Proposal(pages={layout.OVERVIEW: promoted.text}, settlements=()),
        )
        self.tell([str(one) for one in judged.refusals])
        return dict(judged.pages)

    def _shown(self, entry: str) -> EntryState | None:
        state = self.sight.find(entry)
        return state if state is not None and not self._masked(state.entry.text) else None
