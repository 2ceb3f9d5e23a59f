"""Which entries one means when one lets go of some: what was merged with them, and what says the same words.

Owns the circle of a forget, and which entries a mask hides; promises that an entry of other words is never in the
circle unless it was merged with one that is; never reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from reverie.core.fold import EntryState
from reverie.core.forgetting.mask import FEWEST, Mask
from reverie.core.records import Entry, JournalRecord, Remember
from reverie.core.text.phrases import phrase, telling


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """What still says a name: the ids of entries, and how many turns."""

    name: str
    entries: tuple[str, ...] = ()
    turns: int = 0


def circle(
    meant: Iterable[Entry], states: Iterable[EntryState], *, hidden: Iterable[Entry]
) -> dict[str, Entry]:
    """Return the entries `meant` with their observations and every entry of the same words, by id.

    `states` are all that are shown, `hidden` those a tombstone hides already.
    """
    entries = {state.entry.id: state.entry for state in states}
    merged: dict[str, set[str]] = {}
    for state in states:
        if state.merged_into:
            merged.setdefault(state.entry.id, set()).add(state.merged_into)
            merged.setdefault(state.merged_into, set()).add(state.entry.id)
    found = {entry.id: entry for entry in meant}
    found |= _reached(found, merged, entries)
    said = {phrase(entry.text) for entry in found.values()}
    same = (
        entry
        for entry in (*entries.values(), *hidden)
        if entry.id not in found and phrase(entry.text) in said
    )
    found |= {entry.id: entry for entry in same}
    return found | _reached(found, merged, entries)


def out_of_sight(stored: Sequence[Entry], waiting: Iterable[JournalRecord], *, masked: Mask) -> list[Entry]:
    """Return the entries that a mask hides: those `stored`, and those in records that wait for the drain."""
    queued: list[Entry] = []
    for record in waiting:
        queued += [record.entry] if isinstance(record, Remember) else getattr(record, "entries", ())
    known = {entry.id for entry in stored}
    return [*stored, *(entry for entry in queued if entry.id not in known and masked(entry))]


def sharing(circle_: Mapping[str, Entry], states: Iterable[EntryState]) -> tuple[str, ...]:
    """Return the ids of entries that were read from the same evidence as one of the circle, and say something else."""
    evidence = {
        (entry.session, phrase(entry.evidence))
        for entry in circle_.values()
        if entry.evidence and entry.session
    }
    return tuple(
        state.entry.id
        for state in states
        if state.entry.id not in circle_
        and state.entry.evidence
        and (state.entry.session, phrase(state.entry.evidence)) in evidence
    )


def says_more(entry: Entry, meant: Iterable[Entry]) -> bool:
    """Whether an entry holds every telling word of one that is meant: it says the same again, or that and more."""
    said = set(telling(entry.text))
    wanted = (telling(one.text) for one in meant)
    return any(len(one) >= FEWEST and said.issuperset(one) for one in wanted)


def _reached(
    found: Mapping[str, Entry], merged: Mapping[str, set[str]], entries: Mapping[str, Entry]
) -> dict[str, Entry]:
    todo, seen = list(found), set(found)
    while todo:
        for other in merged.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return {one: entries[one] for one in seen if one in entries}
