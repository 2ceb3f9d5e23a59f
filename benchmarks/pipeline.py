"""What the steps behind an agent's back cost: drain, extract, rebuild, publish."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
from benchmarks.ground import Ground, queue
from benchmarks.invented import FIRST, Inventor
from benchmarks.stopwatch import Appender, Line, Times, scan, span

from reverie import layout

RATE = 20_000  # records a second
FLAT = 1.5  # cost per record at the largest size over that at the smallest
SMALL = 10  # records of a drain in the middle of a conversation
REBUILD = 20.0  # seconds for 100,000 entries
READ = 5_000  # turns a second, by rule and with links
PUBLISH = 1.0  # seconds from 100,000 entries
SPEAKERS = 40  # turns of a session
WARMING = 25  # sessions that are read before the clock runs


def drain(ground: Ground) -> Iterator[Line]:
    """Measure draining a whole queue into an empty workspace, and a few records into a full one."""
    ground.memory(100).close()  # what a process does once, as compiling patterns, is not what is asked here
    for number in (1_000, *ground.sizes):
        ground.memory(number).close()
        took = ground.drainings[number]
        yield Line(
            what=f"drain {number:,} records",
            measured=f"{number / took.wall:,.0f}/s · {span(took.wall / number)} each",
            cpu=f"{span(took.cpu / number)} each",
            machine=f"read+append+fsync of the same bytes {span(took.machine)}",
            ratio=took.wall / took.machine,
            target=f"≥ {RATE:,}/s",
            met=number / took.wall >= RATE,
        )
    each = [ground.drainings[number].cpu / number for number in (1_000, *ground.sizes)]
    yield Line(
        what=f"drain: a record among {ground.sizes[-1]:,}, against one among 1,000",
        measured=f"{each[-1] / each[0]:.2f} × its CPU",
        target=f"flat: ≤ {FLAT} ×",
        met=each[-1] <= FLAT * each[0],
    )
    yield _few(ground, ground.sizes[-1])


def _few(ground: Ground, number: int) -> Line:
    bare, ours, inventor = Times(), Times(), Inventor(seed=number)
    append = Appender(ground.folder / "bare")
    with ground.memory(number) as memory:
        memory.publish()
        memory.drain()  # so that the state and the first MEMORY.md of the minute are behind us
        for _ in range(20 if ground.quick else 40):
            queue(memory.opened.ws, SMALL, inventor)
            bare.take(append)
            ours.take(memory.drain)
    append.close()
    return Line(
        what=f"drain {SMALL} records into {number:,} entries, MEMORY.md when due",
        measured=str(ours),
        cpu=span(ours.mean_cpu),
        machine=f"append+fsync p50 {span(bare.centile(50))}",
        ratio=ours.centile(50) / bare.centile(50),
    )


def extract(ground: Ground) -> Iterator[Line]:
    """Measure reading turns by rule, from the turn to the linked entry, without and with entries to link to.

    One user turn in three says something, or, as in talk that is not made to be remembered, one in ten.
    """
    for number, telling in ((0, 1 / 3), (0, 1 / 10), (ground.sizes[0], 1 / 3)):
        turns = 1_000 if ground.quick else 4_000
        memory = ground.memory(number) if number else ground.fresh(f"extracted-{telling:.2f}")
        with memory:
            memory.recall("what is known?")  # so that the index is built before the clock runs
            inventor = Inventor(seed=number)
            for n, turn in enumerate(islice(inventor.turns(telling), turns + WARMING * SPEAKERS)):
                at = turn.at + (memory.opened.ws.clock() - FIRST)
                memory.capture(f"talk-{n // SPEAKERS}", msgspec.structs.replace(turn, at=at))
            # What a process does once, as compiling each pattern that ever comes near a match, is not asked here.
            memory.extract(f"talk-{n}" for n in range(WARMING))
            wall, cpu = time.perf_counter(), time.process_time()
            done = memory.extract()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            reading = scan((memory.root / layout.SESSIONS).glob("*.jsonl"))
        yield Line(
            what=f"extract {turns:,} turns ({done.entries:,} entries), beside {number:,} known",
            measured=f"{turns / wall:,.0f}/s · {span(wall / turns)} each",
            cpu=f"{turns / cpu:,.0f}/s · {span(cpu / turns)} each",
            target=f"≥ {READ:,}/s of CPU",
            met=turns / cpu >= READ,
            machine=f"scan of the sessions {span(reading)}",
            ratio=wall / reading,
        )


def rebuild(ground: Ground) -> Iterator[Line]:
    """Measure making everything derived again from the files."""
    for number in ground.sizes:
        with ground.memory(number) as memory:
            _remove(memory.root / layout.INDEX)
            wall, cpu = time.perf_counter(), time.process_time()
            memory.opened.state_now()
            state = time.perf_counter() - wall
            memory.opened.rebuild()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            derived = sum(
                path.stat().st_size for path in (memory.root / layout.INDEX).rglob("*") if path.is_file()
            )
        reading = scan(ground.logs(number))
        yield Line(
            what=f"rebuild from {number:,} entries",
            measured=f"{span(wall)}, the state {span(state)} of it; {derived / 1e6:.0f} MB",
            cpu=span(cpu),
            machine=f"scan of the logs {span(reading)}",
            ratio=wall / reading,
            target=f"100,000 in < {REBUILD:.0f} s" if number == 100_000 else "",
            met=wall < REBUILD if number == 100_000 else None,
        )


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def publish(ground: Ground) -> Iterator[Line]:
    """Measure compiling MEMORY.md, state included, each time after something changed."""
    for number in ground.sizes:
        with ground.memory(number) as memory:
            memory.publish()
            ours = Times()
            for n in range(3 if ground.quick else 7):
                memory.remember(f"A change worth publishing, number {n}.")
                ours.take(memory.publish)
        reading = scan(ground.logs(number))
        yield Line(
            what=f"publish from {number:,} entries",
            measured=str(ours),
            cpu=span(ours.mean_cpu),
            machine=f"scan of the logs {span(reading)}",
            ratio=ours.centile(50) / reading,
            target=f"100,000 in < {PUBLISH:.0f} s" if number == 100_000 else "",
            met=ours.centile(50) < PUBLISH if number == 100_000 else None,
        )
