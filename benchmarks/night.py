"""What a night costs beside many pages that it does not touch: the dream without a model, then index and publish."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.ground import Ground
from benchmarks.invented import FIRST
from benchmarks.stopwatch import Line, Times, scan, span

import reverie
from reverie import layout
from reverie.core.records import Draft
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.testing import FixedClock

RUN = 1.0  # seconds of a run without a model at 10,000 pages
PAGES = 10_000
_PAGE = "---\ntype: concept\ntitle: Concept {n}\nstatus: stable\n---\n\n# Concept {n}\n\nWhat is known of number {n}.\n"
_A_FOLDER = 500


def night(ground: Ground) -> Iterator[Line]:
    """Measure a dream of one entry and of twenty, and what follows it, beside as many pages as there may be."""
    number = PAGES // 10 if ground.quick else PAGES
    clock = FixedClock(FIRST)
    opening: Opening = ground.opening("nights", clock)
    with reverie.init(opening) as memory:
        folder = memory.root / layout.NOTEBOOK / "2_Wiki/Concepts"
        for n in range(number):
            path = folder / f"{n // _A_FOLDER}" / f"Concept {n}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_PAGE.format(n=n), "utf-8")
        _sleep(memory, clock, entries=1)  # takes in what a person wrote, and all pages into the index
        memory.recall("concept")
        reading = scan(folder.rglob("*.md"))
        for entries in (1, 20):
            dreams, indexing, publishing = Times(), Times(), Times()
            for _ in range(3 if ground.quick else 5):
                _sleep(memory, clock, entries=entries, dreams=dreams)
                indexing.take(lambda: memory.recall("concept"))
                publishing.take(memory.publish)
            met = dreams.centile(50) < RUN if number == PAGES and entries == 1 else None
            beside = f"beside {number:,} pages"
            for what, took in (("dream", dreams), ("index and recall", indexing), ("publish", publishing)):
                yield Line(
                    what=f"{what}, a night of {entries}, {beside}",
                    measured=str(took),
                    cpu=span(took.mean_cpu),
                    machine=f"scan of the pages {span(reading)}",
                    ratio=took.centile(50) / reading,
                    target=f"a run without a model < {RUN:.0f} s"
                    if what == "dream" and met is not None
                    else "",
                    met=met if what == "dream" else None,
                )


def _sleep(memory: Memory, clock: FixedClock, *, entries: int, dreams: Times | None = None) -> None:
    for n in range(entries):
        memory.remember(f"Depot {n} at {clock():%Y-%m-%d} holds {n + 3} pallets.", Draft(category="fact"))
    memory.drain()
    clock.advance(hours=25)
    (dreams or Times()).take(lambda: memory.dream(now=True))
