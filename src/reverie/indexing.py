"""Opening the search index that a workspace's settings name, with their embedder.

Owns nothing; promises that the embedder of the opening stands in the place of the settings' own; never reads a file.
"""

from __future__ import annotations

from reverie.config import variable
from reverie.entrance import Opening
from reverie.index.choosing import open_index
from reverie.index.embed.choosing import key_variable, open_embedder
from reverie.index.protocol import Index
from reverie.store.workspace import Workspace


def index_of(opening: Opening, ws: Workspace, name: str) -> Index:
    """Return the search index of the workspace called `name`; raises IndexUnavailable, Busy, BadSettings."""
    secret = variable(key_variable(ws.settings), opening.environment)
    embedder = opening.embedder or open_embedder(ws.settings, key=secret)
    return open_index(ws.settings, ws.root, name=name, embedder=embedder, lock=ws.locks.index)
