"""The books of models and the rule over them, as pure decisions: sums that folding keeps, waits that stay short."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import layout
from reverie.core import ledger
from reverie.core.ledger import Call, Total, by_purpose, folded, spent, standing
from reverie.core.patience import SHORT, pause, rest
from reverie.core.settings.value import Settings
from reverie.errors import ModelFailed
from reverie.store import usage
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, FixedClock, counter_ids, crash_loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desk import Desk

    from reverie.store.filesystem.disk import Disk


def test_the_books_stay_small(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many calls end in a few totals and the newest calls, with the sums unchanged."""
    monkeypatch.setattr(usage, "LARGEST", 80_000)
    ws = desk.memory.opened.ws
    for n in range(1_500):
        now = ws.clock()
        call = Call(
            at=now, day=ws.calendar.day(now), purpose="extraction", model="test:m", calls=1, input_tokens=n
        )
        usage.record(ws, call)
        desk.clock.advance(hours=1)
    assert (desk.root / layout.USAGE).stat().st_size < 81_000
    total = spent(usage.read(ws))
    assert (total.calls, total.input_tokens) == (1_500, sum(range(1_500)))


def test_two_writers_lose_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes that record and fold at the same time keep every call in the sums."""
    monkeypatch.setattr(usage, "LARGEST", 80_000)
    other = desk.again()

    def write(ws: Workspace) -> None:
        for _ in range(900):
            usage.record(ws, call_of(ws))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, [desk.memory.opened.ws, other.opened.ws]))
    assert spent(usage.read(desk.memory.opened.ws)).calls == 1_800
    assert any(isinstance(line, Total) for line in usage.read(desk.memory.opened.ws))


def test_no_crash_loses_a_recorded_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a crash stops a record or a fold, what had been recorded is in the sums (§2.3)."""
    monkeypatch.setattr(usage, "LARGEST", 900)
    monkeypatch.setattr(ledger, "KEPT", 2)
    numbers = itertools.count()

    def workspace(folder: Path, disk: Disk | None = None) -> Workspace:
        clock = FixedClock(datetime(2026, 7, 1, 12, tzinfo=UTC))
        return Workspace(folder, Settings(zone="UTC"), clock=clock, new_id=counter_ids(), disk=disk)

    def make() -> Path:
        folder = tmp_path / str(next(numbers))
        (folder / ".state").mkdir(parents=True)
        return folder

    def scenario(disk: CrashDisk, tell: Callable[[str], None]) -> None:
        ws = workspace(disk.root, disk)
        for n in range(8):
            usage.record(ws, call_of(ws))
            tell(str(n))

    for wreck in crash_loop(make, scenario):
        calls = spent(usage.read(workspace(wreck.root))).calls
        assert len(wreck.told) <= calls <= len(wreck.told) + 1, wreck.at


def call_of(ws: Workspace) -> Call:
    """Return a call made now."""
    now = ws.clock()
    return Call(at=now, day=ws.calendar.day(now), purpose="extraction", model="test:m", calls=1)


@pytest.mark.slow
@given(
    st.lists(
        st.builds(
            Call,
            at=st.datetimes(),
            day=st.sampled_from(["2026-07-01", "2026-07-02"]),
            purpose=st.sampled_from(["extraction", "dream"]),
            model=st.sampled_from(["a", "b"]),
            calls=st.just(1),
            input_tokens=st.integers(0, 9),
            kind=st.sampled_from(["", "down", "refused"]),
        ),
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_folding_changes_no_sum(lines: list[Call], kept: int) -> None:
    """However often and early calls are folded, each day's sums stay, and so do the failures in force."""
    many = [line for line in lines for _ in range(400 // kept)]
    once = folded(many)
    assert folded(once) == once
    for day in ("2026-07-01", "2026-07-02"):
        assert by_purpose(once, day=day) == by_purpose(many, day=day)
    if many and len(once) < len(many):
        assert any(isinstance(line, Total) for line in once)
    for model in ("a", "b"):
        before, after = (standing(one, model=model, day="2026-07-01", run="") for one in (many, once))
        assert before.day == after.day
        assert after.failures <= before.failures


@given(
    st.sampled_from(["limit", "down", "timeout", "auth", "refused"]),
    st.none() | st.floats(0, 1e9),
    st.integers(1, 12),
    st.floats(0, 0.999),
)
def test_no_wait_is_long_and_no_wish_is_cut(kind: Any, wish: float | None, times: int, chance: float) -> None:
    """Waits within a call stay below a few seconds together; a rest is as long as a provider wants, up to a day."""
    failure = ModelFailed("x", kind=kind, retry_after=wish)
    waited = 0.0
    for tried in range(1, 50):
        wait = pause(failure, tried=tried, tries=times, waited=waited, chance=chance)
        if wait is None:
            break
        assert wish is None or wait == wish
        waited += wait
    assert waited <= SHORT
    leave = rest(failure, failures=times, chance=chance)
    if kind in {"limit", "down", "timeout"}:
        assert leave is not None
        assert min(wish or 0, 86_400) <= leave.total_seconds() <= 86_400
