"""The history of the pages without a text: commits made again, and objects nobody reaches removed.

Owns rewriting `.history`; promises that a history in which the text never stood keeps its commits, that authors, times
and messages are kept, and that the text is in no object left; never runs git.

The order: the new objects; the ids of commits in the records of runs; the ref; then the old objects go. Until the ref
moved, the old history stands whole; after it, what was not removed yet is removed by doing it again. Commits made anew
have the same ids each time, so nothing has to be remembered between.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from reverie import layout
from reverie.core.forgetting.erasure import Eraser
from reverie.core.formats import framing
from reverie.core.formats.readings import decoded, inflated
from reverie.errors import DamagedFile
from reverie.store.versions import git_objects
from reverie.store.versions.git import History
from reverie.store.versions.pruning import loose_besides, reached
from reverie.store.workspace import Workspace


def holds(ws: Workspace, eraser: Eraser) -> bool:
    """Whether the text, or a line that cites an erased entry, stands in an object of the history, reached or not."""
    for path in ws.disk.walk(git_objects.OBJECTS):
        data = ws.disk.read(path) or b""
        if eraser.found_in(path, data) or eraser.names(inflated(data).decode("utf-8", "replace")):
            return True
    return False


def rewrite(ws: Workspace, eraser: Eraser) -> bool:
    """Take the text out of the history; a damaged one is left as it is, for the search to name what holds it."""
    try:
        commits = _made_again(ws, eraser)
        kept = reached(ws) if commits else set()
    except DamagedFile:
        return False
    removed = loose_besides(ws, kept)
    for path in removed:
        ws.disk.remove(path)
    return bool(removed) or any(old != new for old, new in commits.items())


def is_packed(path: str) -> bool:
    """Tell whether the path is a pack of objects, which only git reads."""
    return path.startswith(f"{git_objects.OBJECTS}/pack/")


def _made_again(ws: Workspace, eraser: Eraser) -> dict[str, str]:
    """Return what each commit became, the history moved on to them."""
    history = History(ws)
    head = history.head()
    if head is None:
        return {}
    became = _commits(history, eraser)
    if became[head] != head:
        _rename_commits(ws, became)
        history.publish(became[head], head)
    return became


def _commits(history: History, eraser: Eraser) -> dict[str, str]:
    """Make each commit again, oldest first, from what the text leaves of the files it changed.

    A commit whose whole change was the text becomes its parent.
    """
    became: dict[str, str] = {}
    for commit in reversed(history.log(limit=sys.maxsize)):
        parent = became.get(commit.parent, commit.parent)
        changes: dict[str, bytes | None] = {}
        touched = False
        for path, (_, now) in history.changed(commit.parent or None, commit.id).items():
            data = history.blob(now) if now else None
            left = eraser.file(path, data) if data is not None else None
            touched = touched or left != data
            changes[path] = left
        message = eraser.page(commit.message)
        if parent == commit.parent and not touched and message == commit.message:
            became[commit.id] = commit.id
            continue
        made = history.prepare(
            changes, parent=parent or None, message=message, author=commit.author, at=commit.at
        )
        became[commit.id] = made.id
    return became


def _rename_commits(ws: Workspace, became: Mapping[str, str]) -> None:
    """Let the records of runs name the commits that took the place of theirs."""
    for path in ws.disk.walk(layout.DREAMS):
        if path.endswith((".jsonl", ".json")):
            ws.disk.rewrite(path, lambda old: _renamed(old, became) if old is not None else None)


def _renamed(data: bytes, became: Mapping[str, str]) -> bytes | None:
    lines, _ = framing.read(data)
    out, at = [], 0
    for line in lines:
        record = decoded(line.raw)
        new = {name: became.get(one, one) for name, one in record.items() if isinstance(one, str)}
        if any(one != record[name] for name, one in new.items()):
            body = {name: one for name, one in (record | new).items() if name not in {"v", "crc"}}
            framed = framing.frame(body, version=record["v"])[:-1]
            out += [data[at : line.offset], framed]
            at = line.offset + len(line.raw)
    return b"".join([*out, data[at:]]) if out else None
