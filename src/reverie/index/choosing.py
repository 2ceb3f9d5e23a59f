"""Which index serves a workspace, by its settings.

Owns the names that the setting `index` takes; promises that choosing another builds it from the rows, and that an
index whose package is not installed is refused with the command that installs it; never decides what is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from reverie import layout
from reverie.core.settings.value import Settings
from reverie.index.embed.remembered import Remembered
from reverie.index.embedder import Embedder
from reverie.index.lance import LanceWords, Tables
from reverie.index.lance_vectors import LanceVectors
from reverie.index.meaning import Meaning
from reverie.index.protocol import Index
from reverie.index.search import SearchIndex
from reverie.index.text import TextIndex
from reverie.index.vectors import VectorFiles

HoldLock = Callable[[float], AbstractContextManager[object]]  # seconds to wait -> the index lock; raises Busy


def open_index(
    settings: Settings, root: Path, *, name: str, embedder: Embedder | None, lock: HoldLock
) -> Index:
    """Open the index of the workspace `name` at `root`, building what must be.

    `embedder` makes the vectors, None for words alone; those it made before are kept beside the index. Raises
    IndexUnavailable when the folder cannot be used, was made by a newer Reverie, or needs a package that is not there,
    and Busy when it must be built while another process holds the lock.
    """
    kept = Remembered(embedder, root / layout.EMBEDDED_DB) if embedder else None
    meaning = Meaning(kept, close=kept.close if kept else lambda: None)

    def waiting() -> AbstractContextManager[object]:
        return lock(settings.lock_wait_seconds)

    def at_once() -> AbstractContextManager[object]:
        return lock(0)

    if settings.index == "lancedb":
        tables = Tables(settings.index_url or str(root / layout.LANCE), name)
        words = TextIndex(root / layout.INDEX, waiting, words=partial(LanceWords, tables))
        return SearchIndex(words, LanceVectors(tables), meaning=meaning, lock=waiting, at_once=at_once)
    words = TextIndex(root / layout.INDEX, waiting)
    return SearchIndex(
        words, VectorFiles(root / layout.VECTORS), meaning=meaning, lock=waiting, at_once=at_once
    )
