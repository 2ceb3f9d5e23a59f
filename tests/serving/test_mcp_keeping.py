"""What is due is run while the client is idle, by one server a workspace, and ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import msgspec
import pytest

from reverie.core.settings.mcp import McpSettings
from reverie.core.settings.value import Settings
from reverie.entrance import Opening
from reverie.surface.mcp.bound import Bound, Rest
from reverie.surface.mcp.keeping import Keeper, Ran, Running, command_of, start, wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Place

SOON = {"mcp.idle_seconds": "0.1"}
SETTINGS = Settings(mcp=McpSettings(idle_seconds=60.0))


@pytest.mark.parametrize(
    ("rest", "ran", "wait"),
    [
        (Rest(0, 100.0, 0), None, 50.0),  # idle for ten seconds of sixty
        (Rest(0, 40.0, 0), None, 0.0),
        (Rest(1, 0.0, 1), None, 60.0),  # somebody waits for an answer
        (Rest(0, 0.0, 3), Ran(109.0, 3), 1_799.0),  # nobody asked since the last run
        (Rest(0, 0.0, 4), Ran(109.0, 3), 0.0),
        (Rest(0, 100.0, 4), Ran(109.0, 3), 50.0),
        (Rest(0, -9_999.0, 3), Ran(-9_000.0, 3), 0.0),
    ],
)
def test_it_is_due_when_nobody_asks(rest: Rest, ran: Ran | None, wait: float) -> None:
    """It is due after a minute of silence: again when something was asked since, and else after half an hour."""
    assert wait_for(rest, ran, now=110.0, settings=SETTINGS) == wait


def test_the_command_names_the_same_workspace(place: Place) -> None:
    """What the server was told about the workspace is told to the process, and no folder of the client is trusted."""
    told = Opening(path=place.root, user="Dana", config_dir=place.home / "config", flags={"zone": "UTC"})
    words = command_of(told)
    assert words[:4] == [sys.executable, "-P", "-m", "reverie"]
    assert words[4:] == [
        *("--workspace", str(place.root), "--user", "Dana"),
        *("--config-dir", str(place.home / "config"), "--set", "zone=UTC", "consolidate"),
    ]


class Started:
    """Takes note of what is started; each process ends when `go` is set or it is terminated."""

    def __init__(self) -> None:
        self.commands: list[Sequence[str]] = []
        self.begun, self.go, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.terminated = 0

    def __call__(self, command: Sequence[str]) -> Started:
        """Start one."""
        self.commands.append(command)
        self.begun.set()
        return self

    def poll(self) -> int | None:
        """Return its exit code once it may end."""
        return 0 if self.go.is_set() else None

    def terminate(self) -> None:
        """End it."""
        self.terminated += 1
        self.go.set()

    def kill(self) -> None:
        """End it by force."""
        raise AssertionError("it ended when it was asked to")

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        assert self.go.wait(timeout)
        return 0


def keeper(place: Place, started: Started, **flags: str) -> Keeper:
    """Return a keeper of the place that soon finds the server idle."""
    opening = msgspec.structs.replace(place.opening, flags={**SOON, **flags})
    return Keeper(opening, lambda: Rest(0, 0.0, 0), start=started)


def test_one_server_does_it_and_the_next_takes_over(place: Place) -> None:
    """Of two servers on a workspace one runs what is due; when it ends, so does its process, and the other goes on."""
    first, second = Started(), Started()
    with keeper(place, first):
        assert first.begun.wait(60)
        with keeper(place, second):
            assert not second.begun.wait(0.5)
        assert not second.commands
    assert first.terminated == 1
    with keeper(place, second):
        assert second.begun.wait(60)
    assert len(first.commands) == len(second.commands) == 1


@pytest.mark.slow
def test_nothing_is_run_where_it_is_switched_off_or_not_trusted(place: Place) -> None:
    """A server runs nothing when the setting says so, in a stranger's workspace, and where there is none."""
    started = Started()
    strange = Opening(path=place.root, config_dir=place.home / "another", flags=SOON)
    absent = Opening(path=place.home / "nowhere", config_dir=place.home / "config", flags=SOON)
    keepers = [keeper(place, started, **{"mcp.consolidate": "false"})]
    keepers += [Keeper(one, lambda: Rest(0, 0.0, 0), start=started) for one in (strange, absent)]
    for one in keepers:
        with one:
            assert not started.begun.wait(0.4)
    assert not (place.home / "nowhere").exists()


def test_nothing_is_run_while_somebody_waits(place: Place) -> None:
    """While a call runs or waits, nothing is started."""
    started = Started()
    opening = msgspec.structs.replace(place.opening, flags=SOON)
    with Keeper(opening, lambda: Rest(1, 0.0, 1), start=started):
        assert not started.begun.wait(0.4)


HOLDS = """
import sys
from pathlib import Path
from reverie.entrance import Opening
from reverie.opening import open_workspace
ws = open_workspace(Opening(path=Path(sys.argv[1]), config_dir=Path(sys.argv[2]))).ws
with ws.locks.keeper(0, what="mcp"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_server_in_another_process_leaves_it_to_the_first(place: Place) -> None:
    """While a server of another process looks after the workspace none here does, and one does once that has ended."""
    started = Started()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(place.root), str(place.home / "config")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with keeper(place, started):
            assert not started.begun.wait(0.5)
            other.communicate()
            assert other.returncode == 0
            assert started.begun.wait(60)


# What stops before it does anything, and goes on as its words say.
HALTS = """
import os, signal, sys
os.kill(os.getpid(), signal.SIGSTOP)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot stop a process for a while")
def test_answers_do_not_wait_for_it(place: Place) -> None:
    """While what is due is run, however long that takes, calls are answered; and it is run to its end."""
    tea = place.remember("User likes tea", sig=0.9)
    opening = msgspec.structs.replace(place.opening, flags={**(place.opening.flags or {}), **SOON})
    bound, started = Bound(opening), list[subprocess.Popen[bytes]]()
    begun = threading.Event()

    def halted(command: Sequence[str]) -> Running:
        child = start([sys.executable, "-c", HALTS, *command])
        assert isinstance(child, subprocess.Popen)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        started.append(child)
        begun.set()
        return child

    with Keeper(opening, lambda: bound.rest, start=halted):
        assert begun.wait(60)
        hits = place.talk(lambda client: client.call_tool("memory_recall", {"query": "tea"}), bound)
        assert hits.structured_content["hits"][0]["id"] == tea
        assert started[0].poll() is None
        started[0].send_signal(signal.SIGCONT)
        assert started[0].wait(120) == 0
    assert tea in (place.root / "MEMORY.md").read_text(encoding="utf-8")
    for child in started[1:]:
        child.kill()
        child.wait()


@pytest.mark.slow
def test_the_process_really_consolidates(place: Place) -> None:
    """The process that is started drains the queue and compiles MEMORY.md."""
    tea = place.remember("User likes tea", sig=0.9)
    child = start(command_of(place.opening))
    assert isinstance(child, subprocess.Popen)
    assert child.wait(120) == 0
    assert tea in (place.root / "MEMORY.md").read_text(encoding="utf-8")
