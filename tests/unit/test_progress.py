"""What status says of the dream: phase, progress, the next batch, what failed, when the gates open."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from dream_world import DAY, entry, failing, log, look_at, open_world, run

from reverie.status import status
from reverie.store import lease
from reverie.surface.status_text import status_lines

if TYPE_CHECKING:
    from pathlib import Path

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
        return status(ws, state, trusted=True)
    finally:
        state.close()


def test_before_a_dream_nothing_is_settled(ws: Workspace) -> None:
    """Everything pending is the next batch, and the gates' values are told (S-34)."""
    found = seen(ws).dream
    assert (found.phase, found.percent, found.batch, found.last) == ("idle", 0, 4, ())
    assert found.gates["min_facts"] == 20


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
    assert "80 % settled; the next batch takes 1; last dream:20260702-030000 productive: 4 cited" in text


def test_a_driven_run_is_a_phase(ws: Workspace) -> None:
    """While a host drives a run, its name and the end of its lease are told."""
    until = ws.clock() + timedelta(minutes=5)
    lease.take(ws, "dream:x", holder="host", until=until)
    found = seen(ws).dream
    assert (found.phase, found.run, found.until) == ("dreaming", "dream:x", until)


def test_fewer_are_taken_after_a_run_without_end(ws: Workspace) -> None:
    """A batch is never announced larger than the settings allow."""
    ws = open_world(ws.root, max_entries=3)
    assert seen(ws).dream.batch == 3
