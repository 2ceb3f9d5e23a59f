"""Entries in the order of their days and lines, some hundred at a time.

Owns reading on where the last page ended; promises that no more than a page is held, however many entries a day has;
never sees what waits for the drain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from reverie.core.fold import EntryState
from reverie.index.entry_rows import state_of

AT_ONCE = 500
_FIRST = -2  # before every line: one that vanished counts as -1, what stands in the events alone as 0


def stored(
    rows: Callable[[str, Sequence[object]], list[Any]], asked: str, *, since: str, until: str
) -> Iterator[EntryState]:
    """Yield the entries of the days from `since` to `until` for which the condition `asked` holds.

    `rows` answers a query. An entry whose line changes meanwhile may come twice.
    """
    query = (
        f"SELECT day, line, id, body, state FROM entry WHERE (day, line, id) > (?, ?, ?) AND day <= ? AND {asked}"
        " ORDER BY day, line, id LIMIT ?"
    )
    reached: tuple[str, int, str] = (since, _FIRST, "")
    while page := rows(query, (*reached, until, AT_ONCE)):
        for day, line, name, body, state in page:
            reached = (day, line, name)
            yield state_of(body, state)
