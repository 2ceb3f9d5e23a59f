"""MEMORY.md: what of the store an agent sees at a glance.

Owns which entries are shown, under which heading and in which order; promises that the same store, day and hand-written
part give the same bytes, that the whole file stays within its budget, and that nothing outside the markers changes;
never shows what is hidden, superseded, ended, faded, done or merely discussed, nor any time of its own making.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from reverie.core.categories import CATEGORIES, category
from reverie.core.days import Calendar
from reverie.core.due_list import DueLine, DueList, due_lines
from reverie.core.fold import EntryState
from reverie.core.glance.budget import Budget, Claim, Fitted, Size, budget_of, fit
from reverie.core.glance.memory_lines import cited_lines, entry_line, id_code
from reverie.core.glance.memory_pages import ABOUT, PROJECT, RECENT, Sources, holding_lines
from reverie.core.glance.standing import CONTEXT, DUE, PLAIN, PROTECTED_FROM, Shortlist, may_stand, standing
from reverie.core.pages.blocks import Block, Broken, Missing, find_block, with_block
from reverie.core.pages.front_matter import split
from reverie.core.settings.value import Settings
from reverie.core.significance import decayed, ended, faded, marks, stare, sunk

TITLE = "# Memory\n"
COMMITMENTS = "Commitments (due / overdue)"
PROMISES = "Commitments"  # the category's section when the list of what is due is switched off
SHORTEST = len(f"- ————— x {id_code('0' * 16)}") + 1  # of a line with its break
SHARE = 5  # what pages and digests say takes at most a fifth of the budget


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """The text between the markers, and what did not fit: ids in order of rank, the protected among them apart.

    `problem` is a sentence when what must be shown, or the hand-written part alone, exceeds the budget; else empty.
    """

    inner: str
    left_out: tuple[str, ...] = ()
    protected_out: tuple[str, ...] = ()
    problem: str = ""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file with its new block.

    `edited` is the text inside the markers where a person changed it, None where nobody did. `problem` says why
    nothing may be written; `text` is then the file as it was.
    """

    text: str
    edited: str | None = None
    problem: str = ""


class _Board(msgspec.Struct):
    """Every line that asks for room: its claim, and its text once it is known.

    `entries` are the states whose lines are rendered when they are considered, so that a hundred thousand of them
    cost no more than a sort; `owed` those of them that read as in the list of what is due, and are in its order.
    """

    claims: list[Claim] = msgspec.field(default_factory=list)
    texts: dict[str, str] = msgspec.field(default_factory=dict)
    owed: dict[str, DueLine] = msgspec.field(default_factory=dict)
    entries: dict[str, EntryState] = msgspec.field(default_factory=dict)


def wanted(sources: Sources, settings: Settings) -> tuple[tuple[str, ...], int]:
    """Return the ids that pages and digests cite, and how many of the heaviest entries can at most be shown."""
    texts = (sources.overview, sources.today, sources.week)
    cited = dict.fromkeys(one for text in texts for said in cited_lines(text) for one in said.ids)
    return tuple(cited), budget_of(settings.publish).most_lines(SHORTEST)


def compile_memory(
    shortlist: Shortlist,
    sources: Sources,
    *,
    day: str,
    calendar: Calendar,
    settings: Settings,
    existing: str = "",
) -> Compiled:
    """Return the text between the markers as it has to be on `day`, for the file that reads `existing` now.

    Everything is judged as of the first instant of the day, so that the file changes with the store and the day alone.
    The shortlist holds what `wanted` asks for.
    """
    now, states = calendar.start(day), shortlist.states
    whole = budget_of(settings.publish, newline=split(existing).newline)
    outside = _outside(whole, existing)
    budget = whole.less(outside)
    board = _Board()
    _claim_entries(board, states, now, calendar=calendar, settings=settings)
    said = holding_lines(sources, states, has_faded=lambda one: faded(one, now, facts=settings.facts))
    _claim_pages(board, said, budget.part(SHARE))

    def line(claim: Claim) -> str:
        if claim.key not in board.texts:
            state, due = board.entries[claim.key], board.owed.get(claim.key)
            scores = marks(stare(state, now, calendar=calendar))
            text = due.line if due else entry_line(state.entry.text, claim.key, marks=scores)
            board.texts[claim.key] = f"{text}\n"
        return board.texts[claim.key]

    fitted = fit(board.claims, budget, line=line, heading=_heading)
    left_out = [claim for claim in fitted.left_out if claim.key in board.entries]
    protected_out = tuple(claim.key for claim in left_out if claim.standing >= PROTECTED_FROM)
    protected_out += shortlist.protected_beyond
    return Compiled(
        inner=_rendered(fitted, board) if whole.holds(outside) else "",
        left_out=(*(claim.key for claim in left_out), *shortlist.beyond),
        protected_out=protected_out,
        problem=_problem(len(protected_out), whole=whole, outside=outside),
    )


def merge_block(existing: str | None, inner: str) -> Merged:
    """Return the file with `inner` between its markers, appended when it has none.

    Broken or doubled markers are reported and nothing changes. Text outside the markers stays as it is, whatever its
    line breaks; the block takes the file's own.
    """
    text = existing or ""
    found = find_block(text)
    if isinstance(found, Missing) and not inner:
        return Merged(text=text)  # two markers with nothing between them would only make a full file fuller
    merged = with_block(text, inner)
    if isinstance(merged, Broken):
        return Merged(
            text=text, problem=f"MEMORY.md was not written: {merged.reason}; mend or remove the markers"
        )
    changed = isinstance(found, Block) and not found.intact and found.inner.replace("\r\n", "\n") != inner
    return Merged(text=merged, edited=found.inner if changed and isinstance(found, Block) else None)


# Which lines there are


def _claim_entries(
    board: _Board, states: Iterable[EntryState], now: datetime, *, calendar: Calendar, settings: Settings
) -> None:
    """Claim room for each entry that is shown."""
    owed = due_lines(states, now, calendar=calendar) if settings.publish.commitments else DueList()
    board.owed = {due.state.entry.id: due for due in owed.lines}
    pressing = {due.state.entry.id for due in owed.overdue + owed.today}
    for state in states:
        entry = state.entry
        if not may_stand(state) or (entry.until and ended(state, now, calendar=calendar)):
            continue
        value = decayed(state, now, facts=settings.facts)
        if sunk(state, value, facts=settings.facts):
            continue
        board.entries[entry.id], firmness = state, standing(state)
        board.claims.append(
            Claim(
                key=entry.id,
                section=COMMITMENTS if entry.id in board.owed else _section(entry.category),
                standing=DUE if firmness == PLAIN and entry.id in pressing else firmness,
                weight=value,
                observations=state.observations,
                uses=state.uses,
                confirmed=state.confirmed.timestamp(),
            )
        )


def _section(slug: str) -> str:
    found = category(slug)
    return PROMISES if found.name == "commitment" else found.section


def _claim_pages(board: _Board, said: list[tuple[str, str]], budget: Budget) -> None:
    """Claim room for the lines of pages and digests that fit into their share, in the order given."""
    texts = {f"page {place:06d}": f"{line}\n" for place, (_, line) in enumerate(said)}
    claims = [
        Claim(key=key, section=section, standing=CONTEXT, weight=-float(place))
        for place, (key, (section, _)) in enumerate(zip(texts, said, strict=True))
    ]
    fitted = fit(claims, budget, line=lambda claim: texts[claim.key], heading=_heading)
    board.texts.update(texts)
    board.claims.extend(fitted.kept)


# How they stand in the file


def _rendered(fitted: Fitted, board: _Board) -> str:
    sections: dict[str, list[str]] = {}
    places = {key: place for place, key in enumerate(board.owed)}
    for claim in sorted(fitted.kept, key=lambda claim: places.get(claim.key, 0)):
        sections.setdefault(claim.section, []).append(board.texts[claim.key])
    ordered = sorted(sections, key=_section_order)
    return "".join((TITLE, *(part for name in ordered for part in (_heading(name), *sections[name]))))


def _heading(section: str) -> str:
    return f"\n## {section}\n\n"


_ORDER = {
    name: place
    for place, name in enumerate(
        dict.fromkeys(
            (ABOUT, PROJECT, RECENT, "Capabilities", COMMITMENTS, *(_section(slug) for slug in CATEGORIES)),
        )
    )
}


def _section_order(section: str) -> tuple[int, str]:
    """Return the sort key of a heading: the fixed ones, then those of further categories by name."""
    if section.startswith(PROJECT):
        return (_ORDER[PROJECT], section)
    return (_ORDER.get(section, len(_ORDER)), section)


def _outside(whole: Budget, existing: str) -> Size:
    """Return the size of all that the lines share the file with: the hand-written part, the markers and the title."""
    empty = with_block(existing, TITLE)
    text = existing if isinstance(empty, Broken) else empty
    # The text holds its own line breaks, whatever their style; a last line that is not ended counts as one.
    return msgspec.structs.replace(whole, newline=1).measure(text if text.endswith("\n") else f"{text}\n")


def _problem(protected_out: int, *, whole: Budget, outside: Size) -> str:
    if not whole.holds(outside):
        return (
            f"the hand-written part of MEMORY.md alone has {outside.characters:,} characters on {outside.lines:,} "
            "lines and exceeds the budget: shorten it or choose a larger publish.budget_preset"
        )
    if protected_out:
        return (
            f"{protected_out} pinned, procedure or most significant entries do not fit into MEMORY.md: "
            "choose a larger publish.budget_preset, or unpin or merge some"
        )
    return ""
