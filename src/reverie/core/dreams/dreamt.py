"""What is asked of a dream, and what it did.

Owns both values and the one line that tells of a dream; promises nothing about them: `reverie.dream` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from reverie import layout
from reverie.core.dreams.run_words import summary
from reverie.core.due import Due
from reverie.core.text.names import is_day
from reverie.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamt:
    """What a dream did: `productive` when something was settled, else `nothing` with the `reason` none was.

    `runs` are the records of its batches, `run` and `commit` those of the last; `watermark` is the day the notebook has
    reached; `diff` is what a dry run would change; `proposed` are the files whose change waits for a person's word,
    `review` the item under which all of a host's run does.
    """

    result: str = "nothing"
    reason: str = ""
    runs: tuple[str, ...] = ()
    commit: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    pages: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    watermark: str = ""
    diff: str = ""
    problems: tuple[str, ...] = ()
    review: str = ""
    due: Due = Due()

    @property
    def run(self) -> str:
        """The name of the last batch's run, empty when there was none."""
        return self.runs[-1] if self.runs else ""

    def __str__(self) -> str:
        """Return what became of the entries, or why nothing did."""
        return (
            summary(self.counts, len({*self.pages} - {layout.OVERVIEW}))
            if self.result == "productive"
            else self.reason
        )


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a dream: past the gates (`now`), only shown (`dry_run`), of one `day`, of `most` entries."""

    now: bool = False
    dry_run: bool = False
    day: str = ""
    most: int = 0

    def __post_init__(self) -> None:
        """Raise UsageError for a day that is none, and for less than no entries."""
        if self.day and not is_day(self.day):
            message = f"{self.day[:40]!r} is no day: write it as 2026-07-01"
            raise UsageError(message)
        if self.most < 0:
            message = f"a batch cannot hold {self.most} entries: name a number, or 0 for all"
            raise UsageError(message)
