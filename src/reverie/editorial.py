"""The notebook looked over by a model, as its editor: the part of lint that takes reading.

In: the pages, and what the rules of lint found. Out: changed pages in one commit, judged like a dream's, as a run of
kind `lint` that can be looked at and taken back, with a transcript; or no change.

Owns what becomes of what an editor did; promises that it has the tools and the confinement of a dream but for
settling, that no page loses a citation or a line of somebody's own words, that what a person changed meanwhile is left
to them, and that without a model it says so; never asks whether it is time. What survives a crash: the old pages or
the new ones, never some of each (`store.dreams.installing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reverie import layout
from reverie.core.dreams.editing import Edited, losses
from reverie.core.dreams.policy import Case, judge
from reverie.core.dreams.proposal import Proposal, Refusal
from reverie.core.formats.utf8 import to_bytes
from reverie.core.pages.mending import Complaint
from reverie.core.text.plural import many
from reverie.index.state import State
from reverie.model.dream_agent import Given, dream_with
from reverie.model.editorial import Editing, editor
from reverie.store.dreams import changing, installing, lease, runs
from reverie.store.dreams.changing import Change, Files
from reverie.store.dreams.dream_tools import Seek, Tools
from reverie.store.dreams.dream_views import Veil, guidance
from reverie.store.dreams.staging import Staging
from reverie.store.workspace import Workspace

NO_MODEL = "no model looks the pages over: set `dream.model` (or `model`)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What an editor asks of what lies around it; its fields are those of a dream's reach."""

    look: Callable[[], State]
    veil: Veil
    seek: Seek
    agent: Callable[[str], Given | None]
    model: str


def edit(ws: Workspace, around: Around, findings: Sequence[Complaint]) -> Edited:
    """Let a model look the notebook over, and install what holds of what it did; raises Busy."""
    name = changing.name_of(ws, "lint", ws.clock())
    given = around.agent(name)
    if given is None:
        return Edited(problem=NO_MODEL)
    with lease.driving(ws, "lint"):
        installing.finish(ws)
        state, staging = around.look(), Staging(ws)
        tools = Tools(ws, staging, (), veil=around.veil, known=lambda _: False, seek=around.seek)
        task = _task(ws, around, staging, findings)
        ended = dream_with(given, task, desk=tools, seconds=ws.settings.dream.timeout_seconds)
        if not ended.clean:
            runs.keep_transcript(ws, name, ended.said)
            return Edited(problem=ended.problem)
        pages, refusals = _judged(ws, around, state, staging=staging, proposed=tools.proposal().pages)
        run = _install(ws, around, name, staging=staging, pages=pages) if pages else ""
        refused = [{"type": "refusal", "place": one.place, "reason": one.reason} for one in refusals]
        runs.keep_transcript(ws, name, [*refused, *ended.said])
    done = () if not run else runs.read(ws)[-1].pages
    return Edited(
        pages=tuple(path for path in done if path in pages),
        run=run,
        refused=tuple(f"{one.place}: {one.reason}" for one in refusals),
    )


def _task(ws: Workspace, around: Around, staging: Staging, findings: Sequence[Complaint]) -> Editing:
    said = (f"{one.page}:{one.line} {one.kind}: {one.reason}" for one in findings if one.kind != "forgotten")
    return Editing(
        today=ws.today,
        notebook=ws.notebook,
        nonce=ws.new_id(),
        pages=tuple(path for path in sorted(staging.paths) if not around.veil.text(path)),
        findings=tuple(line for line in said if not around.veil.text(line)),
        guidance=guidance(ws, around.veil),
    )


def _judged(
    ws: Workspace,
    around: Around,
    state: State,
    *,
    staging: Staging,
    proposed: Mapping[str, str | None],
) -> tuple[dict[str, str], list[Refusal]]:
    """Return the pages that hold, and why others do not; what falls may let others fall."""
    wanted, refusals = dict(proposed), list[Refusal]()
    old = {path: text for path in wanted if (text := staging.text(path)) is not None}
    case = Case(
        parts=(),
        old=old,
        existing=staging.paths,
        folded=staging.folded,
        folders=staging.folders,
        find=lambda entry: state.find([entry]).get(entry),
        page_of=lambda _: "",
        masked=around.veil.text,
        allow=ws.settings.redaction_allow,
    )
    prefix = f"{ws.notebook}/"

    def cited_on(entry: str) -> set[str]:
        # The overview only quotes: it would lose the line with the page it quotes it from.
        return {page.removeprefix(prefix) for page, _ in state.cited_on(entry)} - {layout.OVERVIEW}

    while True:
        judged = judge(case, Proposal(pages=wanted, settlements=()))
        lost = losses(old, judged.pages, cited_on=cited_on)
        refusals += [*judged.refusals, *lost]
        if not lost:
            return dict(judged.pages), refusals
        fallen = {one.place for one in lost}
        wanted = {path: text for path, text in judged.pages.items() if path not in fallen}


def _install(ws: Workspace, around: Around, name: str, *, staging: Staging, pages: Mapping[str, str]) -> str:
    """Install the pages in one commit and return the name of the run."""
    files: Files = {
        f"{ws.notebook}/{path}": (staging.data(path), to_bytes(text)) for path, text in pages.items()
    }
    wanted = Change(
        kind="lint",
        by=editor(around.model),
        title=f"Edit {many(len(pages), 'page')}",
        files=files,
        result="productive",
        counts={"edited": len(pages)},
    )
    return changing.change(ws, wanted, name=name).run
