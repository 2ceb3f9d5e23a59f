"""Looking back on runs, and taking one back.

Owns reverting a run's changes and putting the notebook back to an earlier time; promises that only what that run
changed is reverted, that a later change of the same lines is never overwritten, and that what is forgotten does not
come back; never touches a daily log.

Both go the way a dream goes: under the dream lock, judged against what people wrote meanwhile, installed through an
intent in one commit. The entries of an undone run are declined (`undone by …`) and not dreamt of again, or with `retry`
pending again. After a restore, entries whose citation vanished are pending again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from reverie import layout
from reverie.core.days import parse_instant
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.pages.citations import citations
from reverie.core.pages.reverting import reverted, without_citing
from reverie.core.records import Outcome, OutcomeKind, Run
from reverie.core.text.plural import many
from reverie.errors import Conflict, NotFound, UsageError
from reverie.store import pages, stream
from reverie.store.dreams import changing, installing, lease, runs
from reverie.store.dreams.changing import Change, Files
from reverie.store.dreams.landing import INDEX
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace

UNDOABLE = ("dream", "lint", "skill")  # kinds of runs; an undo is taken back by dreaming again

Masked = Callable[[str], bool]


def log(ws: Workspace, *, limit: int = 50) -> list[Run]:
    """Return the latest runs, newest first."""
    return list(reversed(runs.read(ws)))[:limit]


def find(ws: Workspace, run: str) -> Run:
    """Return the record of the run of that name; raises NotFound."""
    for one in runs.read(ws):
        if one.run == run:
            return one
    message = f"there was no run {run!r}: `reverie log` lists them"
    raise NotFound(message)


def diff(ws: Workspace, run: str, *, masked: Masked) -> str:
    """Return what a run changed, as a unified diff; lines that are forgotten are left out and counted."""
    found = find(ws, run)
    text = History(ws).unified(found.parent or None, found.commit) if found.commit else ""
    lines = text.splitlines(keepends=True)
    shown = [line for line in lines if not masked(line[1:].strip())]
    hidden = len(lines) - len(shown)
    return "".join(shown) + (f"({many(hidden, 'line')} forgotten)\n" if hidden else "")


def undo(ws: Workspace, run: str, *, retry: bool, masked: Masked) -> Run:
    """Take back what one run changed in pages, and return the record of doing so.

    Raises NotFound; Conflict when the run was undone before, or a later change touched the same lines; Busy.
    """
    with lease.driving(ws, "undo"):
        installing.finish(ws)
        done = find(ws, run)
        if done.kind not in UNDOABLE or any(
            one.kind == "undo" and one.undoes == run for one in runs.read(ws)
        ):
            message = f"{run} cannot be undone: it was undone already, or is no {', '.join(UNDOABLE)}"
            raise Conflict(message)
        read: stream.Read[Outcome] = stream.read(ws, layout.OUTCOMES, Outcome)
        theirs = [one for one in read.records if one.run == run]
        wanted = _reverted(ws, done, masked, entries={one.entry for one in theirs})
        return _install(ws, kind="undo", undoes=run, files=wanted, outcomes=theirs, retry=retry)


def restore(ws: Workspace, when: str, *, masked: Masked) -> Run:
    """Put the pages back to how they stood at an instant, or after a run; lines that are forgotten stay away.

    Raises NotFound when there is nothing as old as that; UsageError when `when` is neither; Busy.
    """
    with lease.driving(ws, "restore"):
        installing.finish(ws)
        history = History(ws)
        with ws.writing("restore"):
            installing.commit_people(history, pages.people_changes(ws, history), at=ws.clock())
        target = _commit_at(ws, history, when)
        files: Files = {}
        for path, (now, then) in history.changed(history.head(), target).items():
            if path not in {f"{ws.notebook}/{installing.LOG}", layout.MEMORY}:
                old = history.blob(now) if now else None
                files[path] = (old, _unforgotten(history.blob(then), masked) if then else None)
        lost = _lost_citations(ws, files)
        return _install(ws, kind="restore", undoes=when, files=files, outcomes=lost, retry=True)


def _reverted(ws: Workspace, done: Run, masked: Masked, *, entries: AbstractSet[str]) -> Files:
    """Return the files that undo a run: what it changed put back, what was changed since kept."""
    history = History(ws)
    files: Files = {}
    for change in history.diff(done.parent or None, done.commit) if done.commit else ():
        # The list of pages is compiled anew from what is there afterwards.
        if change.path in {f"{ws.notebook}/{installing.LOG}", f"{ws.notebook}/{INDEX}", layout.MEMORY}:
            continue
        now = ws.disk.read(change.path)
        if now is None and change.old is None:
            continue  # a person removed the page that the run made
        if now == change.new:
            files[change.path] = (now, change.old)
            continue
        text = reverted(to_text(change.old), to_text(change.new), now=to_text(now))
        if text is None and change.path == f"{ws.notebook}/{layout.OVERVIEW}":
            text = without_citing(to_text(now), entries)  # each dream chooses its lines anew
        if text is None:
            message = f"{change.path} was changed again where {done.run} changed it: undo the later run first"
            raise Conflict(message)
        files[change.path] = (now, to_bytes(text))
    return {
        path: (now, _unforgotten(wanted, masked) if wanted is not None else None)
        for path, (now, wanted) in files.items()
    }


def _install(
    ws: Workspace, *, kind: str, undoes: str, files: Files, outcomes: list[Outcome], retry: bool
) -> Run:
    """Install the files in one commit, with outcomes that say what becomes of the entries."""
    now = ws.clock()
    name = changing.name_of(ws, kind, now)
    outcome: OutcomeKind = "pending" if retry else "declined"
    settled = {
        (one.entry, one.part): Outcome(
            run=name,
            entry=one.entry,
            part=one.part,
            parts=one.parts,
            outcome=outcome,
            at=now,
            reason=f"undone by {name}",
        )
        for one in outcomes
    }
    wanted = Change(
        kind=kind,
        by="person",
        title=f"{kind.capitalize()} {undoes}",
        files=files,
        result="undone",
        counts={outcome: len(settled)},
        undoes=undoes,
    )
    return changing.change(ws, wanted, name=name, outcomes=tuple(settled.values()))


def _commit_at(ws: Workspace, history: History, when: str) -> str:
    """Return the newest commit not younger than `when`, or the one of the run of that name."""
    if ":" in when and not when[:1].isdigit():
        commit = find(ws, when).commit
        if commit:
            return commit
        message = f"{when} changed no page"
        raise NotFound(message)
    try:
        instant = parse_instant(when)
    except UsageError as error:
        message = f"{when!r} is neither an instant (2026-07-01T12:00:00Z) nor the name of a run"
        raise UsageError(message) from error
    for info in history.log(limit=1_000_000):
        if info.at <= instant:
            return info.id
    message = f"the notebook's history does not reach back to {when}"
    raise NotFound(message)


def _lost_citations(ws: Workspace, files: Mapping[str, tuple[bytes | None, bytes | None]]) -> list[Outcome]:
    """Return the outcomes of entries that no page cites once those files are restored, each part once."""
    now = {one.id for old, _ in files.values() for one in citations(to_text(old))}
    then = {one.id for _, new in files.values() for one in citations(to_text(new))}
    kept = (path for path in ws.disk.walk(ws.notebook) if path not in files and pages.is_page(ws, path))
    elsewhere = {one.id for path in kept for one in citations(to_text(ws.disk.read(path)))}
    lost = now - then - elsewhere
    return [
        one
        for one in runs.standing(ws)
        if one.entry in lost or (one.into in lost and one.outcome in {"merged", "superseded"})
    ]


def _unforgotten(data: bytes, masked: Masked) -> bytes:
    """Return a file without the lines that say what is forgotten."""
    lines = to_text(data).splitlines(keepends=True)
    return to_bytes("".join(line for line in lines if not masked(line)))
