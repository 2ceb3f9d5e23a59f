"""Changes of pages that no dream makes: undo, restore, lint, skills. One run, one commit, one record.

Owns how such a change is installed; promises that what people wrote is committed as theirs first, that `index.md` lists
the pages that are there afterwards, and that the change is a run that can be looked at and taken back; never judges
what is changed. The order of the writes, and what a crash leaves, is that of `store.dreams.installing`.

The caller holds the dream lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from reverie.core.dreams.watermark import run_name, with_line
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.pages.blocks import Broken
from reverie.core.pages.index_page import compile_index
from reverie.core.records import Outcome, Run
from reverie.errors import UnsafePath
from reverie.store import pages
from reverie.store.dreams import installing, runs
from reverie.store.dreams.installing import LOG, Wanted
from reverie.store.dreams.landing import INDEX
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace

Files = dict[str, tuple[bytes | None, bytes | None]]  # path -> bytes now, bytes wanted; None where absent


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be changed, and what the run's record says of it.

    `title` is the first line of the commit's message, `line` goes to the end of the notebook's log.
    """

    kind: str
    by: str
    title: str
    files: Mapping[str, tuple[bytes | None, bytes | None]]
    result: str
    counts: Mapping[str, int] = {}
    undoes: str = ""
    line: str = ""


def name_of(ws: Workspace, kind: str, at: datetime) -> str:
    """Return the name of a run of some kind that begins at `at` (`undo:20260702-030000`), unlike those there were."""
    return run_name(at, (one.run for one in runs.read(ws)), kind=kind)


def change(ws: Workspace, wanted: Change, *, name: str = "", outcomes: tuple[Outcome, ...] = ()) -> Run:
    """Install a change in one commit, and return the record of its run; raises Busy.

    A file that no longer holds the bytes it is to be changed from is left to whoever changed it.
    """
    history, now = History(ws), ws.clock()
    files = with_index(ws, dict(wanted.files))
    prefix = f"{ws.notebook}/"
    run = Run(
        run=name or name_of(ws, wanted.kind, now),
        kind=wanted.kind,
        started=now,
        ended=now,
        dreamer=wanted.by,
        result=wanted.result,
        pages=tuple(path.removeprefix(prefix) for path in sorted(files)),
        counts=dict(wanted.counts),
        undoes=wanted.undoes,
    )
    theirs = pages.people_changes(ws, history)
    with ws.writing(wanted.kind):
        also = installing.commit_people(history, theirs, at=now)
        message = f"{wanted.title}\n\n" + "".join(f"{path}\n" for path in sorted(files)) + f"Run: {run.run}\n"
        recorded, _ = installing.install(
            ws,
            history,
            Wanted(
                run=run,
                files=_with_line(ws, files, wanted.line),
                also=also,
                outcomes=outcomes,
                log_line="",
                message=message,
            ),
        )
    return recorded


def with_index(ws: Workspace, files: Files) -> Files:
    """Return the files with `index.md` as it must be once they are there; as they are when it cannot be compiled."""
    index, prefix = f"{ws.notebook}/{INDEX}", f"{ws.notebook}/"
    after = {path: new for path, (_, new) in files.items()}
    if not any(path.startswith(prefix) for path in after):
        return files
    try:
        before = ws.disk.read(index)
    except UnsafePath:
        return files
    if before is None and after.get(index) is None:
        return files
    there = {path for path in ws.disk.walk(ws.notebook) if pages.is_page(ws, path)}
    there |= {path for path in after if path.startswith(prefix) and pages.is_page(ws, path)}
    there -= {path for path, new in after.items() if new is None}
    listed = compile_index(
        to_text(after.get(index, before)),
        (path.removeprefix(prefix) for path in there),
        changed=[path.removeprefix(prefix) for path in after],
        read_page=lambda path: to_text(after.get(prefix + path, ws.disk.read(prefix + path))),
    )
    if isinstance(listed, Broken):
        return files
    data = to_bytes(listed)
    others = {path: both for path, both in files.items() if path != index}
    return others if data == before else {**others, index: (before, data)}


def _with_line(ws: Workspace, files: Files, line: str) -> Files:
    """Return the files with a line at the end of `log.md`; without it when the log may not be opened."""
    path = f"{ws.notebook}/{LOG}"
    if not line:
        return files
    try:
        before = ws.disk.read(path)
    except UnsafePath:
        return files
    after = to_bytes(with_line(to_text(before), line))
    return files if after == before else {**files, path: (before, after)}
