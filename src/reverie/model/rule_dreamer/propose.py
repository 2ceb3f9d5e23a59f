"""The dreamer that needs no model: entries become cited lines on pages, by rule.

Owns what becomes of each part of a batch; promises an outcome for every part that a page can take, the same proposal
for the same material, lines written once and changed only where a repeat or a change of facts demands it, and every
other byte of a page as it was; never judges itself, and never reads or writes a file: pages come through `read`.

What the links between entries say is followed: a repeat is cited by the line of what it repeats, a successor takes
the line of what it succeeds ("Currently …", with "Previously … (until DATE)" beneath it), and two that contradict
each other stand side by side on a page marked for review.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from reverie.core.dreams.batch import Part
from reverie.core.dreams.policy import may_decline
from reverie.core.dreams.proposal import Proposal, Settlement
from reverie.core.fold import EntryState
from reverie.core.records import Entry, OutcomeKind
from reverie.core.text.said import content, missing, numbers
from reverie.core.text.tokens import normalise
from reverie.model.rule_dreamer.desk import Desk, Slot
from reverie.model.rule_dreamer.lines import CURRENTLY, MOST_CITED, PREVIOUSLY, Line, line_of, with_note
from reverie.model.rule_dreamer.places import Place, dated, place_of, subjects

DREAMER = "rules-1"  # what a run's record calls it
EXTRACTED = "its turns were extracted: what they say stands in entries of its session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A batch and what it is read against.

    `replaces` are the entries that each entry supersedes; `find` returns the state of an entry that is not forgotten;
    `page_of` the page that cites an entry now, or ""; `read` a page's text, None when there is none; `today` the day
    that a changed page states; `spelled` where a page stands by now, without `.md`.
    """

    parts: tuple[Part, ...]
    replaces: Mapping[str, tuple[str, ...]]
    find: Callable[[str], EntryState | None]
    page_of: Callable[[str], str]
    read: Callable[[str], str | None]
    today: str
    spelled: Callable[[str], str] = str


def propose(material: Material) -> Proposal:
    """Return what the rules make of the batch."""
    return _Dream(material).propose()


class _Dream:
    """One batch being worked through."""

    def __init__(self, material: Material) -> None:
        self._of = material
        self._desk = Desk(material.read, material.today, spelled=material.spelled)
        self._raw = [part for part in material.parts if part.raw]
        material = replace(material, parts=tuple(part for part in material.parts if not part.raw))
        self._of = material
        self._states = {part.id: part.state for part in material.parts}
        self._counted = subjects(state.entry for state in self._states.values())
        self._settled: dict[tuple[str, int], Settlement] = {}
        self._lines: dict[str, Slot] = {}  # where the line of each entry of the batch will stand
        self._same: dict[tuple[str, str], str] = {}  # (page, what is said) -> the entry whose line says it
        self._declined = 0

    def propose(self) -> Proposal:
        """Return the pages as they should be and what becomes of each part."""
        for part in self._raw:
            if not may_decline(part):
                self._settle(part, "declined", reason=EXTRACTED)
        repeats = {part.id for part in self._of.parts if self._root(part.id) != part.id}
        # Sorting keeps the order of time, but for successors: what they succeed goes beneath their lines.
        for part in sorted(self._of.parts, key=lambda part: self._depth(part.id)):
            if part.of > 1:
                self._place(part, self._line(part))
            elif page := self._of.page_of(part.id):
                self._settle(
                    part, "cited", page=page
                )  # a person, or a run undone by halves, cited it already
            elif part.id not in repeats:
                self._enter(part)
        for part in self._of.parts:
            if part.id in repeats and part.key not in self._settled:
                self._repeat(part)
        for part in self._of.parts:
            self._relate(part)
        pages, slots = self._desk.finished()
        settled = (self._on_its_page(one, slots) for one in self._settled.values())
        return Proposal(pages=pages, settlements=tuple(sorted(settled, key=lambda one: one.key)))

    # One entry

    def _enter(self, part: Part) -> None:
        """Give a part its line: in the place of what it succeeds, or a new one."""
        state = part.state
        successor = self._states.get(state.superseded_by)
        if successor is not None and successor.entry.id in self._lines:
            self._succeeded(part, successor)
            return
        if self._is_trivial(part):
            self._decline(part, "it says nothing that could be looked up")
        elif state.wrong and not may_decline(part):
            self._decline(part, "it was found to be wrong")
        else:
            line = self._line(part)
            if not any(self._takes_over(part, line, old) for old in self._succeeds(state.entry)):
                self._place(part, line)

    def _depth(self, entry: str) -> int:
        """Return how many successors within the batch an entry has in a row."""
        passed: set[str] = set()
        while (state := self._states.get(entry)) is not None and state.superseded_by and entry not in passed:
            passed.add(entry)
            entry = state.superseded_by
        return len(passed)

    def _line(self, part: Part) -> Line:
        line = line_of(part.state.entry, part.text)
        if part.state.ended or part.state.wrong or part.state.superseded_by:
            line.label = PREVIOUSLY
        return line

    def _place(self, part: Part, line: Line) -> None:
        """Put a new line where the entry belongs, unless the page says the same already."""
        place = self._desk.spelled(place_of(part.state.entry, self._counted, exists=self._desk.exists))
        said = normalise(f"{line.label}{line.text}")
        if part.of == 1 and not line.steps:
            if (first := self._same.get((place.base, said))) and self._cite_new(part, first):
                return
            found = self._desk.saying(place.base, said)
            if found is not None and self._cite_standing(part, found):
                return
        slot = self._desk.add(place, line)
        if slot is None:
            return
        self._lines.setdefault(part.id, slot)
        self._same.setdefault((place.base, said), part.id)
        self._settle(part, "cited")
        if part.state.conflicts:
            self._desk.doubt(slot)

    # Repeats

    def _root(self, entry: str) -> str:
        """Return the entry that an entry was folded into, at the end of the chain; itself when none."""
        passed: list[str] = []
        while entry not in passed:
            passed.append(entry)
            state = self._states.get(entry) or self._of.find(entry)
            if state is None:
                return passed[-2] if len(passed) > 1 else entry
            if not state.merged_into:
                return entry
            entry = state.merged_into
        return passed[0]

    def _repeat(self, part: Part) -> None:
        """Cite a repeat on the line of what it repeats; where that has none, it gets a line of its own."""
        root = self._root(part.id)
        if root in self._lines and self._cite_new(part, root):
            return
        found = self._desk.standing(self._of.page_of(root), root)
        if found is not None and self._cite_standing(part, (found[0], found[1], root)):
            return
        if part.key not in self._settled:
            self._place(part, self._line(part))

    def _cite_new(self, part: Part, root: str) -> bool:
        slot = self._lines[root]
        if len(slot.line.cited) < MOST_CITED and self._carries(part, slot.line.text, slot.place):
            slot.line.cited.append((part.day, part.id))
        self._settle(part, "merged", into=root)
        return True

    def _cite_standing(self, part: Part, found: tuple[str, int, str]) -> bool:
        page, number, root = found
        if root == part.id:
            self._settle(part, "cited", page=page)
            return True
        if self._carries(part, self._desk.said(page, number), None):
            self._desk.cite(page, number, day=part.day, entry=part.id)
        self._settle(part, "merged", into=root)
        return True

    @staticmethod
    def _carries(part: Part, said: str, place: Place | None) -> bool:
        return not missing(part.text, said, context=place.title if place else "")

    # Succession

    def _succeeds(self, entry: Entry) -> Iterator[str]:
        """Yield what an entry supersedes, by its links and by its writer's word."""
        yield from dict.fromkeys((*self._of.replaces.get(entry.id, ()), *entry.supersedes))

    def _takes_over(self, part: Part, line: Line, old: str) -> bool:
        """Let a line take the place of the standing one it succeeds; tell whether it could."""
        page = self._of.page_of(old)
        found = self._desk.standing(page, old)
        known = self._of.find(old)
        if found is None or known is None or not self._is_alone(self._desk.cited(*found), old):
            return False
        line.label = CURRENTLY
        until = "" if known.wrong else known.entry.until or dated(part.state.entry)
        self._lines[part.id] = self._desk.take_over(*found, line=line, until=until)
        self._settle(part, "cited", page=found[0])
        return True

    def _is_alone(self, ids: tuple[str, ...], entry: str) -> bool:
        """Tell whether a line speaks of one entry and its repeats alone."""
        return all(self._root(id_) == entry for id_ in ids)

    def _succeeded(self, part: Part, successor: EntryState) -> None:
        """Show a superseded entry of the same batch beneath its successor; what never was true is not shown."""
        slot = self._lines[successor.entry.id]
        if not part.state.wrong:
            old = line_of(part.state.entry, part.text)
            old.label = PREVIOUSLY
            old.text = with_note(old.text, f"until {part.state.entry.until or dated(successor.entry)}")
            slot.line.label = CURRENTLY
            slot.line.previous.append(old)
            self._lines[part.id] = Slot(slot.place, old, slot.key)
        self._settle(part, "superseded", into=successor.entry.id)

    # Settling

    def _is_trivial(self, part: Part) -> bool:
        """Tell whether nothing is lost with an entry: hardly a word of content, no number, and it may be declined."""
        half = len(self._of.parts) // 2
        bare = len(content(part.text)) < 2 and not numbers(part.text)  # noqa: PLR2004 - one word tells nothing
        return bare and not part.state.entry.about and not may_decline(part) and self._declined < max(half, 1)

    def _decline(self, part: Part, reason: str) -> None:
        self._declined += 1
        self._settle(part, "declined", reason=reason)

    def _settle(
        self, part: Part, outcome: OutcomeKind, *, page: str = "", into: str = "", reason: str = ""
    ) -> None:
        self._settled[part.key] = Settlement(
            entry=part.id, outcome=outcome, part=part.number, page=page, into=into, reason=reason
        )

    def _on_its_page(self, one: Settlement, slots: Mapping[int, str]) -> Settlement:
        """Return a citing settlement with the page its line came to stand on."""
        slot = self._lines.get(one.entry)
        if one.outcome != "cited" or one.page or slot is None:
            return one
        return Settlement(entry=one.entry, outcome="cited", part=one.part, page=slots[slot.key])

    def _relate(self, part: Part) -> None:
        """Link the page of an entry with the pages of what it names."""
        slot = self._lines.get(part.id)
        if slot is not None:
            self._desk.relate(slot, part.state.entry)
