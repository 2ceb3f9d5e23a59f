"""Times, and what the machine itself takes: the two sides of every ratio.

Owns how a measurement is taken and printed; promises that what Reverie does and what the machine can do at best are
timed in turns, in the same run and on the same file system; never knows what is measured.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

KILOBYTE = b"x" * 999 + b"\n"


@dataclass
class Times:
    """What repetitions of one thing took: seconds by the clock, and of this thread's CPU."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, work: Callable[[], object]) -> None:
        """Do `work` once and add what it took."""
        cpu, wall = time.thread_time(), time.perf_counter()
        work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.thread_time() - cpu)

    def centile(self, percent: int) -> float:
        """Return the wall time that so many percent of the repetitions stayed within."""
        ordered = sorted(self.wall)
        return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

    @property
    def mean_cpu(self) -> float:
        """The mean of the CPU times."""
        return statistics.fmean(self.cpu)

    def __str__(self) -> str:
        """Return the centiles, or the median when there are too few repetitions for more."""
        if len(self.wall) < 20:
            return f"p50 {span(self.centile(50))}"
        return " · ".join(f"p{percent} {span(self.centile(percent))}" for percent in (50, 95, 99))


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the table. `met` is None where there is no target."""

    what: str
    measured: str
    cpu: str = ""
    machine: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


def additions() -> float:
    """Return the seconds this Python takes for a million additions, the best of five: how fast the core is now."""
    times = Times()
    for _ in range(5):
        times.take(lambda: sum(number + 1 for number in range(1_000_000)))
    return min(times.wall)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def span(seconds: float) -> str:
    """Return a time in the unit a person would use."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


class Appender:
    """The machine's own append and fsync of 1 kB, to a file opened beforehand."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._fd = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def __call__(self) -> None:
        """Append and sync once."""
        os.write(self._fd, KILOBYTE)
        os.fsync(self._fd)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def scan(paths: Iterable[Path]) -> float:
    """Return the seconds it takes to read the files from end to end and look for a word that is not there."""
    start = time.perf_counter()
    for path in paths:
        path.read_bytes().find(b"\0no such word\0")
    return time.perf_counter() - start


def copy(source: Iterable[Path], target: Path, *, pieces: int) -> float:
    """Return the seconds it takes to read the files and append their bytes in so many synced pieces."""
    start = time.perf_counter()
    data = b"".join(path.read_bytes() for path in source)
    size = -(-len(data) // max(pieces, 1))
    with target.open("ab", buffering=0) as file:
        for begin in range(0, len(data), size):
            file.write(data[begin : begin + size])
            os.fsync(file.fileno())
    spent = time.perf_counter() - start
    target.unlink()
    return spent


def table(lines: Iterable[Line]) -> str:
    """Return the lines as a Markdown table."""
    head = ("what", "measured", "CPU", "this machine's own", "ratio", "target", "")
    rows = [head, ("---",) * len(head)]
    for line in lines:
        ratio = (
            ""
            if line.ratio is None
            else f"{line.ratio:.1f} ×"
            if line.ratio >= 0.1
            else f"{line.ratio:.2g} ×"
        )
        met = {None: "", True: "yes", False: "NO"}[line.met]
        rows.append((line.what, line.measured, line.cpu, line.machine, ratio, line.target, met))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "| "
        + " | ".join(
            cell.ljust(width, "-" if cell == "---" else " ") for cell, width in zip(row, widths, strict=True)
        )
        + " |"
        for row in rows
    )
