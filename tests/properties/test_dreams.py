"""Over random lives of runs, crashes, undos, hand edits and late entries no entry is ever lost between two places."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from dream_agent import body, cite, cited, dreamt, settle, write
from dream_world import entry, failing, later, log, look_at, open_world, run

from reverie import layout
from reverie.core.dreams.page_rules import units
from reverie.errors import Conflict, ReverieError
from reverie.store import pages
from reverie.store.dreams import runs
from reverie.store.dreams.installing import finish
from reverie.testing import CrashDisk, Crashed
from reverie.undo import restore, undo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reverie.core.records import Entry
    from reverie.store.workspace import Workspace

WORDS = ("tea", "boats", "maps", "bread", "poison", "chess", "rain", "trains")
WAYS = ("good", "half", "refuses", "invents", "declines", "breaks")


@dataclass
class Life:
    """One random life and what it has seen."""

    ws: Workspace
    lot: Random
    entries: dict[str, Entry] = field(default_factory=dict)
    watermark: str = ""

    def write(self) -> None:
        """Log a few entries, today's and late ones."""
        for _ in range(self.lot.randint(1, 5)):
            number = len(self.entries) + 1
            day = date.fromisoformat(self.ws.today) - timedelta(days=self.lot.choice((0, 0, 1, 1, 2, 9)))
            category = self.lot.choice(("preference", "goal", "fact"))
            text = f"User likes {self.lot.choice(WORDS)} number {number}"
            one = entry(number, text, day=day.isoformat(), category=category, sig=0.5)
            log(self.ws, [one])
            self.entries[one.id] = one

    def rules(self) -> None:
        """Dream by rule; some nights the rules meet a fault."""
        run(self.ws, masked=failing("poison") if self.lot.random() < 0.3 else lambda _: False)

    def agent(self) -> None:
        """Dream by an agent that does its work or misbehaves."""
        way = self.lot.choice(WAYS)
        dreamt(self.ws, *[lambda messages: self._step(way, messages)] * 12)

    def _step(self, way: str, messages: Any) -> Any:
        if any(part.part_kind == "tool-return" for part in messages[-1].parts) or way == "refuses":
            return "Done."
        told = str(messages[0].parts[0].content)
        batch = [one for one in self.entries.values() if f'"id": "{one.id}"' in told]
        if way == "half":
            batch = batch[::2]
        if way == "breaks":
            return [("read", {"path": "../.."}), write(".state/outcomes.jsonl", "x")]
        if way == "declines":
            return [settle(one, "declined", reason="dull") for one in batch] or "Done."
        page = f"3_Personal/Likes {len(runs.read(self.ws))}.md"
        extra = ("Napoleon was born in 1769",) if way == "invents" else ()
        return [write(page, body("Likes", *map(cite, batch), *extra)), *(cited(one, page) for one in batch)]

    def crash(self) -> None:
        """Cut the power somewhere in a dream, and come back."""
        disk = CrashDisk(self.ws.root, crash_at=self.lot.randint(1, 60), seed=self.lot.randint(0, 9))
        with suppress(Crashed):
            run(open_world(self.ws.root, disk=disk, now=self.ws.clock()))
        disk.cut_power()
        self.ws = open_world(self.ws.root, now=self.ws.clock())
        finish(self.ws)

    def undo(self) -> None:
        """Take back some run."""
        names = [one.run for one in runs.read(self.ws) if one.kind == "dream"]
        if names:
            with suppress(Conflict):
                undo(self.ws, self.lot.choice(names), retry=self.lot.random() < 0.5, masked=lambda _: False)

    def restore(self) -> None:
        """Put the notebook back to some run."""
        names = [one.run for one in runs.read(self.ws) if one.kind == "dream" and one.commit]
        if names:
            with suppress(ReverieError):
                restore(self.ws, self.lot.choice(names), masked=lambda _: False)

    def edit(self) -> None:
        """Add a line to a page by hand, or take a cited one out."""
        paths = [path for path in self.ws.disk.walk(self.ws.notebook) if pages.is_page(self.ws, path)]
        if not paths:
            return
        path = self.ws.root / self.lot.choice(paths)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        own = [number for number, line in enumerate(lines) if line.startswith("- ")]
        if own and self.lot.random() < 0.5:
            del lines[self.lot.choice(own)]
        else:
            lines.append("\nBy hand.\n")
        path.write_text("".join(lines), encoding="utf-8")

    def another_day(self) -> None:
        """Let a day pass."""
        later(self.ws, days=1)

    def check(self) -> None:
        """Each entry has an outcome or a pending place, none both, and the watermark passes nothing that waits."""
        state = look_at(self.ws)
        try:
            waits = {one.entry.id for one in state.pending(before=self.ws.today)}
            todays = {one.id for one in self.entries.values() if one.day >= self.ws.today}
            settled = {
                id_ for id_ in self.entries if any(o.outcome != "pending" for o in state.outcomes(id_))
            }
        finally:
            state.close()
        assert waits | todays | settled == self.entries.keys()
        assert not waits & settled
        assert not waits & todays
        mark = runs.watermark(self.ws)
        assert mark >= self.watermark
        assert mark < self.ws.today
        if mark > self.watermark:
            assert all(self.entries[id_].day > mark for id_ in waits)
        self.watermark = mark
        assert self.ws.disk.size(layout.INSTALL_INTENT) is None
        for path in self.ws.disk.walk(self.ws.notebook):
            text = (self.ws.disk.read(path) or b"").decode()
            assert {id_ for unit in units(text) for id_ in unit.ids} <= self.entries.keys()
            assert "Napoleon" not in text


STEPS: tuple[Callable[[Life], None], ...] = (
    *(Life.write, Life.write, Life.another_day, Life.another_day, Life.rules, Life.agent, Life.agent),
    *(Life.crash, Life.undo, Life.restore, Life.edit),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_entry_is_ever_between_two_places(tmp_path: Path, seed: int) -> None:
    """After each of forty random steps every entry is settled or pending, and the watermark has passed none."""
    life = Life(open_world(tmp_path, max_entries=6, max_retries=2), Random(seed))
    for _ in range(40):
        step = life.lot.choice(STEPS)
        step(life)
        life.check()
