"""Measure Reverie beside what this machine can do at best, and print one table.

Run `python -m benchmarks [NAMES...] [--quick | --full] [--folder FOLDER]`, or `make bench`. NAMES are measurements,
all of them but `import` by default. `--quick` measures up to 10,000 entries in about a minute, the default up to
100,000, `--full` up to 1,000,000. Everything is written to a folder of its own in FOLDER (the system's for temporary
files), on whose file system the times depend, and removed at the end.

Each line has the machine's own time for the least that any program would have to do, taken in the same run. CPU is that
of the thread that waits. `benchmarks.recall_quality` measures how well recall finds, not how fast.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import importing, night, pipeline, reading, starting, writing
from benchmarks.ground import Ground
from benchmarks.stopwatch import Line, additions, cores, span, table

MEASUREMENTS: dict[str, Callable[[Ground], Iterator[Line]]] = {
    "capture": writing.capture,
    "remember": writing.remember,
    "writers": writing.writers,
    "drain": pipeline.drain,
    "rebuild": pipeline.rebuild,
    "recall": reading.recall,
    "open": reading.opening,
    "memory": starting.memory,
    "publish": pipeline.publish,
    "extract": pipeline.extract,
    "night": night.night,
    "start": starting.start,
    "mcp": starting.mcp,
    "import": importing.imports,
}
APART = ("import",)  # measured when it is named: it takes many minutes
SIZES = {"quick": (10_000,), "": (10_000, 100_000), "full": (10_000, 100_000, 1_000_000)}


def main() -> None:
    """Print the table; exit with 1 when a target was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAMES", help=", ".join(MEASUREMENTS))
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", dest="size", action="store_const", const="quick", default="", help="up to 10,000 entries"
    )
    size.add_argument(
        "--full", dest="size", action="store_const", const="full", help="up to 1,000,000 entries"
    )
    parser.add_argument(
        "--megabytes", type=int, default=100, help="the size of each file that `import` takes in"
    )
    parser.add_argument("--folder", type=Path, help="where to make the folder that is measured in")
    given = parser.parse_args()
    if unknown := set(given.names) - set(MEASUREMENTS):
        parser.error(
            f"no measurement is called {', '.join(sorted(unknown))}: there are {', '.join(MEASUREMENTS)}"
        )
    begun, speed = time.monotonic(), additions()
    lines: list[Line] = []
    folder = Path(tempfile.mkdtemp(prefix="reverie-bench-", dir=given.folder))
    try:
        ground = Ground(folder, SIZES[given.size], quick=given.size == "quick", megabytes=given.megabytes)
        for name, measure in MEASUREMENTS.items():
            if name in given.names or not (given.names or name in APART):
                for line in measure(ground):
                    lines.append(line)
                    print(f"{line.what}: {line.measured}", file=sys.stderr)
        print(f"{machine(folder)}; a million additions {span(speed)} before, {span(additions())} after")
    finally:
        shutil.rmtree(folder)
    print(f"\n{table(lines)}\n")
    missed = [line.what for line in lines if line.met is False]
    print(f"{len(lines)} lines in {time.monotonic() - begun:.0f} s; {len(missed)} targets missed")
    sys.exit(bool(missed))


def machine(folder: Path) -> str:
    """Return what the times depend on besides the code: cores, load, interpreter and file system."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.system()} {platform.machine()}, {cores()} cores{load}; "
        f"{platform.python_implementation()} {platform.python_version()}; {_file_system(folder)}"
    )


def _file_system(folder: Path) -> str:
    """Return the kind of file system `folder` lies on, as `df` names it."""
    try:
        done = subprocess.run(["df", "-PT", str(folder)], check=True, capture_output=True, text=True)  # noqa: S603, S607
    except (OSError, subprocess.CalledProcessError):
        return "file system unknown"
    return done.stdout.splitlines()[-1].split()[1]


if __name__ == "__main__":
    main()
