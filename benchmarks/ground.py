"""The folder a run measures in: workspaces of any size, made when first asked for and removed at the end.

Owns everything a run writes; promises that a workspace of `n` entries holds the first `n` invented ones, all drained,
and that its clock stands on the day after the last; never writes outside its folder.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from benchmarks.invented import FIRST, PER_DAY, Inventor
from benchmarks.stopwatch import copy

import reverie
from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Entry
from reverie.core.settings.value import Settings
from reverie.drain import drain
from reverie.memory import Memory
from reverie.opening import Opening
from reverie.store.workspace import Workspace

_PIECE = 10_000  # records of one segment


@dataclass(frozen=True)
class Draining:
    """What draining took: entries, seconds by the clock and of CPU, and the machine's own for the bytes."""

    number: int
    wall: float
    cpu: float
    machine: float


@dataclass
class Ground:
    """A folder for one run; `sizes` are how many entries the workspaces hold, `megabytes` how large an import is."""

    folder: Path
    sizes: tuple[int, ...]
    quick: bool
    megabytes: int = 100
    drainings: dict[int, Draining] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        """The run's own configuration, so that nobody's is read or written."""
        return self.folder / "config"

    def opening(self, name: str, clock: Callable[[], datetime], *, embedder: str = "none") -> Opening:
        """Return how to open the workspace `name`."""
        return Opening(
            path=self.folder / name,
            config_dir=self.config,
            environment={},
            settings=Settings(zone="UTC", embedder=embedder),
            clock=clock,
        )

    def fresh(self, name: str) -> Memory:
        """Return a new, empty memory."""
        return reverie.init(self.opening(name, lambda: FIRST))

    def path(self, number: int) -> Path:
        """Return the folder of the workspace with so many entries."""
        return self.folder / f"entries-{number}"

    def memory(self, number: int, *, embedder: str = "none") -> Memory:
        """Return the memory of the workspace with so many entries, made when it is not there yet."""
        end = FIRST + timedelta(days=-(-number // PER_DAY))
        opening = self.opening(self.path(number).name, lambda: end, embedder=embedder)
        if not self.path(number).exists():
            with reverie.init(opening) as memory:
                self.drainings[number] = fill(memory.opened.ws, number, self.folder / "copied")
        return reverie.open(opening)

    def logs(self, number: int) -> list[Path]:
        """Return the daily logs of the workspace with so many entries."""
        return sorted((self.path(number) / layout.ARCHIVE).glob("*.md"))

    def some(self, number: int, wanted: int) -> list[Entry]:
        """Return `wanted` of the entries that the workspace with so many holds, the same ones each time."""
        places = set(random.Random(number).sample(range(number), wanted))
        entries = islice(Inventor().entries(), number)
        return [entry for place, entry in enumerate(entries) if place in places]


def queue(ws: Workspace, number: int, inventor: Inventor) -> list[Path]:
    """Queue the next invented records as writers would have, and return the segments."""
    names: list[Path] = []
    piece: list[bytes] = []
    for place, record in enumerate(islice(inventor.records(), number), start=1):
        piece.append(framing.frame(record))
        if len(piece) == _PIECE or place == number:
            names.append(_segment(ws, len(names), b"".join(piece)))
            piece.clear()
    return names


def _segment(ws: Workspace, number: int, data: bytes) -> Path:
    path = f"{layout.SEGMENTS}/20200101T{number:06d}-{ws.new_id()}.jsonl"
    ws.disk.append(path, data)
    return ws.root / path


def fill(ws: Workspace, number: int, beside: Path) -> Draining:
    """Queue so many records and drain them."""
    segments = queue(ws, number, Inventor())
    machine = copy(segments, beside, pieces=-(-number // 1_000))
    wall, cpu = time.perf_counter(), time.process_time()
    done = drain(ws)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if done.stored != number:
        message = f"{number} records were queued and {done.stored} stored"
        raise RuntimeError(message)
    return Draining(number, wall, cpu, machine)
