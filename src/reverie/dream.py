"""Step 7: closed days become pages of the notebook, in one commit a batch or in no change.

In: entries and raw history of days before today without an outcome, and the notebook. Out: changed pages, an outcome
for each entry that could be settled, the run's record, a line in `notebook/log.md`, `index.md` and the overview page.
It never touches today's entries, a daily log, MEMORY.md, USER.md or SOUL.md: for the last two, as for skills, it
proposes, and a person decides.

The order, under the dream lock for the whole call:

1. an interrupted install is finished, what runs left behind is removed, and the state is read anew
2. the gates are asked, the instant is noted, and links that no extraction looked for are appended to the events
3. a batch is cut, oldest first; the dreamer proposes on a staging copy (rules, or a model's agent with the tools of
   `store.dreams.dream_tools`), the policy judges, the overview is chosen anew (`store.dreams.night`)
4. under the write lock: what people changed is committed as theirs, what they changed under the dreamer's hands is left
   to them, and the rest is installed (`store.dreams.installing` numbers the writes)
5. what failed is counted, the transcript kept; from 3 again while anything waits

A run can be driven in several calls by a host with a model of its own: `start` cuts the batch and takes a lease, `step`
uses one tool, `end` judges and installs, or keeps what holds for a person's word. Between them the run is on disk
(`store.dreams.dreaming`), and no lock is held.

What a crash leaves: before an install's intent nothing, and the batch is dreamt again; after it the install is finished
by the next writer. A link has a derived id, so looking for it again adds none. An entry without an outcome stays
pending, whatever became of the run. A count that is lost costs one more try. What failed `max_retries` times is dreamt
apart, and split until the fault stands alone: that entry is `unprocessable`, stays searchable, and the rest goes on.
A run that did not end cleanly (its model failed, its time or a ceiling was reached) is dropped whole. It is no try; the
next batch is half as long when the run had got anywhere, so that a batch too large for its ceilings comes to an end.

Next: `publish`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from reverie.core.dreams.batch import Part, cut, halves, is_suspect, parts_of
from reverie.core.dreams.dreamt import Dreamt, Wish
from reverie.core.dreams.proposal import Judged, Proposal, Settlement
from reverie.core.dreams.sight import Alike
from reverie.core.dreams.watermark import run_name
from reverie.core.fold import EntryState
from reverie.errors import ReverieError
from reverie.index.state import State
from reverie.model.dream_agent import Ended, Given, dream_with
from reverie.model.dream_prompt import Task, dreamer
from reverie.model.rule_dreamer.propose import DREAMER, Material, propose
from reverie.store.dreams import dreaming, installing, lease, runs, wanted
from reverie.store.dreams.dream_tools import Seek, Tools
from reverie.store.dreams.dream_views import Veil, guidance, history_of, undone_of
from reverie.store.dreams.dreaming import Begun
from reverie.store.dreams.driven import Driven, DrivenTools
from reverie.store.dreams.night import Attempt, Night
from reverie.store.dreams.staging import Staging
from reverie.store.workspace import Workspace

__all__ = ["Dreamt", "Driven", "Reach", "Started", "Wish", "dream", "end", "start", "step"]

Find = Callable[[str], EntryState | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a dream asks of what lies around it.

    `look` returns the state caught up with the files; it is asked under the lock, for another process may have dreamt
    a moment before. `veil` tells what must stay forgotten, `forgotten` are the ids of that. `alike` returns entries
    whose words resemble those of one, for links that no extraction has looked for; without it none are. `seek` answers
    searches. `agent` gives the model, called `model`, to a run of that name; None where rules dream. `driven` keeps the
    run that a host drives.
    """

    look: Callable[[], State]
    veil: Veil
    forgotten: tuple[str, ...] = ()
    alike: Alike | None = None
    seek: Seek = lambda _words, _entries: ()
    agent: Callable[[str], Given | None] = lambda _run: None
    model: str = ""
    driven: Driven = field(default_factory=Driven)


def dream(ws: Workspace, reach: Reach, wish: Wish | None = None) -> Dreamt:
    """Dream what is pending, batch by batch; raises Busy at once while another dream, lint, undo or erase runs.

    A dry run settles and counts nothing; with a model it asks it all the same.
    """
    wish = wish or Wish()
    with lease.driving(ws, "dream"):
        installing.finish(ws)
        dreaming.sweep(ws)
        night = Night(ws, reach.look(), reach.veil.text, dry=wish.dry_run)
        shut = wanted.shut(ws, night, wish)
        if shut is not None:
            return shut
        night.begun()
        if reach.alike is not None:
            night.link(reach.alike, by=DREAMER)
        return _Sleep(ws, reach, wish, night=night).through()


# A run that a host drives


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A run under way: its name, until when its lease holds, and its entries with what is to be done with them."""

    run: str
    until: datetime
    task: Task


def start(ws: Workspace, reach: Reach, wish: Wish | None = None, *, holder: str) -> Started | Dreamt:
    """Begin a run that `holder` drives, or return why none begins. Raises Busy.

    Its lease holds for the dream's `timeout_seconds`, and each step makes it hold as long again. Raises Conflict while
    what an earlier run came to waits for a person's word.
    """
    wish = wish or Wish()
    wanted.must_not_wait(ws)
    name = run_name(ws.clock(), [one.run for one in runs.read(ws)])
    until = wanted.until(ws)
    with lease.beginning(ws, name, holder=holder, until=until):
        installing.finish(ws)
        dreaming.sweep(ws)
        night = Night(ws, reach.look(), reach.veil.text)
        shut = wanted.shut(ws, night, wish)
        if shut is None:
            night.begun()
            if reach.alike is not None:
                night.link(reach.alike, by=DREAMER)
            waiting = wanted.wanted(ws, night.waiting, wish)
            batch = cut(wanted.settings_of(ws, night, wish), waiting, failures=night.failures)
            if own := tuple(part for part in batch if not part.raw):
                parts = tuple(part.key for part in batch)
                dreaming.begin(ws, Begun(run=name, holder=holder, at=night.started, parts=parts))
                task = msgspec.structs.replace(_task(ws, reach, own), guest="verbs")
                return Started(run=name, until=until, task=task)
            shut = Dreamt(reason="what waits was kept raw: `reverie dream` settles it by rule")
    lease.release(ws, name)
    return shut


def step(ws: Workspace, reach: Reach, run: str, *, tool: str, arguments: Mapping[str, Any]) -> str:
    """Use one tool in a run and return its answer; on return what it did is on disk. Raises Conflict, Busy."""
    lease.renew(ws, run, wanted.until(ws), whole=wanted.whole(ws))
    with lease.driving(ws, "dream", run=run):
        begun, tools = reach.driven.take(ws, run)
        found = reach.look().find(dict.fromkeys(id_ for id_, _ in begun.parts))
        keys = frozenset(begun.parts)
        batch = [part for one in found.values() for part in parts_of(one) if part.key in keys]
        tools.go_on(batch, veil=reach.veil, known=found.__contains__, seek=reach.seek)
        said = tools.use(tool, arguments)
        dreaming.add(ws, run, tools.deeds)
        reach.driven.keep(ws, begun, tools)
        return said


def end(ws: Workspace, reach: Reach, run: str, *, clean: bool = True, hold: bool = False) -> Dreamt:
    """Judge and install what a run came to, or with `clean` false drop it whole. Raises Conflict, Busy.

    With `hold` what would be installed is put before a person; once they accept it, another `end` installs it.
    """
    lease.renew(ws, run, wanted.until(ws))
    with lease.driving(ws, "dream", run=run):
        installing.finish(ws)
        reach.driven.drop()
        dreaming.load(ws, run)
        done = Dreamt(reason="the run was given up; its entries are pending")
        if clean:
            night = _judged(ws, reach, run, dry=hold)
            held = hold and bool(night.done.counts)
            if hold and not held:  # what fails is counted as it would be in any run
                night = _judged(ws, reach, run)
            done = wanted.held(ws, night, run) if held else wanted.told(night, dry=False)
        if not done.review:
            dreaming.close(ws, run)
    lease.release(ws, run)
    return done


def _judged(ws: Workspace, reach: Reach, run: str, *, dry: bool = False) -> Night:
    """Return what judging a run, and installing what holds unless `dry`, came to; what landed once does not again."""
    begun, deeds = dreaming.load(ws, run)
    night = Night(ws, reach.look(), reach.veil.text, dry=dry)
    parts = frozenset(begun.parts)
    batch = tuple(part for part in night.waiting if part.key in parts)
    if batch and all(one.run != run for one in runs.read(ws)):
        tools = _tools(ws, reach, batch, find=night.sight.find, staging=night.staging, guest=True)
        for deed in deeds:
            tools.redo(deed)
        said = [{"type": "driven"}, *({**msgspec.to_builtins(one), "type": "deed"} for one in deeds)]
        attempt = _attempt(tools, batch, by=begun.holder, name=run, started=begun.at, said=said)
        night.attempt(_with_raw(ws, night, attempt))
    return night


class _Stopped(Exception):
    """The night ends: the model cannot be asked now, or its time is up."""


class _Sleep:
    """A night slept through in one call, batch by batch."""

    def __init__(self, ws: Workspace, reach: Reach, wish: Wish, *, night: Night) -> None:
        self._ws, self._reach, self._wish, self._night = ws, reach, wish, night

    def through(self) -> Dreamt:
        """Dream until nothing waits, the time is up, or the model cannot be asked."""
        night, tried = self._night, set[tuple[str, int]]()
        try:
            while batch := self._next(tried):
                if self._left() <= 0:
                    seconds = self._ws.settings.dream.timeout_seconds
                    night.tell([f"stopped after {seconds} seconds; the rest waits"])
                    break
                tried.update(part.key for part in batch)
                if is_suspect(self._ws.settings.dream, batch, failures=night.failures):
                    self._split(batch)
                else:
                    self._try(batch)
                if self._wish.most:
                    break
        except _Stopped:
            pass
        return wanted.told(night, dry=self._wish.dry_run)

    def _next(self, tried: set[tuple[str, int]]) -> list[Part]:
        untried = [
            part for part in wanted.wanted(self._ws, self._night.waiting, self._wish) if part.key not in tried
        ]
        return cut(
            wanted.settings_of(self._ws, self._night, self._wish), untried, failures=self._night.failures
        )

    def _left(self) -> float:
        """Return the seconds that are left of this night."""
        gone = (self._ws.clock() - self._night.started).total_seconds()
        return self._ws.settings.dream.timeout_seconds - gone

    def _split(self, batch: Sequence[Part]) -> None:
        """Dream what has failed too often, in ever smaller halves, until a part that fails stands alone."""
        left, reasons = self._try(batch)
        if len(left) == 1 and len(batch) == 1:
            reason = reasons.get(left[0].id, "no page could take it")
            one = Settlement(entry=left[0].id, outcome="unprocessable", part=left[0].number, reason=reason)
            alone = Attempt(batch=tuple(batch), proposal=Proposal(pages={}, settlements=(one,)), by="runner")
            self._night.land(alone, Judged(pages={}, settlements=(one,), refusals=()))
            self._night.count({one.entry}, ())
        elif left:
            for half in halves(left) if len(left) == len(batch) else (left,):
                self._split(half)

    def _try(self, batch: Sequence[Part]) -> tuple[list[Part], dict[str, str]]:
        """Dream one batch by a model or by rules; return the parts at fault, and why."""
        night, own = self._night, tuple(part for part in batch if not part.raw)
        name = night.name()
        given = self._reach.agent(name) if own else None
        if given is None:
            proposal, problems = _by_rule(self._ws, night, batch)
            attempt = Attempt(batch=tuple(batch), proposal=proposal, by=DREAMER, name=name, problems=problems)
            return night.attempt(attempt)
        began = self._ws.clock()
        tools = _tools(self._ws, self._reach, own, find=night.sight.find, staging=night.staging)
        ended = dream_with(given, _task(self._ws, self._reach, own), desk=tools, seconds=self._left())
        attempt = _attempt(
            tools, batch, by=dreamer(self._reach.model), name=name, started=began, said=ended.said
        )
        if not ended.clean:
            return self._dropped(attempt, ended)
        if night.most:
            night.take_less(night.most * 2 if night.most * 2 < self._ws.settings.dream.max_entries else 0)
        return night.attempt(_with_raw(self._ws, night, attempt))

    def _dropped(self, attempt: Attempt, ended: Ended) -> tuple[list[Part], dict[str, str]]:
        """Note a run that did not end cleanly; stop the night where that was not the batch's own fault."""
        night, batch = self._night, attempt.batch
        night.failed(msgspec.structs.replace(attempt, problems=(ended.problem,)))
        night.tell([ended.problem])
        alone = ended.too_much and len(batch) == 1
        if not ended.own_fault and not alone:
            if ended.too_much:
                night.take_less(len(batch) // 2)
            raise _Stopped
        night.count((), batch)
        return list(batch), dict.fromkeys((part.id for part in batch), ended.problem)


def _by_rule(ws: Workspace, night: Night, batch: Sequence[Part]) -> tuple[Proposal, tuple[str, ...]]:
    """Return what rules propose for a batch, and what went wrong."""
    material = Material(
        parts=tuple(batch),
        replaces={part.id: night.sight.replaced(part.id) for part in batch},
        find=night.sight.find,
        page_of=night.sight.page_of,
        read=night.staging.text,
        today=ws.today,
        spelled=night.whereabouts.of,
    )
    try:
        return propose(material), ()
    except ReverieError as error:
        return Proposal(pages={}, settlements=()), (f"the dreamer failed: {error}",)


def _with_raw(ws: Workspace, night: Night, attempt: Attempt) -> Attempt:
    """Return an attempt of a model with the raw history of its batch settled, which goes by rule."""
    raw, _ = _by_rule(ws, night, [part for part in attempt.batch if part.raw])
    both = (*attempt.proposal.settlements, *raw.settlements)
    proposal = msgspec.structs.replace(attempt.proposal, settlements=both)
    return msgspec.structs.replace(attempt, proposal=proposal)


def _tools(
    ws: Workspace, reach: Reach, batch: Sequence[Part], *, find: Find, staging: Staging, guest: bool = False
) -> Tools:
    kind = DrivenTools if guest else Tools
    return kind(
        ws, staging, batch, veil=reach.veil, known=lambda entry: find(entry) is not None, seek=reach.seek
    )


def _attempt(tools: Tools, batch: Sequence[Part], **named: Any) -> Attempt:  # noqa: ANN401 - Attempt's own
    proposal, problems = tools.proposal(), tools.overtaken
    return Attempt(batch=tuple(batch), proposal=proposal, edits=tools.edits, problems=problems, **named)


def _task(ws: Workspace, reach: Reach, batch: Sequence[Part]) -> Task:
    """Return what a dreamer is told of its batch."""
    days = frozenset(part.day for part in batch)
    return Task(
        parts=tuple(batch),
        today=ws.today,
        notebook=ws.notebook,
        guidance=guidance(ws, reach.veil),
        history=history_of(ws, reach.veil, days),
        undone=undone_of(ws, reach.veil, {part.id for part in batch}),
        forgotten=reach.forgotten,
        skills=ws.settings.skills != "off",
        nonce=ws.new_id(),
    )
