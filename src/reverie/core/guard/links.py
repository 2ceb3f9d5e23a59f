"""Links between entries: what repeats, strengthens, succeeds or contradicts what, and what keeps which promise.

Owns turning the guard's verdict on two entries into an event; promises that the same pair always gives the same event
id, so that a link is made once however often it is looked for; never deletes or rewrites what it links.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from reverie.core.days import format_instant
from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.guard.chances import chances
from reverie.core.guard.keeping import keeps
from reverie.core.guard.relation import relate
from reverie.core.records import Entry, Event

_KINDS = {
    "repeats": "repeat",
    "strengthens": "strengthen",
    "supersedes": "supersede",
    "corrects": "correct",
    "contradicts": "conflict",
}


def links_of(
    entry: Entry, others: Iterable[EntryState], *, at: datetime, by: str, zone: str = ""
) -> list[Event]:
    """Return the links between `entry` and entries that were known before it.

    A repeat is linked once, to the entry that others were folded into; a change or correction to every current entry
    it replaces; an open commitment that it tells the keeping of is completed by it. What was said earlier and arrives
    late, as in an import, is replaced by what was said since. `at` is when the link is made, `by` who makes it, `zone`
    the one on whose wall a promise that comes again keeps its time of day.
    """
    links: list[Event] = []
    folded = False
    may = chances(entry.text)
    for state in others:
        old = state.entry
        near = bool(entry.supersedes) or may(old.text)
        if not (near or state.open_commitment):
            continue
        if old.id == entry.id or not state.current or old.status != "active":
            continue
        late = entry.at < old.at
        if late and (entry.status != "active" or not near):
            continue
        if state.open_commitment and not late and keeps(entry, old):
            kept = _event("complete", (old, entry), at=at, by=by, why=f"done, as {entry.id} says")
            links.append(msgspec.structs.replace(kept, value=zone if old.every else ""))
            continue
        relation = (relate(old, entry) if late else relate(entry, old)) if near else None
        if relation is None:
            continue
        kind = _KINDS[relation.kind]
        if kind in {"repeat", "strengthen"}:
            if folded:
                continue
            folded = True
        replaced = late and kind in {"supersede", "correct"}
        links.append(_event(kind, (old, entry) if replaced else (entry, old), at=at, by=by, why=relation.why))
    return links


def _event(kind: str, pair: tuple[Entry, Entry], *, at: datetime, by: str, why: str) -> Event:
    """Return the event of a pair: what it happens to, and the other one; `when` is the instant the later was said."""
    return Event(
        id=derived_id("link", kind, pair[0].id, pair[1].id),
        at=at,
        kind=kind,
        entry=pair[0].id,
        other=pair[1].id,
        when=format_instant(max(pair[0].at, pair[1].at)),
        why=why,
        by=by,
    )
