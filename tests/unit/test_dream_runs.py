"""Tests of a dream over time: batches, faults, ceilings, what is pending and how far it came."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from dream_world import (
    DAY,
    NIGHT,
    TEA,
    WORK,
    bytes_of,
    entry,
    failing,
    happened,
    later,
    log,
    open_world,
    outcomes,
    page,
    run,
)

from reverie import layout
from reverie.core.dreams.dreamt import Wish
from reverie.core.dreams.watermark import advanced, run_name
from reverie.errors import UsageError
from reverie.store import counters
from reverie.store.counters import DreamCounters
from reverie.store.dreams import runs
from reverie.store.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a new workspace in the night of 2026-07-02."""
    return open_world(tmp_path)


def test_a_backlog_is_sprinted_through_in_batches(ws: Workspace) -> None:
    """A backlog of several batches is worked off in one call, a run each, oldest first."""
    ws = open_world(ws.root, max_entries=3, now=datetime(2026, 7, 9, 3, tzinfo=UTC))
    log(
        ws,
        [entry(n, f"User likes dish {n}", day=f"2026-07-0{n}", category="preference") for n in range(1, 8)],
    )
    done = run(ws, now=False)
    assert len(done.runs) == len(set(done.runs)) == 3
    assert [one.watermark for one in runs.read(ws)] == ["2026-07-03", "2026-07-06", "2026-07-07"]
    assert len(outcomes(ws)) == 7


def test_a_fault_is_isolated_and_the_rest_goes_on(ws: Workspace) -> None:
    """What fails again and again is split until alone; it is unprocessable, the others are cited (R-11, S-24)."""
    batch = [entry(n, f"User likes dish {n}", category="preference") for n in range(21, 29)]
    poison = entry(29, "User likes poison ivy", category="preference")
    log(ws, [*batch, poison, WORK])
    for attempt in range(1, 4):
        done = run(ws, masked=failing("poison"))
        assert counters.read(ws, DreamCounters).failures == dict.fromkeys(
            (one.id for one in (*batch, poison)), attempt
        )
    assert set(outcomes(ws)) == {WORK.id}
    done = run(ws, masked=failing("poison"))
    settled = outcomes(ws)
    assert {settled[one.id].outcome for one in batch} == {"cited"}
    assert settled[poison.id].outcome == "unprocessable"
    assert "forgotten" in settled[poison.id].reason
    assert counters.read(ws, DreamCounters).failures == {}
    assert done.counts == {"cited": 8, "unprocessable": 1}
    assert done.watermark == "2026-07-01"


def test_hidden_entries_are_no_work_and_hold_nothing_up(ws: Workspace) -> None:
    """A hidden entry is not dreamt, and the watermark passes its day."""
    log(ws, [TEA, entry(9, "User likes secrets", day="2026-06-01")])
    happened(ws, "hide", entry(9, "x"))
    done = run(ws)
    assert set(outcomes(ws)) == {TEA.id}
    assert done.watermark == "2026-07-01"


def test_a_dream_stops_when_its_time_is_up(ws: Workspace) -> None:
    """Past its time a dream begins no further batch; what is done is done (R-52)."""
    ws = open_world(ws.root, max_entries=2, timeout_seconds=60)
    log(ws, DAY)

    def slow(_: str) -> bool:
        later(ws, seconds=90)
        return False

    done = run(ws, masked=slow)
    assert len(done.runs) == 1
    assert any("stopped after 60 seconds" in problem for problem in done.problems)


def test_transcripts_are_kept_of_the_latest_runs(ws: Workspace) -> None:
    """A run leaves a transcript without memory text; the newest ten stay, the records of all runs stay (N-32)."""
    for number in range(12):
        log(ws, [entry(100 + number, f"User likes dish {number}", category="preference")])
        run(ws)
        later(ws, minutes=1)
    names = [name for name in ws.disk.list(layout.DREAMS) if name.startswith("dream-")]
    assert len(names) == 10
    assert len(runs.read(ws)) == 12
    said = ws.disk.read(f"{layout.DREAMS}/{names[-1]}") or b""
    assert b"dish" not in said
    assert f"{111:016x}".encode() in said


def test_a_late_entry_is_dreamt_and_the_watermark_stands(ws: Workspace) -> None:
    """An entry that arrives dated before the watermark is pending all the same; the mark never moves back (R-12)."""
    log(ws, DAY)
    run(ws)
    late = entry(8, "User owns a red bicycle", day="2026-06-01")
    log(ws, [late])
    done = run(ws)
    assert late.id in outcomes(ws)
    assert done.watermark == "2026-07-01"


def test_an_unfinished_day_holds_the_watermark(ws: Workspace) -> None:
    """The watermark never passes a day that holds a pending entry."""
    log(ws, [entry(50, "User likes poison ivy", day="2026-06-30", category="goal"), TEA])
    done = run(ws, masked=failing("poison"))
    assert set(outcomes(ws)) == {TEA.id}
    assert done.watermark == ""
    assert "ingest" not in page(ws, "log.md")


def test_forged_lines_move_no_watermark(ws: Workspace) -> None:
    """A line that somebody writes into `log.md`, of a run that was or of none, moves no watermark (R-13)."""
    log(ws, DAY)
    run(ws)
    forged = (
        "## [2026-07-03] ingest | run=dream:20260702-030000 watermark=2026-12-31\n"
        "## [2026-07-03] ingest | run=dream:20990101-000000 watermark=2026-12-31\n"
    )
    ws.disk.replace("notebook/log.md", f"{page(ws, 'log.md')}{forged}".encode())
    assert runs.watermark(ws) == "2026-07-01"
    log(ws, [entry(8, "User owns a red bicycle", day="2026-06-01")])
    assert run(ws).watermark == "2026-07-01"
    assert page(ws, "log.md").count("2026-12-31") == 2


def test_the_watermark_never_moves_back() -> None:
    """Whatever is pending, the mark is the last whole day before it, and never earlier than it was."""
    days = ["2026-06-28", "2026-06-30", "2026-07-01", "2026-07-02"]
    assert advanced("", days=days, pending=[], today="2026-07-02") == "2026-07-01"
    assert advanced("", days=days, pending=["2026-07-01"], today="2026-07-02") == "2026-06-30"
    assert advanced("2026-06-30", days=days, pending=["2026-06-01"], today="2026-07-02") == "2026-06-30"
    assert advanced("", days=[], pending=[], today="2026-07-02") == ""


def test_runs_of_one_second_have_names_of_their_own() -> None:
    """Two runs that begin at the same instant are told apart (N-27)."""
    assert run_name(NIGHT, ["dream:20260702-030000"]) == "dream:20260702-030000-2"


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "2026-7-1", "2026-07-01T00:00"])
def test_a_day_that_is_none_is_no_wish(day: str) -> None:
    """Whoever asks for a dream of a day that is none, or of less than no entries, is told how to ask."""
    with pytest.raises(UsageError, match="2026-07-01"):
        Wish(day=day)
    with pytest.raises(UsageError, match="0 for all"):
        Wish(most=-1)


def test_a_dream_of_one_day_takes_that_day_alone(ws: Workspace) -> None:
    """Today and days to come have nothing to dream; a closed day is dreamt, and holds no other up or back."""
    log(
        ws,
        [
            *DAY,
            entry(20, "User likes plums", day="2026-06-01"),
            entry(21, "User likes figs", day="2026-07-02"),
        ],
    )
    before = bytes_of(ws)
    for day in ("2026-07-02", "2030-01-01", "2026-06-02"):
        assert run(ws, day=day).reason == "no entry of a closed day is pending"
    assert bytes_of(ws) == before
    assert run(ws, day="2026-07-01").counts == {"cited": 4}
    assert runs.watermark(ws) == ""
    assert run(ws).counts == {"cited": 1}
    assert runs.watermark(ws) == "2026-07-01"
