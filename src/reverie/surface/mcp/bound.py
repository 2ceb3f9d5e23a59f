"""The one workspace a server is bound to, and the one thread on which everything in it is done.

Owns the open Memory; promises that it is opened when first needed and not before, that calls follow one another on one
thread in the order they came, and that a call nobody waits for any more is not begun; never lets a call's end depend on
whoever asked for it: what was begun is finished, and what it acknowledged is on disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from reverie.entrance import Opening
from reverie.errors import ReverieError
from reverie.later import later

if TYPE_CHECKING:
    from reverie import memory, opening
    from reverie.memory import Memory
else:
    memory, opening = later("reverie.memory"), later("reverie.opening")

T = TypeVar("T")


class Rest(msgspec.Struct, frozen=True):
    """How many calls wait or run, and since when, by the monotonic clock, there were none; `calls` is all so far."""

    busy: int
    since: float
    calls: int


class Bound:
    """A workspace named by an `Opening`. Until it can be opened each call fails with the reason, and the next tries.

    Where its settings were changed meanwhile, or it is another workspace now, it is opened anew before the next call: a
    topic that is never to be stored is not stored by a server that was started before.

    Whoever asks may have been let in for reading alone (`reads_only`); then tools that write are not offered.
    """

    reads_only = False

    def __init__(self, opening: Opening, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Open nothing yet."""
        self.opening = opening
        self._monotonic = monotonic
        self._memory: Memory | None = None
        self._folder: Path | None = None
        self._marks: tuple[object, ...] = ()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory")
        self._guard = threading.Lock()
        self._rest = Rest(0, monotonic(), 0)

    @property
    def rest(self) -> Rest:
        """Whether anybody waits for an answer."""
        return self._rest

    @cached_property
    def lends(self) -> bool:
        """Whether the settings let the client's own model dream and read turns."""
        with suppress(ReverieError):  # what is wrong with them is told to whoever calls a tool
            return self.opening.settings_at(self.folder).mcp.host_model
        return False

    @property
    def folder(self) -> Path:
        """The workspace's folder, whether or not there is one yet."""
        return self.opening.folder()

    def call(self, verb: Callable[[Memory], T]) -> Future[T]:
        """Have something done with the memory; raises from the future what opening it or `verb` raises."""
        self._count(1)
        future = self._thread.submit(lambda: verb(self._open()))
        future.add_done_callback(lambda _: self._count(-1))
        return future

    def close(self, *, drop: bool = True) -> None:
        """Let what was begun end, `drop` what was not or let it follow, and close the memory."""
        self._thread.shutdown(wait=True, cancel_futures=drop)
        self._close()

    def _open(self) -> Memory:
        if self._folder is None:
            self._folder = self.folder
        marks = self.opening.marks(self._folder)  # before what they stand for is read
        if self._memory is not None and marks != self._marks:
            self._close()
        if self._memory is None:
            self._memory, self._marks = memory.Memory(opening.open_workspace(self.opening)), marks
        return self._memory

    def _close(self) -> None:
        held, self._memory = self._memory, None
        if held is not None:
            held.close()

    def _count(self, change: int) -> None:
        with self._guard:
            old = self._rest
            self._rest = Rest(old.busy + change, self._monotonic(), old.calls + (change > 0))
