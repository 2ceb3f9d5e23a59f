"""A judged run becomes visible: pages, commit, outcomes and record, all of them or none.

Owns the order of an install; promises that a crash anywhere leaves the notebook as it was, or an intent from which the
next writer finishes; never overwrites what a person changed, and never decides what is installed.

The order, under the write lock:

1. what people changed is committed as theirs
2. the new pages' objects and the commit are written; nothing refers to them
3. the intent is synced: from here on the run will be finished
4. each page is replaced, where the file still holds the bytes it was judged with
5. the ref moves to the commit
6. the outcomes are appended
7. the run's record is appended
8. the run's line is appended to `log.md`, unless it came with the pages
9. the intent is removed

What a crash leaves: before 3, objects nobody reaches. Between 3 and 9, an intent: `finish` takes up each step where it
stands. A page that holds the new bytes was replaced; one that holds neither old nor new was changed by a person, is
left to them, and its entries stay pending. Once the ref has moved, the commit itself says which pages landed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime

import msgspec

from reverie import layout
from reverie.core.dreams.proposal import counts_of, without_pages
from reverie.core.dreams.run_words import message_without
from reverie.core.dreams.watermark import with_line
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.pages.blocks import Block, find_block
from reverie.core.records import Outcome, Run
from reverie.errors import UnsafePath
from reverie.store import intents
from reverie.store.dreams import runs
from reverie.store.intents import InstallIntent, Replacement
from reverie.store.versions.git import PERSON, History, blob_id
from reverie.store.versions.git_objects import IDENTITY
from reverie.store.versions.git_packs import take_apart
from reverie.store.workspace import Workspace

LOG = "log.md"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be installed.

    `files` are old and new bytes by path in the workspace, None for absent; `also` further working files that the
    commit takes in as they are; `run` the record but for its commit and parent.
    """

    run: Run
    files: Mapping[str, tuple[bytes | None, bytes | None]]
    also: Mapping[str, bytes | None]
    outcomes: tuple[Outcome, ...]
    log_line: str
    message: str


def conflicts(ws: Workspace, files: Mapping[str, bytes | None]) -> set[str]:
    """Return those files that no longer hold the bytes they were read with."""
    return {
        path for path, old in files.items() if _now(ws, path) != (blob_id(old) if old is not None else "")
    }


def commit_people(
    history: History, changes: Mapping[str, bytes | None], *, at: datetime
) -> dict[str, bytes | None]:
    """Commit what people changed as theirs; return what of `changes` is no person's: MEMORY.md compiled anew."""
    ours: dict[str, bytes | None] = {
        path: data
        for path, data in changes.items()
        if path == layout.MEMORY and data is not None and _is_compiled(history, data)
    }
    theirs = {path: data for path, data in changes.items() if path not in ours}
    if theirs:
        head = history.head()
        names = sorted(theirs)
        message = "Take in what people wrote\n\n" + "".join(f"{name}\n" for name in names)
        commit = history.prepare(theirs, parent=head, message=message, author=PERSON, at=at)
        history.publish(commit.id, head)
    return ours


def install(ws: Workspace, history: History, wanted: Wanted) -> tuple[Run, tuple[Outcome, ...]]:
    """Carry out steps 2 to 9 and return the run and outcomes as recorded. The caller holds the write lock."""
    parent = history.head()
    changes = {**wanted.also, **{path: new for path, (_, new) in wanted.files.items()}}
    commit = history.prepare(
        changes, parent=parent, message=wanted.message, author=IDENTITY, at=wanted.run.ended
    )
    intent = InstallIntent(
        run=msgspec.structs.replace(wanted.run, commit=commit.id, parent=parent or ""),
        files=tuple(
            Replacement(
                path,
                blob_id(old) if old is not None else "",
                blob_id(new) if new is not None else "",
            )
            for path, (old, new) in sorted(wanted.files.items())
        ),
        outcomes=wanted.outcomes,
        log_line=wanted.log_line,
    )
    intents.write(ws, layout.INSTALL_INTENT, intent)
    return _carry_out(ws, history, intent, again=False)


def finish(ws: Workspace) -> Run | None:
    """Finish an install that was interrupted; None when there is none.

    Before that, what a person's `git gc` packed is made loose again, for an install may need it.
    """
    take_apart(ws)
    if ws.disk.size(layout.INSTALL_INTENT) is None:
        return None
    with ws.writing("dream"):
        intent = intents.read(ws, layout.INSTALL_INTENT, InstallIntent)
        if intent is None:
            return None
        for folder in sorted({file.path.rpartition("/")[0] for file in intent.files}):
            ws.disk.sweep(folder)
        run, _ = _carry_out(ws, History(ws), intent, again=True)
        return run


def _carry_out(
    ws: Workspace, history: History, intent: InstallIntent, *, again: bool
) -> tuple[Run, tuple[Outcome, ...]]:
    """Do what is left of steps 4 to 9."""
    parent = intent.run.parent or None
    head = history.head()
    if head == parent:
        left = {file.path for file in intent.files if not _replace(ws, history, file)}
        head = _without(ws, history, intent, left=left) if left else intent.run.commit
        history.publish(head, parent)
    landed = history.changed(parent, head)
    left = {file.path for file in intent.files if landed.get(file.path, ("", file.old))[1] != file.new}
    run, outcomes = _recorded(ws, intent, commit=head or "", left=left)
    runs.append_outcomes(ws, run.run, outcomes, again=again)
    runs.append_once(ws, run)
    if intent.log_line and run.watermark:
        _ensure_line(ws, intent.log_line)
    intents.remove(ws, layout.INSTALL_INTENT)
    return run, outcomes


def _replace(ws: Workspace, history: History, file: Replacement) -> bool:
    """Replace one file if it holds what it was judged with; tell whether it holds the new bytes now."""
    if not file.new:
        return _removed(ws, file)
    data = history.blob(file.new)
    stood: list[str] = []

    def build(current: bytes | None) -> bytes | None:
        stood.append(blob_id(current) if current is not None else "")
        return data if stood[-1] == file.old else None

    try:
        ws.disk.rewrite(file.path, build)
    except UnsafePath:
        return False  # a person put a link in its place
    return stood[-1] in (file.old, file.new)


def _removed(ws: Workspace, file: Replacement) -> bool:
    """Remove one file if it holds what it was judged with; tell whether it is gone."""
    if _now(ws, file.path) == file.old:
        ws.disk.remove(file.path)
    return _now(ws, file.path) == ""


def _without(ws: Workspace, history: History, intent: InstallIntent, *, left: AbstractSet[str]) -> str:
    """Return a commit like the intent's without the pages left to a person, in its message too."""
    gone = {path.removeprefix(f"{ws.notebook}/") for path in left}
    counts = counts_of(without_pages(intent.outcomes, gone))
    message = message_without(history.commit(intent.run.commit).message, left | gone, counts=counts)
    kept = {
        path: history.blob(new) if new else None
        for path, (_, new) in history.changed(intent.run.parent or None, intent.run.commit).items()
        if path not in left
    }
    parent = intent.run.parent or None
    return history.prepare(kept, parent=parent, message=message, author=IDENTITY, at=intent.run.ended).id


def _recorded(
    ws: Workspace, intent: InstallIntent, *, commit: str, left: set[str]
) -> tuple[Run, tuple[Outcome, ...]]:
    """Return run and outcomes as they hold: what rests on a page left to a person stays pending."""
    run = msgspec.structs.replace(intent.run, commit=commit)
    prefix = f"{ws.notebook}/"
    gone = {path.removeprefix(prefix) for path in left}
    lost = [path for path in run.pages if path in gone]
    if not lost:
        return run, intent.outcomes
    outcomes = without_pages(intent.outcomes, gone)
    pages = tuple(path for path in run.pages if path not in gone)
    said = tuple(f"{path} was changed by a person meanwhile and is left to them" for path in lost)
    # Where entries of these pages are pending again, the day this run was to reach is not reached.
    reached = run.watermark if len(outcomes) == len(intent.outcomes) else ""
    run = msgspec.structs.replace(
        run, pages=pages, counts=counts_of(outcomes), problems=(*run.problems, *said), watermark=reached
    )
    return run, outcomes


def _ensure_line(ws: Workspace, line: str) -> None:
    def build(current: bytes | None) -> bytes | None:
        before = to_text(current)
        after = with_line(before, line)
        return None if after == before else to_bytes(after)

    ws.disk.rewrite(f"{ws.notebook}/{LOG}", build)


def _now(ws: Workspace, path: str) -> str:
    """Return the blob id of a working file, empty when absent, `unsafe` when it may not be opened."""
    try:
        data = ws.disk.read(path)
    except UnsafePath:
        return "unsafe"
    return blob_id(data) if data is not None else ""


def _is_compiled(history: History, data: bytes) -> bool:
    """Tell whether MEMORY.md differs from the newest commit within its markers alone."""
    known = history.find(history.head(), layout.MEMORY)
    before = history.blob(known) if known else b""
    return _outside(before) == _outside(data)


def _outside(data: bytes) -> str:
    text = to_text(data)
    block = find_block(text)
    outside = text[: block.start] + text[block.end :] if isinstance(block, Block) else text
    return outside.strip()
