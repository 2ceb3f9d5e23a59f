"""Objects of the history that nothing leads to: what crashes left within an object, or between it and its commit.

Owns removing them; promises that whatever the newest commit leads to stays, that nothing goes while an install waits to
be finished or the history moved on meanwhile, and that a damaged history is left as it is; never touches a pack, or
anything else that Reverie did not write.

An interrupted removal leaves fewer of them, and the next one goes on. The caller holds the dream lock.
"""

from __future__ import annotations

import re
import sys

from reverie import layout
from reverie.errors import DamagedFile
from reverie.store.versions import git_objects
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace

_OBJECTS = f"{layout.OBJECTS}/objects"
_LOOSE = re.compile(rf"{_OBJECTS}/([0-9a-f]{{2}})/([0-9a-f]{{38}})")


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
    loose = ((path, _LOOSE.fullmatch(path)) for path in ws.disk.walk(_OBJECTS))
    lost = [path for path, name in loose if name is not None and name[1] + name[2] not in kept]
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
    return sum(ws.disk.sweep(f"{_OBJECTS}/{first:02x}") for first in range(256))


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
        data = ws.disk.read(f"{_OBJECTS}/{tree[:2]}/{tree[2:]}") or b""
        for entry in git_objects.decode_tree(tree, git_objects.unpack(tree, data, kind="tree")).values():
            if entry.mode == git_objects.FOLDER:
                trees.append(entry.id)
            else:
                found.add(entry.id)
    return found
