"""A month dreamt by rule night by night: nothing is left over, and pages change where something was said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benchmarks.invented import FIRST
from benchmarks.year import Year

import reverie
from reverie import layout
from reverie.core.pages.citations import citations
from reverie.core.records import Outcome, Run
from reverie.core.settings.value import DreamSettings, Settings
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.store import pages, stream
from reverie.store.versions.git import History
from reverie.testing import FixedClock, counter_ids

DAYS, PER_DAY = 30, 20
ADDED = 4.0  # lines that a month's nights add, an entry: its own, what its page and the overview say anew
REMOVED = (
    2.5  # and remove: a line that gains a citation, the day a page was written, what the overview lets go
)


def lived(memory: Memory, clock: FixedClock) -> list[str]:
    """Live a month of statements, each night with its dream, and return their ids."""
    year, said = Year(PER_DAY), []
    for _ in range(DAYS):
        for text, draft in year.day():
            said.append(memory.remember(text, draft).id)
            clock.advance(minutes=30)
        clock.advance(hours=14)
        memory.drain()
        memory.dream(now=True)
    return said


def changed_lines(memory: Memory) -> tuple[int, int]:
    """Return how many lines the runs added to the notebook and removed from it."""
    history, added, removed = History(memory.opened.ws), 0, 0
    runs: stream.Read[Run] = stream.read(memory.opened.ws, layout.RUNS, Run)
    for run in runs.records:
        for change in history.diff(run.parent or None, run.commit):
            if change.path.startswith(f"{layout.NOTEBOOK}/"):
                old, new = (Counter((side or b"").splitlines()) for side in (change.old, change.new))
                added += (new - old).total()
                removed += (old - new).total()
    return added, removed


@pytest.mark.slow
def test_a_month_by_rule_settles_every_entry_in_small_diffs(tmp_path: Path) -> None:
    """After 30 nights each entry has an outcome, each cited one stands on a page, and few lines changed for one."""
    clock = FixedClock(FIRST)
    settings = Settings(zone="UTC", embedder="none", dream=DreamSettings(min_facts=1, min_hours=1))
    opening = Opening(
        path=tmp_path / "month",
        config_dir=tmp_path / "config",
        environment={},
        settings=settings,
        clock=clock,
        new_id=counter_ids(),
    )
    with reverie.init(opening) as memory:
        said, ws = lived(memory, clock), memory.opened.ws
        assert len(set(said)) == DAYS * PER_DAY
        outcomes: stream.Read[Outcome] = stream.read(ws, layout.OUTCOMES, Outcome)
        assert {one.entry for one in outcomes.records} == set(said)
        assert not list(memory.opened.state_now().pending(before=ws.today))
        texts = [ws.disk.read(path) or b"" for path in ws.disk.walk(ws.notebook) if pages.is_page(ws, path)]
        cited = {one.id for text in texts for one in citations(text.decode())}
        assert {one.entry for one in outcomes.records if one.outcome == "cited"} <= cited
        added, removed = changed_lines(memory)
    assert added <= ADDED * len(said), (added, removed)
    assert removed <= REMOVED * len(said), (added, removed)
