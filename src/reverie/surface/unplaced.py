"""Answers that leave the machine: no folder of it stands in them, nor a character that acts on a terminal.

Owns taking both out of texts, also inside a JSON value; promises that a folder is found as it is written and as it is
typed into a shell; never decides which folders are nobody's business.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reverie.surface.render import clean

WORKSPACE = "<workspace>"  # what stands in place of the workspace's folder

Folders = Sequence[tuple[str, Path]]  # what stands in place of each folder, the innermost first


def unplaced(text: str, folders: Folders) -> str:
    """Return a text, cleaned, in which each of the `folders` is called by its name instead of its place."""
    for name, folder in folders:
        place = str(folder)
        if len(place) > 1:
            text = text.replace(shlex.quote(place), name).replace(place, name)
    return clean(text)


def unplaced_all(value: Any, folders: Folders) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a JSON value in whose texts no folder stands, nor anything that acts on a terminal."""
    if isinstance(value, str):
        return unplaced(value, folders)
    if isinstance(value, Mapping):
        return {name: unplaced_all(one, folders) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [unplaced_all(one, folders) for one in value]
    return value
