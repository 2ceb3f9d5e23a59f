"""Each trigger of extraction, fired by what a host does anyway; each turn is read once, whichever fires first."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.context import ContextRequest
from reverie.core.records import Extraction, Turn
from reverie.errors import ModelFailed
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.store import journal
from reverie.testing import CrashDisk, Crashed, FixedClock, ScriptedModel

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
SAID = ("I work at Acme.", "I prefer tea without sugar.", "My dog is called Momo.")


def opened(root: Path, clock: FixedClock, **more: object) -> Memory:
    """Return a memory, as one more process would have it."""
    opening = Opening(
        path=root / "agent",
        config_dir=root / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC", "durability": "os"},
        clock=clock,
        **more,
    )
    return Memory(make_workspace(opening))


def talk(memory: Memory, *, session: str = "talk", texts: tuple[str, ...] = SAID) -> None:
    """Let the user say something in a session that nobody will close."""
    for text in texts:
        memory.capture(session, Turn(role="user", content=text, at=memory.opened.ws.clock()))


def spans(memory: Memory) -> list[tuple[str, int, int]]:
    """Return the spans that were read, wherever their records stand, sorted."""
    ws = memory.opened.ws
    records = [*journal.waiting(ws).records, *journal.archived(ws)]
    return sorted(
        (one.session, one.start, one.stop) for one in records if isinstance(one, Extraction) and one.session
    )


def test_recovery_reads_at_opening_what_a_crash_left(tmp_path: Path) -> None:
    """Three turns, a crash, and three days later the first prompt of a new process already knows them (R-43, L-18)."""
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as memory:
        talk(memory)
    clock.advance(days=3)
    with opened(tmp_path, clock) as memory:
        shown = memory.context(ContextRequest(session="another", query="what tea?")).text
        assert "tea without sugar" in shown
        assert spans(memory) == [("talk", 0, 3)]


def test_idle_reads_while_a_memory_stays_open(tmp_path: Path) -> None:
    """Fifteen minutes after the last word, the next prompt finds the session read; a minute after it, not (N-16)."""
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as memory:
        memory.context()
        talk(memory)
        clock.advance(minutes=1, seconds=1)
        memory.context()
        assert spans(memory) == []
        clock.advance(minutes=15)
        memory.context()
        assert spans(memory) == [("talk", 0, 3)]
        clock.advance(minutes=16)
        memory.context()
        assert spans(memory) == [("talk", 0, 3)]


def test_a_prompt_looks_no_more_than_once_a_minute(tmp_path: Path) -> None:
    """Between two looks the session files are left alone; a clock set back costs one look and hides nothing."""
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as memory:
        memory.context()
        talk(memory, texts=SAID * 2)
        clock.advance(seconds=30)
        memory.context()
        assert spans(memory) == []
        clock.set(NOON - timedelta(hours=1))
        memory.context()
        assert spans(memory) == [("talk", 0, 6)]


def test_a_model_keeps_no_prompt_waiting(tmp_path: Path) -> None:
    """Where a model reads, `context` asks it nothing: what is left is for `consolidate`, which reads all of it."""
    clock, model = FixedClock(NOON), ScriptedModel(['{"entries": []}'], loop=True)
    with opened(tmp_path, clock, model=model) as memory:
        talk(memory)
        clock.advance(hours=1)
        memory.context(ContextRequest(session="talk"))
        assert not model.requests
        memory.consolidate()
        assert ("talk", 0, 3) in spans(memory)


@pytest.mark.parametrize("what", ["hand", "compaction", "turns", "end", "day", "consolidate"])
def test_whatever_fires_reads_each_turn_once(tmp_path: Path, what: str) -> None:
    """Each trigger reads what is unread, and all others after it find nothing left."""
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as memory:
        talk(memory, texts=SAID * 2)
        if what == "hand":
            memory.extract()
        elif what == "compaction":
            memory.extract(["talk"], moment="compaction")
        elif what == "turns":
            memory.extract(moment="tick")
        elif what == "end":
            memory.end("talk")
            memory.extract(moment="tick")
        elif what == "day":
            clock.advance(days=1)
            memory.extract(moment="tick")
        else:
            memory.consolidate()
        for again in ("open", "tick", "compaction", "hand"):
            clock.advance(hours=1)
            memory.extract(moment=again)
            memory.context()
        assert spans(memory) == [("talk", 0, 6)]


def test_ending_a_session_waits_for_no_reader(tmp_path: Path) -> None:
    """A session is closed at once though its model is away; its turns are read when the model is back (N-19)."""
    clock = FixedClock(NOON)
    away = ScriptedModel([ModelFailed("it is away", kind="down")], loop=True)
    with opened(tmp_path, clock, model=away) as memory:
        talk(memory)
        assert memory.end("talk").digest
        assert not away.requests
        memory.extract()
        assert spans(memory) == []
    with opened(tmp_path, clock) as memory:
        memory.extract(moment="tick")
        assert spans(memory) == [("talk", 0, 3)]


def test_two_that_fire_together_read_a_turn_once(tmp_path: Path) -> None:
    """Two processes whose prompts both find the session idle leave one record, and one entry a statement."""
    clock = FixedClock(NOON)
    with opened(tmp_path, clock) as first, opened(tmp_path, clock) as second:
        talk(first)
        clock.advance(hours=1)
        start = threading.Barrier(2)

        def prompt(memory: Memory) -> None:
            start.wait()
            memory.context()

        both = [threading.Thread(target=prompt, args=(memory,)) for memory in (first, second)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert spans(first) == [("talk", 0, 3)]
        first.drain()
        assert len({state.entry.text for state in first.list()}) == len(first.list()) == 3


def test_a_crash_between_reading_and_record_reads_again_and_once(tmp_path: Path) -> None:
    """Cut short at each of its calls, a recovery leaves every turn read in exactly one record by the next one."""
    clock = FixedClock(NOON)
    for at in range(1, 40):
        root = tmp_path / f"w{at}"
        with opened(root, clock) as memory:
            talk(memory)
        clock.advance(hours=1)
        done = False
        with suppress(Crashed):
            with opened(
                root, clock, disk=lambda folder, at=at: CrashDisk(folder, crash_at=at, seed=at)
            ) as memory:
                memory.context()
            done = True
        with opened(root, clock) as memory:
            memory.context()
            assert spans(memory) == [("talk", 0, 3)], at
        if done:
            assert at > 3
            return
    pytest.fail("it never came to an end")
