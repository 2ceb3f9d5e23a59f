"""Entries on their way into the journal: ids, days, no secrets, no excluded topics, and what is invalid set aside.

Owns the last look at what an extraction found before it becomes a record; promises that the same name and the same
entries give the same ids, and that nothing invalid is lost (quarantine has it); never writes the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from reverie.core.days import ends_before
from reverie.core.entries import derived_id, problem
from reverie.core.forgetting.exclusions import excluded_by
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
            continue
        if ends_before(clean.until, clean.since, calendar=ws.calendar):
            clean = msgspec.structs.replace(clean, until="")  # misread; what was said holds all the same
        entries.append((place, clean))
    quarantine.set_aside(ws, refused)
    kept_out.excluded(ws, off_topic)
    return entries, len(refused)


def prepare_parts(
    ws: Workspace,
    names: Sequence[str],
    said: Sequence[tuple[int, Entry]],
    *,
    known: Callable[[str], Entry | None],
) -> tuple[tuple[Entry, ...], int]:
    """Return what can be stored of the entries of a note's parts and is not known, and how many were set aside.

    `said` has each with the place in `names` of its part. What a note states is the agent's and of no session.
    """
    entries: list[Entry] = []
    refused = 0
    for n in dict.fromkeys(part for part, _ in said):
        prepared, bad = prepare(ws, names[n], [entry for part, entry in said if part == n])
        refused += bad
        entries += [
            msgspec.structs.replace(
                entry, origin="agent" if entry.status == "active" else entry.origin, turns="", session=""
            )
            for _, entry in prepared
            if known(entry.id) is None
        ]
    return tuple(entries), refused


def gave_entries(name: str, known: Callable[[str], Entry | None]) -> bool:
    """Whether a part of a note gave entries before: reading it again by a model could give them other words."""
    return any(known(derived_id(name, str(place))) is not None for place in range(3))


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
