"""A disk so full that SQLite cannot map what it keeps beside a database: no process may be ended by that."""

from __future__ import annotations

import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import Opening
from reverie.index import room

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace that was searched once, and has another entry since."""
    with reverie.init(Opening(path=tmp_path / "m", flags={"embedder": "none"})) as memory:
        memory.remember("User likes tea")
        memory.drain()
        assert memory.recall("tea").hits
        memory.remember("User likes cake")
        memory.drain()
    return tmp_path / "m"


def files(root: Path) -> dict[str, bytes]:
    """Return every file of the index."""
    return {str(one): one.read_bytes() for one in (root / ".index").rglob("*") if one.is_file()}


def test_on_a_full_disk_no_database_is_opened_to_be_written(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where less is free than SQLite needs, everything is read in memory, and sound databases stay as they are."""
    before = files(root)
    monkeypatch.setattr(room, "LEAST", sys.maxsize)
    with reverie.open(Opening(path=root, flags={"embedder": "none"})) as memory:
        assert {one.entry.text for one in memory.list()} == {"User likes tea", "User likes cake"}
        assert {one.text for one in memory.recall("User likes").hits} == {"User likes tea", "User likes cake"}
        assert memory.status().entries == 2
    databases = {path: data for path, data in files(root).items() if path.endswith(".db")}
    assert databases.items() <= before.items()


def test_with_room_again_the_databases_go_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read while the disk was full is written by the next process that finds room."""
    with monkeypatch.context() as full:
        full.setattr(room, "LEAST", sys.maxsize)
        with reverie.open(Opening(path=root, flags={"embedder": "none"})) as memory:
            assert memory.recall("cake").hits
    before = files(root)
    with reverie.open(Opening(path=root, flags={"embedder": "none"})) as memory:
        assert memory.recall("cake").hits
    assert files(root) != before


def test_the_refusal_reads_as_one_of_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told with the code that SQLite has for it, and a folder that is none is left to SQLite."""
    monkeypatch.setattr(room, "LEAST", sys.maxsize)
    with pytest.raises(sqlite3.OperationalError, match="full") as told:
        room.demand_room(tmp_path / "x.db")
    assert room.is_full(told.value)
    room.demand_room(tmp_path / "absent" / "x.db")
