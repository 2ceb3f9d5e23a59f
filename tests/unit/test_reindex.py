"""Derived files: deleted, damaged, held or newer, they come back equal, or a sentence says what to do."""

from __future__ import annotations

import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest
from desk import Desk, days_ago

from reverie.errors import Busy, IndexUnavailable
from reverie.index import rows_file, schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ASKED = ("tea", "上海", "boiler", "spare key", "turbine")


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A memory with entries, turns, a page and an index taken in whole."""
    desk.clock.set(days_ago(2))
    desk.remember("User likes tea", category="preference", sig=0.8)
    desk.remember("用户住在上海")
    desk.say("The spare key hangs behind the fuse box")
    desk.clock.set(days_ago(0))
    desk.memory.drain()
    desk.memory.feedback(desk.memory.list()[0].entry.id, "helpful")
    desk.remember("Send Dana the boiler's report", due="2026-07-10")
    desk.page("2_Wiki/Concepts/Turbine.md", "A turbine turns.")
    desk.memory.consolidate()
    desk.memory.reindex()
    return desk


def _seen(desk: Desk) -> dict[str, object]:
    """Return what a fresh opening of the memory says: hits, entries with their state, promises."""
    memory = desk.again()
    try:
        return {
            "hits": {
                query: [(hit.id, hit.kind, hit.text, hit.day, hit.at) for hit in memory.recall(query).hits]
                for query in ASKED
            },
            "entries": sorted(memory.list(), key=lambda state: state.entry.id),
            "due": memory.due(),
        }
    finally:
        memory.close()


def _files(desk: Desk) -> list[Path]:
    """Return the files of the index, closed."""
    desk.memory.close()
    return sorted(path for path in (desk.root / ".index").rglob("*") if path.is_file())


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), 97):
        data[place] ^= 0x55
    path.write_bytes(bytes(data))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").write_bytes(b"x")


def test_a_rebuild_keeps_ids_dates_and_significance(lived: Desk) -> None:
    """A rebuild from nothing gives back ids, dates, significance and promises as they were (R-23b)."""
    before = _seen(lived)
    done = lived.memory.reindex()
    assert done.removed > 0
    assert done.entries == len(lived.memory.list())
    assert done.rows >= done.entries
    assert _seen(lived) == before


def test_a_rebuild_leaves_every_canonical_byte(lived: Desk) -> None:
    """A rebuild changes no canonical file."""
    before = lived.bytes()
    lived.memory.reindex()
    assert lived.bytes() == before


def test_a_deleted_index_comes_back_equal(lived: Desk) -> None:
    """Deleting `.index` and the digests costs time and nothing else."""
    before = _seen(lived)
    lived.memory.close()
    shutil.rmtree(lived.root / ".index")
    shutil.rmtree(lived.root / "digests")
    assert _seen(lived) == before


@pytest.mark.parametrize("harm", [_halve, _empty, _flip, _folder])
def test_a_damaged_index_file_comes_back(lived: Desk, harm: Callable[[Path], None]) -> None:
    """Any one file of the index cut short, emptied, overwritten or replaced by a folder changes no answer."""
    before = _seen(lived)
    names = [path.relative_to(lived.root) for path in _files(lived)]
    assert {"rows.db", "state.db"} <= {name.name for name in names}
    for name in names:
        path = lived.root / name
        if path.is_file():
            harm(path)
            assert _seen(lived) == before, name


def test_every_index_file_damaged_at_once_comes_back(lived: Desk) -> None:
    """An index of which no file is whole is built again."""
    before = _seen(lived)
    for path in _files(lived):
        _flip(path)
    assert _seen(lived) == before


def test_a_file_in_the_place_of_the_index_is_replaced(lived: Desk) -> None:
    """A plain file where `.index` should be is derived like the folder, and gives way to it."""
    before = _seen(lived)
    _files(lived)
    shutil.rmtree(lived.root / ".index")
    (lived.root / ".index").write_bytes(b"x")
    assert _seen(lived) == before


@pytest.mark.parametrize("name", ["state.db", "rows.db"])
def test_a_held_index_is_busy_and_left_alone(lived: Desk, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process holds a file of the index, recall says so, removes nothing, and works again afterwards."""
    before = _seen(lived)
    monkeypatch.setattr(schema, "BUSY_MS", 1)
    monkeypatch.setattr(rows_file, "WAIT_SECONDS", 0.001)
    memory = lived.again()
    lived.remember("A word to fold in")
    lived.memory.close()
    holder = sqlite3.connect(lived.root / ".index" / name, isolation_level=None)
    inode = (lived.root / ".index" / name).stat().st_ino
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises((Busy, IndexUnavailable), match=r"another process|locked"):
        memory.recall("tea")
    holder.execute("ROLLBACK")
    holder.close()
    assert (lived.root / ".index" / name).stat().st_ino == inode
    assert [hit.text for hit in memory.recall("tea").hits][:1] == [before["hits"]["tea"][0][2]]  # type: ignore[index]


def test_a_newer_index_is_refused_untouched(lived: Desk) -> None:
    """Search rows that a newer version wrote are left as they are, and the error says what to do."""
    (rows,) = [path for path in _files(lived) if path.name == "rows.db"]
    db = sqlite3.connect(rows)
    db.execute("PRAGMA user_version = 99")
    db.close()
    data = rows.read_bytes()
    with pytest.raises(IndexUnavailable, match="newer"):
        lived.again().recall("tea")
    assert rows.read_bytes() == data
    assert lived.again().reindex().entries == 3
    assert lived.found("tea")


def test_a_state_of_another_version_is_folded_anew(lived: Desk) -> None:
    """A state database of any other version is thrown away, for the files say it all."""
    before = _seen(lived)
    (state,) = [path for path in _files(lived) if path.name == "state.db"]
    db = sqlite3.connect(state)
    db.execute("UPDATE identity SET version = version + 1")
    db.commit()
    db.close()
    assert _seen(lived) == before


def test_a_changed_zone_moves_no_entry(lived: Desk) -> None:
    """Opened with another time zone the entries stay on the days they were written to."""
    before = [(state.entry.id, state.entry.day) for state in lived.memory.list()]
    elsewhere = lived.again(flags={"zone": "Asia/Shanghai"})
    assert [(state.entry.id, state.entry.day) for state in elsewhere.list()] == before
    assert [hit.day for hit in lived.hits("上海", elsewhere) if hit.kind == "entry"] in ([], ["2026-06-29"])
