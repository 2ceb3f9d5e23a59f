"""Where everything stands, and what needs attention with its remedy.

Owns the one look over a workspace that costs little; promises that whatever was set aside, cannot be read or waits for
a person is named with what to do about it; never writes, and never judges whether the files agree (`check` does).

Of streams and sessions, those changed last are read for damage until `LOOKED_THROUGH` bytes; how many files that leaves
out is told. Everything else is looked at whole, however much there is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime

import msgspec

from reverie import layout
from reverie.core.dreams.raw_history import Known, RawHistory, failed_slices, pending_days, raw_history
from reverie.core.dreams.watermark import highest
from reverie.core.formats import framing
from reverie.core.formats.utf8 import to_text
from reverie.core.glance.budget import budget_of
from reverie.core.glance.memory_file import merge_block
from reverie.core.glance.staleness import Freshness, late
from reverie.core.ledger import Spent, by_purpose, told
from reverie.core.partly import Partly
from reverie.core.records import History, Opened, Run, SessionLine, Turn
from reverie.core.settings.switched_off import switched_off
from reverie.core.text.plural import many
from reverie.errors import IndexUnavailable, InvalidRecord, UnsafePath
from reverie.index.look import Index, embedder_of, look
from reverie.index.state import State
from reverie.store import counters, daylog, history, intents, journal, quarantine, sessions, stream, usage
from reverie.store.counters import ConsolidateCounters, PublishCounters
from reverie.store.dreams import reviews
from reverie.store.dreams.progress import Amounts, Progress, progress
from reverie.store.hosts.hooks import told as told_hooks
from reverie.store.kept_out import KeptOut, counted
from reverie.store.tries import told as told_unread
from reverie.store.workspace import Workspace

LOOKED_THROUGH = 3_000_000  # bytes of streams and sessions; about 30 ms


class SetAside(msgspec.Struct, frozen=True):
    """A refused record: its id in quarantine, where it came from, and why it was refused."""

    id: str
    source: str
    reason: str
    at: datetime


class Place(msgspec.Struct, frozen=True):
    """Something in a file that is not as it should be: `file:line` or `file@byte`, and what is wrong."""

    place: str
    what: str


class Problem(msgspec.Struct, frozen=True):
    """Something that needs attention, and what to do about it."""

    what: str
    remedy: str


class Usage(msgspec.Struct, frozen=True):
    """How much of its budget MEMORY.md uses; `limits` and `used` by unit (characters, lines, bytes, tokens)."""

    present: bool
    used: dict[str, int]
    limits: dict[str, int]

    @property
    def over(self) -> tuple[str, ...]:
        """The units in which it is too large."""
        return tuple(unit for unit, limit in self.limits.items() if self.used[unit] > limit)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace at one moment.

    `pending` counts entries and raw history of closed days that no dream has settled, by day. `unread` counts turns
    past the extraction mark, by session, of the sessions that were looked at. `unlooked` is how many files were not
    read for damage. `off` says what is switched off or not there, in words. `models` is what models used today, by
    purpose; `kept_out`, how often secrets were taken out and what was left out for its topic.
    """

    workspace: str
    agent: str
    person: str
    trusted: bool
    paused: bool
    today: str
    entries: int
    current: int
    promises: int
    pins: int
    forgotten: int
    queued: int
    segments: int
    outcomes: dict[str, int]
    pending: dict[str, int]
    days: tuple[str, ...]
    watermark: str
    sessions: int
    unread: dict[str, int]
    quarantine: tuple[SetAside, ...]
    unparsed: tuple[Place, ...]
    damaged: tuple[Place, ...]
    unlooked: int
    reviews: int
    index: Index
    memory: Usage
    off: tuple[str, ...]
    models: dict[str, Spent] = {}
    kept_out: KeptOut = KeptOut()
    dream: Progress = Progress()
    problems: tuple[Problem, ...] = ()


class _Look(msgspec.Struct):
    """What reading streams and sessions found."""

    damaged: list[Place] = msgspec.field(default_factory=list)
    unread: dict[str, int] = msgspec.field(default_factory=dict)
    unlooked: int = 0
    sessions: int = 0


def status(ws: Workspace, state: State, *, trusted: bool, asked: int, partly: Partly) -> Status:
    """Return where everything stands; `state` is caught up. Raises NotAWorkspace, NewerFormat, DamagedFile.

    `asked` is how many statements wait for a word because something like them was forgotten. A file that cannot be
    opened is a problem, as what `partly` missed already is, and hides nothing that others tell.
    """
    identity, counts, today = ws.identity(), state.counts(), ws.today
    refused = partly.each(lambda: quarantine.listed(ws))
    aside = tuple(SetAside(one.id, one.source, one.reason, one.at) for one in refused)
    look = _look_through(ws, state, partly)
    runs, used = _runs(ws), partly.each(lambda: usage.read(ws))
    index, trouble = _index(ws)
    archived = partly.each(lambda: history.within(ws, LOOKED_THROUGH))
    known = Known(state.outcomes, state.mark)
    waiting = _waiting(ws, archived, known=known, partly=partly)
    paused = partly.get(lambda: ws.disk.size(layout.PAUSED) is not None, instead=True)
    seen = Status(
        workspace=str(ws.root),
        agent=identity.agent,
        person=identity.person,
        trusted=trusted,
        paused=paused,
        today=today,
        entries=counts["entries"],
        current=counts["current"],
        promises=counts["promises"],
        pins=counts["pins"],
        forgotten=counts["forgotten"],
        queued=counts["queued"],
        segments=sum(1 for _ in journal.waiting_files(ws)),
        outcomes={
            name.removeprefix("outcome_"): n for name, n in counts.items() if name.startswith("outcome_")
        },
        pending=pending_days(state.pending_days(before=today), waiting),
        days=tuple(partly.each(lambda: daylog.days(ws))),
        watermark=highest(runs),
        sessions=look.sessions,
        unread=look.unread,
        quarantine=aside,
        unparsed=tuple(Place(f"{layout.log_file(day)}:{line}", text) for day, line, text in state.unparsed()),
        damaged=tuple(look.damaged),
        unlooked=look.unlooked,
        reviews=asked
        + len(aside)
        + len(state.conflicts())
        + partly.get(lambda: reviews.number(ws, state.unprocessable(), state.unprocessable_records()), 0),
        index=index,
        memory=partly.get(lambda: _usage(ws), Usage(present=True, used={}, limits={})),
        off=tuple(switched_off(ws.settings, paused=paused, embeds=bool(embedder_of(ws.settings)))),
        models=by_purpose(used, day=today),
        kept_out=partly.get(lambda: counted(ws), KeptOut()),
    )
    settled = sum(number for kind, number in seen.outcomes.items() if kind != "pending")
    amounts = Amounts(sum(seen.pending.values()), settled, waiting.parts)
    stands = partly.get(lambda: progress(ws, runs, state=state, amounts=amounts), Progress())
    found = [*_standing_problems(seen), *trouble, *partly.each(lambda: _unfinished(ws))]
    found += [*partly.each(lambda: _memory_trouble(ws)), *_failing(runs)]
    found += partly.each(lambda: _consolidating(ws, failed_slices(archived, known)))
    found += [Problem(*one) for one in told(used, now=ws.clock())]
    return msgspec.structs.replace(seen, problems=(*found, *_told(ws, partly)), dream=stands)


def _waiting(ws: Workspace, kept: list[History], *, known: Known, partly: Partly) -> RawHistory:
    """Return what waits of the raw history of closed days."""
    return partly.get(lambda: raw_history(kept, known, calendar=ws.calendar, before=ws.today), RawHistory())


def _told(ws: Workspace, partly: Partly) -> Iterator[Problem]:
    """Yield what other parts tell of themselves, and last what could not be looked at."""
    for one in (*partly.each(lambda: told_unread(ws)), *partly.each(lambda: told_hooks(ws))):
        yield Problem(*one)
    for what in partly.missing:
        yield Problem(f"it could not be looked at: {what}", "then run `reverie check`")


def _standing_problems(seen: Status) -> Iterator[Problem]:
    """Yield what needs attention among the facts themselves."""
    if not seen.trusted:
        yield Problem(
            "this workspace was not made here, so it is read-only",
            f"look through it, then run `reverie trust {shlex.quote(seen.workspace)}`",
        )
    if seen.quarantine:
        yield Problem(
            f"{many(len(seen.quarantine), 'record')} refused and set aside", "look with `reverie review list`"
        )
    if seen.unparsed:
        lines = many(len(seen.unparsed), "line")
        yield Problem(f"{lines} of daily logs not understood", "mend the lines listed, or leave them")
    if seen.damaged:
        places = many(len(seen.damaged), "place")
        yield Problem(f"{places} not readable", "run `reverie check`; restore them from a backup")
    for unit in seen.memory.over:
        yield Problem(
            f"MEMORY.md has {seen.memory.used[unit]:,} {unit}, of {seen.memory.limits[unit]:,}",
            "run `reverie publish`; if it stays so, shorten what you wrote in it or raise the budget",
        )


def _unfinished(ws: Workspace) -> Iterator[Problem]:
    """Yield what a crash left to be finished."""
    shut = [Problem(f"nothing can be queued: {one}", "then run `reverie check`") for one in journal.shut(ws)]
    yield from shut
    for path in intents.PATHS:
        if not (shut and path.startswith(layout.JOURNAL)) and ws.disk.size(path) is not None:
            yield Problem(
                f"{path} says that a write was interrupted",
                "any command that writes finishes it: `reverie drain`",
            )


def _memory_trouble(ws: Workspace) -> Iterator[Problem]:
    """Yield why MEMORY.md could not be compiled, if its markers are broken, and what it does not show yet."""
    text = to_text(ws.disk.read(layout.MEMORY))
    seen = counters.read(ws, PublishCounters)
    waits = Freshness(last=seen.last, waiting=seen.waiting)
    if ws.settings.publish.auto_refresh and late(waits, ws.clock()):
        yield Problem(
            f"MEMORY.md does not show what changed since {seen.waiting:%Y-%m-%d %H:%M} UTC",
            "run `reverie consolidate`, and schedule it: `reverie consolidate --help`",
        )
    if problem := merge_block(text, "").problem:
        yield Problem(problem, "mend the markers, or delete MEMORY.md and run `reverie publish`")


def _failing(runs: list[Run]) -> Iterator[Problem]:
    """Yield why the last run failed, if it did."""
    if runs and runs[-1].result == "failed":
        why = f": {runs[-1].problems[0]}" if runs[-1].problems else ""
        yield Problem(f"{runs[-1].run} failed{why}", "run `reverie dream --now`, or see `reverie log`")


def _consolidating(ws: Workspace, archived: str) -> Iterator[Problem]:
    """Yield what failed when everything due was last run, and what is wrong with what was `archived`."""
    if archived:
        yield Problem(archived, "nothing is lost; mend the model's trouble, and later slices are condensed")
    for what in counters.read(ws, ConsolidateCounters).failing.values():
        yield Problem(what, "mend the cause, then run `reverie consolidate`")


def _runs(ws: Workspace) -> list[Run]:
    """Return the runs of dreams, oldest first."""
    try:
        read: stream.Read[Run] = stream.read(ws, layout.RUNS, Run)
    except UnsafePath:
        return []  # named among what is damaged
    return read.records


def _look_through(ws: Workspace, state: State, partly: Partly) -> _Look:
    """Read streams, then sessions, the one changed last first, for damage and for turns not yet extracted."""
    look = _Look()
    streams = [*journal.waiting_files(ws), layout.EVENTS, layout.TOMBSTONES, layout.RUNS, layout.REVIEWS]
    talks = partly.each(lambda: sessions.files(ws))
    look.sessions = len(talks)
    left = LOOKED_THROUGH
    others = ws.disk.newest_first([*talks, layout.OUTCOMES, layout.HISTORY])
    for path in (*streams, *(path for path, _ in others)):
        try:
            size = ws.disk.size(path)
        except UnsafePath as error:
            look.damaged.append(Place(path, str(error)))
            continue
        if size is None:
            continue
        if size > left:
            look.unlooked += 1
            continue
        left -= size
        lines, damage = framing.read(ws.disk.read(path) or b"")
        look.damaged += [
            Place(f"{path}@{one.offset}", one.reason) for one in damage if one.reason != framing.TORN
        ]
        if path.startswith(f"{layout.SESSIONS}/"):
            _count_unread(look, lines, state, partly)
    return look


def _count_unread(look: _Look, lines: list[framing.Line], state: State, partly: Partly) -> None:
    """Count the turns of one session past its extraction mark, from its first and last line."""
    if not lines:
        return
    try:
        first, last = (framing.decode(line, SessionLine) for line in (lines[0], lines[-1]))
    except InvalidRecord:
        return  # `check` names it
    if isinstance(first, Opened):
        number = last.n + 1 if isinstance(last, Turn) else last.n
        unread = number - partly.get(lambda: state.mark(first.session), number)
        if unread > 0:
            look.unread[first.session] = unread


def _index(ws: Workspace) -> tuple[Index, list[Problem]]:
    """Return the state of the search index, without making one where there is none."""
    try:
        seen = look(ws.root, ws.settings)
    except IndexUnavailable as error:
        return Index(), [Problem(str(error), "run `reverie reindex`")]
    remedy = "words go on finding it; mend that and run `reverie consolidate`"
    return seen, [Problem(seen.trouble, remedy)] if seen.trouble else []


def _usage(ws: Workspace) -> Usage:
    """Return how large MEMORY.md is, in the units its budget limits."""
    data = ws.disk.read(layout.MEMORY)
    text = to_text(data)
    budget = budget_of(ws.settings.publish)
    size = budget.measure(text)
    limits = {
        unit: limit
        for unit in ("characters", "bytes", "lines", "tokens")
        if (limit := getattr(budget, unit)) is not None
    }
    return Usage(data is not None, {unit: getattr(size, unit) for unit in limits}, limits)
