"""The daemon's schedule: one run a slot, whoever looks after the workspace, and none where nothing can be due."""

from __future__ import annotations

import io
import json
import os
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from reverie.core.records import Draft
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace
from reverie.store.counters import ConsolidateCounters, write
from reverie.surface.daemon.logs import Log
from reverie.surface.daemon.scheduler import Scheduler, Whose, every_of
from reverie.surface.http.hosted import Hosted
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

AGENT = Whose("agent", "")


class Started:
    """Takes note of what is started; a process ends with `code` once `go` is set, or when it is made to."""

    def __init__(self, code: int = 0) -> None:
        self.commands: list[Sequence[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.code, self.terminated = code, 0
        self.go.set()

    def __call__(self, command: Sequence[str]) -> Started:
        """Start one."""
        self.commands.append(command)
        self.begun.set()
        return self

    def poll(self) -> int | None:
        """Return its exit code once it may end."""
        return self.code if self.go.is_set() else None

    def terminate(self) -> None:
        """End it."""
        self.terminated += 1
        self.code = -15
        self.go.set()

    def kill(self) -> None:
        """End it by force."""
        raise AssertionError("it ended when it was asked to")

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        assert self.go.wait(timeout)
        return self.code


class World:
    """A root with one workspace, a clock that is set, and schedulers that start nothing real."""

    def __init__(self, folder: Path) -> None:
        """Make the workspace, a day ago as far as its files say."""
        self.root, self.clock = folder / "root", FixedClock(datetime.now(UTC))
        self.root.mkdir()
        self.opening = Opening(config_dir=folder / "config", flags={"zone": "UTC"}, clock=self.clock)
        self.hosted = Hosted(self.root, opening=self.opening)
        self.started, self.said = Started(), io.StringIO()
        self.make("agent")

    def at(self, name: str) -> Opening:
        """Return how a workspace is opened."""
        return msgspec.structs.replace(self.opening, path=self.root / name)

    def make(self, name: str) -> None:
        """Make a workspace whose files were last written long ago."""
        Memory(make_workspace(self.at(name))).close()
        self.age(name)

    def age(self, name: str) -> None:
        """Let a workspace's files look as if they were last written two days ago."""
        then = self.clock().timestamp() - 172_800
        for folder, _, files in os.walk(self.root / name):
            for file in files:
                os.utime(os.path.join(folder, file), (then, then))  # noqa: PTH118

    def scheduler(self, started: Started | None = None) -> Scheduler:
        """Return another scheduler of the same root."""
        return Scheduler(self.hosted, Log(self.said), start=started or self.started)

    @property
    def runs(self) -> int:
        """How many runs were started."""
        return len(self.started.commands)

    @property
    def log(self) -> list[dict[str, object]]:
        """What the log says."""
        return [json.loads(line) for line in self.said.getvalue().splitlines()]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A root with one workspace."""
    made = World(tmp_path)
    yield made
    made.hosted.close()


def test_a_slot_fires_once_however_many_schedulers_look(world: World) -> None:
    """Two schedulers, one of them begun anew, run a slot once; and the next slot once."""
    first, second = world.scheduler(), world.scheduler()
    for one in (first, second, first, world.scheduler()):
        one.fire(AGENT)
    assert world.runs == 1
    world.hosted.call("agent", lambda memory: memory.remember("User likes tea")).result()
    world.clock.advance(minutes=30)
    for one in (second, first, second):
        one.fire(AGENT)
    assert world.runs == 2


def test_two_at_the_same_moment_start_one(world: World) -> None:
    """While one scheduler's run goes on, another leaves the workspace alone, in the next slot too."""
    world.started.go.clear()
    thread = threading.Thread(target=world.scheduler().fire, args=(AGENT,))
    thread.start()
    assert world.started.begun.wait(60)
    other = Started()
    world.scheduler(other).fire(AGENT)
    world.clock.advance(minutes=30)
    world.scheduler(other).fire(AGENT)
    world.started.go.set()
    thread.join(60)
    assert (world.runs, other.commands) == (1, [])


def test_after_a_sleep_one_slot_is_made_up_for(world: World) -> None:
    """After nine hours in which nobody looked, one run follows and not eighteen."""
    one = world.scheduler()
    one.fire(AGENT)
    world.hosted.call("agent", lambda memory: memory.remember("User likes tea")).result()
    world.clock.advance(hours=9)
    for _ in range(18):
        one.fire(AGENT)
    assert world.runs == 2


def test_where_nothing_happened_nothing_is_run_until_the_day_changes(world: World) -> None:
    """A quiet workspace is left alone for the rest of the day, and looked after once on the next."""
    world.clock.set(world.clock().replace(hour=1, minute=0))
    one = world.scheduler()
    for _ in range(44):  # until 23:00
        one.fire(AGENT)
        world.age("agent")
        world.clock.advance(minutes=30)
    assert world.runs == 1
    for _ in range(4):
        one.fire(AGENT)
        world.age("agent")
        world.clock.advance(minutes=30)
    assert world.runs == 2


def test_what_failed_is_tried_again_in_the_next_slot(world: World) -> None:
    """A workspace in which a stage fails is run in each slot, and the log names the stage and not its words."""
    ws = open_workspace(world.at("agent")).ws
    write(ws, ConsolidateCounters({"digest": "digest: Zanzibar cannot be read"}))
    one = world.scheduler()
    for _ in range(3):
        one.fire(AGENT)
        world.age("agent")
        world.clock.advance(minutes=30)
    assert world.runs == 3
    assert [told["failing"] for told in world.log] == [["digest"]] * 3
    assert "Zanzibar" not in world.said.getvalue()


def test_a_run_that_ended_with_an_error_waits_for_the_next_slot(world: World) -> None:
    """A run that exits 2 is told in the log and not begun again in its slot."""
    failing = Started(2)
    one = world.scheduler(failing)
    one.fire(AGENT)
    one.fire(AGENT)
    assert len(failing.commands) == 1
    assert world.log[0]["exit"] == 2


def test_what_runs_ends_with_the_daemon_and_its_slot_is_run_again(world: World) -> None:
    """At the end the process that runs is ended too, the slot is not noted, and the next daemon runs it."""
    world.started.go.clear()
    scheduler = world.scheduler()
    with scheduler:
        assert world.started.begun.wait(60)
    assert world.started.terminated == 1
    assert [told["event"] for told in world.log] == ["interrupted"]
    again = Started()
    world.scheduler(again).fire(AGENT)
    assert len(again.commands) == 1


def test_a_stranger_s_workspace_and_one_switched_off_are_left_alone(world: World) -> None:
    """Nothing is run in a workspace that was not made here, nor where memory is switched off."""
    world.make("off")
    (world.root / "off" / "reverie.toml").write_text("enabled = false\n")
    stranger = msgspec.structs.replace(
        world.opening, config_dir=world.root.parent / "theirs", path=world.root / "theirs"
    )
    Memory(make_workspace(stranger)).close()
    one = world.scheduler()
    for name in ("off", "theirs", "absent"):
        one.fire(Whose(name, ""))
    assert world.runs == 0


def test_people_and_new_workspaces_are_looked_after(world: World) -> None:
    """A person's own memory is run for that person, a workspace made meanwhile is taken in, one removed is left out."""
    with Memory(open_workspace(world.at("agent"))) as memory, memory.person("Dana Okafor") as dana:
        dana.remember("User keeps bees", Draft(origin="user"))
    world.make("second")
    with world.scheduler() as scheduler:
        scheduler.look()
        jobs = {job.id: job for job in scheduler._jobs.get_jobs()}  # noqa: SLF001 - what the library was told
        assert set(jobs) == {"look", "agent/", "agent/Dana Okafor", "second/"}
        assert jobs["second/"].trigger.interval == timedelta(minutes=30)
        (world.root / "second").rename(world.root.parent / "away")
        scheduler.look()
        assert "second/" not in {job.id for job in scheduler._jobs.get_jobs()}  # noqa: SLF001 - as above
    world.scheduler().fire(Whose("agent", "Dana Okafor"))
    assert ("--user", "Dana Okafor") in {
        (command[at], command[at + 1]) for command in world.started.commands for at in range(len(command) - 1)
    }


def test_a_workspace_decides_how_often(world: World) -> None:
    """The length of a slot is the workspace's own `dream.interval_seconds`, and a change of it is taken in."""
    with world.scheduler() as scheduler:
        scheduler.look()
        (world.root / "agent" / "reverie.toml").write_text("[dream]\ninterval_seconds = 7200\n")
        scheduler.look()
        (job,) = [job for job in scheduler._jobs.get_jobs() if job.id == "agent/"]  # noqa: SLF001 - as above
        assert job.trigger.interval == timedelta(hours=2)
    assert every_of(open_workspace(world.at("agent")).ws) == timedelta(hours=2)
