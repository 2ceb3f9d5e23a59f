"""What still names somebody or something after entries were forgotten that were about them.

In: the names a filter asked for, and those that forgotten entries were about. Out: how many entries and turns that are
shown say such a name, so that a person knows what a forget did not reach. No model.

A name is looked for on word borders, as a topic of `exclude` is. Entries are counted all; turns among the best that the
index finds, which is all of them but of a name said more than a thousand times.

Next: whoever wants those gone too names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.letting_go import Naming
from reverie.core.records import Entry
from reverie.core.search.query import parse
from reverie.core.search.rows import Filter, Row
from reverie.core.sessions.active_window import parse_range
from reverie.core.where import Where
from reverie.errors import Busy, IndexUnavailable
from reverie.forget import named_by
from reverie.index.state import State
from reverie.opening import Opened
from reverie.recall import catch_up

MOST = 1_000  # turns that are looked at for one name


def still_named(opened: Opened, ids: Sequence[str], *, where: Where | None) -> tuple[Naming, ...]:
    """Return what else says the names that a filter, and the entries with these ids, were about.

    A name that nothing says is left out, and so are the turns that the entries' evidence stands in; where the index
    cannot be asked, nothing is told.
    """
    state = opened.state_now()
    forgotten = list(state.known_of(ids).values())
    asked = (where.about, where.who) if where is not None else ()
    names = dict.fromkeys(name for name in (*asked, *(one.about for one in forgotten)) if name.strip())
    if not names:
        return ()
    try:
        catch_up(opened.ws, state, index=opened.index, masked=opened.mask.row)
        found = [_naming(opened, state, name=name, forgotten=forgotten) for name in names]
    except (IndexUnavailable, Busy):
        return ()
    return tuple(one for one in found if one.entries or one.turns)


def _naming(opened: Opened, state: State, *, name: str, forgotten: Sequence[Entry]) -> Naming:
    gone, masked = {entry.id for entry in forgotten}, opened.mask.row
    query = parse(name, date.fromisoformat(opened.ws.today))
    turns = Filter(kinds=("turn",))
    found = opened.index.search(query, where=turns, depth=MOST, vector=None) if query.terms else ()
    rows = [one.row for one in found if excluded_by(one.row.text, (name,)) and not masked(one.row)]
    return Naming(
        name=name,
        entries=tuple(one.entry.id for one in named_by(state, name) if one.entry.id not in gone),
        turns=sum(not _holds(row, forgotten) for row in rows),
    )


def _holds(row: Row, forgotten: Sequence[Entry]) -> bool:
    """Whether a turn holds the evidence of what is forgotten, or would be."""
    spans = (
        (one, parse_range(one.turns)) for one in forgotten if one.session == row.session and one.evidence
    )
    return any(
        span is not None and span[0] <= row.n <= span[1] and one.evidence in row.text for one, span in spans
    )
