"""From a judged proposal to the files that an install writes.

Owns which files go with the changed pages (`log.md`, `index.md`, MEMORY.md as it stands) and what is left out because a
person changed it under the dreamer's hands; promises that a page is written only over the bytes it was judged with;
never judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from reverie import layout
from reverie.core.dreams.batch import Part
from reverie.core.dreams.proposal import Judged, counts_of, without_pages
from reverie.core.dreams.run_words import commit_message, page_change
from reverie.core.dreams.watermark import log_line, with_line
from reverie.core.formats.utf8 import to_bytes, to_text
from reverie.core.pages.blocks import Broken
from reverie.core.pages.index_page import compile_index
from reverie.core.records import Outcome, Run
from reverie.errors import UnsafePath
from reverie.store import pages
from reverie.store.dreams import installing
from reverie.store.dreams.installing import LOG, Wanted
from reverie.store.dreams.staging import Staging
from reverie.store.versions.git import History
from reverie.store.workspace import Workspace

INDEX = "index.md"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a batch came to: pages by path in the notebook, outcomes, the run so far, and its days."""

    pages: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    run: Run
    days: tuple[str, ...]


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """What was installed: the run's record, its outcomes, the pages written, and those left to a person."""

    run: Run
    outcomes: tuple[Outcome, ...]
    pages: Mapping[str, str]
    left: frozenset[str]


def land(ws: Workspace, staging: Staging, verdict: Verdict, *, watermark: str, fallback: str) -> Landed:
    """Install a verdict; `watermark` is reached when nothing is left to a person, `fallback` when something is.

    Waits for the write lock as long as any write does; raises Busy.
    """
    history = History(ws)
    writes = {f"{ws.notebook}/{path}" for path in (*verdict.pages, LOG, INDEX)}
    theirs = pages.people_changes(ws, history, writes=writes)
    with ws.writing("dream"):
        also = installing.commit_people(history, theirs, at=ws.clock())
        asked = len(verdict.outcomes)
        verdict, left = _without_conflicts(ws, staging, verdict)
        if not verdict.outcomes:
            return Landed(run=verdict.run, outcomes=(), pages={}, left=left)
        reached = watermark if len(verdict.outcomes) == asked else fallback
        run = msgspec.structs.replace(
            verdict.run, watermark=reached, ended=ws.clock(), pages=tuple(sorted(verdict.pages))
        )
        line = log_line(run, ws.today) if reached else ""
        run, files = _files(ws, staging, verdict, run=run, line=line)
        changes = [
            page_change(path, old=staging.stored(path), new=text) for path, text in verdict.pages.items()
        ]
        wanted = Wanted(
            run=run,
            files=files,
            also=also,
            outcomes=verdict.outcomes,
            log_line=line,
            message=commit_message(run.run, run.counts, days=verdict.days, changes=changes),
        )
        recorded, outcomes = installing.install(ws, history, wanted)
    written = {path: text for path, text in verdict.pages.items() if path in recorded.pages}
    return Landed(
        run=recorded, outcomes=outcomes, pages=written, left=left | (verdict.pages.keys() - written.keys())
    )


def transcript(batch: Sequence[Part], judged: Judged, *, landed: Landed) -> list[dict[str, object]]:
    """Return what a run did as lines: what it was given, what was refused and why, what was installed."""
    lines: list[dict[str, object]] = [
        {"type": "batch", "run": landed.run.run, "entries": [f"{part.id}:{part.number}" for part in batch]}
    ]
    lines += [{"type": "refusal", "place": one.place, "reason": one.reason} for one in judged.refusals]
    lines += [{"type": "page", "page": page} for page in landed.pages]
    lines += [{"type": "left", "page": page} for page in sorted(landed.left)]
    lines += [
        {"type": "outcome", "entry": one.entry, "part": one.part, "outcome": one.outcome}
        for one in landed.outcomes
    ]
    return lines


def _without_conflicts(ws: Workspace, staging: Staging, verdict: Verdict) -> tuple[Verdict, frozenset[str]]:
    """Leave out what a person changed since it was read, and the outcomes that rest on it."""
    prefix = f"{ws.notebook}/"
    read = {f"{prefix}{path}": staging.data(path) for path in verdict.pages}
    left = frozenset(path.removeprefix(prefix) for path in installing.conflicts(ws, read))
    outcomes = without_pages(verdict.outcomes, left)
    said = tuple(f"{path} was changed by a person meanwhile and is left to them" for path in sorted(left))
    run = msgspec.structs.replace(
        verdict.run, counts=counts_of(outcomes), problems=(*verdict.run.problems, *said)
    )
    # The overview was chosen from pages that are not installed now; the next dream chooses again.
    gone = left | {layout.OVERVIEW} if left else left
    kept = {path: text for path, text in verdict.pages.items() if path not in gone}
    return Verdict(pages=kept, outcomes=outcomes, run=run, days=verdict.days), left


def _files(
    ws: Workspace, staging: Staging, verdict: Verdict, *, run: Run, line: str
) -> tuple[Run, dict[str, tuple[bytes | None, bytes]]]:
    """Return the files to write with the bytes each must hold before, and the run with what was wrong with any."""
    texts = dict(verdict.pages)
    before = {path: staging.data(path) for path in texts}
    for path in (LOG, INDEX):
        try:
            before[path] = ws.disk.read(f"{ws.notebook}/{path}")
        except UnsafePath as error:
            run = _with_problem(run, f"{path} was left as it is: {error}")
    if LOG in before and line:
        texts[LOG] = with_line(to_text(before[LOG]), line)
    if INDEX in before:
        listed = compile_index(
            to_text(before[INDEX]),
            staging.paths | verdict.pages.keys(),
            changed=verdict.pages,
            read_page=lambda path: verdict.pages.get(path) or staging.text(path) or "",
        )
        if isinstance(listed, Broken):
            run = _with_problem(run, f"{INDEX} was left as it is: {listed.reason}")
        else:
            texts[INDEX] = listed
    encoded = {path: to_bytes(text) for path, text in texts.items()}
    files = {
        f"{ws.notebook}/{path}": (before[path], data)
        for path, data in encoded.items()
        if data != before[path]
    }
    return run, files


def _with_problem(run: Run, problem: str) -> Run:
    return msgspec.structs.replace(run, problems=(*run.problems, problem))
