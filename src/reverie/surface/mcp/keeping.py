"""What is due, run while nobody asks: `reverie consolidate` in a process of its own, where no daemon does it.

Owns when it runs and who runs it; promises that no answer waits for it (it is another process, at low priority, and
holds no lock for long), that of all servers on a workspace one runs it at a time, and that it ends with the server;
never runs it in a workspace that is not there or not trusted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, Self

import msgspec

from reverie.core.settings.value import Settings
from reverie.entrance import Opening
from reverie.errors import Busy, ReverieError
from reverie.opening import open_workspace
from reverie.store.workspace import Workspace
from reverie.surface.mcp.bound import Rest

_LOOK = 0.25  # seconds between two looks at whether the process has ended
_PATIENCE = 5.0  # seconds that it has to end when it is asked to
_NICE = 10


class Running(Protocol):
    """A process: `subprocess.Popen` is one."""

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""


class Ran(msgspec.Struct, frozen=True):
    """When the last run ended, by the monotonic clock, and how many calls there had been when it began."""

    ended: float
    calls: int


def wait_for(rest: Rest, ran: Ran | None, *, now: float, settings: Settings) -> float:
    """Return for how many seconds nothing is due yet, 0 when it is.

    Due it is when nobody has asked for `mcp.idle_seconds`, and somebody has since the last run, or that is
    `dream.interval_seconds` ago.
    """
    idle = settings.mcp.idle_seconds
    if rest.busy:
        return idle
    quiet = rest.since + idle - now
    if ran is not None and ran.calls == rest.calls:
        quiet = max(quiet, ran.ended + settings.dream.interval_seconds - now)
    return max(quiet, 0.0)


def command_of(opening: Opening) -> list[str]:
    """Return the command that consolidates the workspace an `Opening` names."""
    told = {
        "--workspace": opening.path,
        "--agent-id": opening.agent,
        "--user": opening.user,
        "--config-dir": opening.config_dir,
    }
    words = [word for option, value in told.items() if value for word in (option, str(value))]
    words += [word for key, value in (opening.flags or {}).items() for word in ("--set", f"{key}={value}")]
    # -P: a folder called `reverie` where the client happens to stand is not the package.
    return [sys.executable, "-P", "-m", "reverie", *words, "consolidate"]


def start(command: Sequence[str], *, silent: bool = False) -> Running:
    """Start a command that reads and prints nothing, at low priority; what goes wrong is told on standard error.

    A `silent` one does not tell that either: what it says may hold words of the memory.
    """
    said = subprocess.DEVNULL if silent else None
    child = subprocess.Popen(  # noqa: S603 - our own words
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
    )
    with suppress(OSError, AttributeError):  # it may have ended already, and Windows has no such call
        os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)
    return child


def ended(child: Running, stop: threading.Event) -> int:
    """Wait until a process has ended, and return its exit code; once `stop` is set it is made to end."""
    while (code := child.poll()) is None:
        if stop.wait(_LOOK):
            child.terminate()
            try:
                return child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                return child.wait()
    return code


class Keeper:
    """A thread that consolidates while the server rests, for as long as it is entered."""

    def __init__(
        self,
        opening: Opening,
        rest: Callable[[], Rest],
        *,
        start: Callable[[Sequence[str]], Running] = start,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start nothing yet; `rest` tells whether anybody waits for an answer."""
        self._opening, self._rest, self._start, self._monotonic = opening, rest, start, monotonic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def __enter__(self) -> Self:
        """Begin to look after the workspace."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End, and with it what is running."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        """Wait for the workspace and for the turn of this process, then keep it until the end."""
        while not self._stop.is_set():
            pause = Settings().mcp.idle_seconds
            with suppress(ReverieError):  # what is wrong with it is told to whoever calls a tool
                opened = open_workspace(self._opening)
                ws, trusted = opened.ws, opened.trusted
                opened.close()
                pause = ws.settings.mcp.idle_seconds
                if trusted and ws.settings.enabled and ws.settings.mcp.consolidate:
                    with suppress(Busy), ws.locks.keeper(0, what="mcp"):
                        self._keep(ws)
            self._stop.wait(pause)

    def _keep(self, ws: Workspace) -> None:
        """Run what is due whenever it is, until the end."""
        ran: Ran | None = None
        while not self._stop.is_set():
            rest = self._rest()
            pause = wait_for(rest, ran, now=self._monotonic(), settings=ws.settings)
            if pause:
                self._stop.wait(pause)
                continue
            ended(self._start(command_of(self._opening)), self._stop)
            ran = Ran(self._monotonic(), rest.calls)
