"""What a question costs, and opening a memory to ask it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.ground import Ground, queue
from benchmarks.invented import Inventor
from benchmarks.stopwatch import Line, Times, scan, span

from reverie.drain import drain
from reverie.memory import Memory

RECALL = {10_000: 5e-3, 100_000: 10e-3, 1_000_000: 50e-3}  # entries -> seconds, at p95
OPEN, STATUS = 1.0, 0.1  # seconds at 1,000,000 entries
QUEUED = 1_000


def recall(ground: Ground) -> Iterator[Line]:
    """Measure questions whose answer is known to be there, through the verb an agent calls."""
    for number in ground.sizes:
        with ground.memory(number) as memory:
            memory.opened.rebuild()
            yield _asked(ground, memory, number)
            if number == ground.sizes[0]:
                queue(memory.opened.ws, QUEUED, Inventor(seed=1))
                yield _asked(ground, memory, number, queued=QUEUED)
                drain(memory.opened.ws)


def _asked(ground: Ground, memory: Memory, number: int, *, queued: int = 0) -> Line:
    inventor, ours = Inventor(seed=2), Times()
    wanted = ground.some(number, 100 if ground.quick else 400)
    questions = [(inventor.question(entry), entry.id) for entry in wanted]
    found = 0
    for question, _ in questions[:10]:
        memory.recall(question)
    for question, answer in questions:
        hits: list[str] = []
        ours.take(
            lambda question=question, hits=hits: hits.extend(hit.id for hit in memory.recall(question).hits)
        )
        found += answer in hits
    if found < len(questions) // 3:
        message = f"recall found {found} of {len(questions)} answers: its time means nothing"
        raise RuntimeError(message)
    reading, target = scan(ground.logs(number)), RECALL.get(number)
    goal = None if queued else target
    return Line(
        what=f"recall, {number:,} entries" + (f" and {queued:,} not yet drained" if queued else ""),
        measured=str(ours),
        cpu=span(ours.mean_cpu),
        machine=f"scan of the logs {span(reading)}",
        ratio=ours.centile(95) / reading,
        target=f"p95 < {span(goal)}" if goal else "",
        met=ours.centile(95) < goal if goal else None,
    )


def opening(ground: Ground) -> Iterator[Line]:
    """Measure a new `Memory` up to its first answer, and the status of an open one, nothing having changed."""
    for number in ground.sizes:
        with ground.memory(number) as memory:
            memory.opened.rebuild()
            memory.status()
        reading, first, status = scan(ground.logs(number)), Times(), Times()
        for _ in range(5):
            first.take(partial(_first_answer, ground, number))
        with ground.memory(number) as memory:
            memory.status()
            for _ in range(10):
                status.take(memory.status)
        largest = number == 1_000_000
        for what, times, limit in (("open and first recall", first, OPEN), ("status", status, STATUS)):
            yield Line(
                what=f"{what}, {number:,} entries",
                measured=str(times),
                cpu=span(times.mean_cpu),
                machine=f"scan of the logs {span(reading)}",
                ratio=times.centile(50) / reading,
                target=f"< {span(limit)}" + ("" if largest else " at 1,000,000"),
                met=times.centile(50) < limit,
            )


def _first_answer(ground: Ground, number: int) -> None:
    with ground.memory(number) as memory:
        memory.recall("what about the invoice?")
