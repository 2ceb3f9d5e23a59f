"""What an extraction asks of the state, and what it says it did.

Owns these two values; promises that they hold no file and no model, so that tests and other steps can make them; never
reads anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reverie.core.due import Due
from reverie.core.fold import EntryState
from reverie.core.forgetting import Mask
from reverie.core.records import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What an extraction did: spans read, entries found, links made, and what became due.

    `refused` entries could not be stored and were set aside; `echoes` only repeated what the session was shown;
    `made_up` are the reasons why items of a model's replies were refused. `asked` is how often a model was asked.
    """

    spans: int = 0
    entries: int = 0
    links: int = 0
    refused: int = 0
    echoes: int = 0
    asked: int = 0
    made_up: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    due: Due = Due()

    def __add__(self, other: Extracted) -> Extracted:
        """Return both together."""
        return Extracted(
            spans=self.spans + other.spans,
            entries=self.entries + other.entries,
            links=self.links + other.links,
            refused=self.refused + other.refused,
            echoes=self.echoes + other.echoes,
            asked=self.asked + other.asked,
            made_up=self.made_up + other.made_up,
            problems=self.problems + other.problems,
            due=self.due | other.due,
        )


def _nothing(_: str) -> tuple[Entry, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What extraction asks of the state: marks, notes read, entries by id, and entries that resemble one.

    `mark` and `note` look at drained and queued records alike and are asked again under the write lock. `glance` is
    `mark` as of the last look at the files, for a reading that may come to nothing. `shown` are the entries that were
    put into a session's prompts; `masked` is what is forgotten.
    """

    mark: Callable[[str], int]
    note: Callable[[str], str]
    known: Callable[[str], Entry | None]
    alike: Callable[[Entry], Sequence[EntryState]]
    shown: Callable[[str], Sequence[Entry]] = _nothing
    masked: Mask = field(default_factory=Mask)
    glance: Callable[[str], int] | None = None
