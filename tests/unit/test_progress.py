"""What status says of the dream: phase, progress, the next batch, what failed, when the gates open."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from dream_world import DAY, entry, failing, log, look_at, open_world, outcomes, run

from reverie import layout
from reverie.core.partly import Partly
from reverie.status import status
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import lease
from reverie.surface.status_text import status_lines

if TYPE_CHECKING:
    from pathlib import Path

    from desk import Desk

    from reverie.status import Status
    from reverie.store.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a workspace in the night of 2026-07-02, with four entries of the day before."""
    ws = open_world(tmp_path)
    log(ws, DAY)
    return ws


def seen(ws: Workspace) -> Status:
    """Return the status now."""
    state = look_at(ws)
    try:
        return status(ws, state, trusted=True, asked=0, partly=Partly())
    finally:
        state.close()


def test_before_a_dream_nothing_is_settled(ws: Workspace) -> None:
    """Everything pending is the next batch, and the gates' values are told (S-34)."""
    found = seen(ws).dream
    assert (found.phase, found.percent, found.batch, found.last) == ("idle", 0, 4, ())
    assert found.batch_until == "2026-07-01"
    assert found.gates == {name: getattr(ws.settings.dream, name) for name in found.gates}
    assert found.gates.keys() == {one.name for one in fields(ws.settings.dream)}
    assert found.lint_due == ws.clock() + timedelta(days=7)


def test_after_a_dream_its_result_is_told(ws: Workspace) -> None:
    """The last runs, what failed, what is left and when the gates open next are told, also in words (S-34)."""
    log(ws, [entry(9, "User wants poison ivy", category="goal")])
    run(ws, masked=failing("poison"))
    told = seen(ws)
    found = told.dream
    assert (found.percent, found.batch, found.failures) == (80, 1, {entry(9, "x").id: 1})
    assert found.last[0].counts == {"cited": 4}
    assert found.due == ws.clock() + timedelta(hours=24)
    text = "\n".join(str(one) for one in status_lines(told))
    assert (
        "80 % settled; the next batch takes 1, up to 2026-07-01; last dream:20260702-030000 productive: 4 cited"
        in text
    )


def test_a_driven_run_is_a_phase(ws: Workspace) -> None:
    """While a host drives a run, its name and the end of its lease are told."""
    until = ws.clock() + timedelta(minutes=5)
    lease.take(ws, "dream:x", holder="host", until=until)
    found = seen(ws).dream
    assert (found.phase, found.run, found.until) == ("dreaming", "dream:x", until)


def test_fewer_are_taken_after_a_run_without_end(ws: Workspace) -> None:
    """A batch is never announced larger than the settings allow, nor than a run could end with lately."""
    ws = open_world(ws.root, max_entries=3)
    assert seen(ws).dream.batch == 3
    counters.write(ws, DreamCounters(most=2))
    assert seen(ws).dream.batch == 2


def test_the_batch_that_is_told_is_the_batch_that_is_dreamt(ws: Workspace) -> None:
    """Cut by days and tokens, past what failed too often and what waits for a person, it is what a dream takes."""
    every = [entry(n, f"User likes tea {n}. " * 12, day=f"2026-06-{n:02}") for n in range(10, 30)]
    every.append(entry(40, "User likes green tea. " * 400, day="2026-06-14"))
    log(ws, every)
    day_of = {one.id: one.day for one in (*every, *DAY)}
    failed = {entry(n, "x").id: 3 for n in (10, 12)}
    counters.write(ws, DreamCounters(failures=failed))
    settings: dict[str, int]
    for settings in ({"max_days": 3}, {"max_entries": 2}, {"max_days": 2}, {"batch_tokens": 500}):
        ws = open_world(ws.root, **settings)
        told, before = seen(ws).dream, outcomes(ws).keys()
        run(ws, most=200)
        taken = outcomes(ws).keys() - before
        assert (told.batch, told.batch_until) == (len(taken), max(day_of[one] for one in taken))
        assert not taken & failed.keys()


@pytest.mark.parametrize(
    ("what", "phase"),
    [("dream", "dreaming"), ("lint", "linting"), ("undo", "undoing"), ("erase", "erasing"), ("x", "busy")],
)
def test_what_another_process_does_is_a_phase(ws: Workspace, what: str, phase: str) -> None:
    """While somebody holds the dream lock the phase says what for, and the look keeps nobody out."""
    other = open_world(ws.root)
    with other.locks.dream(0, what=what):
        assert seen(ws).dream.phase == phase
    assert seen(ws).dream.phase == "idle"
    with other.locks.dream(0, what=what):
        pass


def test_a_run_that_was_killed_is_no_phase(ws: Workspace) -> None:
    """The words of a process that died with the lock are not believed, and an interrupted install is told."""
    ws.disk.replace(layout.DREAM_LOCK, b"dream (pid 1 on this machine, since 2026-07-02T03:00:00Z)\n")
    assert seen(ws).dream.phase == "idle"
    ws.disk.replace(layout.INSTALL_INTENT, b"{}")
    assert seen(ws).dream.phase == "installing"


def test_the_last_look_over_the_notebook_is_told(desk: Desk) -> None:
    """After a lint its result, and when the next is due, stand beside the dreams' (S-34)."""
    done = desk.memory.lint()
    told = desk.memory.status().dream
    assert told.linted is not None
    assert (told.linted.run, told.linted.counts) == (done.run, {"findings": 0, "mended": 0})
    assert told.lint_due == desk.clock() + timedelta(days=7)
    assert told.last == ()
