"""Whether and how firmly an entry stands in MEMORY.md, time aside.

Owns what may be shown there at all, and the order of what goes last; promises that neither depends on the day, so that
both can be kept beside an entry; never renders a line.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reverie.core.categories import category
from reverie.core.fold import PROTECTED, EntryState
from reverie.core.significance import is_procedure

PLAIN, CONTEXT, DUE, SIGNIFICANT, PROCEDURE, PIN = range(6)
PROTECTED_FROM = SIGNIFICANT  # what stands this firmly or firmer goes only when such entries alone overflow


class Shortlist(msgspec.Struct, frozen=True, kw_only=True):
    """The entries among which those that fit into MEMORY.md are, and the ids of all others that may be shown there.

    `states` hold every open promise as well, and everything that the overview and the digests cite. `beyond` are in
    order of rank, `protected_beyond` the protected among them.
    """

    states: Sequence[EntryState]
    beyond: tuple[str, ...] = ()
    protected_beyond: tuple[str, ...] = ()


def may_stand(state: EntryState) -> bool:
    """Whether it may be shown at all; text of outside origin is no procedure to act on, whatever it calls itself."""
    entry = state.entry
    if not state.current or state.done or state.cancelled or entry.status == "discussed":
        return False
    return category(entry.category).name != "procedure" or is_procedure(state)


def standing(state: EntryState) -> int:
    """Return how firmly it stands, on any day; a plain promise that is due stands at `DUE`."""
    if state.pinned:
        return PIN
    if is_procedure(state):
        return PROCEDURE
    return SIGNIFICANT if state.sig >= PROTECTED else PLAIN
