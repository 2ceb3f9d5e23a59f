"""What a write costs the agent that waits for it, alone and among eight."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.synchronize import Barrier
from queue import Queue

from benchmarks.ground import Ground
from benchmarks.invented import FIRST, Inventor
from benchmarks.stopwatch import Appender, Line, Times, cores, span

import reverie
from reverie.core.records import Turn
from reverie.memory import Memory

WRITERS = 8
KINDS = ("bare", "capture", "remember")
LONGEST = 5e-3  # seconds, at p95
BEYOND = 5e-4  # seconds of CPU beyond one bare append+fsync


def capture(ground: Ground) -> Iterator[Line]:
    """Measure turns of 1 kB of one session, redaction included."""
    texts = _texts(300 if ground.quick else 2_000)
    with ground.fresh("captured") as memory:
        yield from _beside(
            ground, "capture, 1 kB turn", [lambda text=text: _turn(memory, "s1", text) for text in texts]
        )


def remember(ground: Ground) -> Iterator[Line]:
    """Measure explicit writes of 1 kB, redaction included."""
    texts = _texts(300 if ground.quick else 2_000)
    with ground.fresh("remembered") as memory:
        yield from _beside(
            ground, "remember, 1 kB text", [lambda text=text: memory.remember(text) for text in texts]
        )


def _texts(number: int) -> list[str]:
    inventor = Inventor()
    return [inventor.kilobyte() for _ in range(number)]


def _turn(memory: Memory, session: str, text: str) -> None:
    memory.capture(session, Turn(role="user", content=text, at=FIRST))


def _beside(ground: Ground, what: str, calls: Sequence[Callable[[], object]]) -> Iterator[Line]:
    """Time the calls in turns with bare appends."""
    bare, ours = Times(), Times()
    append = Appender(ground.folder / "bare")
    for number, call in enumerate(calls):
        (Times() if number < 20 else bare).take(append)
        (Times() if number < 20 else ours).take(call)
    append.close()
    yield Line(
        what=what,
        measured=str(ours),
        cpu=span(ours.mean_cpu),
        machine=f"append+fsync {bare}",
        ratio=ours.centile(95) / bare.centile(95),
        target=f"p95 < {span(LONGEST)}",
        met=ours.centile(95) < LONGEST,
    )
    beyond = ours.mean_cpu - bare.mean_cpu
    yield Line(
        what=f"{what}: CPU beyond the append+fsync",
        measured=span(beyond),
        machine=f"append+fsync CPU {span(bare.mean_cpu)}",
        ratio=ours.mean_cpu / bare.mean_cpu,
        target=f"≤ {span(BEYOND)}",
        met=beyond <= BEYOND,
    )


def writers(ground: Ground) -> Iterator[Line]:
    """Measure eight processes that write to one workspace at once, beside eight bare ones with files of their own."""
    number, rounds = (50, 3) if ground.quick else (300, 5)
    ground.fresh("shared").close()
    times = _together(ground, number, rounds)
    bare, _ = times["bare"]
    for kind in KINDS[1:]:
        ours, cpu = times[kind]
        yield Line(
            what=f"{WRITERS} processes at once, each {number} × {kind}",
            measured=f"{span(ours / number)} until each has written once",
            cpu=span(cpu / number),
            machine=f"{WRITERS} bare writers {span(bare / number)}",
            ratio=ours / bare,
            target="≤ 2 ×",
            met=ours <= 2 * bare,
        )
        waited = max(0.0, ours - WRITERS * cpu / cores())
        yield Line(
            what=f"{WRITERS} × {kind}: beyond what {cores()} cores compute",
            measured=span(waited / number),
            machine=f"{WRITERS} bare writers {span(bare / number)}",
            ratio=waited / bare,
        )


def _together(ground: Ground, number: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Return for each kind the seconds from when all were ready until the last was done, and one writer's CPU.

    Both are medians of the rounds.
    """
    context = multiprocessing.get_context("spawn")
    ready, spans = context.Barrier(WRITERS), context.Queue()
    processes = [
        context.Process(target=_writer, args=(ground, writer, (number, rounds), ready, spans))
        for writer in range(WRITERS)
    ]
    for process in processes:
        process.start()
    times: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        for spent in times.values():
            found = [spans.get(timeout=300) for _ in processes]
            wall = max(end for _, end, _ in found) - min(start for start, _, _ in found)
            spent.append((wall, statistics.fmean(cpu for _, _, cpu in found)))
    for process in processes:
        process.join()
    return {
        kind: (statistics.median(wall for wall, _ in spent), statistics.median(cpu for _, cpu in spent))
        for kind, spent in times.items()
    }


def _writer(
    ground: Ground,
    name: int,
    times: tuple[int, int],
    ready: Barrier,
    spans: Queue[tuple[float, float, float]],
) -> None:
    """Write in turns in each way, so many times a round, as one of the processes."""
    number, rounds = times
    texts = _texts(number)
    append = Appender(ground.folder / f"bare-{name}")
    memory = reverie.open(ground.opening("shared", lambda: FIRST))
    calls: dict[str, Callable[[str], object]] = {
        "bare": lambda _: append(),
        "capture": lambda text: _turn(memory, f"session-{name}", text),
        "remember": memory.remember,
    }
    for call in calls.values():
        call(texts[0])
    for _ in range(rounds):
        for kind in KINDS:
            ready.wait()
            start, cpu = time.monotonic(), time.thread_time()
            for text in texts:
                calls[kind](text)
            spans.put((start, time.monotonic(), time.thread_time() - cpu))
            ready.wait()
    append.close()
    memory.close()
