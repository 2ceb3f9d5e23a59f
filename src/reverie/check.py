"""Does everything still hold: every invariant of the files, each finding with its place and remedy.

Owns the list of invariants; promises to read every byte that is canonical and to change none of it. `repair` sets
damaged lines aside (they stay where they are, too) and sweeps up what unfinished replacements left.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Literal

import msgspec

from reverie import layout
from reverie.core.dreams.raw_history import record_id
from reverie.core.formats import framing
from reverie.core.formats.drain_plan import entries_of
from reverie.core.ledger import UsageLine
from reverie.core.partly import Partly
from reverie.core.records import (
    Event,
    History,
    JournalRecord,
    KeyValue,
    Outcome,
    Recalled,
    Run,
    SessionLine,
    Tombstone,
    Turn,
)
from reverie.errors import DamagedFile, UnsafePath
from reverie.index.state import State
from reverie.store import daylog, intents, journal, quarantine, sessions, stream
from reverie.store.absent import Told, absences
from reverie.store.dreams.reviews import Proposal, Verdict
from reverie.store.filesystem import surroundings
from reverie.store.forgotten import letting_go
from reverie.store.quarantine import Rejected, Settled
from reverie.store.versions import git_packs
from reverie.store.workspace import Workspace

Severity = Literal["error", "warning"]

STREAMS: tuple[tuple[str, Any], ...] = (
    (layout.EVENTS, Event),
    (layout.OUTCOMES, Outcome),
    (layout.TOMBSTONES, Tombstone),
    (layout.HISTORY, History),
    (layout.KV, KeyValue),
    (layout.RUNS, Run),
    (layout.RECALL_LOG, Recalled),
    (layout.REVIEWS, Proposal | Verdict),
    (layout.USAGE, UsageLine),
)
_FILE_ENDINGS = (".jsonl", ".json", ".md", ".toml", ".gz", ".db", layout.GITIGNORE)
_COMPARE = "the lines around it are served; compare with a backup, or set it aside with --repair"
_TAKE_OUT = "take that line out with an editor; leave the lines around it: those of both copies are served"
_SETTLING = "run `reverie check --repair`: it sets the damaged bytes aside, and what was begun is done anew"
_PRIVATE = 0o077  # no one but the owner may read or write
_HIDDEN = (layout.JOURNAL, layout.STATE, layout.OBJECTS, layout.INDEX, layout.GITIGNORE)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that does not hold: where, what, and what to do about it."""

    place: str
    what: str
    remedy: str
    severity: Severity = "error"


class _Seen(msgspec.Struct):
    """What one pass over the files gathers for the checks that compare them."""

    logged: dict[str, str]
    queued: set[str]
    stored: set[str]
    drained: dict[str, str]
    told: Told


def check(ws: Workspace, state: Callable[[], State], *, repair: bool = False) -> tuple[Finding, ...]:
    """Return everything that does not hold, most important first; see the module for what `repair` does.

    What may not be opened ends one part of the look, and the file at fault is named; `state` is that of the moment.
    """
    if troubles := journal.shut(ws):
        remedy = "move it away, put the folder of a backup in its place, and check again: the rest is not looked at"
        return tuple(Finding(place=layout.JOURNAL, what=str(one), remedy=remedy) for one in troubles)
    damaged: list[stream.Damaged] = []
    partly = Partly()
    findings = [
        *partly.each(lambda: _streams(ws, damaged)),
        *partly.each(lambda: _sessions(ws, damaged)),
        *partly.each(lambda: _memories(ws, damaged)),
        *partly.each(lambda: _references(ws, state)),
        *partly.each(lambda: _derived(ws, state)),
        *partly.each(lambda: _history(ws)),
        *_files(ws),
    ]
    findings += [
        Finding(
            place=str(ws.root),
            what=f"it could not be looked at as a whole: {what}",
            remedy="mend that, and check again",
        )
        for what in partly.missing
    ]
    findings += [
        Finding(
            place=f"{one.path}:{one.offset}",
            what=f"a line cannot be read ({one.reason})",
            remedy=_TAKE_OUT if one.reason == framing.MERGED else _COMPARE,
        )
        for one in damaged
    ]
    if repair:
        quarantine.set_aside(ws, damaged)
        for folder in layout.FOLDERS:
            ws.disk.sweep(folder)
    return tuple(sorted(findings, key=lambda one: (one.severity, one.place)))


def _streams(ws: Workspace, damaged: list[stream.Damaged]) -> Iterator[Finding]:
    """Read every stream that has no rule of its own besides being readable."""
    for path, kind in STREAMS:
        damaged += _stream(ws, path, kind).damaged
    for run in ws.disk.walk(layout.DREAMS):
        if run.endswith(".jsonl") and run != layout.RUNS:
            damaged += _stream(ws, run, dict[str, Any]).damaged
    for path in ws.disk.walk(layout.QUARANTINE):
        damaged += _stream(ws, path, Rejected | Settled).damaged
    cursors = [record.cursor for record in _stream(ws, layout.HISTORY, History).records]
    if cursors != sorted(set(cursors)):
        yield Finding(
            place=layout.HISTORY,
            what="cursors do not count up",
            remedy="restore the file from a backup or the journal",
        )


def _stream(ws: Workspace, path: str, kind: Any) -> stream.Read[Any]:  # noqa: ANN401 - a class of records
    """Return what a stream holds; nothing of one that may not be opened, which `_files` names."""
    try:
        return stream.read(ws, path, kind)
    except UnsafePath:
        return stream.Read([], [], 0)


def _sessions(ws: Workspace, damaged: list[stream.Damaged]) -> Iterator[Finding]:
    """Read every session: ordinals count up, and its name belongs to its file."""
    for path in sessions.files(ws):
        lines: stream.Read[SessionLine] = stream.read(ws, path, SessionLine)
        damaged += lines.damaged
        numbers = [line.n for line in lines.records if isinstance(line, Turn)]
        if numbers != sorted(set(numbers)):
            yield Finding(
                place=path,
                what="turn ordinals do not count up",
                remedy="two copies of it were merged: every turn is served and read; else restore it from a backup",
                severity="warning",
            )
        name = sessions.open_file(ws, path).state.name
        if name and sessions.path_of(name) != path:
            yield Finding(
                place=path,
                what=f"the session {name!r} belongs in {sessions.path_of(name)}",
                remedy="rename the file back, or move it out of the workspace if it is a copy",
                severity="warning",
            )


def _memories(ws: Workspace, damaged: list[stream.Damaged]) -> Iterator[Finding]:
    """Compare journal, events and daily logs: nothing drained is missing, nothing stands twice."""
    seen = _Seen({}, set(), set(), {}, Told())
    for record in journal.waiting(ws).records:
        seen.queued.update(entry.id for entry in entries_of(record))
    yield from _logs(ws, seen)
    for event in _stream(ws, layout.EVENTS, Event).records:
        if event.body is not None:
            seen.stored.add(event.body.id)
    yield from _archive(ws, seen, damaged)
    refused = {item.text for item in quarantine.listed(ws)}
    for entry_id, day in seen.drained.items():
        if entry_id not in seen.logged and not any(entry_id in text for text in refused):
            yield Finding(
                place=layout.log_file(day),
                what=f"the drained entry {entry_id} has no line",
                remedy="its record is in .journal/archive: restore the log from a backup, or remember it again",
            )


def _logs(ws: Workspace, seen: _Seen) -> Iterator[Finding]:
    """Read every daily log: each id once, each line an entry."""
    for day in daylog.days(ws):
        path = layout.log_file(day)
        try:
            log = daylog.read(ws, day)
        except UnsafePath:
            continue  # `_files` names it
        for located in log.entries:
            first = seen.logged.setdefault(located.entry.id, f"{path}:{located.line}")
            if first != f"{path}:{located.line}":
                yield Finding(
                    place=f"{path}:{located.line}",
                    what=f"the id {located.entry.id} stands at {first} already",
                    remedy="the first is served; give the other line no id if it is another memory",
                )
        for line, text in log.unparsed:
            yield Finding(
                place=f"{path}:{line}",
                what=f"the line is no entry: {text[:60]!r}",
                remedy="write it as `- [category] text`, or leave it: it is kept as it is",
                severity="warning",
            )


def _archive(ws: Workspace, seen: _Seen, damaged: list[stream.Damaged]) -> Iterator[Finding]:
    """Read the journal and its archive, and look for what they and others say must be there."""
    queued: list[stream.Read[JournalRecord]] = [
        stream.read(ws, path, JournalRecord) for path in journal.waiting_files(ws)
    ]
    reads = [*queued, *(journal.read_archive(ws, path) for path in journal.archive_files(ws))]
    for number, read in enumerate(reads):
        damaged += read.damaged
        for record in read.records:
            if number >= len(queued):
                seen.drained.update((entry.id, entry.day) for entry in entries_of(record))
            seen.told.take(record, drained=number >= len(queued))
    for absence in absences(ws, seen.told):
        yield Finding(
            place=absence.place, what=absence.what, remedy=absence.remedy, severity=absence.severity
        )


def _references(ws: Workspace, now: Callable[[], State]) -> Iterator[Finding]:
    """Look for outcomes and citations that name no entry; what was erased has left its log for good."""
    state = now()
    gone = {entry for one in _stream(ws, layout.TOMBSTONES, Tombstone).records for entry in one.entries}
    gone |= {record_id(one) for one in _stream(ws, layout.HISTORY, History).records}  # these are no log's
    for entry_id in state.dangling_outcomes():
        if entry_id in gone:
            continue
        yield Finding(
            place=layout.OUTCOMES,
            what=f"an outcome names {entry_id}, which no log and no record of the history holds",
            remedy="restore the log, or history.jsonl, that held it from a backup",
        )
    for page, line, entry_id in state.dangling_citations():
        yield Finding(
            place=f"{page}:{line}",
            what=f"the citation of {entry_id} leads nowhere",
            remedy="restore the log that held it, or take the citation out",
            severity="warning",
        )


def _derived(ws: Workspace, now: Callable[[], State]) -> Iterator[Finding]:
    """Compare the state with one folded from nothing."""
    state = now()
    with state.afresh() as fresh:
        old, new = state.digest(), fresh.digest()
    if old != new:
        yield Finding(
            place=layout.STATE_DB,
            what="the derived state differs from what the files say",
            remedy="see to the other findings first, for a rebuild knows only the files; then run `reverie reindex`",
        )
    for path, kind in intents.KINDS:
        if ws.disk.stat(path) is None:
            continue
        try:
            intents.read(ws, path, kind)
        except (DamagedFile, UnsafePath) as error:
            yield Finding(place=path, what=f"what was begun cannot be told: {error}", remedy=_SETTLING)
        else:
            yield _unfinished(path)
    if ws.disk.stat(layout.ERASE_INTENT) is not None:
        try:
            letting_go.pending(ws)
        except (DamagedFile, UnsafePath) as error:
            yield Finding(place=layout.ERASE_INTENT, what="what was let go cannot be told", remedy=str(error))
        else:
            yield _unfinished(layout.ERASE_INTENT)


def _unfinished(path: str) -> Finding:
    return Finding(
        place=path,
        what="a write was interrupted",
        remedy="the next writing verb finishes it; or run `reverie check --repair`",
        severity="warning",
    )


def _history(ws: Workspace) -> Iterator[Finding]:
    """Read every object that the history's newest commit reaches, and look for files that are not ours."""
    for place, what, remedy, severity in git_packs.troubles(ws):
        yield Finding(place=place, what=what, remedy=remedy, severity=severity)


def _files(ws: Workspace) -> Iterator[Finding]:
    """Look at every file's kind and rights, and at the place of the workspace."""
    for sentence in surroundings.warnings(ws.root):
        yield Finding(place=str(ws.root), what=sentence, remedy="move the workspace", severity="warning")
    for path in _folders(ws, ""):
        if path.endswith(_FILE_ENDINGS):
            yield Finding(
                place=path,
                what="it is a folder, where a file belongs",
                remedy="move it away, and restore the file from a backup",
            )
    for path, reason in ws.disk.refused(""):
        yield Finding(place=path, what=f"it {reason}", remedy="put a plain file of your own in its place")
    # What lies in the index is made by libraries with rights of their own choice: there the folder keeps others out.
    made = (path for path in ws.disk.walk("") if not path.startswith(f"{layout.INDEX}/"))
    for path in (layout.INDEX, *made):
        status = ws.disk.stat(path)
        if status is not None and stat.S_IMODE(status.st_mode) & _PRIVATE and path.startswith(_HIDDEN):
            yield Finding(
                place=path,
                what=f"others may read it (mode {stat.S_IMODE(status.st_mode):04o})",
                remedy=f"chmod go= {path}",
                severity="warning",
            )
        if path.endswith(".md") and b"\0" in (ws.disk.read(path) or b""):
            yield Finding(
                place=path,
                what="it holds NUL bytes, which nobody wrote",
                remedy="restore it from a backup, or a page with `reverie restore`",
            )
        if surroundings.is_conflict_copy(path):
            yield Finding(
                place=path,
                what="a sync program left a conflict copy",
                remedy="put what it has more at the end of the original with an editor, then remove it",
                severity="warning",
            )


def _folders(ws: Workspace, path: str) -> Iterator[str]:
    """Yield every folder beneath `path` that may be opened."""
    for found, status in ws.disk.statuses(path):
        if stat.S_ISDIR(status.st_mode):
            yield found
            with suppress(UnsafePath):
                yield from _folders(ws, found)
