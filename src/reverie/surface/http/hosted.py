"""Many workspaces beneath one root, each opened when it is first asked for and closed when nobody does any more.

Owns which folder a name means, and the open memories; promises that a name reaches a workspace directly beneath the
root and nothing else, that what is done with one memory is done on one thread in the order it came, that what takes
long does not hold up what is quick, and that only so many are open as are in use or fit; never opens one before it is
needed, and never lets an acknowledged write depend on a memory staying open.
"""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from reverie import layout
from reverie.core.text.names import safe_name
from reverie.entrance import Opening
from reverie.errors import Busy, Conflict, NotAWorkspace, UsageError
from reverie.memory import Memory
from reverie.opening import make_workspace, trust_workspace
from reverie.surface.mcp.bound import Bound

T = TypeVar("T")

MOST = 64  # memories kept open
RESTING = 600.0  # seconds without a call, after which one is closed

_PLAIN = re.compile(r"[^./\\:\x00-\x1f\x7f][^/\\:\x00-\x1f\x7f]*")


class _Lane(NamedTuple):
    """One open memory: the workspace's folder name, the person, and whether it is the one for what takes long."""

    name: str
    user: str
    long: bool


class Hosted:
    """The workspaces beneath a root, for any number of threads. Close it when nobody asks any more."""

    def __init__(
        self,
        root: Path,
        *,
        opening: Opening | None = None,
        most: int = MOST,
        resting: float = RESTING,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open nothing yet; `opening` says what all of them share: configuration, flags, clock, model."""
        self.root = Path(os.path.realpath(root))
        self._opening = opening or Opening()
        self._most, self._resting, self._monotonic = most, resting, monotonic
        self._open: OrderedDict[_Lane, Bound] = OrderedDict()
        self._guard = threading.Lock()
        self._closer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="closing")
        self._closed = False

    def names(self) -> list[str]:
        """Return the folder names of the workspaces there are, sorted; links are none."""
        try:
            with os.scandir(self.root) as found:
                names = sorted(one.name for one in found if one.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        return [name for name in names if self._is_workspace(name)]

    def name(self, asked: str) -> str:
        """Return the folder name of the workspace that a folder's or an agent's name means; raises NotAWorkspace."""
        for name in candidates(asked):
            if self._is_workspace(name):
                return name
        raise NotAWorkspace(f"there is no workspace {asked[:100]!r} here: list those there are, or make it")

    def opening(self, asked: str, user: str = "") -> Opening:
        """Return how the workspace is opened; raises NotAWorkspace."""
        return self._of(self.name(asked), user)

    def call(
        self, asked: str, verb: Callable[[Memory], T], *, user: str = "", long: bool = False
    ) -> Future[T]:
        """Have something done with a memory; raises NotAWorkspace, Busy when it is closing.

        What may take more than a moment says `long`, and runs beside what does not, as in another process.
        """
        name = self.name(asked)
        lane = _Lane(name, user, long)
        with self._guard:
            if self._closed:
                raise Busy("the server is stopping: try again when it is back")
            bound = self._open.get(lane)
            if bound is None:
                bound = self._open[lane] = Bound(self._of(name, user), monotonic=self._monotonic)
            self._open.move_to_end(lane)
            future = bound.call(verb)  # under the guard: one that has a call is not closed
            self._spare()
        return future

    def make(self, agent: str) -> str:
        """Make a workspace for an agent and return its folder name; raises Conflict when there is one."""
        if not agent.strip():
            raise UsageError("the agent has no name: say how it is called")
        if any(self._is_workspace(name) for name in candidates(agent)):
            raise Conflict(
                f"there is a workspace for {agent[:100]!r} already: use it, or choose another name"
            )
        name = safe_name(agent)
        opening = msgspec.structs.replace(self._of(name, ""), agent=agent)
        Memory(make_workspace(opening)).close()
        return name

    def trust(self, asked: str) -> str:
        """Say that a workspace which came from elsewhere is the user's own, and return its folder name."""
        name = self.name(asked)
        Memory(trust_workspace(self._of(name, ""))).close()
        self.drop(name)
        return name

    @property
    def config(self) -> Path:
        """The folder of the user's own configuration."""
        return self._opening.config()

    def drop(self, name: str) -> None:
        """Close what is open of a workspace, so that the next call reads its settings anew."""
        with self._guard:
            for lane in [lane for lane in self._open if lane.name == name]:
                self._close(lane)

    @property
    def open(self) -> int:
        """How many memories are open."""
        return len(self._open)

    @property
    def busy(self) -> int:
        """How many calls wait or run."""
        with self._guard:
            return sum(bound.rest.busy for bound in self._open.values())

    def close(self) -> None:
        """Let what was begun end, drop what was not, and close every memory."""
        with self._guard:
            self._closed = True
            for lane in list(self._open):
                self._close(lane, drop=True)
        self._closer.shutdown(wait=True)

    def _of(self, name: str, user: str) -> Opening:
        return msgspec.structs.replace(self._opening, path=self.root / name, agent=None, user=user)

    def _is_workspace(self, name: str) -> bool:
        """Tell whether a workspace lies beneath the root under exactly this name."""
        if not _PLAIN.fullmatch(name):
            return False
        try:
            # By `lstat` on the folder: a link would lead out of the root.
            folder = (self.root / name).lstat()
            return os.path.isfile(self.root / name / layout.ORIGIN) and not stat.S_ISLNK(folder.st_mode)  # noqa: PTH113
        except (OSError, ValueError):  # no such name, or one that no file system takes
            return False

    def _spare(self) -> None:
        """Close what has rested long, and the longest resting ones beyond the number that is kept."""
        now = self._monotonic()
        spare = len(self._open) - self._most
        for lane, bound in list(self._open.items()):
            rest = bound.rest
            if rest.busy == 0 and (spare > 0 or now - rest.since > self._resting):
                self._close(lane)
                spare -= 1

    def _close(self, lane: _Lane, *, drop: bool = False) -> None:
        """Close one memory aside, for it may have to write what it was shown; what waits is done first, or dropped."""
        self._closer.submit(self._open.pop(lane).close, drop=drop)


def candidates(asked: str) -> tuple[str, ...]:
    """Return the folder names that a folder's or an agent's name may mean, the likelier first."""
    return (asked, safe_name(asked)) if asked else ()
