"""The lease of a run that a host drives: one run at a time, for a time, and everybody else is told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie import layout
from reverie.core.records import Draft
from reverie.errors import Busy, Conflict, UsageError
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace, open_workspace
from reverie.store.dreams import lease
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed, FixedClock, counter_ids

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
RUN, OTHER = "dream:20260701-120000", "dream:20260701-130000"


@pytest.fixture
def clock() -> FixedClock:
    """Return a clock that stands at noon."""
    return FixedClock(NOON)


def opening(root: Path, clock: FixedClock, *, disk: Callable[[Path], Disk] | None = None) -> Opening:
    """Return how to open the workspace in `root`."""
    return Opening(
        path=root / "agent",
        config_dir=root / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC", "lock_wait_seconds": "0.1"},
        clock=clock,
        new_id=counter_ids(1),
        disk=disk,
    )


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Memory:
    """Return a new memory."""
    return Memory(make_workspace(opening(tmp_path, clock)))


@pytest.fixture
def ws(memory: Memory) -> Workspace:
    """Return its workspace."""
    return memory.opened.ws


def test_a_lease_that_was_taken_is_found_by_every_process(
    tmp_path: Path, clock: FixedClock, ws: Workspace
) -> None:
    """A second process reads the run, the holder and the end of what the first took."""
    taken = lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    other = open_workspace(opening(tmp_path, clock)).ws
    assert lease.current(other) == taken
    assert (taken.run, taken.holder, taken.at, taken.until) == (RUN, "Claude Code", NOON, NOON + HOUR)


def test_nobody_else_gets_a_lease_that_holds(ws: Workspace) -> None:
    """A second run, or another holder of the same run, is told who drives and until when, and changes nothing."""
    taken = lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    for run, holder in ((OTHER, "Claude Code"), (RUN, "Codex")):
        with pytest.raises(Busy, match=r"Claude Code until 2026-07-01T13:00:00Z"):
            lease.take(ws, run, holder=holder, until=NOON + 2 * HOUR)
    assert lease.current(ws) == taken


def test_a_lease_that_expired_is_taken_over_and_its_holder_told(ws: Workspace, clock: FixedClock) -> None:
    """At its end another run may begin; the first can neither renew nor release what is no longer its own."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    clock.now = NOON + HOUR
    assert lease.current(ws) is None
    taken = lease.take(ws, OTHER, holder="Codex", until=NOON + 2 * HOUR)
    with pytest.raises(Conflict, match="Codex"):
        lease.renew(ws, RUN, NOON + 2 * HOUR)
    lease.release(ws, RUN)
    assert lease.current(ws) == taken


def test_a_lease_is_renewed_by_its_run_even_late(ws: Workspace, clock: FixedClock) -> None:
    """A run whose lease ended while nobody else wanted it goes on; taking it again is the same as renewing."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    clock.now = NOON + 2 * HOUR
    assert lease.renew(ws, RUN, NOON + 3 * HOUR).until == NOON + 3 * HOUR
    again = lease.take(ws, RUN, holder="Claude Code", until=NOON + 4 * HOUR)
    assert (again.at, again.until) == (NOON, NOON + 4 * HOUR)


def test_a_lease_given_back_is_free(ws: Workspace) -> None:
    """After the release anybody may begin, and the run that gave it back cannot renew it."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    lease.release(ws, RUN)
    assert lease.current(ws) is None
    assert ws.disk.size(layout.LEASE) is None
    with pytest.raises(Conflict, match="given back"):
        lease.renew(ws, RUN, NOON + HOUR)


@pytest.mark.parametrize("until", [NOON - HOUR, NOON, NOON + lease.LONGEST + timedelta(seconds=1)])
def test_an_end_that_is_past_or_far_away_is_refused(ws: Workspace, until: datetime) -> None:
    """A lease cannot be taken for no time, nor for longer than a day."""
    with pytest.raises(UsageError, match="cannot end"):
        lease.take(ws, RUN, holder="Claude Code", until=until)
    assert ws.disk.size(layout.LEASE) is None


def test_a_clock_set_back_frees_a_lease_of_the_future(ws: Workspace, clock: FixedClock) -> None:
    """A lease taken while the clock ran a year ahead keeps nobody out once it is right again (R-40)."""
    clock.now = NOON + timedelta(days=365)
    lease.take(ws, RUN, holder="Claude Code", until=clock.now + HOUR)
    clock.now = NOON
    assert lease.current(ws) is None
    assert lease.take(ws, OTHER, holder="Codex", until=NOON + HOUR).run == OTHER


@pytest.mark.parametrize("data", [b"", b"\0" * 40, b'{"v":1,"run":"x"}\n', b"junk"])
def test_a_damaged_lease_counts_as_none(ws: Workspace, data: bytes) -> None:
    """Bytes that are no lease keep nobody out, and the run they were written for is told on renewing."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    (ws.root / layout.LEASE).write_bytes(data)
    assert lease.current(ws) is None
    with pytest.raises(Conflict):
        lease.renew(ws, RUN, NOON + HOUR)
    lease.take(ws, OTHER, holder="Codex", until=NOON + HOUR)


VERBS: dict[str, Callable[[Memory], object]] = {
    "dream": lambda memory: memory.dream(now=True),
    "undo": lambda memory: memory.undo("dream:20260630-030000"),
    "restore": lambda memory: memory.restore("2026-06-30"),
    "erase": lambda memory: memory.erase([memory.list()[0].entry.id]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_needs_the_dream_lock_is_told_who_drives_a_run(memory: Memory, ws: Workspace, verb: str) -> None:
    """While a host drives a run, dream, undo, restore and erase answer Busy with its holder and end."""
    memory.remember("Dana prefers calls before noon", Draft(category="preference"))
    memory.drain()
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    with pytest.raises(Busy, match=r"driven by Claude Code until 2026-07-01T13:00:00Z"):
        VERBS[verb](memory)


def test_everyday_verbs_do_not_ask_for_the_lease(memory: Memory, ws: Workspace) -> None:
    """Writing, draining, recalling and publishing go on while a host drives a run."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    memory.remember("Dana prefers calls before noon")
    assert memory.drain().stored == 1
    assert memory.recall("Dana").hits
    memory.publish()


def test_a_dream_takes_over_when_the_lease_expired(memory: Memory, ws: Workspace, clock: FixedClock) -> None:
    """A host that never came back keeps no night from being dreamt."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    clock.now = NOON + HOUR
    assert memory.dream(now=True).result == "nothing"


def test_the_run_itself_may_take_its_steps(ws: Workspace) -> None:
    """The step of the run that has the lease gets the dream lock; the kernel's lock excludes everybody meanwhile."""
    lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)
    with lease.driving(ws, "dream step", run=RUN), pytest.raises(RuntimeError):
        lease.take(ws, RUN, holder="Claude Code", until=NOON + HOUR)


@pytest.mark.parametrize("seed", range(4))
def test_a_crash_leaves_the_lease_before_or_after(
    tmp_path: Path, clock: FixedClock, memory: Memory, seed: int
) -> None:
    """A power cut anywhere while a lease is renewed leaves the old end or the new one, and is never half a lease."""
    old, new = NOON + HOUR, NOON + 2 * HOUR
    lease.take(memory.opened.ws, RUN, holder="Claude Code", until=old)
    found = set()
    for call in range(1, 12):
        disk = CrashDisk(tmp_path / "agent", crash_at=call, seed=seed)
        ws = open_workspace(opening(tmp_path, clock, disk=lambda _, disk=disk: disk)).ws  # type: ignore[misc]
        with suppress(Crashed):
            lease.renew(ws, RUN, new)
        disk.cut_power()
        after = lease.current(memory.opened.ws)
        assert after is not None
        found.add(after.until)
        assert after.until in {old, new}
        lease.renew(memory.opened.ws, RUN, old)
    assert new in found


def test_who_goes_on_for_ever_is_stopped(ws: Workspace, clock: FixedClock) -> None:
    """A lease is renewed for as long as one run may take, and not beyond; then it ends, and another may begin."""
    lease.take(ws, RUN, holder="host", until=clock() + HOUR)
    clock.advance(minutes=90)
    lease.renew(ws, RUN, clock() + HOUR, whole=2 * HOUR)
    clock.advance(minutes=30)
    with pytest.raises(Conflict, match=f"{RUN} has gone on since 2026-07-01T12:00:00Z: end it"):
        lease.renew(ws, RUN, clock() + HOUR, whole=2 * HOUR)
    lease.renew(ws, RUN, clock() + HOUR)
    clock.advance(hours=1)
    lease.take(ws, OTHER, holder="host", until=clock() + HOUR)


def test_a_run_that_cannot_begin_keeps_nobody_out(ws: Workspace, clock: FixedClock) -> None:
    """When beginning fails the lease is given back at once, and stays when it does not."""
    with pytest.raises(UsageError), lease.beginning(ws, RUN, holder="host", until=clock() + HOUR):
        raise UsageError("nothing can begin")
    assert lease.current(ws) is None
    with lease.beginning(ws, OTHER, holder="host", until=clock() + HOUR):
        pass
    assert lease.current(ws) == lease.Lease(run=OTHER, holder="host", at=NOON, until=NOON + HOUR)
