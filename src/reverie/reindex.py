"""The derived files, thrown away and built again.

Owns which files that is; promises that nothing canonical is touched and that ids, dates and significance come back as
they were; never needs a model.
"""

from __future__ import annotations

import msgspec

from reverie import layout
from reverie.store.workspace import Workspace

DERIVED = (layout.INDEX, layout.DIGESTS)


class Reindexed(msgspec.Struct, frozen=True, kw_only=True):
    """How many derived files were removed, and how many entries and search rows there are again."""

    removed: int
    entries: int = 0
    rows: int = 0


def drop(ws: Workspace) -> Reindexed:
    """Remove every derived file, and return how many; they come back when next read or written.

    The vectors made before stay: they are known by the hash of their text, so that none is made twice. What lies there
    and is no plain file (a folder or link in a file's place) is removed by whoever opens it.
    """
    removed = 0
    for folder in DERIVED:
        for path in [path for path in ws.disk.walk(folder) if not path.startswith(layout.EMBEDDED_DB)]:
            removed += ws.disk.remove(path)
    return Reindexed(removed=removed)
