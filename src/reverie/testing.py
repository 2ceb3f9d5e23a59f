"""Fakes that make a memory's surroundings decidable: its disk, its clock, its ids, its model and its embedder.

Owns what tests of Reverie, ours and its users', put in place of the world; promises the same run for the same
arguments; never used by the package itself.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from reverie.errors import ReverieError
from reverie.index.embed.toy import ToyEmbedder
from reverie.model.agents import AgentModel
from reverie.model.asking import Reply, Request, Usage
from reverie.model.playing import Step, played
from reverie.store.filesystem.crashing import CrashSyscalls
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.unsynced import Crashed, Plan

__all__ = [
    "CrashDisk",
    "Crashed",
    "FixedClock",
    "ScriptedAgent",
    "ScriptedModel",
    "ToyEmbedder",
    "Wreck",
    "counter_ids",
    "crash_loop",
    "fail_loop",
]

Scenario = Callable[["CrashDisk", Callable[[str], None]], None]
Scripted = str | Reply | Exception | Callable[[Request], str | Reply]


class FixedClock:
    """A clock that shows what it was set to: `clock()`, `clock.advance(hours=3)`, `clock.set(instant)`."""

    def __init__(self, now: datetime) -> None:
        """Show `now`, an aware instant."""
        self.now = now

    def __call__(self) -> datetime:
        """Return the instant shown."""
        return self.now

    def set(self, now: datetime) -> None:
        """Show another instant, earlier ones too."""
        self.now = now

    def advance(self, **by: float) -> datetime:
        """Move on by the arguments of `timedelta` and return the instant shown then."""
        self.now += timedelta(**by)
        return self.now


def counter_ids(start: int = 1) -> Callable[[], str]:
    """Return a source of ids that counts: `0000000000000001`, `0000000000000002`, ..."""
    numbers = iter(range(start, 1 << 62))
    return lambda: f"{next(numbers):016x}"


class ScriptedModel:
    """A model that gives the replies it was given, one a call, and keeps what it was asked in `requests`.

    A reply is its text, a whole Reply, an exception to raise, or a function of the request. After the last one it
    raises AssertionError, or with `loop` gives the last again. A text counts four characters a token.

    >>> from reverie.model.asking import Request
    >>> from reverie.testing import ScriptedModel
    >>> model = ScriptedModel(["[]", lambda request: request.text.upper()])
    >>> ask = Request(purpose="summary", instructions="Shout.", text="tea")
    >>> [model.complete(ask).text for _ in range(2)]
    ['[]', 'TEA']
    >>> len(model.requests)
    2
    """

    def __init__(
        self, replies: Iterable[Scripted] = (), *, loop: bool = False, name: str = "scripted:model"
    ) -> None:
        """Answer with `replies` in turn, under a model's name."""
        self.name = name
        self.requests: list[Request] = []
        self._replies, self._loop = list(replies), loop

    def complete(self, request: Request) -> Reply:
        """Return the next reply, or raise it."""
        self.requests.append(request)
        at = len(self.requests) - 1
        if self._loop:
            at = min(at, len(self._replies) - 1)
        if not 0 <= at < len(self._replies):
            message = f"{self.name} was asked {len(self.requests)} times and has {len(self._replies)} replies"
            raise AssertionError(message)
        reply = self._replies[at]
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, Reply):
            return reply
        asked = len(request.instructions) + len(request.text)
        used = Usage(calls=1, input_tokens=asked // 4, output_tokens=len(reply) // 4)
        return Reply(text=reply, usage=used)


class ScriptedAgent(ScriptedModel):
    """A model on which an agent of Pydantic AI takes the steps it was given; `messages` is what it saw before each.

    A step is a text, which ends the run, a tool call `(name, arguments)` or several of them, a ModelFailed to raise, or
    a function of the messages that gives one of these. After the last one it raises AssertionError. `replies` answer
    what is asked outside of agents.

    >>> from reverie.testing import ScriptedAgent
    >>> agent = ScriptedAgent([("read", {"path": "index.md"}), "Done."])
    >>> agent.messages
    []
    """

    def __init__(
        self,
        steps: Iterable[Step | Callable[[Sequence[Any]], Step]],
        replies: Iterable[Scripted] = (),
        *,
        name: str = "scripted:agent",
    ) -> None:
        """Take `steps` in turn, under a model's name."""
        super().__init__(replies, name=name)
        self.messages: list[list[Any]] = []
        self._steps = list(steps)

    def agent_model(self) -> AgentModel:
        """Return the model object for an agent; needs the extra `models`."""
        return played(self._next, name=self.name)

    def _next(self, messages: Sequence[Any]) -> Step:
        """Return the step for what was said so far."""
        self.messages.append(list(messages))
        at = len(self.messages)
        if at > len(self._steps):
            text = f"{self.name} was asked for step {at} and has {len(self._steps)}"
            raise AssertionError(text)
        step = self._steps[at - 1]
        return step(messages) if callable(step) else step


class CrashDisk(Disk):
    """A Disk in a real folder that crashes at the n-th call that changes it, or fails that call.

    `crash_at=n` raises Crashed at the n-th counted call, after each effect not yet synced has landed, vanished or
    been torn as `seed` decides (0: all vanish, 1: all land, else by lot); from then on every call raises Crashed
    and the folder is what a power cut would leave. `fail_at=n` makes that call fail once with `error` (an errno;
    ENOSPC first takes half of a write), or every call from it on with `forever`. `calls` counts and `log` names
    the calls; they include opening for writing. `ops` are the calls, for another Disk under the same plan. See
    `store.filesystem.crashing` for what may happen.
    """

    def __init__(
        self,
        root: Path,
        *,
        crash_at: int = 0,
        seed: int = 0,
        fail_at: int = 0,
        error: int = errno.ENOSPC,
        forever: bool = False,
    ) -> None:
        """Begin in a real folder, whose present content counts as synced."""
        plan = Plan(crash_at=crash_at, seed=seed, fail_at=fail_at, error=error, forever=forever)
        self.ops = CrashSyscalls(os.path.realpath(root), plan)
        super().__init__(root, ops=self.ops)

    @property
    def calls(self) -> int:
        """How many calls were counted."""
        return self.ops.calls

    @property
    def log(self) -> list[str]:
        """The counted calls: kind and path, in order."""
        return self.ops.log

    def cut_power(self) -> None:
        """Crash now, without raising; nothing happens when it has crashed already."""
        self.ops.cut_power()


class Wreck(msgspec.Struct, frozen=True):
    """What one run of a scenario left: the folder, where and how it was stopped, and what had been acknowledged."""

    root: Path
    at: int
    seed: int
    told: list[str]
    log: list[str]


def crash_loop(
    make: Callable[[], Path], scenario: Scenario, *, seeds: Iterable[int] = (0, 1, 2, 3), step: int = 1
) -> Iterator[Wreck]:
    """Run a scenario until the power is cut, at each call that changes something and after the last, for each seed.

    `make` returns a fresh folder; `scenario(disk, tell)` works on it and calls `tell` with whatever was acknowledged.
    After each run the folder can be opened anew and must hold everything in `told`. `step` takes each n-th point.
    """
    plain = CrashDisk(make())
    scenario(plain, lambda _: None)
    points = [at for at, call in enumerate(plain.log, 1) if not call.startswith("open")]
    for at in [*points, plain.calls + 1][::step]:
        for seed in seeds:
            root, told = make(), list[str]()
            disk = CrashDisk(root, crash_at=at, seed=seed)
            with suppress(Crashed):
                scenario(disk, told.append)
            disk.cut_power()
            yield Wreck(root, at, seed, told, disk.log)


def fail_loop(
    make: Callable[[], Path],
    scenario: Scenario,
    *,
    errors: Iterable[int] = (errno.ENOSPC, errno.EIO, errno.EACCES),
) -> Iterator[Wreck]:
    """Run a scenario with each counted call failing once with each error, and cut the power after it.

    The scenario may end with a ReverieError; any other error is raised. `seed` of the result is the errno.
    """
    plain = CrashDisk(make())
    scenario(plain, lambda _: None)
    for at in range(1, plain.calls + 1):
        for error in errors:
            root, told = make(), list[str]()
            disk = CrashDisk(root, fail_at=at, error=error)
            with suppress(ReverieError):
                scenario(disk, told.append)
            disk.cut_power()
            yield Wreck(root, at, error, told, disk.log)
