"""Consolidate: everything due, the drain first, idempotent, with the one line that cron's log shows."""

from __future__ import annotations

import errno
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from desk import Desk, contents, days_ago

from reverie import layout
from reverie.compact import Compacted
from reverie.consolidate import Consolidated, Plan, consolidate
from reverie.core.due import Due
from reverie.digest import Digested
from reverie.drain import Drained
from reverie.dream import Dreamt
from reverie.errors import DrainFailed, ModelFailed, Untrusted
from reverie.extract import Extracted
from reverie.lint import Linted
from reverie.publish import Published
from reverie.testing import CrashDisk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reverie.core.sessions.pipeline import Trigger

STAGES = ("drain", "extract", "drain", "compact", "digest", "dream", "lint", "publish")


class _Verbs:
    """Verbs that note their calls and fail as told."""

    def __init__(self, **failing: Exception) -> None:
        self.called: list[str] = []
        self.failing = failing

    def _call(self, name: str) -> None:
        self.called.append(name)
        if name in self.failing:
            raise self.failing[name]

    def drain(self) -> Drained:
        self._call("drain")
        return Drained()

    def extract(self) -> Extracted:
        self._call("extract")
        return Extracted(entries=3, due=Due())

    def compact_all(self) -> Compacted:
        self._call("compact")
        return Compacted()

    def digest(self) -> Digested:
        self._call("digest")
        return Digested()

    def dream(self) -> Dreamt:
        self._call("dream")
        return Dreamt(watermark="2026-06-30")

    def lint(self, *, due: bool = False) -> Linted:
        self._call("lint")
        return Linted(waits="it is early" if due else "")

    def publish(self, *, at_once: bool = False) -> Published:
        self._call("publish at once" if at_once else "publish")
        return Published()


def _run(verbs: _Verbs, plan: Plan | None = None) -> Consolidated:
    return consolidate(verbs, plan or Plan(), agent="support-bot", watermark="2026-06-29")


# The line


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (
            Plan(),
            "facts_added=3 watermark=2026-06-30 dry_run=False drain_only=False promote_only=False",
        ),
        (
            Plan(drain_only=True),
            "facts_added=0 watermark=n/a dry_run=False drain_only=True promote_only=False",
        ),
        (
            Plan(promote_only=True),
            "facts_added=0 watermark=2026-06-29 dry_run=False drain_only=False promote_only=True",
        ),
        (
            Plan(dry_run=True),
            "facts_added=0 watermark=2026-06-29 dry_run=True drain_only=False promote_only=False",
        ),
        (
            Plan(drain_only=True, dry_run=True),
            "facts_added=0 watermark=n/a dry_run=True drain_only=True promote_only=False",
        ),
    ],
)
def test_the_result_is_one_line(plan: Plan, line: str) -> None:
    """The result reads exactly as cron's log has always shown it."""
    assert str(_run(_Verbs(), plan)) == f"consolidation: agent=support-bot {line}"


def test_before_the_first_dream_there_is_no_watermark() -> None:
    """Where no dream has been the line says n/a."""
    done = consolidate(_Verbs(), Plan(promote_only=True), agent="a", watermark="")
    assert "watermark=n/a" in str(done)


# The order


def test_the_drain_comes_first(desk: Desk) -> None:
    """All stages run in their order, the drain before anything else, and again after what was extracted."""
    verbs = _Verbs()
    assert _run(verbs).stages == STAGES
    assert tuple(verbs.called) == STAGES
    assert desk.memory.consolidate().stages == STAGES


@pytest.mark.parametrize(
    ("plan", "stages"),
    [(Plan(drain_only=True), ("drain",)), (Plan(promote_only=True), ("digest", "publish"))],
)
def test_a_part_can_be_asked_for(plan: Plan, stages: tuple[str, ...]) -> None:
    """The drain alone, or promotion alone, runs that and nothing else."""
    verbs = _Verbs()
    assert _run(verbs, plan).stages == stages
    assert tuple(verbs.called) == stages


@pytest.mark.parametrize(
    ("after", "stages"),
    [
        ("turns", ("drain", "extract", "drain", "digest", "publish")),
        ("end", ("drain", "extract", "drain", "digest", "publish")),
        ("day", ("drain", "extract", "drain", "digest", "dream", "lint", "publish")),
        ("compaction", ("drain", "extract", "drain", "compact")),
        ("hand", ("drain", "extract", "drain")),
    ],
)
def test_what_follows_a_trigger(after: Trigger, stages: tuple[str, ...]) -> None:
    """After one trigger the stages that the table names for it run, the drain first, and no others."""
    verbs = _Verbs()
    assert _run(verbs, Plan(after=after)).stages == stages
    assert tuple(verbs.called) == stages


def test_each_stage_tells_what_it_did() -> None:
    """Every stage says what it did, and whether it had nothing to do; a dry run says what waits."""
    done = _run(_Verbs())
    assert [(one.stage, one.idle) for one in done.told] == [(name, True) for name in STAGES]
    assert done.told[1].said == "3 entries found in 0 spans"
    dry = consolidate(_Verbs(), Plan(dry_run=True), agent="a", watermark="", waiting={"drain": "2 queued"})
    assert [one.said for one in dry.told] == ["2 queued", "would run", "2 queued", *["would run"] * 5]


def test_what_a_stage_reports_is_a_problem_once(desk: Desk) -> None:
    """A problem that a stage reports without failing is named with its stage, once, and the stage counts as run."""
    desk.write("notes/2026-06-30.md", "I like tea. " * 100_000)
    done = desk.memory.consolidate()
    assert [problem.partition(":")[0] for problem in done.problems] == ["extract"]
    assert done.stages == STAGES


@pytest.mark.parametrize("name", ["extract", "compact", "digest", "dream", "lint", "publish"])
def test_a_failing_stage_is_named_and_the_rest_runs(name: str) -> None:
    """A stage that fails is named with its reason, and every other stage runs all the same."""
    verbs = _Verbs(**{name: ModelFailed("the model is down")})
    done = _run(verbs)
    assert done.problems == (f"{name}: the model is down",)
    assert tuple(verbs.called) == STAGES
    assert done.stages == tuple(stage for stage in STAGES if stage != name)


def test_a_failing_drain_stops_the_run() -> None:
    """When the drain fails nothing else runs, and the caller hears of it."""
    verbs = _Verbs(drain=DrainFailed("the queue is intact"))
    with pytest.raises(DrainFailed):
        _run(verbs)
    assert verbs.called == ["drain"]


def test_a_failing_drain_leaves_the_queue(desk: Desk) -> None:
    """On a disk that takes nothing more the run fails with DrainFailed, and every byte is as it was (R-06)."""
    desk.remember("User likes tea")
    desk.say("I like tea.")
    desk.memory.close()
    before = desk.bytes()

    def full(root: Path) -> CrashDisk:
        return CrashDisk(root, fail_at=1, error=errno.ENOSPC, forever=True)

    with pytest.raises(DrainFailed, match="intact"):
        desk.again(disk=full).consolidate()
    assert desk.bytes() == before
    assert desk.again().consolidate().problems == ()


def test_a_dream_elsewhere_is_no_failure_of_the_run(desk: Desk) -> None:
    """While another process dreams, that stage says so and the other stages run."""
    desk.remember("User likes tea")
    with _elsewhere(lambda: desk.memory.opened.ws.locks.dream(0, what="dream")):
        done = desk.memory.consolidate()
    assert [problem.partition(":")[0] for problem in done.problems] == ["dream"]
    assert "publish" in done.stages


# Nothing twice


def _busy_week(desk: Desk) -> None:
    """Fill the workspace with what every stage has something to do with."""
    for day in range(7, 0, -1):
        desk.clock.set(days_ago(day))
        session = f"day-{day}"
        desk.say(f"I moved desk number {day} to the window.", "I prefer tea in the morning.", session=session)
        desk.remember(f"Invoice {day} was paid on time", category="fact")
        desk.memory.note(f"Deployed version {day} to production.")
        desk.memory.end(session)
    desk.clock.set(days_ago(0))
    desk.remember("Send Dana the quote", due="2026-07-10")


def test_twice_in_a_row_changes_nothing(desk: Desk) -> None:
    """A second run right after the first leaves every byte of the workspace as it is, derived files included."""
    _busy_week(desk)
    first = desk.memory.consolidate()
    assert (first.problems, first.facts_added > 0) == ((), True)
    before = _settled(desk)
    second = desk.memory.consolidate()
    assert (second.problems, second.facts_added) == ((), 0)
    assert second.watermark == first.watermark
    assert _settled(desk) == before
    other = desk.again()
    assert other.consolidate().problems == ()
    assert _settled(desk) == before


def test_a_run_leaves_nothing_due(desk: Desk) -> None:
    """After a run nothing is queued or unread, and closed days have outcomes."""
    _busy_week(desk)
    desk.memory.consolidate()
    status = desk.memory.status()
    assert (status.queued, status.unread, status.pending, status.problems) == (0, {}, {}, ())
    assert status.watermark == "2026-06-30"


def test_a_dry_run_changes_nothing(desk: Desk) -> None:
    """A dry run names the stages and changes no byte, not even in a workspace of somebody else's."""
    _busy_week(desk)
    desk.memory.close()
    before = contents(desk.root, derived=True)
    done = desk.memory.consolidate(Plan(dry_run=True))
    assert done.stages == STAGES
    assert contents(desk.root, derived=True) == before
    strange = desk.again(config_dir=desk.home / "other")
    assert strange.consolidate(Plan(dry_run=True)).stages == STAGES
    with pytest.raises(Untrusted):
        strange.consolidate()
    strange.close()
    assert contents(desk.root, derived=True) == before


def test_a_locked_drain_is_told_as_a_failed_drain(desk: Desk) -> None:
    """While another process keeps the write lock too long, the run fails as a drain whose queue is intact."""
    desk.remember("User likes tea")
    impatient = desk.again(flags={"zone": "UTC", "lock_wait_seconds": "0.05"})
    with (
        _elsewhere(lambda: desk.memory.opened.ws.writing("drain")),
        pytest.raises(DrainFailed, match="intact"),
    ):
        impatient.consolidate()
    assert impatient.consolidate().problems == ()


@contextmanager
def _elsewhere(lock: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Hold a lock in another thread, as another process would."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock():
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        yield
    finally:
        done.set()
        thread.join()


def _settled(desk: Desk) -> dict[str, bytes]:
    """Return every file but those of SQLite, whose bytes tell when it last checkpointed and nothing else."""
    everything = contents(desk.root, derived=True)
    return {path: data for path, data in everything.items() if not path.startswith(f"{layout.INDEX}/")}
