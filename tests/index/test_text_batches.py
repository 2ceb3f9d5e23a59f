"""The text index takes many rows in by batches, of which one is cut while the one before is committed."""

from __future__ import annotations

import shutil
from contextlib import nullcontext

import pytest
from july import ids, row

from reverie.errors import IndexUnavailable
from reverie.index.rows import Rows
from reverie.index.text import TextIndex

BATCH = 7


def word(number):
    """Return a word that no other row has."""
    return f"zu{chr(97 + number // 26)}{chr(97 + number % 26)}o"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give the place of an index that commits after few rows."""
    monkeypatch.setattr("reverie.index.text._BATCH", BATCH)
    return tmp_path / ".index"


@pytest.fixture
def index(folder):
    """Give an open index with rows of several batches, none of them taken in."""
    opened = TextIndex(folder, nullcontext)
    opened.rows.upsert(row(f"r{number}", f"lake {word(number)}") for number in range(4 * BATCH + 3))
    yield opened
    opened.close()


def meanwhile(monkeypatch, index, act):
    """Have `act` called once, when the first batch is committed and its note not yet made."""
    note = index.rows.taken
    acts = [act]

    def taken(rows, gone):
        if acts:
            acts.pop()()
        note(rows, gone)

    monkeypatch.setattr(index.rows, "taken", taken)


def test_every_batch_is_taken_in_once(index):
    """Rows of several batches are found once each, and nothing is left to take in."""
    assert index.commit() == 4 * BATCH + 3
    assert index.rows.behind() == 0
    for number in range(4 * BATCH + 3):
        assert ids(index, word(number)) == [f"r{number}"]
    assert index.commit() == 0


def test_what_another_process_changes_during_a_commit_is_found_as_it_is_now(index, folder, monkeypatch):
    """A row changed, added or removed while the first batch is noted is found in its last form alone."""

    def change():
        others = Rows(folder)
        changed = [row(f"r{number}", f"hill x{word(number)}") for number in (0, BATCH, 4 * BATCH + 2)]
        others.upsert([*changed, row("new", "hill brandnew")])
        others.delete(["r1"])
        others.close()

    meanwhile(monkeypatch, index, change)
    index.commit()
    assert index.rows.behind() == 0
    for number in (0, BATCH, 4 * BATCH + 2):
        assert ids(index, word(number)) == []
        assert ids(index, f"x{word(number)}") == [f"r{number}"]
    assert ids(index, "brandnew") == ["new"]
    assert ids(index, word(1)) == []
    assert ids(index, word(2)) == ["r2"]
    index.commit()
    assert len(ids(index, "hill", depth=100)) == 4
    assert index.rows.gone() == []


def test_a_commit_that_fails_is_an_error_and_its_rows_are_taken_in_later(index, folder, monkeypatch):
    """A folder that vanishes between two commits ends the writing with an error, and loses no row."""
    meanwhile(monkeypatch, index, lambda: shutil.rmtree(folder / "text"))
    with pytest.raises(IndexUnavailable):
        index.commit()
    assert index.rows.behind() >= 2 * BATCH
    index.close()
    again = TextIndex(folder, nullcontext)
    again.commit()
    for number in range(4 * BATCH + 3):
        assert ids(again, word(number)) == [f"r{number}"]
    again.close()
