"""How what was found stands now: an entry by what happened to it, a page's lines and a turn by the entries behind them.

Owns the standings and their order; promises that a line which cites nothing but what no longer holds never passes for
what holds, and that a line which cites nothing, or what is not known, is taken at its word; never reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from reverie.core.fold import EntryState, survivor
from reverie.core.search.rows import Row
from reverie.core.sessions.active_window import parse_range
from reverie.core.text.tokens import search_terms

LINES = 3  # of a page's paragraph that a hit shows
CURRENT = "current"
# From what holds to what never did; the words are what a prompt says of it.
NOTES: Mapping[str, str] = {
    CURRENT: "",
    "done": "done",
    "discussed": "only mentioned",
    "faded": "",
    "superseded": "no longer so",
    "wrong": "was a mistake",
}
_ORDER = {name: place for place, name in enumerate(NOTES)}
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
PAST = ("Previously",)  # how a dream begins a line of what held before

Stands = Callable[[EntryState], str]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a paragraph that answer, what they cite, how they stand, and when the latest of that was said.

    `at` is None for lines that cite nothing.
    """

    text: str
    cited: tuple[str, ...] = ()
    standing: str = CURRENT
    at: datetime | None = None
    day: str = ""


def standing_of(found: EntryState, has_faded: Callable[[EntryState], bool]) -> str:
    """Return how an entry stands; `has_faded` says whether time has taken it below the floor, and is asked last."""
    if found.wrong:
        return "wrong"
    if found.superseded_by or found.ended or found.merged_into:
        return "superseded"
    if found.entry.status == "discussed":
        return "discussed"
    if found.done or found.cancelled:
        return "done"
    return "faded" if has_faded(found) else CURRENT


def told(
    row: Row, wanted: Sequence[str], *, known: Mapping[str, EntryState], stands: Stands, hidden: bool
) -> Told | None:
    """Return the lines of a paragraph that answer the query, at most LINES in their order; None when all are hidden.

    `known` are the entries that it cites, and their roots, which say how they stand. With `hidden`, lines that cite
    hidden entries alone are shown too.
    """
    lines = [
        (line, ids)
        for line, ids in _lines(row)
        if hidden or not ids or any(one not in known or not known[one].hidden for one in ids)
    ]
    if not lines:
        return None
    kept = _telling(lines, set(wanted))
    each = [
        _best(stands(survivor(known[one], known)) if one in known else CURRENT for one in ids) or CURRENT
        for _, ids in kept
    ]
    whole = _best(each) or CURRENT
    states = [
        known[one] for (_, ids), standing in zip(kept, each, strict=True) for one in ids
        if standing == whole and one in known
    ]  # fmt: skip
    latest = max((one.entry for one in states), key=lambda entry: entry.at, default=None)
    return Told(
        text="\n".join(
            _marked(line, standing if standing != whole else CURRENT)
            for (line, _), standing in zip(kept, each, strict=True)
        ),
        cited=tuple(dict.fromkeys(one for _, ids in kept for one in ids)),
        standing=whole,
        at=latest.at if latest is not None else None,
        day=latest.day if latest is not None else "",
    )


def of_turn(row: Row, read: Iterable[EntryState], *, known: Mapping[str, EntryState]) -> str:
    """Return how a turn stands: as the entries `read` from it do, when none of them holds and they are most of it.

    `known` are those among which an entry's root is looked for.
    """
    behind = [one for one in read if _covers(one.entry.turns, row.n)]
    roots = [survivor(one, known) for one in behind]
    if not roots or not all(one.over for one in roots):
        return CURRENT
    if 2 * max(len(one.entry.evidence) for one in behind) < len(row.text):
        return CURRENT
    return "wrong" if all(one.wrong for one in roots) else "superseded"


def items_on_one_line(text: str) -> str:
    """Return the lines of a paragraph as words on one line, the items of a list set apart."""
    return " · ".join(_ITEM.sub("", row).strip() for row in text.split("\n") if row.strip())


def _lines(row: Row) -> list[tuple[str, tuple[str, ...]]]:
    ids = row.digest.split("\n")
    return [
        (line, tuple(ids[place].split()) if place < len(ids) else ())
        for place, line in enumerate(row.text.split("\n"))
    ]


def _telling(
    lines: Sequence[tuple[str, tuple[str, ...]]], asked: set[str]
) -> list[tuple[str, tuple[str, ...]]]:
    scores = [len(asked.intersection(search_terms(line))) for line, _ in lines]
    best = sorted(range(len(lines)), key=lambda place: (-scores[place], place))[:LINES]
    return [lines[place] for place in sorted(best) if scores[place] or not any(scores)]


def _best(standings: Iterable[str]) -> str:
    return min(standings, key=_ORDER.__getitem__, default="")


def _marked(line: str, standing: str) -> str:
    note = NOTES[standing]
    past = line.lstrip(" -*+").startswith(PAST)
    return f"{line} ({note})" if note and line.strip() and not past else line


def _covers(turns: str, n: int) -> bool:
    span = parse_range(turns)
    return span is not None and span[0] <= n <= span[1]
