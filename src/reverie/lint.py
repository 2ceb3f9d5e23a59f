"""Is the notebook in good order: broken, stale, orphaned, contradicted or uncited; and what of it mends itself.

In: the pages as they are, and what the state knows of entries and citations. Out: complaints, each with its place,
reason and remedy; one line in the notebook's log, without a watermark; and with `fix` the pages that could be mended.

Owns the checks on what pages say; promises that looking writes nothing but that line, that mended pages pass the very
judgement a dream's pages pass, and that either is one run of kind `lint`, which `undo` takes back; never touches a page
outside the notebook's zones, nor words that no check complains of.

What survives a crash: the old pages or the new ones, never some of each (`store.dreams.installing`). `check` asks
whether the files are whole; `lint` asks whether what they say is well kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import msgspec

from reverie.core.dreams.batch import Shut, gate, just_was
from reverie.core.dreams.editing import Edited
from reverie.core.dreams.policy import Case, judge
from reverie.core.dreams.proposal import Proposal
from reverie.core.dreams.sight import waiting_parts
from reverie.core.formats.utf8 import to_bytes
from reverie.core.pages.active import active_content
from reverie.core.pages.citations import links
from reverie.core.pages.claims import uncited
from reverie.core.pages.front_matter import read as read_front
from reverie.core.pages.mending import Complaint, mended
from reverie.core.pages.moves import moves
from reverie.core.pages.orphans import name_of, orphans, shorts
from reverie.core.pages.outlived import outlived
from reverie.core.pages.overdue import overdue
from reverie.core.pages.source import split
from reverie.core.text.plural import many
from reverie.errors import UnsafePath
from reverie.index.state import State
from reverie.store import counters, pages
from reverie.store.counters import DreamCounters
from reverie.store.dreams import changing, installing, lease, runs
from reverie.store.dreams.changing import Change, Files
from reverie.store.dreams.staging import Staging
from reverie.store.versions.pruning import prune
from reverie.store.workspace import Workspace

LINTER = "rules-1"  # what a run's record calls it
_NAMED = 3  # orphans of people's that are named

Masked = Callable[[str], bool]


class Linted(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages were looked at, what is wrong with them, and what was mended in which run.

    `refused` says of pages that could be mended why they were not; `waits` why none was looked at. `edited` is what a
    model did that looked the pages over after that; None where none was to.
    """

    pages: int = 0
    findings: tuple[Complaint, ...] = ()
    mended: tuple[Complaint, ...] = ()
    refused: tuple[str, ...] = ()
    run: str = ""
    waits: str = ""
    edited: Edited | None = None


class _Page(msgspec.Struct, frozen=True):
    path: str
    text: str


def lint(
    ws: Workspace, look: Callable[[], State], *, masked: Masked, fix: bool = False, due: bool = False
) -> Linted:
    """Look the notebook over, and with `fix` mend what is safe; with `due` only when it is time. Raises Busy.

    `look` returns the state caught up with the files; `masked` says which text is forgotten.
    """
    if due and (reason := _early(ws, look)):
        return Linted(waits=reason)
    with lease.driving(ws, "lint"):
        installing.finish(ws)
        state = look()
        found = complaints(ws, state, masked=masked)
        done = Linted(pages=len(_content(ws)), findings=found)
        files: Files = {}
        if fix:
            done, files = _mend(ws, state, found, masked=masked)
        line = f"## [{ws.today}] lint | pages={done.pages} findings={len(done.findings)}"
        wanted = Change(
            kind="lint",
            by=LINTER,
            title=f"Lint: {many(len(done.findings), 'finding')}, {len(done.mended)} mended",
            files=files,
            result="productive" if files else "nothing",
            counts={"findings": len(done.findings), "mended": len(done.mended)},
            line=line + (f" mended={len(done.mended)}" if done.mended else ""),
        )
        run = changing.change(ws, wanted)
        prune(ws)
        before = counters.read(ws, DreamCounters)
        counters.write(ws, msgspec.structs.replace(before, lint=ws.clock()))
    return msgspec.structs.replace(done, run=run.run)


def unsay(ws: Workspace, look: Callable[[], State], *, masked: Masked) -> Linted:
    """Take off the pages what was found never to be true; where nothing can be, nothing is logged. Raises Busy."""
    with lease.driving(ws, "lint"):
        installing.finish(ws)
        state = look()
        found = tuple(one for one in complaints(ws, state, masked=masked) if one.kind == "wrong")
        done, files = _mend(ws, state, found, masked=masked)
        if not files:
            return done
        title = f"Lint: {many(len(done.mended), 'line')} that never held"
        counts = {"findings": len(found), "mended": len(done.mended)}
        wanted = Change(kind="lint", by=LINTER, title=title, files=files, result="productive", counts=counts)
        return msgspec.structs.replace(done, run=changing.change(ws, wanted).run)


def complaints(ws: Workspace, state: State, *, masked: Masked) -> tuple[Complaint, ...]:
    """Return what is wrong with the notebook's pages, by page and line."""
    found = [_Page(path, _read(ws, path)) for path in _content(ws)]
    targets = {short for path in ws.disk.walk(ws.notebook) for short in shorts(_name(ws, path))}
    every = [
        *(one for page in found for one in _of_page(ws, page, targets, masked=masked)),
        *outlived(((page.path, page.text) for page in found), state.find),
        *_citations(state),
        *_vanished(ws, state, masked=masked),
        *_orphans(ws, found),
        *_contradictions(ws, state),
    ]
    return tuple(sorted(every, key=lambda one: (one.page, one.line, one.kind)))


def _early(ws: Workspace, look: Callable[[], State]) -> str:
    """Return why the notebook is not looked over by itself now, empty when it is time."""
    settings = ws.settings.lint
    if not settings.enabled:
        return "lint is switched off ([lint] enabled = false)"
    last = counters.read(ws, DreamCounters).lint or ws.identity().created
    if just_was(last, ws.clock(), within=timedelta(days=settings.min_days)):
        return f"the last look was on {last:%Y-%m-%d}, less than {many(settings.min_days, 'day')} ago"
    state = look()
    waiting = waiting_parts(state.pending(before=ws.today), state.outcomes)
    dreamt = counters.read(ws, DreamCounters).last
    if not isinstance(gate(ws.settings.dream, waiting, last=dreamt, now=ws.clock(), today=ws.today), Shut):
        return f"{many(len(waiting), 'entry')} waiting for a dream"
    return ""


# Mending


def _mend(
    ws: Workspace, state: State, found: tuple[Complaint, ...], *, masked: Masked
) -> tuple[Linted, Files]:
    """Return what was mended, what is left, and the files with their bytes before and after."""
    staging = Staging(ws)
    prefix = f"{ws.notebook}/"
    by_page: dict[str, list[Complaint]] = {}
    for one in found:
        by_page.setdefault(one.page.removeprefix(prefix), []).append(one)
    moved = moves(staging.paths, runs.standing(ws), cited_on=state.cited_on, notebook=ws.notebook)
    wanted: dict[str, str | None] = {}
    remedied: dict[str, tuple[Complaint, ...]] = {}
    for path, those in by_page.items():
        text = staging.text(path) if path in staging.paths else None
        if text is not None:
            new, set_right = mended(text, those, moved=moved)
            if new != text:
                wanted[path], remedied[path] = new, set_right
    case = Case(
        parts=(),
        old={path: staging.text(path) or "" for path in wanted},
        existing=staging.paths,
        folded=staging.folded,
        find=lambda entry: state.find([entry]).get(entry),
        page_of=lambda _: "",
        masked=masked,
        allow=ws.settings.redaction_allow,
    )
    judged = judge(case, Proposal(pages=wanted, settlements=()))
    files: Files = {
        f"{prefix}{path}": (staging.data(path), to_bytes(text)) for path, text in judged.pages.items()
    }
    kept = {id(one) for path in judged.pages for one in remedied[path]}
    done = Linted(
        pages=len(staging.paths),
        findings=tuple(one for one in found if id(one) not in kept),
        mended=tuple(one for one in found if id(one) in kept),
        refused=tuple(f"{one.place}: {one.reason}" for one in judged.refusals),
    )
    return done, files


# The checks


def _content(ws: Workspace) -> list[str]:
    return [path for path in ws.disk.walk(ws.notebook) if pages.is_page(ws, path)]


def _read(ws: Workspace, path: str) -> str:
    return (ws.disk.read(path) or b"").decode("utf-8", "replace")


def _name(ws: Workspace, path: str) -> str:
    return name_of(path, ws.notebook)


def _of_page(ws: Workspace, page: _Page, targets: set[str], *, masked: Masked) -> Iterator[Complaint]:
    """Yield what one page shows by itself."""
    front = read_front(split(page.text).front)
    for problem in front.problems:
        yield _complaint(page, 1, "front matter", problem, "mend the block between the two lines of `---`")
    if reason := overdue(front, ws.calendar, now=ws.clock()):
        yield _complaint(page, 1, "stale", reason, "bring it up to date")
    for finding in active_content(page.text):
        if finding.kind != "comment":
            remedy = "take it out: pages are Markdown alone"
            yield _complaint(
                page, finding.line, "active content", f"{finding.kind}: {finding.excerpt}", remedy
            )
    for one in links(page.text):
        target = _name(ws, one.target)
        if target and target not in targets and not _exists(ws, one.target):
            yield _complaint(
                page,
                one.line,
                "broken link",
                f"[[{one.target}]] leads nowhere",
                "make the page, or mend the link",
            )
    for source in front.sources:
        if _is_lost(ws, source.resource, targets):
            reason = f"the source {source.resource} is gone"
            yield _complaint(page, 1, "lost source", reason, "bring the file back, or take the source out")
    for number in uncited(page.text):
        yield _complaint(
            page,
            number,
            "uncited",
            "it stands among cited lines and says not where it comes from",
            "cite its entry, or move it to a section of your own",
        )
    for number, line in enumerate(page.text.splitlines(), 1):
        if line.strip() and masked(line):
            yield _complaint(
                page, number, "forgotten", "it says what was to be forgotten", "take the line out"
            )


def _exists(ws: Workspace, target: str) -> bool:
    """Whether a link leads to a file elsewhere in the workspace; one that leads out of it leads nowhere."""
    try:
        return any(ws.disk.size(path) is not None for path in (target, f"{target}.md"))
    except UnsafePath:
        return False


def _is_lost(ws: Workspace, resource: str, targets: set[str]) -> bool:
    """Whether a source names a file that is not there; an address elsewhere is not looked at."""
    target = resource.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0]
    if not target or "://" in target or " " in target.partition("/")[0]:
        return False
    known = _name(ws, target) in targets
    return not known and not _exists(ws, target) and not _exists(ws, f"{ws.notebook}/{target}")


def _citations(state: State) -> Iterator[Complaint]:
    """Yield citations that lead to no entry, by page."""
    for page, line, entry in state.dangling_citations():
        yield Complaint(
            page=page,
            line=line,
            kind="lost source",
            reason=f"the entry {entry} it cites stands in no log",
            remedy="restore the log, or take the claim out",
        )


def _vanished(ws: Workspace, state: State, *, masked: Masked) -> Iterator[Complaint]:
    """Yield the entries that a run's page cited and no page cites now: they are found on their own again."""
    cited = state.cited()
    gone = [one for one in runs.standing(ws) if one.outcome == "cited" and one.entry not in cited]
    known = state.find({one.entry for one in gone})
    for one in gone:
        entry = known.get(one.entry)
        if entry is not None and not (entry.hidden or entry.wrong or masked(entry.entry.text)):
            yield Complaint(
                page=f"{ws.notebook}/{one.page}",
                line=1,
                kind="lost citation",
                reason=f"the entry {one.entry} was cited here, and no page cites it now: recall finds it on its own",
                remedy=f"cite it again, or let it stand; `reverie restore {one.run}` brings the page back",
            )


def _orphans(ws: Workspace, found: list[_Page]) -> Iterator[Complaint]:
    """Yield pages that neither cite an entry nor are linked from another page.

    Of those that people wrote there may be a whole vault, which is in order as they want it: they are one complaint.
    """
    alone = orphans({page.path: page.text for page in found}, ws.notebook)
    ours = {f"{ws.notebook}/{path}" for run in runs.read(ws) for path in run.pages}
    theirs = [path for path in alone if path not in ours]
    for page in found:
        if page.path in alone and (page.path in ours or len(theirs) == 1):
            yield _complaint(
                page, 1, "orphan", "nothing links to it and it cites nothing", "link it, or archive it"
            )
    if len(theirs) > 1:
        index = _Page(f"{ws.notebook}/index.md", "")
        named = ", ".join(theirs[:_NAMED]) + (", …" if len(theirs) > _NAMED else "")
        reason = f"nothing links to {len(theirs)} pages that people wrote: {named}"
        yield _complaint(index, 1, "orphan", reason, "link them, or leave them as they are")


def _contradictions(ws: Workspace, state: State) -> Iterator[Complaint]:
    """Yield pairs of entries that cannot both hold, at the page that cites one."""
    for event in state.conflicts():
        cited = [*state.cited_on(event.entry), *state.cited_on(event.other)]
        page, line = cited[0] if cited else (f"{ws.notebook}/index.md", 1)
        yield Complaint(
            page=page,
            line=line,
            kind="contradiction",
            reason=f"{event.entry} and {event.other} cannot both hold: {event.why}",
            remedy="`reverie review` asks which one does",
        )


def _complaint(page: _Page, line: int, kind: str, reason: str, remedy: str) -> Complaint:
    return Complaint(page=page.path, line=line, kind=kind, reason=reason, remedy=remedy)
