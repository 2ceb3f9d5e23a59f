"""What a run of a dream did, as it is kept between the calls of a host that drives it.

Owns the records of `steps.jsonl` but its first; promises that doing them again in order gives what the run had come to;
never does one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from reverie.core.dreams.proposal import Settlement

NUMBERS = ("start", "part")  # what a tool takes as a number


class Wrote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="write"):
    """A file laid over the workspace's: its path there, its text, and the text it was read with (None: absent)."""

    path: str
    text: str
    base: str | None = None


class Settled(msgspec.Struct, frozen=True, kw_only=True, tag="settle"):
    """What a dream says becomes of a part."""

    one: Settlement


class Saw(msgspec.Struct, frozen=True, kw_only=True, tag="read"):
    """A file that was read, by its path in the workspace, as it was then."""

    path: str
    blob: str


Deed = Wrote | Settled | Saw


def plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a deed as tools take them: nothing for null, numbers written as texts for numbers."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return {
        name: msgspec.convert(value, int if name in NUMBERS else str, strict=name not in NUMBERS)
        for name, value in given.items()
    }
