"""The fenced examples of the pages on formats, and what the code reads them as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie.core import ledger, records, scopes
from reverie.core.forgetting import erasure
from reverie.store import counters, intents, kept_out, quarantine, rendered, tries, workspace
from reverie.store.dreams import lease, reviews
from reverie.store.dreams.dream_deeds import Saw, Settled, Wrote
from reverie.store.dreams.dreaming import Begun
from reverie.store.forgotten import letting_go
from reverie.store.hosts import hooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## ", re.MULTILINE)

# What stands behind ```jsonl, and what the code reads such lines as.
LINES: dict[str, Any] = {
    "SessionLine": records.SessionLine,
    "JournalRecord": records.JournalRecord,
    "LettingGo": letting_go.Forgetting | erasure.Erasure,
    "QuarantineLine": quarantine.Rejected | quarantine.Settled,
    "ReviewLine": reviews.Proposal | reviews.Verdict,
    "UsageLine": ledger.UsageLine,
    "transcript": dict[str, Any],
    "DreamStep": Begun | Wrote | Settled | Saw,
    **{
        kind.__name__: kind
        for kind in (
            *(records.Entry, records.Event, records.Feedback, records.History, records.KeyValue),
            *(records.Outcome, records.Recalled, records.Run, records.Tombstone),
            *(intents.DrainIntent, intents.InstallIntent, lease.Lease),
            *(counters.DrainCounters, counters.PublishCounters, counters.DreamCounters),
            *(
                counters.ConsolidateCounters,
                counters.SlotCounters,
                tries.Tries,
                kept_out.KeptOut,
                hooks.Hooks,
            ),
            *(erasure.Order, scopes.Copied, scopes.Member),
            *(rendered.Rendered, workspace.Identity),
        )
    },
}


@dataclass(frozen=True)
class Example:
    """A fenced block: its page and line, what its info string says, its text, and the section it stands in."""

    place: str
    info: str
    text: str
    section: str


def examples_of(page: Path) -> Iterator[Example]:
    """Yield the examples of a page."""
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        starts = [0, *(match.start() for match in HEADING.finditer(text)), len(text)]
        begin = max(start for start in starts if start <= fence.start())
        end = min(start for start in starts if start > fence.start())
        line = text.count("\n", 0, fence.start()) + 1
        yield Example(f"{page.name}:{line}", fence[1].strip(), fence[2], text[begin:end])
