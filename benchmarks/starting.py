"""What a new process costs: importing, the help of the command, and memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence

from benchmarks.ground import Ground
from benchmarks.stopwatch import Line, Times, span

IMPORT, HELP = 0.1, 0.2  # seconds
MEGABYTES = 300

# The peak that Linux keeps for the program alone; getrusage there includes the parent's, from before it was replaced.
_MEMORY = """
import pathlib, resource, sys
if len(sys.argv) > 1:
    import reverie
    from reverie import Opening
    from reverie.core.settings import Settings
    path, config = map(pathlib.Path, sys.argv[1:])
    memory = reverie.open(Opening(path=path, config_dir=config, environment={}, settings=Settings(zone="UTC")))
    memory.recall("what about the invoice?")
    memory.status()
peak = pathlib.Path("/proc/self/status")
if peak.exists():
    print(int(peak.read_text().partition("VmHWM:")[2].split()[0]) / 1024)
else:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(used / (1024 * 1024 if sys.platform == "darwin" else 1024))
"""


def start(ground: Ground) -> Iterator[Line]:
    """Measure new processes in turns with bare interpreters."""
    bare, package, verbs, help_ = Times(), Times(), Times(), Times()
    for _ in range(5 if ground.quick else 15):
        bare.take(lambda: _run("-c", "pass"))
        package.take(lambda: _run("-c", "import reverie"))
        verbs.take(lambda: _run("-c", "import reverie; reverie.Memory"))
        help_.take(lambda: _run("-m", "reverie", "--help"))
    started = bare.centile(50)
    for what, times, limit, beyond in (
        ("import reverie", package, IMPORT, True),
        ("import reverie, with every verb", verbs, None, True),
        ("reverie --help", help_, HELP, False),
    ):
        took = times.centile(50) - (started if beyond else 0.0)
        yield Line(
            what=what,
            measured=f"p50 {span(took)}" + (" beyond it" if beyond else ""),
            machine=f"a bare interpreter {span(started)}",
            ratio=times.centile(50) / started,
            target=f"< {span(limit)}" if limit else "",
            met=took < limit if limit else None,
        )


def memory(ground: Ground) -> Iterator[Line]:
    """Measure the most memory a process has held that opened a workspace, asked once and looked at the status."""
    empty = float(_run("-c", _MEMORY))
    for number in ground.sizes:
        with ground.memory(number) as open_:
            open_.opened.rebuild()
        used = float(_run("-c", _MEMORY, str(ground.path(number)), str(ground.config)))
        yield Line(
            what=f"memory, {number:,} entries open",
            measured=f"{used:.0f} MB",
            machine=f"a bare interpreter {empty:.0f} MB",
            ratio=used / empty,
            target=f"100,000 in < {MEGABYTES} MB" if number == 100_000 else "",
            met=used < MEGABYTES if number == 100_000 else None,
        )


def _run(*arguments: str) -> str:
    command: Sequence[str] = (sys.executable, *arguments)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
