"""What the search index holds, without building or changing it.

Owns the figures that `status` shows; promises that none is made where there is none, and that no model is loaded; never
searches.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from reverie import layout
from reverie.core.settings.value import Settings
from reverie.errors import BadSettings
from reverie.index import rows_file
from reverie.index.embed.choosing import open_embedder
from reverie.index.placing import Placing
from reverie.index.rows import Rows
from reverie.index.search import TROUBLE


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The search index: whether it is there, its rows, and how many of them the text index has not taken in.

    `embedder` names what makes vectors, empty for nothing; `vectorless` counts the rows that have none, and `trouble`
    says why, when it was not for lack of time.
    """

    present: bool = False
    rows: int = 0
    behind: int = 0
    embedder: str = ""
    vectorless: int = 0
    trouble: str = ""


def look(root: Path, settings: Settings) -> Index:
    """Return what the index of the workspace at `root` holds; raises IndexUnavailable when it cannot be read."""
    name = embedder_of(settings)
    if not (root / layout.INDEX / rows_file.NAME).exists():
        return Index(embedder=name)
    rows = Rows(root / layout.INDEX)
    try:
        lacking = Placing(rows).lack() if name else 0
        return Index(
            present=True,
            rows=rows.count(),
            behind=rows.behind(),
            embedder=name,
            vectorless=lacking,
            trouble=rows.meta(TROUBLE) if lacking else "",
        )
    finally:
        rows.close()


def embedder_of(settings: Settings) -> str:
    """Return the name of the embedder that the settings choose, empty for none; loads nothing of it."""
    try:
        chosen = open_embedder(settings)
    except BadSettings:
        return ""
    return chosen.name if chosen is not None else ""
