"""How much any part of what is given to a memory may hold.

Owns the one table of sizes and the numbers that records may count to; promises that a refusal says which part is too
long, by how much, and what fits; never shortens anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec

# What counts or numbers lies far within what a database and JSON can hold, and one more than it does too. A line with
# another number is damage, whatever its checksum says.
MOST: Final = 2**53 - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Ordinal = Annotated[int, msgspec.Meta(ge=-1, le=MOST)]  # -1: of what is not stored yet

# Characters of each part, whoever gives it. Some providers keep a signature in the id of a tool call.
LONGEST: Final = {
    "session": 1_000,
    "id": 1_000,
    "name": 1_000,
    "user": 1_000,
    "call": 32_000,
    "ref": 8_000,
    "media_type": 200,
    "text": 100_000,
    "evidence": 100_000,
    "category": 1_000,
    "who": 1_000,
    "about": 1_000,
    "tag": 1_000,
    "key": 1_000,
    "when": 200,
    "why": 10_000,
    "topic": 1_000,
    "namespace": 1_000,
}

# How many of each may be given.
MANY: Final = {"tags": 100, "supersedes": 1_000, "calls": 1_000, "attachments": 1_000, "namespace": 100}


def too_long(parts: Iterable[tuple[str, str]]) -> str:
    """Return which of some parts, each with its name in the table, is too long; empty when all fit."""
    for name, text in parts:
        if len(text) > LONGEST[name]:
            return f"{name} has {len(text):,} characters: at most {LONGEST[name]:,} fit"
    return ""


def too_many(name: str, given: int) -> str:
    """Return that there are too many of what the table calls `name`; empty when they fit."""
    return f"{name} has {given:,} items: at most {MANY[name]:,} fit" if given > MANY[name] else ""
