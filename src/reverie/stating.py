"""Facts that another memory kept, on their way to the journal, many at once.

In: facts, each with a key of its own. Out: one append and one sync for all that are new, and what became of each.

What survives a crash here: of a batch that was being written, some first facts, each whole. Its key gives a fact its
id, so whoever brings the same facts again finds those that are there, queued or drained or forgotten, and each is
stored once.

Next: `drain` stores them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from reverie.core.entries import derived_id, problem
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.records import Entry, Remember
from reverie.importers.taken import Fact, Passed
from reverie.store import journal, kept_out
from reverie.store.workspace import Workspace

Known = Callable[[Sequence[str]], Mapping[str, Entry]]  # the entries with these full ids, wherever they stand
Fate = bool | str | Passed  # new or there before; why it cannot be stored; why it was left out on purpose

_OFF = Passed("memory is switched off for this workspace (`enabled = false`)")


def keep(ws: Workspace, facts: Sequence[Fact], *, known: Known, dry_run: bool) -> list[Fate]:
    """Store the facts that are new, and return what became of each, in order.

    `known` is asked once, when nobody else can write a fact any more. A dry run tells the same and stores nothing.
    Raises StoreUnwritable or Busy; then no fact was acknowledged, and some first ones may be there.
    """
    if not ws.settings.enabled:
        return [_OFF] * len(facts)
    clean = cache(ws.clean)  # facts are about the same few things
    entries = [_entry(ws, fact, clean) for fact in facts]
    ids = [entry.id for entry in entries]
    if dry_run:
        return _fates(ws, entries, known(ids))[0]
    # Two who bring the same facts must not both find the ids free.
    with ws.writing("import"):
        fates, new = _fates(ws, entries, known(ids))
        at = ws.clock()
        journal.append_all(ws, [Remember(id=ws.new_id(), at=at, entry=one, key=one.id) for one in new])
    kept_out.excluded(ws, sum(isinstance(fate, Passed) for fate in fates))
    told = zip(facts, entries, fates, strict=True)
    kept_out.redacted(
        ws,
        [
            kind
            for fact, entry, fate in told
            if fate is True
            for kind in kept_out.marks(entry, (fact.text, *fact.tags, fact.who, fact.about))
        ],
    )
    return fates


def _entry(ws: Workspace, fact: Fact, clean: Callable[[str], str]) -> Entry:
    """Return the entry that a fact makes, without secrets, on the day it was written."""
    at = (fact.at or ws.clock()).replace(microsecond=0)
    return Entry(
        id=derived_id("key", f"import:{fact.key}"),
        text=ws.clean(fact.text),
        at=at,
        day=ws.calendar.day(at),
        tags=tuple(map(clean, fact.tags)),
        who=clean(fact.who),
        about=clean(fact.about),
        origin="import",
    )


def _fates(
    ws: Workspace, entries: Sequence[Entry], known: Mapping[str, Entry]
) -> tuple[list[Fate], list[Entry]]:
    """Return what becomes of each entry, and those that are new."""
    fates: list[Fate] = []
    new: dict[str, Entry] = {}
    for entry in entries:
        fate = _fate(ws, entry, new.get(entry.id) or known.get(entry.id))
        if fate is True:
            new[entry.id] = entry
        fates.append(fate)
    return fates, list(new.values())


def _fate(ws: Workspace, entry: Entry, before: Entry | None) -> Fate:
    if excluded_by(entry.text, ws.settings.exclusions):
        return Passed("it names an excluded topic")
    if reason := problem(entry):
        return reason
    if before is None:
        return True
    return (
        False if before.text == entry.text else f"its key already stands for another text, entry {entry.id}"
    )
