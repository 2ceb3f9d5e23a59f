"""What the overview page and the digests say, as lines for MEMORY.md.

Owns which of their lines still hold and under which heading each is shown; promises that every line names the entries
it stands on, and that none is shown whose entry was hidden, forgotten or found wrong; never reads the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import zip_longest

import msgspec

from reverie.core.fold import EntryState, survivor
from reverie.core.glance.memory_lines import Cited, cited_line, cited_lines, one_line

ABOUT = "About the User"
RECENT = "Recent Context"
PROJECT = "Project:"  # an overview section so called keeps a heading of its own


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of the overview page and of today's and the week's digest; empty where there is none."""

    overview: str = ""
    today: str = ""
    week: str = ""


def holding_lines(
    sources: Sources, states: Iterable[EntryState], *, has_faded: Callable[[EntryState], bool]
) -> list[tuple[str, str]]:
    """Return heading and line of what pages and digests say and still holds, overview and recent in turn.

    Taken in turn, so that neither a long overview nor a busy day takes the whole share from the other.
    """
    overview, today, week = map(cited_lines, (sources.overview, sources.today, sources.week))
    if not (overview or today or week):
        return []
    known = {state.entry.id: state for state in states}
    about = [(_page_section(cited.section), cited) for cited in overview]
    recent = [(RECENT, cited) for cited in today + week]
    in_turn = [line for pair in zip_longest(about, recent) for line in pair if line is not None]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    lines: list[tuple[str, str]] = []
    for section, cited in in_turn:
        ids = _standing_ids(cited, known, has_faded)
        said = (RECENT if section == RECENT else "", ids)
        if not ids or (section == RECENT and said in seen):
            continue
        seen.add(said)
        lines.append((section, cited_line(cited.text, ids)))
    return lines


def _standing_ids(
    cited: Cited, known: dict[str, EntryState], has_faded: Callable[[EntryState], bool]
) -> tuple[str, ...]:
    """Return the ids of a line that holds, none for one that does not.

    A line holds while one of its entries may be shown by itself, and none was hidden, forgotten or found wrong. It may
    name a superseded one beside it: "now at Microsoft, before at Google".
    """
    ids = tuple(id_ for id_ in cited.ids if id_ in known)
    states = [survivor(known[id_], known) for id_ in ids]
    if any(
        state.hidden or state.forgotten or state.wrong for state in [*states, *(known[id_] for id_ in ids)]
    ):
        return ()
    return ids if any(_may_be_shown(state) and not has_faded(state) for state in states) else ()


def _may_be_shown(state: EntryState) -> bool:
    return state.current and not (state.done or state.cancelled) and state.entry.status != "discussed"


def _page_section(heading: str) -> str:
    """Return the heading an overview section is shown under: a project's own, everything else is about the user."""
    title = heading.strip()
    if title.casefold().startswith(PROJECT.casefold()):
        return f"{PROJECT} {one_line(title[len(PROJECT) :]) or 'unnamed'}"
    return ABOUT
