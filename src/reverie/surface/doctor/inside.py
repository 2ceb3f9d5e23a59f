"""What of the memory itself can be wrong: what its status tells, clocks, what a crash left, the index and the models.

Owns these looks; promises to change nothing but the derived state, as `reverie status` does; asks nothing over a
network unless the patient says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from reverie import layout
from reverie.config import variable
from reverie.core.records import Run
from reverie.errors import EmbedderFailed, ModelFailed, ReverieError
from reverie.index.embed.choosing import key_variable, open_embedder
from reverie.index.look import look
from reverie.memory import Memory
from reverie.model.asking import Request
from reverie.models import name_for
from reverie.opening import open_workspace
from reverie.store import counters, daylog, stream
from reverie.store.counters import ConsolidateCounters, DreamCounters, PublishCounters, SlotCounters
from reverie.store.dreams import lease
from reverie.store.workspace import Workspace
from reverie.surface.doctor.symptoms import Patient, Symptom

_AHEAD = timedelta(minutes=5)  # by which clocks of different machines may differ
_LOCKS = (layout.DREAM_LOCK, layout.INDEX_LOCK, layout.WRITE_LOCK)


def memory(patient: Patient) -> Iterator[Symptom]:
    """Tell what `reverie status` would."""
    with Memory(open_workspace(patient.opening)) as opened:
        seen = opened.status()
    for problem in seen.problems:
        yield Symptom(part="memory", place=seen.workspace, what=problem.what, remedy=problem.remedy)


def clock(patient: Patient) -> Iterator[Symptom]:
    """Look whether anything was written at a time that has not come yet."""
    ws = _workspace(patient)
    now = ws.clock()
    newest = max(_instants(ws), default=None)
    days = daylog.days(ws)
    ahead = newest is not None and newest > now + _AHEAD
    if newest is not None and ahead:
        what = f"the clock says {now:%Y-%m-%d %H:%M} UTC, and something was written at {newest:%Y-%m-%d %H:%M} UTC"
    elif days and days[-1] > ws.today:
        what = f"today is {ws.today}, and there is a daily log of {days[-1]}"
    else:
        return
    remedy = "set the clock or the setting `zone`; until that time comes the day stays open, and nothing of it is lost"
    yield Symptom(part="clock", place=str(ws.root), what=what, remedy=remedy)


def leftovers(patient: Patient) -> Iterator[Symptom]:
    """Look for locks that are held, and for a run that a host began and did not end."""
    ws = _workspace(patient)
    held = lease.current(ws)
    if held is not None:
        yield Symptom(
            part="leftovers",
            place=str(ws.root / layout.LEASE),
            what=f"{held.run} is driven by {held.holder} until {held.until:%Y-%m-%d %H:%M} UTC",
            remedy="wait for its end: an abandoned one ends by itself and leaves nothing",
            severity="note",
        )
    for name in _LOCKS:
        if holder := ws.locks.held_by(name):
            yield Symptom(
                part="leftovers",
                place=str(ws.root / name),
                what=f"the lock is held by {holder}",
                remedy="it is free when that ends; when it hangs, end that process: nothing is lost",
                severity="note",
            )


def index(patient: Patient) -> Iterator[Symptom]:
    """Look whether the search index can be read and keeps up."""
    ws = _workspace(patient)
    try:
        seen = look(ws.root, ws.settings)
    except ReverieError as error:
        yield Symptom(
            part="index", place=str(ws.root / layout.INDEX), what=str(error), remedy="run `reverie reindex`"
        )
        return
    if seen.vectorless and not seen.trouble:
        yield Symptom(
            part="index",
            place=str(ws.root / layout.INDEX),
            what=f"{seen.vectorless:,} of {seen.rows:,} rows have no vector yet",
            remedy="run `reverie consolidate`, which gives them theirs",
            severity="note",
        )


def embedder(patient: Patient) -> Iterator[Symptom]:
    """Load the embedder that the settings choose, if that needs no network or one may be used."""
    settings, opening = _workspace(patient).settings, patient.opening
    key = variable(key_variable(settings), opening.environment)
    chosen = opening.embedder or open_embedder(settings, key=key)
    # One of a library's downloads its model at first use, so it needs a network as a served one does.
    if chosen is None or (":" in settings.embedder and not patient.online):
        return
    try:
        chosen.embed(["tea"])
    except EmbedderFailed as error:
        yield Symptom(
            part="embedder",
            place=f"embedder = {settings.embedder}",
            what=str(error),
            remedy="words go on finding everything; mend that, then run `reverie consolidate`",
        )


def model(patient: Patient) -> Iterator[Symptom]:
    """Ask each model that the settings name for a word, when a network may be used."""
    opened = open_workspace(patient.opening)
    try:
        asked: set[str] = set()
        for purpose in ("extraction", "summary", "dream"):
            name = name_for(purpose, opened.ws.settings)
            chosen = opened.model(purpose) if patient.online and opened.trusted else None
            if chosen is None or name in asked:
                continue
            asked.add(name)
            try:
                chosen.complete(
                    Request(
                        purpose=purpose, instructions="Answer with one word.", text="Ready?", max_tokens=50
                    )
                )
            except ModelFailed as error:
                yield Symptom(
                    part="model",
                    place=f"{purpose}: {name}",
                    what=str(error),
                    remedy="until then everything goes by rules, and nothing is lost",
                    severity="error",
                )
    finally:
        opened.close()


def _workspace(patient: Patient) -> Workspace:
    opened = open_workspace(patient.opening)
    opened.close()
    return opened.ws


def _instants(ws: Workspace) -> Iterator[datetime]:
    """Yield when the latest of several things was written."""
    read: stream.Read[Run] = stream.read(ws, layout.RUNS, Run)
    publish, slot = counters.read(ws, PublishCounters), counters.read(ws, SlotCounters)
    told = (
        ws.identity().created,
        publish.last,
        publish.waiting,
        slot.began,
        counters.read(ws, DreamCounters).last,
        counters.read(ws, ConsolidateCounters).last,
        *(run.ended for run in read.records[-1:]),
    )
    yield from (one for one in told if one is not None)
