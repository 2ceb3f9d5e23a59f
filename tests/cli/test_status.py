"""What `status` sees, and what it costs."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from counting import calls

from reverie.core.records import Turn
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.surface.render import plain
from reverie.surface.status_text import status_lines
from reverie.testing import FixedClock, counter_ids

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Shell

ENTRIES = 10_000
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def memory_at(folder: Path, clock: FixedClock) -> Memory:
    """Return a new memory in UTC with ids that count."""
    opening = Opening(
        path=folder / "memory",
        config_dir=folder / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC"},
        clock=clock,
        new_id=counter_ids(),
    )
    return Memory(make_workspace(opening))


def test_a_new_workspace_has_no_problems(tmp_path: Path) -> None:
    """A new workspace has nothing in it, nothing wrong, and says what is not there."""
    with memory_at(tmp_path, FixedClock(NOON)) as memory:
        seen = memory.status()
    assert (seen.entries, seen.queued, seen.sessions, seen.days, seen.problems) == (0, 0, 0, (), ())
    assert seen.trusted
    assert any("no model" in one for one in seen.off)


def test_what_waits_is_counted(tmp_path: Path) -> None:
    """Entries queued, stored and of closed days, promises, pins and unread turns are counted."""
    clock = FixedClock(NOON)
    with memory_at(tmp_path, clock) as memory:
        memory.remember("User likes tea")
        memory.drain()
        memory.pin(memory.list()[0].entry.id)
        clock.advance(days=1)
        memory.remember("User likes coffee")
        memory.capture("s1", Turn(role="user", content="hello", at=clock.now))
        seen = memory.status()
    assert (seen.entries, seen.current, seen.queued, seen.pins) == (1, 1, 1, 1)
    assert seen.pending == {"2026-07-01": 1}
    assert seen.days == ("2026-07-01",)
    assert (seen.sessions, seen.unread) == (1, {"s1": 1})


def test_damage_is_named_with_its_place(tmp_path: Path) -> None:
    """Unparsed lines of a log, and damaged lines of sessions and events, are named with place and remedy."""
    with memory_at(tmp_path, FixedClock(NOON)) as memory:
        memory.remember("User likes tea")
        memory.drain()
        memory.pin(memory.list()[0].entry.id)
        memory.capture("s1", Turn(role="user", content="hello", at=NOON))
        memory.capture("s1", Turn(role="user", content="bye", at=NOON))
        root = memory.root
        log = root / "archive/2026-07-01.md"
        log.write_text(log.read_text() + "- [] ^\n\nsome \x1b[31mprose\n")
        (talk,) = (root / "sessions").iterdir()
        talk.write_bytes(talk.read_bytes().replace(b"hello", b"hullo"))
        (root / ".state/events.jsonl").write_bytes(b"{}\n" + (root / ".state/events.jsonl").read_bytes())
        seen = memory.status()
        told = [plain(one) for one in status_lines(seen)]
    assert any(one.place.startswith("archive/2026-07-01.md:") for one in seen.unparsed)
    places = {one.place.partition("@")[0] for one in seen.damaged}
    assert places == {f"sessions/{talk.name}", ".state/events.jsonl"}
    assert all(one.remedy for one in seen.problems)
    assert any("reverie check" in one for one in told)
    assert not any("\x1b" in one for one in told)


def test_a_memory_file_over_its_budget_is_told(tmp_path: Path) -> None:
    """MEMORY.md that is larger than its budget, or whose markers are broken, is a problem with a remedy."""
    with memory_at(tmp_path, FixedClock(NOON)) as memory:
        memory.publish()
        file = memory.root / "MEMORY.md"
        file.write_text(file.read_text() + "words " * 10_000)
        seen = memory.status()
        assert seen.memory.over == ("characters",)
        assert any("MEMORY.md" in one.what for one in seen.problems)
        file.write_text("<!-- reverie:begin sha256=0 -->\n" * 2)
        assert memory.status().problems


def test_an_interrupted_write_is_told(tmp_path: Path) -> None:
    """An intent that a crash left is named with how to finish it."""
    with memory_at(tmp_path, FixedClock(NOON)) as memory:
        memory.opened.ws.disk.replace(".journal/intent.json", b"{}\n")
        assert any("interrupted" in one.what for one in memory.status().problems)


def test_looking_writes_nothing(tmp_path: Path) -> None:
    """`status` changes no file outside the index."""
    with memory_at(tmp_path, FixedClock(NOON)) as memory:
        memory.remember("User likes tea")
        before = {path: path.read_bytes() for path in memory.root.rglob("*") if path.is_file()}
        memory.status()
        after = {path: path.read_bytes() for path in memory.root.rglob("*") if path.is_file()}
    changed = {path for path in after if before.get(path) != after[path]}
    assert not [path for path in changed if ".index" not in path.parts]


@pytest.mark.slow
def test_status_costs_the_same_however_many_entries_there_are(tmp_path: Path) -> None:
    """With 10,000 entries a status does not do more than with 1,000."""
    work = {}
    for entries in (ENTRIES // 10, ENTRIES):
        with memory_at(tmp_path / str(entries), FixedClock(NOON)) as memory:
            ws = memory.opened.ws
            lines = [
                f"- [fact] Fact number {number} about subject {number % 97} `topic` ^{number:016x}"
                for number in range(entries)
            ]
            for day in range(10):
                part = "\n".join(lines[day::10])
                ws.disk.append(
                    f"archive/2026-06-{day + 1:02d}.md", f"# Daily Log\n\n## 10:00 — x\n\n{part}\n".encode()
                )
            memory.list()
            seen = memory.status()
            assert (seen.entries, sum(seen.pending.values())) == (entries, entries)
            started = time.process_time()
            memory.status()
            print(f"status at {entries:,} entries: {(time.process_time() - started) * 1000:.0f} ms")  # noqa: T201
            work[entries] = calls(memory.status)
    assert work[ENTRIES] < 1.1 * work[ENTRIES // 10]


def test_status_tells_people_what_to_do(shell: Shell) -> None:
    """The page names what was set aside, with the command that shows more."""
    shell("capture", "s1", "-", stdin=b"hello\n")
    told = shell.ok("status").out
    assert "set aside" in told
    assert "reverie review list" in told
