"""What a question costs, and opening a memory to ask it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from benchmarks.ground import Ground, queue
from benchmarks.invented import Inventor
from benchmarks.stopwatch import Line, Times, scan, span

from reverie.drain import drain
from reverie.memory import Memory

RECALL = {10_000: 5e-3, 100_000: 10e-3, 1_000_000: 50e-3}  # entries -> seconds, at p95
HYBRID = {100_000: 40e-3}  # as above, by words and meaning, the embedder's time for the question aside
EMBEDDED = 100_000  # entries beyond which embedding them would take the run's time
OPEN, STATUS = 1.0, 0.1  # seconds at 1,000,000 entries
QUEUED = 1_000


def recall(ground: Ground) -> Iterator[Line]:
    """Measure questions whose answer is known to be there, through the verb an agent calls."""
    for number in ground.sizes:
        with ground.memory(number) as memory:
            memory.opened.rebuild()
            yield _line(ground, number, f"recall, {number:,} entries", _asked(ground, memory, number), RECALL)
            if number == ground.sizes[0]:
                queue(memory.opened.ws, QUEUED, Inventor(seed=1))
                what = f"recall, {number:,} entries and {QUEUED:,} not yet drained"
                yield _line(ground, number, what, _asked(ground, memory, number))
                drain(memory.opened.ws)
        if number <= EMBEDDED:
            yield from _by_meaning(ground, number)


def _by_meaning(ground: Ground, number: int) -> Iterator[Line]:
    """Measure the same questions by words and meaning, where an offline embedder is installed."""
    with ground.memory(number, embedder="auto") as memory:
        index = memory.opened.index
        if not index.embedder:
            return
        while memory.recall("the invoice").behind:
            pass
        index.embed()
        if index.vectorless():
            message = f"{index.vectorless()} of {number} entries have no vector: {index.trouble()}"
            raise RuntimeError(message)
        asking = Times()
        for question, _ in _questions(ground, number):  # kept by the index, which asks for none twice
            asking.take(partial(index.meaning, question))
        what = f"recall by words and meaning, {number:,} entries; a question's vector aside"
        yield _line(ground, number, what, _asked(ground, memory, number), HYBRID)
        yield Line(
            what=f"a question's vector, by `{index.embedder}`",
            measured=str(asking),
            cpu=span(asking.mean_cpu),
        )


def _questions(ground: Ground, number: int) -> list[tuple[str, str]]:
    """Return questions about entries of the workspace with so many, each with the id of its answer."""
    inventor = Inventor(seed=2)
    wanted = ground.some(number, 100 if ground.quick else 400)
    return [(inventor.question(entry), entry.id) for entry in wanted]


def _asked(ground: Ground, memory: Memory, number: int) -> Times:
    ours, questions, found = Times(), _questions(ground, number), 0
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
    return ours


def _line(
    ground: Ground, number: int, what: str, ours: Times, goals: Mapping[int, float] | None = None
) -> Line:
    reading, goal = scan(ground.logs(number)), (goals or {}).get(number)
    return Line(
        what=what,
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
