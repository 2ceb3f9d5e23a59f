"""Links between entries: what repeats, strengthens, succeeds or contradicts what.

Owns turning the guard's verdict on two entries into an event; promises that the same pair always gives the same event
id, so that a link is made once however often it is looked for; never deletes or rewrites what it links.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from reverie.core.days import format_instant
from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.guard import relate
from reverie.core.records import Entry, Event

_KINDS = {
    "repeats": "repeat",
    "strengthens": "strengthen",
    "supersedes": "supersede",
    "corrects": "correct",
    "contradicts": "conflict",
}


def links_of(entry: Entry, others: Iterable[EntryState], *, at: datetime, by: str) -> list[Event]:
    """Return the links from `entry` to entries that stood before it.

    A repeat is linked once, to the entry that others were folded into; a change or correction to every current entry
    it replaces. `at` is when the link is made, `by` who makes it.
    """
    links: list[Event] = []
    folded = False
    for state in others:
        old = state.entry
        if old.id == entry.id or not state.current or old.status != "active" or old.at > entry.at:
            continue
        relation = relate(entry, old)
        if relation is None:
            continue
        kind = _KINDS[relation.kind]
        if kind in {"repeat", "strengthen"}:
            if folded:
                continue
            folded = True
        links.append(
            Event(
                id=derived_id("link", kind, entry.id, old.id),
                at=at,
                kind=kind,
                entry=entry.id,
                other=old.id,
                when=format_instant(entry.at),
                why=relation.why,
                by=by,
            )
        )
    return links
