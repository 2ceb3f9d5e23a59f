"""The entries that weigh most, found without reading the others.

Owns the query behind MEMORY.md; promises that its order is that of `core.glance.budget.rank`, so that what fits into
the file is among the first; never decodes an entry that cannot fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from reverie.core.days import Calendar, is_when, when_bounds
from reverie.core.fold import EntryState
from reverie.core.glance.standing import PLAIN, PROTECTED_FROM, Shortlist
from reverie.core.settings.value import FactSettings
from reverie.index.state import State

# As `core.significance.decayed` has it; SQLite rounds as Python does.
_WEIGHT = (
    "CASE WHEN fades AND confirmed < :now THEN"
    " max(0.0, min(sig, round(sig - (:now - confirmed) / 86400.0 * :rate, 9))) ELSE sig END"
)
_RANKED = (
    f"SELECT id, until, standing FROM (SELECT *, {_WEIGHT} AS weight FROM entry INDEXED BY entry_shown WHERE shown)"
    f" WHERE weight >= :floor OR standing > {PLAIN} OR promised"
    " ORDER BY standing DESC, weight DESC, observed DESC, uses DESC, confirmed DESC, id"
)


def shortlist(
    state: State, cited: Iterable[str], *, most: int, now: datetime, facts: FactSettings, calendar: Calendar
) -> Shortlist:
    """Return the `most` entries that weigh most at `now`, with every promise, what is cited, and what is queued."""
    values = {"now": now.timestamp(), "rate": facts.max_importance_decay, "floor": facts.min_importance}
    ranked = [
        (name, firmness)
        for name, until, firmness in state.db.execute(_RANKED, values)
        if not (until and is_when(until) and when_bounds(until, calendar)[1] <= now)
    ]
    found = state.find(name for name, _ in ranked[:most])
    found |= {one.entry.id: one for one in (*state.promises(), *state.queued())}
    found |= _with_survivors(state, cited)
    beyond = [(name, firmness) for name, firmness in ranked[most:] if name not in found]
    return Shortlist(
        states=tuple(found.values()),
        beyond=tuple(name for name, _ in beyond),
        protected_beyond=tuple(name for name, firmness in beyond if firmness >= PROTECTED_FROM),
    )


def choosing(
    state: State, now: datetime, *, facts: FactSettings, calendar: Calendar
) -> Callable[[Sequence[str], int], Shortlist]:
    """Return what finds the shortlist of a state, given what is cited and how many entries can be shown."""
    return lambda cited, most: shortlist(state, cited, most=most, now=now, facts=facts, calendar=calendar)


def _with_survivors(state: State, cited: Iterable[str]) -> dict[str, EntryState]:
    """Return what is cited, and what that was merged into, to the end of each chain."""
    known: dict[str, EntryState] = {}
    wanted = list(cited)
    while wanted:
        fresh = state.find(wanted)
        known |= fresh
        wanted = [
            one.merged_into for one in fresh.values() if one.merged_into and one.merged_into not in known
        ]
    return known
