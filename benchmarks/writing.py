"""What a write costs the agent that waits for it, alone and among eight."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import Queue

from benchmarks.ground import Ground
from benchmarks.invented import FIRST, Inventor
from benchmarks.stopwatch import Appender, Line, Times, span

import reverie
from reverie.core.records import Turn
from reverie.memory import Memory

WRITERS = 8
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


def _beside(ground: Ground, what: str, calls: list) -> Iterator[Line]:
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
    times: dict[str, list[float]] = {"bare": [], "capture": [], "remember": []}
    for turn in range(rounds):
        for kind, spent in times.items():
            spent.append(_together(ground, kind, number, turn))
    bare = statistics.median(times["bare"])
    for kind in ("capture", "remember"):
        ours = statistics.median(times[kind])
        yield Line(
            what=f"{WRITERS} processes, each {number} × {kind}",
            measured=f"{span(ours / number)} a round",
            machine=f"{WRITERS} bare writers {span(bare / number)}",
            ratio=ours / bare,
            target="≤ 2 ×",
            met=ours <= 2 * bare,
        )


def _together(ground: Ground, kind: str, number: int, turn: int) -> float:
    """Return the seconds from when all writers were ready until the last was done."""
    context = multiprocessing.get_context("spawn")
    ready, spans = context.Barrier(WRITERS), context.Queue()
    processes = [
        context.Process(target=_writer, args=(ground, kind, number, (turn, writer), ready, spans))
        for writer in range(WRITERS)
    ]
    for process in processes:
        process.start()
    found = [spans.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    return max(end for _, end in found) - min(start for start, _ in found)


def _writer(
    ground: Ground,
    kind: str,
    number: int,
    who: tuple[int, int],
    ready: Barrier,
    spans: Queue[tuple[float, float]],
) -> None:
    """Write `number` times, as one of the processes."""
    texts = _texts(number)
    name = f"{who[0]}-{who[1]}"
    path: Path = ground.folder / f"bare-{name}"
    append = Appender(path)
    memory = reverie.open(ground.opening("shared", lambda: FIRST))
    call = {
        "bare": lambda _: append(),
        "capture": lambda text: _turn(memory, f"session-{name}", text),
        "remember": memory.remember,
    }[kind]
    call(texts[0])
    ready.wait()
    start = time.monotonic()
    for text in texts:
        call(text)
    spans.put((start, time.monotonic()))
    append.close()
    memory.close()
