"""A notebook in memory for tests of the dreamer: each dream is judged, and its pages stand for the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dream_world import NIGHT

from reverie.core.dreams.batch import parts_of
from reverie.core.dreams.page_rules import fold_path
from reverie.core.dreams.policy import Case, judge
from reverie.core.dreams.proposal import Judged, Proposal
from reverie.core.fold import EntryState, fold
from reverie.core.pages.citations import cite, citing_lines
from reverie.core.records import Entry, Event
from reverie.model.rule_dreamer.propose import Material, propose

if TYPE_CHECKING:
    from collections.abc import Iterable

TODAY = "2026-07-02"


def link(kind: str, new: Entry, old: Entry) -> Event:
    """Return a link from one entry to another."""
    return Event(id=f"{kind}-{new.id}-{old.id}", at=NIGHT, kind=kind, entry=new.id, other=old.id)


class World:
    """A notebook in memory, and what is known about entries."""

    def __init__(self, pages: dict[str, str] | None = None) -> None:
        """Begin with these pages."""
        self.pages = dict(pages or {})
        self.known: dict[str, EntryState] = {}
        self.events: list[Event] = []

    def dream(self, *batch: Entry, events: Iterable[Event] = (), hold: bool = True) -> Proposal:
        """Dream a batch, check that the policy takes all of it, and put its pages into the notebook."""
        self.events += events
        every = [*(state.entry for state in self.known.values()), *batch]
        self.known = {one.id: fold(one, self.events) for one in every}
        proposal = propose(self.material(batch))
        judged = self.judge(batch, proposal)
        if hold:
            assert judged.refusals == ()
            assert {one.key for one in judged.settlements} == {
                part.key for one in batch for part in parts_of(self.known[one.id])
            }
        self.pages.update(judged.pages)
        return proposal

    def material(self, batch: Iterable[Entry]) -> Material:
        """Return a batch as the dreamer is given it."""
        replaces = {
            one.id: tuple(
                event.other
                for event in self.events
                if event.entry == one.id and event.kind in {"supersede", "correct"}
            )
            for one in batch
        }
        return Material(
            parts=tuple(part for one in batch for part in parts_of(self.known[one.id])),
            replaces=replaces,
            find=self.known.get,
            page_of=self.page_of,
            read=self.pages.get,
            today=TODAY,
        )

    def judge(self, batch: Iterable[Entry], proposal: Proposal) -> Judged:
        """Return what the policy makes of a proposal."""
        named = {*proposal.pages, *(one.page for one in proposal.settlements if one.page)}
        case = Case(
            parts=self.material(batch).parts,
            old={path: self.pages[path] for path in named if path in self.pages},
            existing=set(self.pages),
            folded={fold_path(path) for path in self.pages},
            find=self.known.get,
            page_of=self.page_of,
            masked=lambda _: False,
        )
        return judge(case, proposal)

    def page_of(self, one: str) -> str:
        """Return the page that cites an entry."""
        found = [path for path, text in self.pages.items() for _, _, ids in citing_lines(text) if one in ids]
        return found[0] if found else ""

    def lines(self, path: str) -> list[str]:
        """Return the list items of a page that cite."""
        return [raw for _, raw, _ in citing_lines(self.pages[path])]


def at(one: Entry) -> str:
    """Return the citation of an entry."""
    return cite(one.day, one.id)
