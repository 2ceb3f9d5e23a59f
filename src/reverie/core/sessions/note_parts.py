"""A dated note in the parts that are read alone.

Owns cutting a note and naming its parts; promises that a part's name depends on the note's path, its own words and
which of several equal parts it is, so that editing one part leaves the others' names alone; never reads a file.
"""

from __future__ import annotations

import msgspec

from reverie.core.entries import derived_id

_READER = "rules/1"  # part of every name, so that those that workspaces hold stay what they are


class Part(msgspec.Struct, frozen=True):
    """A paragraph of a note and its name."""

    name: str
    text: str


def parts(path: str, text: str) -> list[Part]:
    """Return the paragraphs of the note at `path`, in order."""
    found: list[Part] = []
    occurrences: dict[str, int] = {}
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        if not paragraph.strip():
            continue
        occurrences[paragraph] = occurrences.get(paragraph, -1) + 1
        name = derived_id("note", path, paragraph.strip(), str(occurrences[paragraph]), _READER)
        found.append(Part(name, paragraph))
    return found
