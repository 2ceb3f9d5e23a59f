"""The topics a workspace never stores, in its `reverie.toml`.

Owns changing the list of exclusions there; promises that the rest of the file, comments included, stays byte for byte;
never changes the user's own configuration.
"""

from __future__ import annotations

from reverie import layout
from reverie.core.forgetting.topic_list import topics_of, with_topics
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.errors import NotFound
from reverie.store.workspace import Workspace


def change(ws: Workspace, topic: str, *, remove: bool) -> None:
    """Add a topic to the list, once, or remove it; raises NotFound for one that is not on it, BadSettings."""
    where = str(ws.root / layout.SETTINGS)

    def build(old: bytes | None) -> bytes | None:
        text = to_text(old)
        listed = topics_of(text, where)
        if not remove:
            new = with_topics(text, tuple(dict.fromkeys((*listed, topic))), where=where)
        elif topic in listed:
            new = with_topics(text, tuple(one for one in listed if one != topic), where=where)
        else:
            own = topic in ws.settings.exclusions
            why = "your own config.toml excludes it, so remove it there" if own else "see which stand there"
            message = f"{topic!r} is not among the exclusions of {where}: {why}"
            raise NotFound(message)
        data = to_bytes(new)
        return None if data == old else data

    ws.disk.rewrite(layout.SETTINGS, build)
