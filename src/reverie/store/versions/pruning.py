"""Objects of the history that nothing leads to: what crashes left within an object, or between it and its commit.

Owns removing them; promises that whatever the newest commit leads to stays, that nothing goes while an install waits to
be finished or the history moved on meanwhile, and that a damaged history is left as it is; never touches a pack, or
anything else that Reverie did not write.

An interrupted removal leaves fewer of them, and the next one goes on. The caller holds the dream lock.
"""

from __future__ import annotations

import sys
from collections.abc import Set as AbstractSet

from reverie import layout
from reverie.errors import DamagedFile
from reverie.store.versions import git_objects
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace


def prune(ws: Workspace) -> int:
    """Remove what nothing leads to, and return how many objects that were; takes the write lock for removing alone."""
    head = History(ws).head()
    if head is None:
        return 0
    try:
        kept = reached(ws)
    except DamagedFile:
        return 0
    swept = sweep(ws)
    lost = loose_besides(ws, kept)
    if not lost:
        return swept
    with ws.writing("prune"):
        if History(ws).head() != head or ws.disk.size(layout.INSTALL_INTENT) is not None:
            return swept
        for path in lost:
            ws.disk.remove(path)
    return len(lost) + swept


def sweep(ws: Workspace) -> int:
    """Remove the objects whose writing a crash cut short, and return how many there were; needs no lock."""
    return sum(ws.disk.sweep(f"{git_objects.OBJECTS}/{first:02x}") for first in range(256))


def loose_besides(ws: Workspace, kept: AbstractSet[str]) -> list[str]:
    """Return the paths of the loose objects whose names are not among those kept."""
    found = ((path, git_objects.loose_name(path)) for path in ws.disk.walk(git_objects.OBJECTS))
    return [path for path, name in found if name and name not in kept]


def reached(ws: Workspace) -> set[str]:
    """Return the names of all objects that the newest commit leads to; raises DamagedFile."""
    commits = History(ws).log(limit=sys.maxsize)
    found = {commit.id for commit in commits}
    trees = [commit.tree for commit in commits]
    while trees:
        tree = trees.pop()
        if tree in found:
            continue
        found.add(tree)
        data = ws.disk.read(git_objects.loose_path(tree)) or b""
        for entry in git_objects.decode_tree(tree, git_objects.unpack(tree, data, kind="tree")).values():
            if entry.mode == git_objects.FOLDER:
                trees.append(entry.id)
            else:
                found.add(entry.id)
    return found
