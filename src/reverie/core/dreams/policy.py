"""The judgement of a dream: which of what was proposed may be installed.

Owns the rules between entries, pages and outcomes; promises that what it lets through holds together (each citation
carries its entry, each chain of merges ends at a cited entry, no page stands without what it rests on), that each
refusal has a reason, and that the same proposal is judged the same; never asks a model, a clock or the disk.

A bad page is dropped with its entries and the rest is judged again, until nothing more falls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from reverie.core.dreams import page_rules
from reverie.core.dreams.batch import Part
from reverie.core.dreams.page_rules import Change, Surroundings, Unit, fold_path, units
from reverie.core.dreams.proposal import Judged, Proposal, Refusal, Settlement
from reverie.core.entries import NOTABLE
from reverie.core.fold import EntryState
from reverie.core.pages.front_matter import read
from reverie.core.pages.plain import citing as citing_lines
from reverie.core.pages.source import split
from reverie.core.records import Entry
from reverie.core.text.said import Sources, missing, shares_half, sources

MANY = 10  # from here on at most half of a batch may be declined


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal is judged against.

    `old` are the texts, as they are, of the pages that the proposal names, and of others it may quote; `existing` all
    content pages of the notebook, `folded` all its files as `fold_path` spells them. `find` returns the state of an
    entry that is not forgotten, `page_of` the page that cites one now, or ""; `copies` are pages that only quote;
    `folders` the spellings of the notebook's folders by how `fold_path` spells them.
    """

    parts: Sequence[Part]
    old: Mapping[str, str]
    existing: AbstractSet[str]
    find: Callable[[str], EntryState | None]
    page_of: Callable[[str], str]
    masked: Callable[[str], bool]
    allow: tuple[str, ...] = ()
    folded: AbstractSet[str] = frozenset()
    copies: AbstractSet[str] = frozenset()
    folders: Mapping[str, AbstractSet[str]] = {}


class _Bench(msgspec.Struct):
    """One judgement in progress: what still stands, and what fell."""

    case: Case
    pages: dict[str, str]
    settlements: list[Settlement]
    refusals: list[Refusal] = msgspec.field(default_factory=list)
    sound: set[str] = msgspec.field(
        default_factory=set
    )  # pages whose text was found to state nothing but what it may

    def drop(self, path: str, reason: str) -> None:
        """Drop a page."""
        del self.pages[path]
        self.refusals.append(Refusal(path, reason))


def judge(case: Case, proposal: Proposal) -> Judged:
    """Return what of `proposal` holds."""
    bench = _Bench(case, {}, list(proposal.settlements))
    for path, text in sorted(proposal.pages.items()):
        if text is None:
            bench.refusals.append(Refusal(path, "a page may not be deleted"))
        elif text != case.old.get(path):
            bench.pages[path] = text
    _settle_once(bench)
    allowed = _allowed(case)
    _drop_unsound(bench, allowed)
    while _drop_dependents(bench):
        _drop_unsound(bench, allowed)
    return Judged(
        pages=dict(bench.pages), settlements=tuple(bench.settlements), refusals=tuple(bench.refusals)
    )


def may_decline(part: Part) -> str:
    """Return why an entry may not be declined, empty when it may."""
    state = part.state
    if part.raw:
        return "" if part.raw == "read" else "no extraction could read it: nothing else says what it says"
    if state.pinned:
        return "a pinned entry may not be declined"
    if not state.entry.session:
        return "what was written on purpose may not be declined"
    if state.entry.category == "commitment" or state.due:
        return "a promise may not be declined"
    if state.sig >= NOTABLE:
        return f"an entry of significance {NOTABLE:.2f} or more may not be declined"
    return ""


# Pages by themselves


def _drop_unsound(bench: _Bench, allowed: Sources) -> None:
    """Drop each page that breaks a rule; links to a dropped page break the next."""
    while True:
        near = _near(bench)
        fallen = []
        for path, text in bench.pages.items():
            change = Change(path, bench.case.old.get(path), text)
            reason = page_rules.problem(change, near)
            if not reason and path not in bench.sound:
                reason = _novel(change, allowed, near) or _unfounded(bench.case, change)
                bench.sound.add(path)
            if reason:
                fallen.append((path, reason))
        for path, reason in fallen:
            bench.drop(path, reason)
        if not fallen:
            return


def _near(bench: _Bench) -> Surroundings:
    case = bench.case
    twins: dict[str, int] = {}
    for path in bench.pages:
        twins[fold_path(path)] = twins.get(fold_path(path), 0) + 1
    folders = dict(case.folders)
    for path in sorted(bench.pages):
        for folder in page_rules.folders_of(path):
            folders.setdefault(fold_path(folder), {folder})
    return Surroundings(
        existing=case.existing,
        folders=folders,
        folded=case.folded | {folded for folded, number in twins.items() if number > 1},
        proposed=bench.pages.keys(),
        moved=page_rules.said_lines(bench.pages.values()),
        masked=case.masked,
        allow=case.allow,
        copies=case.copies,
    )


def _allowed(case: Case) -> Sources:
    """Return what may be stated: what stands in the batch or on the old pages, or follows from it."""
    entries = (part.state.entry for part in case.parts if not part.raw)  # no page can cite a raw record
    return sources([*(_every_word(entry) for entry in entries), *case.old.values()])


def _every_word(entry: Entry) -> str:
    times = f"{entry.day} {entry.at:%Y-%m-%d %H:%M} {entry.since} {entry.until} {entry.due}"
    return "\n".join((entry.text, entry.evidence, entry.who, entry.about, " ".join(entry.tags), times))


def _novel(change: Change, allowed: Sources, near: Surroundings) -> str:
    """Return what the page states that stands nowhere, empty when there is nothing."""
    lines = page_rules.added_lines(change.old, change.new or "")
    front = read(split(change.new or "").front)
    stated = [f"{front.description} {' '.join(front.tags)}"] if split(change.old or "").front is None else []
    title = front.title if change.old is None else ""
    for line in lines:
        if line.startswith("#"):
            title = f"{title}\n{line}"  # a heading's capitals are no names
        elif line not in (split(change.new or "").front or "").splitlines():
            stated.append(page_rules.wording(line))
    name = change.path.rpartition("/")[2]
    if change.path not in near.existing and all(path.rpartition("/")[2] != name for path in near.existing):
        title = f"{title}\n{page_rules.titled(change.path, near.existing | near.proposed)}"
    if new := allowed.novel("\n".join(stated)) or allowed.novel(title.lower()):
        return f"it states {new}, which stands in no entry of the batch and on no page"
    return ""


def _unfounded(case: Case, change: Change) -> str:
    """Return how a changed line fails to carry what it cites, empty when none does."""
    added = set(page_rules.added_lines(change.old, change.new or ""))
    pieces: dict[str, list[str]] = {}
    for part in case.parts:
        pieces.setdefault(part.id, []).append(part.text)
    for unit in units(change.new or "", added):
        for entry in unit.ids:
            state = case.find(entry)
            if state is None:
                return f"it cites {entry}, which is no entry"
            if reason := _uncarried(unit, state.entry, pieces.get(entry, [state.entry.text])):
                return reason
    return ""


def _uncarried(unit: Unit, entry: Entry, pieces: Sequence[str]) -> str:
    """Return what the line lacks of an entry (of one of its pieces, when it has several), empty when nothing."""
    lacks = ""
    for piece in pieces:
        lacks = missing(piece, unit.text, context=unit.context)
        if not lacks and len(unit.ids) == 1 and not shares_half(piece, f"{unit.text} {unit.context}"):
            lacks = "half of its content words"
        if not lacks:
            return ""
    return f"a line cites {entry.id} but lacks {lacks}"


# Outcomes


def _settle_once(bench: _Bench) -> None:
    """Keep the first settlement of each part of the batch, where it is allowed in itself."""
    parts = {part.key: part for part in bench.case.parts}
    kept: dict[tuple[str, int], Settlement] = {}
    for one in bench.settlements:
        part = parts.get(one.key)
        reason = (
            "is not in the batch"
            if part is None
            else "is settled twice"
            if one.key in kept
            else _flaw(one, part)
        )
        if reason:
            bench.refusals.append(Refusal(one.entry, reason))
        else:
            kept[one.key] = one
    # Raw records stand aside: entries of their own say what they say.
    own = {key for key, part in parts.items() if not part.raw}
    declined = [one for one in kept.values() if one.outcome == "declined" and one.key in own]
    if len(own) >= MANY and len(declined) * 2 > len(own):
        bench.refusals.append(
            Refusal("", f"{len(declined)} of {len(own)} entries declined is more than half")
        )
        kept = {key: one for key, one in kept.items() if one.outcome != "declined" or key not in own}
    bench.settlements = list(kept.values())


def _flaw(one: Settlement, part: Part) -> str:
    """Return what is wrong with a settlement by itself, empty when nothing is."""
    match one.outcome:
        case "cited":
            return "" if one.page else "no page is named for it"
        case "merged" | "superseded":
            return "" if one.into and one.into != one.entry else "no other entry is named for it"
        case "declined":
            return may_decline(part) or ("" if one.reason.strip() else "no reason is given")
        case _:
            return "only the runner finds an entry unprocessable"


def _cited(page: str) -> frozenset[str]:
    return frozenset(id_ for _, _, ids in citing_lines(page) for id_ in ids)


def _drop_dependents(bench: _Bench) -> bool:
    """Drop settlements that rest on what fell, then pages that rest on those; tell whether anything fell."""
    citing = {path: _cited(text) for path, text in bench.pages.items()}
    cited = frozenset().union(*citing.values())
    links = {one.entry: one.into for one in bench.settlements if one.outcome in {"merged", "superseded"}}
    stands: list[Settlement] = []
    fallen = 0
    for one in bench.settlements:
        if reason := _unsupported(bench, one, citing, links=links, cited=cited):
            bench.refusals.append(Refusal(one.entry, reason))
            fallen += 1
        else:
            stands.append(one)
    bench.settlements = stands
    settled = {one.entry for one in stands}
    batch = {part.id for part in bench.case.parts}
    for path, ids in citing.items():
        unsettled = (ids & batch) - settled
        if bare := sorted(id_ for id_ in unsettled if f"#^{id_}]]" not in bench.case.old.get(path, "")):
            bench.drop(path, f"it cites {bare[0]}, which was not settled")
            fallen += 1
    return fallen > 0


def _unsupported(
    bench: _Bench,
    one: Settlement,
    citing: Mapping[str, AbstractSet[str]],
    *,
    links: Mapping[str, str],
    cited: AbstractSet[str],
) -> str:
    """Return what a settlement lacks, empty when it holds."""
    if one.outcome == "cited":
        if one.page in citing:
            return "" if one.entry in citing[one.page] else f"{one.page} does not cite it"
        if one.entry in _cited(bench.case.old.get(one.page, "")):
            return ""
        fell = next((refusal.reason for refusal in bench.refusals if refusal.place == one.page), "")
        return f"{one.page} was refused: {fell}" if fell else f"{one.page} does not cite it"
    if one.outcome == "declined":
        return ""
    passed, last = {one.entry}, one.into
    while last in links:
        if last in passed:
            return "its chain of merges runs in a circle"
        passed.add(last)
        last = links[last]
    if bench.case.find(last) is None:
        return f"{last} is no entry"
    page = bench.case.page_of(last)
    is_cited = last in cited or (page != "" and page not in citing)
    return "" if is_cited else f"{last}, into which it went, is cited nowhere"
