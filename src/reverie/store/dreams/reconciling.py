"""Pages that a person and a dream changed at the same time, with the changes of both.

Owns finding those pages before an install; promises that a page is merged only where the two changed lines apart from
each other, that the person's bytes are what the merge is judged and installed against, and that where they collide
nothing is merged, so that the page is left to the person; never writes a file and never judges.
"""

from __future__ import annotations

from collections.abc import Mapping

from reverie.core.formats.utf8 import to_text
from reverie.core.pages.merge import reconciled
from reverie.errors import UnsafePath
from reverie.store.dreams.staging import Staging
from reverie.store.workspace import Workspace


def reconciling(ws: Workspace, staging: Staging, pages: Mapping[str, str]) -> dict[str, str]:
    """Return those of a dream's `pages` that a person changed since they were read, with what both made of them.

    For each of these the staging copy then holds the person's page, as if it had been read just now. A page that a
    person made or removed meanwhile is theirs.
    """
    merged: dict[str, str] = {}
    for path, text in pages.items():
        before = staging.data(path)
        now = _now(ws, path)
        if before is None or now is None or now == before:
            continue
        both = reconciled(to_text(before), to_text(now), theirs=text)
        if both is not None:
            staging.remember(path, now)
            merged[path] = both
    return merged


def _now(ws: Workspace, path: str) -> bytes | None:
    """Return a page as it is now, None when there is none or it may not be opened."""
    try:
        return ws.disk.read(f"{ws.notebook}/{path}")
    except UnsafePath:
        return None
