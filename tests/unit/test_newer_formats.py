"""Files that a newer version wrote: each is refused by its name, and not a byte of it is changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import Draft, Opening, Turn
from reverie.core.formats import framing
from reverie.errors import DrainFailed, NewerFormat

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "events": ".state/events.jsonl",
    "outcomes": ".state/outcomes.jsonl",
    "tombstones": ".state/tombstones.jsonl",
    "a queue": ".journal/segments/*.jsonl",
    "a session": "sessions/*.jsonl",
    "the workspace": ".state/workspace.json",
}
QUEUED = {"events", "a queue"}  # what a drain reads


def opening(root: Path) -> Opening:
    """Return how the workspace is opened."""
    return Opening(path=root, flags={"embedder": "none", "zone": "UTC"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with something in every file."""
    root = tmp_path / "m"
    with reverie.init(opening(root)) as memory:
        ids = [memory.remember(f"User likes tea number {n}", Draft(origin="user")).id for n in range(3)]
        memory.remember("Send Dana the quote", Draft(due="2099-12-24"))
        memory.capture("s1", Turn(role="user", content="I live in Lisbon.", at=datetime.now(UTC)))
        memory.drain()
        memory.forget([ids[0]])
        memory.dream(now=True)
        memory.remember("User likes cocoa")
    (root / FILES["outcomes"]).touch()
    return root


def newer(root: Path, what: str) -> Path:
    """Give a file a first record of a newer version, sound by its checksum, and return the file."""
    file = next(iter(sorted(root.glob(FILES[what]))))
    first, *rest = file.read_bytes().splitlines(keepends=True) or [b'{"type":"cited","entry":"ffff"}\n']
    record = {name: value for name, value in json.loads(first).items() if name not in {"v", "crc"}}
    file.write_bytes(framing.frame({**record, "hologram": 1}, version=99) + b"".join(rest))
    return file


@pytest.mark.parametrize("what", FILES)
def test_a_newer_file_is_refused_by_its_name(root: Path, what: str) -> None:
    """Whoever has to read it is told which file it is and to upgrade, and it stays byte for byte as it was."""
    file = newer(root, what)
    before = file.read_bytes()
    place = str(file.relative_to(root))
    with pytest.raises(NewerFormat, match="upgrade") as told, reverie.open(opening(root)) as memory:
        memory.recall("tea")
    assert place in str(told.value)
    assert str(root) not in str(told.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize("what", sorted(QUEUED))
def test_a_drain_that_meets_one_has_failed(root: Path, what: str) -> None:
    """A drain that cannot read a newer file has failed, alone or in `consolidate`, and all that was queued is there."""
    newer(root, what)
    journal = sorted(path.read_bytes() for path in root.glob(".journal/*/*.jsonl"))
    with reverie.open(opening(root)) as memory:
        with pytest.raises(DrainFailed, match="upgrade"):
            memory.drain()
        with pytest.raises(DrainFailed, match="upgrade"):
            memory.consolidate()
    assert sorted(path.read_bytes() for path in root.glob(".journal/*/*.jsonl")) == journal
