"""A workspace for tests that prove durability, and the account of what its files hold.

`opened` makes a workspace of real files with a fixed clock; `Account` counts where each record stands, reading the
canonical files alone; `rows` are the derived state's rows, for comparing one state with another.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from reverie import layout
from reverie.core.records import Draft, Entry, Event, Extraction, Remember, Turn
from reverie.core.settings.value import Settings
from reverie.extract import Reading
from reverie.index.state import State
from reverie.remember import Remembered, remember
from reverie.store import daylog, journal, sessions, stream
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Workspace
from reverie.testing import FixedClock, counter_ids

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def opened(
    root: Path, *, disk: Disk | None = None, now: datetime = NOON, first: int = 1, **fields: object
) -> Workspace:
    """Return the workspace at `root`, its clock at `now`, with ids counted from `first`; makes its folders.

    Nothing is synced, since nothing cuts the power of a plain disk; a CrashDisk given as `disk` counts every sync.
    """
    settings = Settings(**{"zone": "UTC", "durability": "os", **fields})
    ws = Workspace(root, settings, clock=FixedClock(now), new_id=counter_ids(first), disk=disk)
    if disk is None:
        ws.make_folders()
    return ws


def clock(ws: Workspace) -> FixedClock:
    """Return the workspace's clock, to set it."""
    assert isinstance(ws.clock, FixedClock)
    return ws.clock


def fresh_folders(tmp_path: Path) -> Callable[[], Path]:
    """Return a maker of folders that hold a workspace's own folders and nothing else."""
    numbers = itertools.count()

    def make() -> Path:
        root = tmp_path / f"w{next(numbers)}"
        opened(root)
        return root

    return make


def unmasked(entry: Entry) -> bool:
    """Forget nothing."""
    return False


def state_of(ws: Workspace) -> State:
    """Return the derived state kept beside the workspace, not caught up yet."""
    return State(ws.root, ws.disk, calendar=ws.calendar, notebook=ws.notebook)


def caught_up(ws: Workspace, state: State) -> State:
    """Return `state`, caught up with the files and the queue."""
    queued = journal.waiting(ws).records
    state.catch_up(unmasked)
    state.overlay(queued, unmasked)
    return state


def reading(ws: Workspace) -> Reading:
    """Return what extraction asks, answered from the journal's files each time; nothing resembles anything."""

    def records() -> list[Extraction]:
        every = [*journal.waiting(ws).records, *journal.archived(ws)]
        return sorted((one for one in every if isinstance(one, Extraction)), key=lambda one: one.at)

    def mark(session: str) -> int:
        return max((one.stop for one in records() if one.session == session), default=0)

    def note(path: str) -> str:
        return next((one.digest for one in reversed(records()) if one.note == path), "")

    def known(entry_id: str) -> Entry | None:
        return next((entry for one in records() for entry in one.entries if entry.id == entry_id), None)

    return Reading(mark=mark, note=note, known=known, alike=lambda _: ())


def keep(ws: Workspace, text: str, **fields: object) -> Remembered:
    """Remember `text` when no key is involved."""
    return remember(ws, text, Draft(**fields), known=lambda _: None)


def said(text: str, *, at: datetime = NOON, role: str = "user", **fields: object) -> Turn:
    """Return a turn."""
    return Turn(role=role, content=text, at=at, **fields)


@dataclass(slots=True)
class Account:
    """How often each id stands where: daily logs, events, the queue, sessions; and what should not be there."""

    lines: Counter[str] = field(default_factory=Counter)
    promised: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    queued: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    unparsed: list[str] = field(default_factory=list)
    damaged: list[stream.Damaged] = field(default_factory=list)

    def times(self, kind: str, name: str) -> int:
        """Return how often a record of this kind is found: a drained entry by its line, another where it waits."""
        if kind == "turn":
            return self.turns[name]
        if kind == "judged":
            return self.judged[name] + self.queued[name]
        # A promise stands in the events for ever and gets its line later; an entry's line ends its waiting.
        return self.lines[name] or min(1, self.promised[name]) + self.queued[name]


def account(ws: Workspace) -> Account:
    """Count everything in the canonical files; what a drain has both stored and not yet archived counts once."""
    found = Account()
    for day in daylog.days(ws):
        log = daylog.read(ws, day)
        found.unparsed += [text for _, text in log.unparsed]
        for located in log.entries:
            found.lines[located.entry.id] += 1
            found.texts[located.entry.id] = located.entry.text
    events: stream.Read[Event] = stream.read(ws, layout.EVENTS, Event)
    found.damaged += events.damaged
    for event in events.records:
        if event.body is not None:
            found.promised[event.body.id] += 1
        if event.kind == "feedback":
            found.judged[event.id] += 1
    waiting = journal.waiting(ws)
    found.damaged += waiting.damaged
    for record in waiting.records:
        entries = record.entries if isinstance(record, Extraction) else ()
        for entry in (record.entry,) if isinstance(record, Remember) else entries:
            if entry.id not in found.lines:
                found.queued[entry.id] += 1
        if not isinstance(record, Remember | Extraction) and not found.judged[record.id]:
            found.queued[record.id] += 1
    for path in sessions.files(ws):
        session = sessions.open_file(ws, path)
        found.damaged += session.damaged
        found.turns.update(turn.id for turn in session.turns)
        ordinals = [turn.n for turn in session.turns]
        assert ordinals == sorted(set(ordinals)), f"{path} uses an ordinal twice"
    return found


def rows(state: State) -> dict[str, list[tuple[object, ...]]]:
    """Return the derived state's rows, sorted, without what only says in which order they came."""
    queries = {
        "entry": "SELECT id, day, at, line, category, session, about, sig, due, current, pinned, promised, forgotten,"
        " masked, changed, body, state FROM entry ORDER BY id",
        "event": "SELECT id, kind, entry, other, undoes, body FROM event ORDER BY id",
        "outcome": "SELECT entry, part, parts, kind, run, body FROM outcome ORDER BY entry, part",
        "cite": "SELECT page, line, entry FROM cite ORDER BY page, line, entry",
        "mark": "SELECT session, mark FROM mark ORDER BY session",
        "note": "SELECT path, digest FROM note ORDER BY path",
        "unparsed": "SELECT day, line, text FROM unparsed ORDER BY day, line",
    }
    return {table: list(state.db.execute(query)) for table, query in queries.items()}


def from_nothing(ws: Workspace) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of a state folded from nothing, in memory."""
    state = State(None, ws.disk, calendar=ws.calendar, notebook=ws.notebook)
    state.catch_up(unmasked)
    found = rows(state)
    state.close()
    return found


def journal_bytes(ws: Workspace) -> bytes:
    """Return the queue's bytes, segments and claimed ones together, whatever their files are called."""
    return b"".join(sorted(ws.disk.read(path) or b"" for path in journal.waiting_files(ws)))


def segments(ws: Workspace) -> Iterator[Path]:
    """Yield the files of the segments not yet claimed."""
    yield from sorted((ws.root / layout.SEGMENTS).iterdir())
