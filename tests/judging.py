"""A judgement to try: pages and settlements of a small batch, and why a page would be refused."""

from __future__ import annotations

from typing import Any

from dream_world import entry

from reverie.core.dreams.batch import parts_of
from reverie.core.dreams.page_rules import fold_path, spellings
from reverie.core.dreams.policy import Case, judge
from reverie.core.dreams.proposal import Judged, Proposal, Settlement
from reverie.core.fold import fold
from reverie.core.pages.citations import cite
from reverie.core.records import Entry

HEAD = "---\ntype: personal\ntitle: Work\nupdated: 2026-07-02\n---\n\n# Work\n\n"
GOOGLE = entry(1, "User works at Google in Zurich since 2024", category="work")
TEA = entry(2, "User likes green tea in the morning", category="preference")
PAGE = "3_Personal/Work.md"


def line(*entries: Entry, text: str = "") -> str:
    """Return a list item that says `text`, or what the first entry says, citing them all."""
    cited = " ".join(cite(one.day, one.id) for one in entries)
    return f"- {text or entries[0].text} {cited}\n"


def cited(one: Entry, page: str = PAGE, part: int = 0) -> Settlement:
    """Return the settlement of an entry cited on a page."""
    return Settlement(entry=one.id, outcome="cited", page=page, part=part)


def decide(
    pages: dict[str, str | None],
    settlements: tuple[Settlement, ...],
    batch: tuple[Entry, ...] = (GOOGLE, TEA),
    **world: Any,
) -> Judged:
    """Judge pages and settlements of a batch; `old` and `elsewhere` are pages and citations that stand."""
    states = {one.id: world.get("states", {}).get(one.id) or fold(one, ()) for one in batch}
    known = {**states, **{one.id: fold(one, ()) for one in world.get("known", ())}}
    old = world.get("old", {})
    existing = {*old, *world.get("existing", ())}
    case = Case(
        parts=[part for state in states.values() for part in parts_of(state)],
        old=old,
        existing=existing,
        folded={fold_path(path) for path in existing},
        folders=spellings(existing),
        find=known.get,
        page_of=lambda one: world.get("elsewhere", {}).get(one, ""),
        masked=world.get("masked", lambda _: False),
    )
    return judge(case, Proposal(pages=pages, settlements=settlements))


def refused(text: str, *, path: str = PAGE, batch: tuple[Entry, ...] = (GOOGLE, TEA), **world: Any) -> str:
    """Return why a page is refused; empty when it is installed."""
    judged = decide({path: text}, tuple(cited(one, path) for one in batch), batch, **world)
    assert (path in judged.pages) == (not any(one.place == path for one in judged.refusals))
    return next((one.reason for one in judged.refusals if one.place == path), "")


BOTH = line(GOOGLE) + line(TEA)
