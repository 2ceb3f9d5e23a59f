"""Small facts a step must know again after a restart: one file a step, replaced whole.

Owns `.state/counters/`; promises that each file has one step as its owner, so no two writers undo each other; never
holds anything that other files do not allow to be worked out again, at more cost.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import msgspec

from reverie import layout
from reverie.core.formats import framing
from reverie.store.workspace import Workspace


class DrainCounters(msgspec.Struct, frozen=True, omit_defaults=True, tag="drain"):
    """The byte of `events.jsonl` up to which promises stored there have lines in the daily logs."""

    events: int = 0


class PublishCounters(msgspec.Struct, frozen=True, omit_defaults=True, tag="publish"):
    """When MEMORY.md was last compiled, since when a change waits to be shown there, and whether it is notable."""

    last: datetime | None = None
    waiting: datetime | None = None
    pressing: bool = False


class DreamCounters(msgspec.Struct, frozen=True, omit_defaults=True, tag="dream"):
    """When a dream last ran and lint last ended, how often a batch with each entry failed, and the `most` it may hold.

    `most` is 0 for as many as the settings say; fewer after a model's run that came to no end.
    """

    last: datetime | None = None
    lint: datetime | None = None
    failures: dict[str, int] = {}
    most: int = 0


class ConsolidateCounters(msgspec.Struct, frozen=True, omit_defaults=True, tag="consolidate"):
    """What failed when everything due was last run, by stage, in words, and `last` when that was, to ten minutes."""

    failing: dict[str, str] = {}
    last: datetime | None = None


class SlotCounters(msgspec.Struct, frozen=True, omit_defaults=True, tag="slot"):
    """The last slot in which a scheduler ran what is due, when that run began, and on which logical day."""

    slot: datetime | None = None
    began: datetime | None = None
    day: str = ""


Counters = DrainCounters | PublishCounters | DreamCounters | ConsolidateCounters | SlotCounters
CountersT = TypeVar(
    "CountersT", DrainCounters, PublishCounters, DreamCounters, ConsolidateCounters, SlotCounters
)


def read(ws: Workspace, kind: type[CountersT]) -> CountersT:
    """Return the counters of `kind`; a missing or damaged file counts as new."""
    return framing.last(ws.disk.read(_path(kind)), kind) or kind()


def write(ws: Workspace, value: Counters) -> None:
    """Replace the counters of the kind of `value`."""
    ws.disk.replace(_path(type(value)), framing.frame(value))


def _path(kind: type[Counters]) -> str:
    """Return the file that holds the counters of `kind`."""
    return layout.counters_file(str(kind.__struct_config__.tag))
