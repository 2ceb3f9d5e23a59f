"""What a run of a dream did, as it is kept between the calls of a host that drives it.

Owns the records of `steps.jsonl` but its first; promises that doing them again in order gives what the run had come to;
never does one.
"""

from __future__ import annotations

import msgspec

from reverie.core.proposal import Settlement


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
