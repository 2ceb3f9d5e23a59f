"""What is asked of a dream, and what it did.

Owns both values and the one line that tells of a dream; promises nothing about them: `reverie.dream` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from reverie import layout
from reverie.core.due import Due
from reverie.core.run_words import summary


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
