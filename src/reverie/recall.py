"""What do I know about …: ranked hits over entries, pages, core files, history and turns.

Owns bringing the search rows up to the files, standing and collapsing of hits, and their provenance; promises that
what was acknowledged is found, drained or not, and that nothing forgotten is; never writes a canonical file.

An entry that a page cites now yields to that page when both are found, a repeat to what it repeats; either is shown on
its own when the caller filters, or when the other is not among the hits. With `as_of` an entry stands as it stood then:
what was said or happened later has no say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial

import msgspec

from reverie import layout
from reverie.core.categories import hint, names_of
from reverie.core.days import parse_instant
from reverie.core.fold import EntryState, fold
from reverie.core.records import Event
from reverie.core.records import Recalled as RecallLine
from reverie.core.search.query import parse
from reverie.core.search.rank import Ranked, rank
from reverie.core.search.rows import Candidate, Filter, Kind, Row
from reverie.core.search.standings import Told, of_turn, standing_of, told
from reverie.core.significance import decayed, faded, sunk
from reverie.core.where import Where
from reverie.errors import Busy, UsageError
from reverie.index.entry_rows import said_at
from reverie.index.feeding import DESCRIPTION, Feeding, queued_rows
from reverie.index.protocol import DEPTH, Index
from reverie.index.state import State
from reverie.store import pages, stream
from reverie.store.workspace import Workspace

PATIENCE = 0.05  # seconds of catching up before a recall answers with what it has
UNCOMMITTED = 256  # rows that a search reads itself; more are taken into the text index first
MOST = 1_000  # hits one call may ask for
_DEEPER = 3  # candidates for each hit asked for: some yield to others, or are hidden
SIFTED = 1_000  # candidates looked at when the index cannot apply the filter itself
LOG_BYTES = 1_000_000  # the recall log is halved when it is longer
_CITING = ("page", "core")
_LINKS = ("supersede", "correct", "repeat", "strengthen", "conflict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found: what it says, when and by whom, why it ranked, and where it comes from.

    `id` is the entry's id for entries. `source` is the file, `place` the line, ordinal or cursor in it. `session` and
    `turns` lead to the turn. `standing` is current, superseded, wrong, discussed, done or faded: of a page's lines and
    of a turn, as the entries behind them stand. `entries` are those that a page's lines cite, the latest of which dates
    them. `bare`: it only says what a page is about.
    """

    id: str
    kind: Kind
    text: str
    day: str
    at: datetime
    score: float
    why: tuple[str, ...]
    source: str
    place: int = 0
    heading: str = ""
    category: str = ""
    person: str = ""
    role: str = ""
    session: str = ""
    turns: str = ""
    standing: str = "current"
    entries: tuple[str, ...] = ()
    evidence: str = ""
    bare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The hits, best first, how many sources the index is still behind, and a `hint` where a category may be a slip."""

    hits: tuple[Hit, ...]
    behind: int = 0
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question: its text, how many hits, which memories, which kinds, and the instant relative dates count from.

    >>> [hit.text for hit in memory.ask(Ask(query="tea", k=3, kinds=("entry",))).hits]
    ['User likes tea']
    """

    query: str
    k: int = 10
    where: Where = Where()
    kinds: tuple[Kind, ...] = ()
    reference: datetime | None = None


def recall(ws: Workspace, state: State, *, index: Index, ask: Ask, masked: Callable[[Row], bool]) -> Found:
    """Return what answers `ask`, best first; raises UsageError when `k` is out of range or no word is asked for.

    `masked` says which turns, records and paragraphs a tombstone hides.
    """
    if not 1 <= ask.k <= MOST:
        message = f"k is {ask.k}: ask for 1 to {MOST:,} hits"
        raise UsageError(message)
    behind = catch_up(ws, state, index=index, masked=masked)
    now = ws.clock()
    reference = ask.reference or now
    query = parse(ask.query, date.fromisoformat(ws.calendar.day(reference)))
    if not query.terms:
        message = f"{ask.query[:40]!r} holds no word or number to look for: say what about"
        raise UsageError(message)
    where = _filter(ws, ask)
    queued = [row for row in queued_rows(state) if where.allows(row)]
    depth = SIFTED if ask.where.about else max(DEPTH, min(SIFTED, _DEEPER * ask.k))
    found = index.search(query, where=where, depth=depth, extra=queued, vector=index.meaning(ask.query))
    standing = _Standing(ws, state, ask=ask, now=now)
    standing.wanted = query.terms
    candidates = [one for one in found if not masked(one.row) and standing.may_answer(one.row)]
    if ask.where.as_of is not None:  # what it was worth then may have been more
        candidates = [msgspec.structs.replace(one, sig=None) for one in candidates]
    if not ask.where.filters:
        standing.told = frozenset(one.row.id for one in candidates if one.row.kind == "entry") | _cited(
            candidates
        )
        candidates = _collapsed(candidates)
    ranked = rank(query, candidates, reference=reference, k=ask.k, judge=standing.judge)
    lines = state.lines(one.id for one in ranked if one.candidate.row.kind == "entry")
    hits = (_hit(one, standing, line=lines.get(one.id)) for one in ranked)
    return Found(hits=tuple(hits), behind=behind, hint=hint(ask.where.category))


def catch_up(
    ws: Workspace,
    state: State,
    *,
    index: Index,
    masked: Callable[[Row], bool],
    patience: float | None = PATIENCE,
) -> int:
    """Bring the search rows up to the files, for at most `patience` seconds; return how many sources are left."""
    deadline = None if patience is None else time.monotonic() + patience
    behind = Feeding(ws.disk, index.rows, state, ws.calendar, ws.notebook, deadline, masked).run()
    if index.rows.behind() > UNCOMMITTED:
        try:
            index.commit()
        except Busy:
            return behind + index.behind()  # another process is taking them in
    index.embed(deadline=deadline)
    return behind


def _filter(ws: Workspace, ask: Ask) -> Filter:
    """Return the part of the question the index can answer itself."""
    where = ask.where
    days = [where.until] if where.until else []
    if where.as_of is not None:
        days.append(ws.calendar.day(where.as_of))
    return Filter(
        kinds=("entry",) if where.category or where.tag or where.scope or where.about else ask.kinds,
        sessions=(where.session,) if where.session else (),
        persons=(where.who,) if where.who else (),
        categories=names_of(where.category) if where.category else (),
        scopes=(where.scope,) if where.scope else (),
        tags=(where.tag,) if where.tag else (),
        since=where.since,
        until=min(days, default=""),
    )


class _Standing:
    """What is known about candidates besides their words: significance now, and whether they still hold.

    `told` are the entries among the candidates and those their pages cite: a repeat of one yields to it. `wanted` are
    the terms that a page's lines are chosen by.
    """

    def __init__(self, ws: Workspace, state: State, *, ask: Ask, now: datetime) -> None:
        self._ws, self._state, self._ask, self._now = ws, state, ask, now
        self.states: dict[str, EntryState] = {}
        self.told: frozenset[str] = frozenset()
        self.wanted: Sequence[str] = ()
        self.lines: dict[str, Told] = {}
        self._behind: dict[str, EntryState] = {}
        self._read: dict[str, list[EntryState]] = {}
        self._seeds: dict[str, bool] = {}

    def may_answer(self, row: Row) -> bool:
        """Whether the question admits the row, as far as the row itself can tell."""
        where = self._ask.where
        if where.as_of is not None and row.at > where.as_of:
            return False
        if row.kind == "value" and row.status and parse_instant(row.status) <= self._now:
            return False  # it has ended
        if row.kind == "core" and self._untouched(row.source):
            return False  # how to fill the file in is nothing that is known
        return where.about in ("", row.about)

    def judge(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """Yield the candidates that may be shown, with their standing, and entries with their significance."""
        states = self._as_then(one.row.id for one in candidates if one.row.kind == "entry")
        self.states |= states
        self._learn(states)
        self._look_behind([one.row for one in candidates])
        repeated = [state.merged_into for state in states.values() if state.merged_into in self.told]
        shown = {name for name, state in self._state.find(repeated).items() if not state.hidden}
        facts = self._ws.settings.facts
        for candidate in candidates:
            if candidate.row.kind != "entry":
                yield from self._judged(candidate)
                continue
            found = states.get(candidate.row.id)
            if found is None or (found.hidden and not self._ask.where.include_hidden):
                continue
            if found.merged_into not in shown:
                sig = decayed(found, self._now, facts=facts)
                standing = standing_of(found, partial(sunk, value=sig, facts=facts))
                if standing != "faded" or self._ask.where.include_faded is not False:
                    yield msgspec.structs.replace(candidate, sig=sig, standing=standing)

    def _look_behind(self, rows: Sequence[Row]) -> None:
        """Read the entries that stand behind pages and turns, and those that these were folded into."""
        turns = [(row.session, row.at) for row in rows if row.kind == "turn" and row.session]
        cited = [one for row in rows if row.kind in _CITING for one in row.digest.split()]
        wanted = {*cited, *said_at(self._state.db, turns)} - self._behind.keys()
        while wanted:
            new = self._as_then(wanted)
            self._learn(new)
            wanted = {one.merged_into for one in new.values() if one.merged_into} - self._behind.keys()

    def _learn(self, found: Mapping[str, EntryState]) -> None:
        """Keep entries at hand, by id and by session."""
        for name, state in found.items():
            if name not in self._behind:
                self._behind[name] = state
                self._read.setdefault(state.entry.session, []).append(state)

    def _judged(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield a page or turn with its standing, unless all that it says is hidden, or was said on other days."""
        row, where = candidate.row, self._ask.where
        if row.kind in _CITING:
            lines = told(
                row, self.wanted, known=self._behind, stands=self._standing_of, hidden=where.include_hidden
            )
            if lines is None or not (where.since or "0") <= (lines.day or row.day) <= (where.until or "9999"):
                return
            self.lines[row.id] = lines
            candidate = msgspec.structs.replace(candidate, standing=lines.standing)
        elif row.kind == "turn":
            ended = of_turn(row, self._read.get(row.session, ()), known=self._behind)
            candidate = msgspec.structs.replace(candidate, standing=ended)
        if candidate.standing != "faded" or where.include_faded is not False:
            yield candidate

    def _as_then(self, ids: Iterable[str]) -> dict[str, EntryState]:
        """Return entries as they stand, or with `as_of` as they stood then."""
        found, as_of = self._state.find(ids), self._ask.where.as_of
        return found if as_of is None else {name: self._back(one, as_of) for name, one in found.items()}

    def _back(self, found: EntryState, as_of: datetime) -> EntryState:
        """Return the entry as it stood at an instant; a link counts from when what it links was said."""
        events = self._state.events(found.entry.id)
        known = [one for one in events if (_said(one) if one.kind in _LINKS else one.at) <= as_of]
        then = fold(found.entry, known)
        return msgspec.structs.replace(then, hidden=found.hidden)  # who hides a memory hides it for good

    def _untouched(self, path: str) -> bool:
        """Whether a core file still holds only the words it started with."""
        if path not in self._seeds:
            self._seeds[path] = pages.is_untouched(path, self._ws.disk.read(path) or b"")
        return self._seeds[path]

    def _standing_of(self, found: EntryState) -> str:
        return standing_of(found, lambda one: faded(one, self._now, facts=self._ws.settings.facts))


def _said(link: Event) -> datetime:
    """Return when the later of two linked entries was said; the link may have been made long after."""
    return parse_instant(link.when) if link.when else link.at


def _cited(candidates: Sequence[Candidate]) -> frozenset[str]:
    """Return the entries that paragraphs among the candidates cite."""
    pages_found = (one.row for one in candidates if one.row.kind == "page")
    return frozenset(name for row in pages_found for name in row.digest.split())


def _collapsed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leave out entries that a paragraph among the candidates cites.

    What a page says it is about yields to what stands on it.
    """
    cited = _cited(candidates)
    told = {one.row.source for one in candidates if one.row.kind == "page" and one.row.status != DESCRIPTION}

    def yields(row: Row) -> bool:
        if row.kind == "entry":
            return row.id in cited
        return row.status == DESCRIPTION and row.source in told

    return [one for one in candidates if not yields(one.row)]


def _hit(ranked: Ranked, standing: _Standing, *, line: int | None) -> Hit:
    """Return the hit for a ranked candidate; `line` is where its daily log has it, None for what is in none."""
    row = ranked.candidate.row
    found = standing.states.get(row.id)
    lines = standing.lines.get(row.id) or Told(text=row.text)
    return Hit(
        id=row.id,
        kind=row.kind,
        text=found.entry.text if found else lines.text,
        day=lines.day or row.day,
        at=lines.at or row.at,
        score=ranked.score,
        why=ranked.why,
        source=row.source,
        place=row.place if line is None else line,
        heading=row.heading,
        category=row.category,
        person=row.person,
        role=row.role,
        session=row.session,
        turns=found.entry.turns if found else str(row.n) if row.n >= 0 else "",
        standing=ranked.candidate.standing,
        entries=lines.cited,
        evidence=found.entry.evidence if found else "",
        bare=row.kind == "page" and row.status == DESCRIPTION,
    )


def keep_log(ws: Workspace, shown: Sequence[tuple[str, ...]]) -> None:
    """Append what recalls showed to the bounded recall log: a signal for the overview page, and no more."""
    if not shown:
        return
    if (ws.disk.size(layout.RECALL_LOG) or 0) > LOG_BYTES:
        data = ws.disk.read(layout.RECALL_LOG) or b""
        ws.disk.replace(layout.RECALL_LOG, data[data.find(b"\n", len(data) // 2) + 1 :])
    at = ws.clock()
    stream.append_all(ws, layout.RECALL_LOG, [RecallLine(at=at, shown=ids) for ids in shown if ids])
