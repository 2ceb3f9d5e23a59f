"""What an extraction asks of the state, and what it says it did.

Owns these two values; promises that they hold no file and no model, so that tests and other steps can make them; never
reads anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from reverie.core.due import Due
from reverie.core.entries import notable
from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Entry, Event, Extraction


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


def storing(record: Extraction) -> Extracted:
    """Return what storing a record does, links aside."""
    publish = any(map(notable, record.entries))
    return Extracted(entries=len(record.entries), due=Due(drain=bool(record.entries), publish=publish))


def _nothing(_: str) -> tuple[Entry, ...]:
    return ()


def _untold(_: Iterable[Entry], __: Iterable[Event]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Reading:
    """What extraction asks of the state: marks, notes read, entries by id, and entries that resemble one.

    `mark` and `note` look at drained and queued records alike and are asked again under the write lock. `glance` is
    `mark` as of the last look at the files, for a reading that may come to nothing. `shown` are the entries that were
    put into a session's prompts; `masked` is what is forgotten. `told` takes in entries that were just written and
    events that are about to be, so that `alike` knows of them, and returns whether it can without the files.
    """

    mark: Callable[[str], int]
    note: Callable[[str], str]
    known: Callable[[str], Entry | None]
    alike: Callable[[Entry], Sequence[EntryState]]
    shown: Callable[[str], Sequence[Entry]] = _nothing
    masked: Mask = field(default_factory=Mask)
    glance: Callable[[str], int] | None = None
    told: Callable[[Iterable[Entry], Iterable[Event]], bool] = _untold

    def marks(self, names: Sequence[str]) -> list[int]:
        """Return the marks of sessions as they are now, after one look at the files for all of them."""
        first = [self.mark(one) for one in names[:1]]
        return first + [(self.glance or self.mark)(one) for one in names[1:]]
