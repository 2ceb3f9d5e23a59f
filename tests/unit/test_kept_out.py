"""What redaction took out and exclusions left out is counted, without a word of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from reverie.core.records import Draft, Turn
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.store import kept_out
from reverie.surface.status_text import status_lines
from reverie.testing import FixedClock

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2  # as long as those that are issued
CARD = "4111 1111 1111 1111"


def opened(root: Path, **flags: str) -> Memory:
    """Return a memory, as one more process would have it."""
    opening = Opening(
        path=root / "agent",
        config_dir=root / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC", **flags},
        clock=FixedClock(NOON),
    )
    return Memory(make_workspace(opening))


def turn(text: str) -> Turn:
    """Return what the user said."""
    return Turn(role="user", content=text, at=NOON)


def page(memory: Memory) -> str:
    """Return what `reverie status` prints."""
    return "\n".join("".join(str(part) for part in one.parts) for one in status_lines(memory.status()))


def test_secrets_taken_out_are_counted_by_kind_and_stay_counted(tmp_path: Path) -> None:
    """Turns and explicit writes count once for each kind of secret; a new process still knows, in text and as JSON."""
    with opened(tmp_path) as memory:
        assert not memory.status().kept_out.since
        assert "kept out" not in page(memory)
        memory.capture("s", turn(f"my key is {TOKEN}, again {TOKEN}"))
        memory.capture("s", turn(f"card {CARD} and key {TOKEN}"))
        memory.capture("s", turn("nothing to hide"))
        assert memory.remember("The deploy key", Draft(evidence=f"it is {TOKEN}")).redacted == (
            "github-token",
        )
        assert memory.remember("The key was [redacted:github-token] in the chat").redacted == ()
    with opened(tmp_path) as memory:
        counted = memory.status().kept_out
        assert sum(counted.redacted.values()) == 4
        assert sorted(counted.redacted.values()) == [1, 3]
        assert counted.since == "2026-07-01"
        assert "secrets taken out: " in page(memory)
        told = msgspec.json.encode(memory.status())
        assert b'"kept_out":{"type":"kept_out"' in told or b'"redacted":{' in told
        assert TOKEN.encode() not in told
        assert TOKEN.encode() not in (memory.root / kept_out.PATH).read_bytes()


def test_a_keyed_write_that_is_repeated_counts_once(tmp_path: Path) -> None:
    """A host that sends a write again has not told a second secret."""
    with opened(tmp_path) as memory:
        for _ in range(3):
            memory.remember(f"The key is {TOKEN}", Draft(key="one"))
        assert list(memory.status().kept_out.redacted.values()) == [1]


def test_what_exclusions_keep_out_is_counted_without_its_topic(tmp_path: Path) -> None:
    """An explicit write that is refused, a turn that is read around and a paragraph of a note count, each once."""
    with opened(tmp_path) as memory:
        memory.exclude("divorce")
    with opened(tmp_path) as memory:
        assert memory.remember("The divorce is on Friday").refused
        memory.capture("s", turn("My divorce lawyer is Kim. I work at Acme."))
        memory.capture("s", turn("I prefer tea without sugar."))
        memory.note("The divorce papers came.")
        for _ in range(2):
            memory.extract()
        assert memory.status().kept_out.excluded == 3
        assert "3 on excluded topics (since 2026-07-01)" in page(memory)
        assert b"divorce" not in (memory.root / kept_out.PATH).read_bytes()
        memory.drain()
        assert not [one for one in memory.list() if "divorce" in one.entry.text.lower()]


def test_a_damaged_count_begins_anew(tmp_path: Path) -> None:
    """A file that cannot be read costs the numbers, and neither a capture nor the status."""
    with opened(tmp_path) as memory:
        memory.capture("s", turn(f"my key is {TOKEN}"))
        (memory.root / kept_out.PATH).write_bytes(b"{\x00")
        assert not memory.status().kept_out.redacted
        assert memory.capture("s", turn(f"my key is {TOKEN}")).recorded
        assert list(memory.status().kept_out.redacted.values()) == [1]


def test_a_count_that_cannot_be_written_fails_no_capture(tmp_path: Path) -> None:
    """Where the counters' folder is no folder, the turn is stored and acknowledged all the same."""
    with opened(tmp_path) as memory:
        folder = (memory.root / kept_out.PATH).parent
        if folder.exists():
            pytest.fail("a new workspace has no counters yet")
        folder.write_text("in the way")
        assert memory.capture("s", turn(f"my key is {TOKEN}")).recorded


def test_processes_that_count_at_once_lose_none(tmp_path: Path) -> None:
    """Eight writers that each store ten secrets make eighty."""
    with opened(tmp_path) as memory:
        ws = memory.opened.ws

        def work(_: int) -> None:
            for _ in range(10):
                kept_out.redacted(ws, ("card",))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert kept_out.counted(ws).redacted == {"card": 80}
