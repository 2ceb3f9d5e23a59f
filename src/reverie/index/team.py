"""The entries that are shared with a team, found without reading the others.

Owns one look into the state; promises that all of scope `team` are found, stored or queued; never writes.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reverie.core.fold import EntryState
from reverie.core.scopes import TEAM, is_shared
from reverie.index.state import State

# As the state keeps an entry: the member's name, then its value. A text may hold them too, so it is asked again.
_MARK: Final = msgspec.msgpack.encode("scope") + msgspec.msgpack.encode(TEAM)


def of_team(state: State) -> list[EntryState]:
    """Return the entries of scope `team` that are no copies and not forgotten, oldest first."""
    rows = state.db.execute("SELECT id FROM entry WHERE instr(body, ?)", (_MARK,)).fetchall()
    found = [*state.find(row[0] for row in rows).values(), *state.queued()]
    wanted = {one.entry.id: one for one in found if is_shared(one.entry)}
    return sorted(wanted.values(), key=lambda one: (one.entry.at, one.entry.id))
