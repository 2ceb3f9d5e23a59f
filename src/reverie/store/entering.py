"""Entries on their way into the journal: ids, days, no secrets, no excluded topics, and what is invalid set aside.

Owns the last look at what an extraction found before it becomes a record; promises that the same name and the same
entries give the same ids, and that nothing invalid is lost (quarantine has it); never writes the journal.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reverie.core.entries import derived_id, problem
from reverie.core.exclusions import excluded_by
from reverie.core.records import Entry
from reverie.store import kept_out, quarantine, stream
from reverie.store.workspace import Workspace


def prepare(ws: Workspace, name: str, found: Sequence[Entry]) -> tuple[list[tuple[int, Entry]], int]:
    """Return what can be stored of `found`, each with its place there, and how many were set aside.

    An entry's id is derived from `name` and its place. Entries on an excluded topic are dropped.
    """
    entries: list[tuple[int, Entry]] = []
    refused: list[stream.Damaged] = []
    off_topic = 0
    cleaned: dict[str, str] = {}  # names and tags come again in what one reading found
    for place, entry in enumerate(found):
        at = entry.at.replace(microsecond=0)
        named = msgspec.structs.replace(
            entry, id=derived_id(name, str(place)), at=at, day=ws.calendar.day(at)
        )
        clean = _clean(ws, named, cleaned)
        if excluded_by(f"{clean.text} {clean.evidence}", ws.settings.exclusions):
            off_topic += 1
            continue
        if reason := problem(clean):
            refused.append(stream.Damaged("extract", place, msgspec.json.encode(clean), reason))
        else:
            entries.append((place, clean))
    quarantine.set_aside(ws, refused)
    kept_out.excluded(ws, off_topic)
    return entries, len(refused)


def _clean(ws: Workspace, entry: Entry, cleaned: dict[str, str]) -> Entry:
    """Return `entry` without secrets: a turn captured with redaction off may still hold some."""
    for short in (*entry.tags, entry.about, entry.who):
        if short not in cleaned:
            cleaned[short] = ws.clean(short)
    return msgspec.structs.replace(
        entry,
        text=ws.clean(entry.text),
        evidence=ws.clean(entry.evidence),
        tags=tuple(cleaned[tag] for tag in entry.tags),
        about=cleaned[entry.about],
        who=cleaned[entry.who],
    )
