"""What must be there because other files say so.

Owns the traces that files leave in one another; promises to name each file that vanished or lost its end, as far as
another still tells of it; never writes. What nothing else names (a queued record, an entry's only session) cannot be
missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

import msgspec

from reverie import layout
from reverie.core.formats.drain_plan import entries_of
from reverie.core.records import (
    Event,
    Extraction,
    Feedback,
    History,
    JournalRecord,
    Outcome,
    OutcomeKind,
    Run,
    Tombstone,
)
from reverie.core.sessions.active_window import parse_range
from reverie.core.text.plural import many
from reverie.errors import DamagedFile, UnsafePath
from reverie.store import counters, daylog, quarantine, sessions, stream
from reverie.store.counters import DrainCounters
from reverie.store.forgotten import tombstones
from reverie.store.versions import git
from reverie.store.workspace import Workspace

_WRITTEN = re.compile(rb"^- .* \^([0-9a-f]{16})\r?$", re.MULTILINE)  # a line of a log with an id of its own
_SAMPLE = 3  # ids named in one sentence


class Absence(msgspec.Struct, frozen=True):
    """Something that other files tell of and that is not where it belongs."""

    place: str
    what: str
    remedy: str
    severity: Literal["error", "warning"] = "error"


class Told(msgspec.Struct):
    """What the journal and its archive tell: the spans read of each session, the notes, the entries, the judgements."""

    spans: dict[str, set[tuple[int, int]]] = {}
    notes: set[str] = set()
    entries: set[str] = set()
    judged: set[str] = set()

    def take(self, record: JournalRecord, *, drained: bool) -> None:
        """Note what one record tells."""
        if isinstance(record, Feedback):
            if drained:
                self.judged.add(record.id)
            return
        self.entries.update(entry.id for entry in entries_of(record))
        if isinstance(record, Extraction) and record.session:
            self.spans.setdefault(record.session, set()).add((record.start, record.stop))
        elif isinstance(record, Extraction) and record.note:
            self.notes.add(record.note)


def absences(ws: Workspace, told: Told) -> Iterator[Absence]:
    """Yield everything that is missing by what other files say."""
    events = _records(ws, layout.EVENTS, Event)
    yield from _gaps(told.spans)
    yield from _sessions(
        ws, {session: max(stop for _, stop in spans) for session, spans in told.spans.items()}
    )
    yield from _events(ws, told.judged, events)
    yield from _archive(ws, told, events)
    yield from _forgotten(ws, events)
    yield from _runs(ws)
    yield from _prose(ws, told.notes)


def _records(ws: Workspace, path: str, kind: type[stream.RecordT]) -> list[stream.RecordT]:
    """Return the records of a stream; none of one that may not be opened, which is named elsewhere."""
    try:
        found: stream.Read[stream.RecordT] = stream.read(ws, path, kind)
    except UnsafePath:
        return []
    return found.records


def _gaps(spans: Mapping[str, set[tuple[int, int]]]) -> Iterator[Absence]:
    """Look for spans of sessions that were read twice or not at all."""
    for session, read in spans.items():
        reached = 0
        for start, stop in sorted(read):
            if start != reached:
                yield Absence(
                    sessions.path_of(session),
                    f"turns {min(start, reached)} to {max(start, reached)} were read twice or not at all",
                    "two copies of it were merged, or a journal archive file is missing: compare it with a backup",
                )
            reached = max(reached, stop)


def _sessions(ws: Workspace, read: Mapping[str, int]) -> Iterator[Absence]:
    """Compare each session's file with how far it was read and archived."""
    needed = dict(read)
    for record in _records(ws, layout.HISTORY, History):
        if (span := parse_range(record.turns)) is not None:
            needed[record.session] = max(needed.get(record.session, 0), span[1] + 1)
    held: dict[str, int] = {}
    for state in sessions.states(ws):  # by their names: one that was renamed is another finding
        held[state.name] = max(held.get(state.name, 0), state.turns)
    for session, number in sorted(needed.items()):
        path, there = sessions.path_of(session), held.get(session, 0)
        if session not in held and ws.disk.stat(path) is not None:
            continue  # it may not be opened, or lost its first line, which is said of it elsewhere
        if there < number:
            yield Absence(
                path,
                f"the session {session!r} had {number} turns when it was last read, and its file holds {there}",
                "restore it from a backup: the entries read from it stay, the words they were read from are gone",
            )


def _events(ws: Workspace, judged: set[str], events: list[Event]) -> Iterator[Absence]:
    """Look for events that a drain wrote, or knew to be there."""
    known = {event.id for event in events} | {one.id for one in _settled_feedback(ws)}
    if lost := sorted(judged - known):
        yield Absence(
            layout.EVENTS,
            f"{len(lost)} judgements were drained into it and are not there ({', '.join(lost[:_SAMPLE])})",
            "restore it from a backup; what was judged stands in .journal/archive",
        )
    reached = counters.read(ws, DrainCounters).events
    status = ws.disk.stat(layout.EVENTS)
    if (status.st_size if status else 0) < reached:
        yield Absence(
            layout.EVENTS,
            f"a drain had read {reached} bytes of it, and it is shorter or gone",
            "restore it from a backup: promises, pins and corrections stand in it alone",
        )


def _archive(ws: Workspace, told: Told, events: list[Event]) -> Iterator[Absence]:
    """Look for the records of what stands in logs and events: each was in the journal first."""
    buried = {
        entry for tomb in _records(ws, layout.TOMBSTONES, Tombstone) for entry in (*tomb.entries, tomb.id)
    }
    known = told.entries | buried | {event.body.id for event in events if event.body is not None}
    lost = {event.id for event in events if event.kind == "feedback"} - told.judged
    for day in daylog.days(ws):
        try:
            data = ws.disk.read(layout.log_file(day)) or b""
        except UnsafePath:
            continue
        lost.update(found for found in map(bytes.decode, _WRITTEN.findall(data)) if found not in known)
    if lost:
        yield Absence(
            layout.JOURNAL_ARCHIVE,
            f"{len(lost)} entries or judgements were stored, and no record of them is kept"
            f" ({', '.join(sorted(lost)[:_SAMPLE])})",
            "an archived segment is missing: compare it with a backup; lines that a person wrote with an id have none",
            "warning",
        )


def _settled_feedback(ws: Workspace) -> Iterator[Feedback]:
    """Yield the feedback that was refused and set aside instead of being applied."""
    for item in quarantine.listed(ws):
        try:
            yield msgspec.json.decode(item.text, type=Feedback)
        except (msgspec.DecodeError, ValueError, RecursionError):
            continue


def _forgotten(ws: Workspace, events: list[Event]) -> Iterator[Absence]:
    """Look for tombstones and their key: without them what was forgotten shows again."""
    tombs = _records(ws, layout.TOMBSTONES, Tombstone)
    buried = {entry for tomb in tombs for entry in (*tomb.entries, tomb.id)}
    forgotten = {event.entry for event in events if event.kind == "forget"}
    if lost := sorted(forgotten - buried):
        yield Absence(
            layout.TOMBSTONES,
            f"{len(lost)} entries were forgotten and have no tombstone ({', '.join(lost[:_SAMPLE])})",
            "restore it from a backup, or forget them again: their words may come back until then",
        )
    if any(tomb.keyed for tomb in tombs):
        try:
            missing = not tombstones.key(ws)
        except (DamagedFile, UnsafePath):
            missing = True
        if missing:
            yield Absence(
                layout.KEY,
                "the key of the tombstones is gone or damaged: forgotten words no longer hide in new records",
                "restore it from a backup, or forget the same entries again",
            )


def _runs(ws: Workspace) -> Iterator[Absence]:
    """Compare run records, outcomes and the history of pages, unless an install is under way."""
    if ws.disk.stat(layout.INSTALL_INTENT) is not None:
        return
    ended = {run.run: run for run in _records(ws, layout.RUNS, Run)}
    outcomes = _records(ws, layout.OUTCOMES, Outcome)
    judging = {outcome.run for outcome in outcomes}
    if lost := sorted(judging - ended.keys()):
        yield Absence(
            layout.RUNS,
            f"{many(len(lost), 'run')} left outcomes and have no record ({', '.join(lost[:_SAMPLE])})",
            "restore it from a backup: undo and the log know only recorded runs",
        )
    gave = [run.run for run in ended.values() if any(run.counts.get(kind) for kind in get_args(OutcomeKind))]
    if lost := sorted(run for run in gave if run not in judging):  # a lint counts findings, and gives none
        yield Absence(
            layout.OUTCOMES,
            f"{many(len(lost), 'run')} gave outcomes that are not there ({', '.join(lost[:_SAMPLE])})",
            "restore it from a backup: without them entries count as pending and are dreamt again",
        )
    yield from _commits(ws, [run for run in ended.values() if run.commit])


def _commits(ws: Workspace, named: list[Run]) -> Iterator[Absence]:
    """Look for the commits that runs name among those the newest one reaches."""
    history = git.History(ws)
    try:
        reached = {info.id for info in history.log(limit=1 << 31)}
    except (DamagedFile, UnsafePath):
        return  # named by the check of the objects
    lost = [run for run in named if run.commit not in reached]
    if lost:
        newest = max(lost, key=lambda run: run.ended)
        yield Absence(
            git.MAIN,
            f"it does not lead to the commits of {len(lost)} runs; the newest is {newest.commit} of {newest.run}",
            "write that id and a newline into it, or restore .history from a backup",
        )


def _prose(ws: Workspace, notes: set[str]) -> Iterator[Absence]:
    """Look for pages of the newest commit, and for notes that were read, which are there no more."""
    history = git.History(ws)
    try:
        committed = sorted(history.tree(history.head()))
    except (DamagedFile, UnsafePath):
        committed = []
    for path in (one for one in committed if one != layout.MEMORY and ws.disk.stat(one) is None):
        yield Absence(
            path,
            "it stands in the newest commit of .history and is gone",
            "bring it back with `reverie restore`, or leave it: the next dream records that a person removed it",
            "warning",
        )
    for path in sorted(one for one in notes if ws.disk.stat(one) is None):
        yield Absence(
            path,
            "entries were read from this note, and it is gone",
            "restore it from a backup, or leave it: the entries stay",
            "warning",
        )
    if ws.disk.stat(layout.GITIGNORE) is None:
        yield Absence(
            layout.GITIGNORE,
            "it is gone, so that memory may be committed to a repository by accident",
            "write `*` into it",
            "warning",
        )
