"""Whatever happens to entries folds to one state, however it is drained, restarted, rebuilt and shared out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie import Draft, Memory, Opening, Where
from reverie.core.records import Turn
from reverie.errors import NotFound, UsageError
from reverie.opening import make_workspace, open_workspace
from reverie.testing import FixedClock

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
EVERYTHING = Where(include_hidden=True, include_previous=True, include_faded=True)
STATEMENTS = (
    "I work at Google.",
    "I now work at Microsoft.",
    "I live in Lisbon.",
    "I moved to Porto.",
    "I like tea.",
    "I really like tea.",
    "Remind me to call Dana by 2026-07-20.",
    "I called Dana.",
)
TEXTS = (
    "User likes tea",
    "User likes coffee",
    "Dana owns the billing service",
    "Zephyr renews in March",
    "User works at Google",
)
JUDGEMENTS = ("helpful", "more", "less", "0.95", "0.1", "outdated", "wrong")


class Life:
    """One workspace lived by a list of deeds, each with ids of its own, by up to two processes."""

    def __init__(self, root: Path) -> None:
        """Make the workspace."""
        self.root, self.clock, self.ids = root, FixedClock(NOON), 1 << 40
        self.known: list[str] = []
        self.open = [Memory(make_workspace(self.opening()))]

    def opening(self) -> Opening:
        """Return how another process would open it; its ids are those of the deed that is done."""
        return Opening(
            path=self.root / "agent",
            config_dir=self.root / "config",
            environment={"REVERIE_EMBEDDER": "none"},
            flags={"zone": "UTC", "durability": "os", "publish.commitments": "true"},
            clock=self.clock,
            new_id=self.new_id,
        )

    def new_id(self) -> str:
        """Return the next id of the deed."""
        self.ids += 1
        return f"{self.ids:016x}"

    def close(self) -> None:
        """Close every process."""
        while self.open:
            self.open.pop().close()

    def restart(self, *, rebuilt: bool = False) -> None:
        """Begin anew with one process, with nothing derived where that is wanted."""
        self.close()
        if rebuilt:
            for name in (".index", "digests", "MEMORY.md"):
                path = self.root / "agent" / name
                path.unlink(missing_ok=True) if name.endswith(".md") else shutil.rmtree(
                    path, ignore_errors=True
                )
        self.open = [Memory(open_workspace(self.opening()))]

    def second(self) -> None:
        """Open it beside itself, as another process; from then on the two take turns."""
        if len(self.open) == 1:
            self.open.append(Memory(open_workspace(self.opening())))

    def done(self, number: int, deed: tuple[str, int, int]) -> None:
        """Do the deed with this number; a deed that is refused is refused in every life."""
        kind, which, how = deed
        self.ids = (number + 1) << 20
        memory = self.open[number % len(self.open)]
        with suppress(NotFound, UsageError):
            _DEEDS[kind](self, memory, which, how)

    def entry(self, which: int) -> str:
        """Return an entry that was stored, whatever became of it."""
        if not self.known:
            message = "nothing is known yet"
            raise NotFound(message)
        return self.known[which % len(self.known)]

    def seen(self) -> dict[str, Any]:
        """Return all that a reader sees of the entries, once everything is drained."""
        self.ids = 1 << 50
        memory = self.open[-1]
        memory.drain()
        memory.digest()
        memory.publish()
        entries = memory.list(EVERYTHING)
        gone = {one for one in self.known if memory.forgotten(one)}
        return {
            "list": sorted(entries, key=lambda state: state.entry.id),
            "shown": sorted(state.entry.id for state in memory.list()),
            "get": [memory.get(state.entry.id) for state in entries],
            "history": {state.entry.id: memory.history(state.entry.id) for state in entries},
            "gone": gone,
            "due": [due.line for due in memory.due().lines],
            "MEMORY.md": (memory.root / "MEMORY.md").read_bytes(),
        }


# What happens: each deed is a function of the life, a memory open on it, and two numbers


def _remember(life: Life, memory: Memory, which: int, how: int) -> None:
    sig = (None, 0.05, 0.3, 0.7, 0.95)[how % 5]
    day = NOON - timedelta(days=which % 3 * 40)
    life.known.append(memory.remember(TEXTS[which % len(TEXTS)], Draft(origin="user", sig=sig, at=day)).id)


def _promise(life: Life, memory: Memory, which: int, how: int) -> None:
    every = ("", "", "week")[how % 3]
    due = f"2026-07-{10 + which % 9}"
    life.known.append(memory.remember(f"Call Dana {which}", Draft(origin="user", due=due, every=every)).id)


def _say(life: Life, memory: Memory, which: int, how: int) -> None:
    said = Turn(role="user", content=STATEMENTS[which % len(STATEMENTS)], at=life.clock())
    memory.capture(f"talk {how % 2}", said)


def _read(life: Life, memory: Memory, which: int, how: int) -> None:
    memory.extract()
    found = {state.entry.id for state in memory.list(EVERYTHING) if state.entry.turns}
    life.known += sorted(found.difference(life.known))


def _correct(life: Life, memory: Memory, which: int, how: int) -> None:
    why = "change" if how % 2 else "mistake"
    life.known.append(memory.correct(life.entry(which), f"Corrected {how}", why=why).id)


def _take_back(life: Life, memory: Memory, which: int, how: int) -> None:
    happened = [event.id for event in memory.history(life.entry(which)) if event.kind != "feedback"]
    if happened:
        memory.take_back(happened[how % len(happened)])


def _unjudge(life: Life, memory: Memory, which: int, how: int) -> None:
    """Take feedback back, which is an event only once it was applied; a drain takes as many ids as it needs."""
    memory.drain()
    life.ids |= (1 << 16) - 1
    judged = [event.id for event in memory.history(life.entry(which)) if event.kind == "feedback"]
    if judged:
        memory.take_back(judged[how % len(judged)])


_DEEDS: dict[str, Callable[[Life, Memory, int, int], object]] = {
    "remember": _remember,
    "promise": _promise,
    "say": _say,
    "read": _read,
    "correct": _correct,
    "take back": _take_back,
    "unjudge": _unjudge,
    "feedback": lambda life, m, which, how: m.feedback(life.entry(which), JUDGEMENTS[how % len(JUDGEMENTS)]),
    "pin": lambda life, m, which, how: m.pin(life.entry(which), unpin=how % 3 == 0),
    "hide": lambda life, m, which, how: m.hide([life.entry(which)], unhide=how % 3 == 0),
    "forget": lambda life, m, which, _: m.forget([life.entry(which)]),
    "restore": lambda life, m, which, _: m.forget([life.entry(which)], restore=True),
    "done": lambda life, m, which, how: m.done(life.entry(which), cancelled=how % 2 == 0),
    "put off": lambda life, m, which, how: m.done(life.entry(which), until=f"2026-08-{1 + how % 9:02}"),
    "judge": lambda life, m, which, how: m.judge(life.entry(which), how % 10 / 10, why="it seems so"),
    "use": lambda life, m, which, _: m.used([life.entry(which)]),
    "time": lambda life, _memory, _which, how: life.clock.advance(hours=(0.01, 1, 24)[how % 3]),
}
BEGINNING = [
    ("remember", 0, 0),
    ("promise", 1, 1),
    ("say", 1, 0),
    ("read", 0, 0),
]  # so that there is what to act on
DEEDS = st.lists(
    st.tuples(st.sampled_from(sorted(_DEEDS)), st.integers(0, 40), st.integers(0, 40)),
    min_size=4,
    max_size=30,
)
BETWEEN = ("", "", "", "drain", "restart", "rebuild", "beside", "publish")


@contextmanager
def life() -> Iterator[Life]:
    """Give a life in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="reverie-life-") as folder:
        one = Life(Path(folder))
        try:
            yield one
        finally:
            one.close()


def lived(deeds: list[tuple[str, int, int]], between: list[str]) -> dict[str, Any]:
    """Return what is seen after deeds, with something between each and the next."""
    with life() as one:
        for number, deed in enumerate(deeds):
            one.done(number, deed)
            one.ids = (1 << 45) + (number << 20)
            what = between[number] if number < len(between) else ""
            if what == "drain":
                one.open[-1].drain()
            elif what == "publish":
                one.open[-1].publish()
            elif what == "beside":
                one.second()
            elif what:
                one.restart(rebuilt=what == "rebuild")
        return one.seen()


@pytest.mark.slow
@given(deeds=DEEDS, between=st.lists(st.sampled_from(BETWEEN), max_size=34))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_grouping_folds_to_one_state(deeds: list[tuple[str, int, int]], between: list[str]) -> None:
    """Drained once or after any deed, by one process or two, restarted or rebuilt: what is read is the same."""
    assert lived(BEGINNING + deeds, between) == lived(BEGINNING + deeds, [])
