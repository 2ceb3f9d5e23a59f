"""Is the notebook in good order: broken, stale, orphaned, contradicted or uncited.

Owns the editorial checks on pages; promises that each finding has its place, its reason and a remedy, and that looking
changes nothing but one line in the notebook's log; never edits a page.

`check` asks whether the files are whole; `lint` asks whether what they say is well kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from reverie.core.active import active_content
from reverie.core.citations import citing_lines, links
from reverie.core.days import when_bounds
from reverie.core.front_matter import read as read_front
from reverie.core.source import split
from reverie.errors import UnsafePath
from reverie.index.state import State
from reverie.store import pages
from reverie.store.workspace import Workspace


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a page: where (page and line), what kind, why it matters, and what to do."""

    page: str
    line: int
    kind: str
    reason: str
    remedy: str


class Linted(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages were looked at, and what was found."""

    pages: int
    findings: tuple[Complaint, ...] = ()


class _Page(msgspec.Struct, frozen=True):
    path: str
    text: str


def lint(ws: Workspace, state: State, *, masked: Callable[[str], bool]) -> Linted:
    """Return what is wrong with the notebook's pages; `masked` says which text is forgotten."""
    found = [_Page(path, (ws.disk.read(path) or b"").decode("utf-8", "replace")) for path in _content(ws)]
    targets = {short for path in ws.disk.walk(ws.notebook) for short in _shorts(_name(ws, path))}
    complaints = [
        *(one for page in found for one in _of_page(ws, page, targets, masked)),
        *_citations(state),
        *_orphans(ws, found),
        *_contradictions(ws, state),
    ]
    return Linted(
        pages=len(found), findings=tuple(sorted(complaints, key=lambda one: (one.page, one.line, one.kind)))
    )


def log_line(ws: Workspace, done: Linted) -> None:
    """Note in the notebook's log that it was looked over; such a line carries no watermark."""
    line = f"## [{ws.today}] lint | pages={done.pages} findings={len(done.findings)}\n"
    ws.disk.append(f"{ws.notebook}/log.md", line.encode())


def _content(ws: Workspace) -> list[str]:
    return [path for path in ws.disk.walk(ws.notebook) if pages.is_page(ws, path)]


def _name(ws: Workspace, path: str) -> str:
    """Return how links name a page: its path in the notebook without the ending, or its own name."""
    return path.removeprefix(f"{ws.notebook}/").removesuffix(".md").casefold()


def _shorts(name: str) -> set[str]:
    """Return what a link to a file of the notebook may say: its name in the notebook, or its last part alone."""
    return {name, name.rsplit("/", 1)[-1]}


def _of_page(
    ws: Workspace, page: _Page, targets: set[str], masked: Callable[[str], bool]
) -> Iterator[Complaint]:
    """Yield what one page shows by itself."""
    front = read_front(split(page.text).front)
    for problem in front.problems:
        yield _complaint(page, 1, "front matter", problem, "mend the block between the two lines of `---`")
    if front.stale_after and when_bounds(front.stale_after, ws.calendar)[1] <= ws.clock():
        yield _complaint(
            page, 1, "stale", f"it was to be looked at again after {front.stale_after}", "bring it up to date"
        )
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


def _orphans(ws: Workspace, found: list[_Page]) -> Iterator[Complaint]:
    """Yield pages that neither cite an entry nor are linked from another page."""
    linked = set()
    for page in found:
        for one in links(page.text):
            target = _name(ws, one.target)
            if target not in _shorts(_name(ws, page.path)):
                linked |= _shorts(target)
    for page in found:
        name = _name(ws, page.path)
        if not citing_lines(page.text) and not linked & _shorts(name):
            yield _complaint(
                page, 1, "orphan", "nothing links to it and it cites nothing", "link it, or archive it"
            )


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
