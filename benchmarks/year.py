"""A year of one agent, dreamt by rule: what each night costs, and what the notebook looks like at its end.

Run `python -m benchmarks.year [--days N] [--per-day N] [--sprint]`. Each invented day is queued, drained, dreamt,
published and brought into the index, as `reverie consolidate` does it once a night; with `--sprint` nobody dreams until
the year is over, and one dream works the whole backlog off. All statements are explicit writes, for which the dream
itself looks for what they repeat or change; entries of an extraction bring their links along.

An invented day has what real ones have: new statements, statements about the same few hundred people and projects,
statements said before in the same words, and changes of what was said. The data is the same for every run.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from benchmarks.invented import FIRST, SEED, Inventor

import reverie
from reverie import layout
from reverie.core.pages.citations import citations
from reverie.core.records import Draft, Outcome, Run
from reverie.core.settings.value import DreamSettings, Settings
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.store import pages, stream
from reverie.store.versions.git import History
from reverie.testing import FixedClock

TARGET = 60.0  # seconds for the dreams of a year
_CATEGORIES = "fact preference work project technical episode decision personal lesson goal procedure".split()
_WEIGHTS = (28, 14, 10, 12, 10, 12, 6, 4, 2, 1, 1)
_PEOPLE = "Amara Bruno Celia Dmitri Elif Farid Greta Hana Imani Joona Katya Lars Mina Nadia Oskar".split()
_PROJECTS = "Aurora Borealis Cinder Dovetail Ember Falcon Glacier Harbour Iris Juniper".split()
_EMPLOYERS = "Zephyr Logistics,Marlow Bank,Kestrel Labs,Orchard Foods,Tidal Energy".split(",")


class Year:
    """The statements of a year, day by day; the same seed gives the same ones."""

    def __init__(self, per_day: int) -> None:
        """Begin with nothing said."""
        self._lot = random.Random(SEED)
        self._new = Inventor(SEED)
        self._said: list[tuple[str, Draft]] = []
        self._per_day = per_day

    def day(self) -> Iterator[tuple[str, Draft]]:
        """Yield the statements of the next day."""
        for _ in range(self._per_day):
            if self._said and self._lot.random() < 0.15:
                yield self._lot.choice(self._said[-2_000:])
            else:
                self._said.append(self._statement())
                yield self._said[-1]

    def _statement(self) -> tuple[str, Draft]:
        lot = self._lot
        kind = lot.choices(_CATEGORIES, _WEIGHTS)[0]
        if lot.random() < 0.01:
            return f"{lot.choice(_PEOPLE)} now works at {lot.choice(_EMPLOYERS)}.", Draft(
                category="work", origin="user"
            )
        text = self._new.statement()
        about = ""
        if lot.random() < 0.25:
            about = lot.choice(_PROJECTS if kind in {"project", "technical"} else _PEOPLE)
            text = f"{about}: {text}" if lot.random() < 0.5 else f"{text} {about} confirmed it."
        return text, Draft(category=kind, about=about, origin="user")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year", description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--per-day", type=int, default=20)
    parser.add_argument("--sprint", action="store_true", help="dream once, when the year is over")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reverie-year-") as folder:
        clock = FixedClock(FIRST)
        with reverie.init(_opening(Path(folder), clock)) as memory:
            start = time.perf_counter()
            took = _live(memory, clock, days=given.days, year=Year(given.per_day), sprint=given.sprint)
            print(f"seconds of CPU below; {time.perf_counter() - start:.1f} s by the clock")
            _report(memory, took)


def _opening(folder: Path, clock: FixedClock) -> Opening:
    # The time ceiling is read from the injected clock, which stands still during a night.
    settings = Settings(zone="UTC", embedder="none", dream=DreamSettings(min_facts=1, min_hours=1))
    return Opening(
        path=folder / "year", config_dir=folder / "config", environment={}, settings=settings, clock=clock
    )


def _live(
    memory: Memory, clock: FixedClock, *, days: int, year: Year, sprint: bool
) -> dict[str, list[float]]:
    """Live the days, and return how long each stage took each night, in seconds."""
    took: dict[str, list[float]] = {"remember": [], "drain": [], "dream": [], "publish": [], "index": []}
    for number in range(days):
        start = time.process_time()
        for text, draft in year.day():
            memory.remember(text, draft)
            clock.advance(minutes=30)
        took["remember"].append(time.process_time() - start)
        clock.advance(seconds=_until_night(clock(), number))
        took["drain"].append(_timed(memory.drain))
        if sprint and number + 1 < days:
            continue
        took["dream"].append(_timed(lambda: memory.dream(now=True)))
        took["publish"].append(_timed(memory.publish))
        took["index"].append(_timed(lambda: memory.recall("invoice")))
    return took


def _until_night(now: datetime, number: int) -> float:
    return (FIRST + timedelta(days=number + 1) - now).total_seconds()


def _timed(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def _report(memory: Memory, took: dict[str, list[float]]) -> None:
    ws = memory.opened.ws
    outcomes: stream.Read[Outcome] = stream.read(ws, layout.OUTCOMES, Outcome)
    settled = {one.entry for one in outcomes.records}
    waiting = sum(1 for _ in memory.opened.state_now().pending(before=ws.today))
    print("stage     nights   total s   p50 ms   p95 ms    last ms")
    for name, seconds in took.items():
        ordered = sorted(seconds)
        p50, p95 = (ordered[int(len(ordered) * share)] if ordered else 0.0 for share in (0.5, 0.95))
        last = seconds[-1] if seconds else 0.0
        print(
            f"{name:<9} {len(seconds):>6} {sum(seconds):>9.1f} {p50 * 1e3:>8.1f} {p95 * 1e3:>8.1f} {last * 1e3:>9.1f}"
        )
    dreamt = sum(took["dream"])
    print(f"all dreams {dreamt:.1f} s, target {TARGET:.0f} s: {'yes' if dreamt < TARGET else 'NO'}")
    counts = Counter(one.outcome for one in outcomes.records)
    print(f"entries settled {len(settled):,}, pending {waiting:,}: {dict(counts)}")
    texts = {
        path: (ws.disk.read(path) or b"").decode()
        for path in ws.disk.walk(ws.notebook)
        if pages.is_page(ws, path)
    }
    cited = {one.id for text in texts.values() for one in citations(text)}
    longest = max(texts.values(), key=len)
    print(
        f"pages {len(texts)}, longest {len(longest):,} characters and {longest.count(chr(10)):,} lines,"
        f" entries cited {len(cited):,}"
    )
    _diffs(memory)
    objects = list(ws.disk.walk(f"{layout.OBJECTS}/objects"))
    size = sum(ws.disk.size(path) or 0 for path in objects)
    print(
        f"history {len(objects):,} objects, {size / 1e6:.1f} MB; pages {sum(map(len, texts.values())) / 1e6:.2f} MB"
    )


def _diffs(memory: Memory) -> None:
    """Print how many lines a night changes, beside how many entries it settled."""
    ws = memory.opened.ws
    history = History(ws)
    runs: stream.Read[Run] = stream.read(ws, layout.RUNS, Run)
    added = removed = entries = 0
    for run in runs.records[-30:]:
        for change in history.diff(run.parent or None, run.commit):
            old, new = ((side or b"").decode().splitlines() for side in (change.old, change.new))
            before, after = Counter(old), Counter(new)
            added += (after - before).total()
            removed += (before - after).total()
        entries += sum(run.counts.values())
    print(
        f"the last {len(runs.records[-30:])} runs: {added} lines added and {removed} removed for {entries} entries;"
        f" overlap of runs {sum(one.ended > two.started for one, two in pairwise(runs.records))}"
    )


if __name__ == "__main__":
    main()
