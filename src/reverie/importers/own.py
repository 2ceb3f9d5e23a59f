"""What this memory itself answered, where it stands in a conversation of a host.

Owns by what it is known; promises that the answer of another server is not taken for one; never reads a file.

Such an answer holds no new word. Stored as one, each recall would find what the recalls before it found.
"""

from __future__ import annotations

from reverie.importers.taken import Passed

SERVER = "reverie"  # how the server names itself
ANSWERED = Passed("what memory itself answered")


def is_own(name: str, namespace: str = "") -> bool:
    """Whether a tool is of a server that its host calls `reverie`, `reverie-work` or the like.

    A tool's name is `mcp__<server>__<tool>`, or the host keeps the first two apart as its namespace.
    """
    place, _, rest = f"{namespace}__{name}".removeprefix("__").partition("__")
    return place == "mcp" and rest.startswith(SERVER)
