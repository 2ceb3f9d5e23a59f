"""The text index: damage, crashes, locks, and other processes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import contextmanager, nullcontext

import msgspec
import pytest
from july import FACTS, ids, row, scores

from reverie.errors import Busy, IndexUnavailable
from reverie.index import rows_file
from reverie.index.text import TextIndex


@pytest.fixture
def folder(tmp_path):
    """Give the place of an index."""
    return tmp_path / ".index"


@pytest.fixture
def index(folder):
    """Give an empty open index."""
    opened = TextIndex(folder, nullcontext)
    yield opened
    opened.close()


def fill(folder):
    """Make an index of FACTS and a removed row, committed and closed."""
    made = TextIndex(folder, nullcontext)
    made.rows.upsert([*FACTS, row("gone", "gone")], position=("archive/2026-07-01.md", "stamp"))
    made.commit()
    made.rows.delete(["gone"])
    made.commit()
    made.close()


def damage(path, how):
    """Harm one file or folder."""
    if how == "delete":
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "link":
        target = path.with_name("elsewhere")
        path.rename(target)
        path.symlink_to(target)
    else:
        data = bytearray(path.read_bytes())
        if how == "truncate":
            data = data[: len(data) // 2]
        elif how == "junk":
            data = bytearray(b"junk" * 20)
        else:
            for place in range(0, len(data), 61):
                data[place] ^= 0x55
        path.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["delete", "truncate", "junk", "flip"])
def test_a_damaged_text_index_comes_back_from_the_rows(folder, tmp_path, how):
    """Each file of the text index, deleted, cut, overwritten or flipped, is made again; nothing crashes."""
    fill(folder)
    names = sorted(path.name for path in (folder / "text").iterdir() if not path.name.startswith("."))
    assert names
    for name in names:
        copy = tmp_path / f"copy-{name}"
        shutil.copytree(folder, copy)
        damage(copy / "text" / name, how)
        with_damage = TextIndex(copy, nullcontext)
        assert ids(with_damage, "painted lakes")[0] == "en", name
        assert ids(with_damage, "茶") == ["zh"], name
        assert ids(with_damage, "gone") == [], name
        with_damage.close()


def test_a_deleted_or_replaced_text_folder_comes_back(folder):
    """The whole folder may go, or be a file: it is made again from the rows."""
    fill(folder)
    shutil.rmtree(folder / "text")
    (folder / "text").write_text("not a folder")
    index = TextIndex(folder, nullcontext)
    assert ids(index, "lakes") == ["en"]
    index.close()


@pytest.mark.parametrize("how", ["delete", "junk", "flip", "folder", "link"])
def test_damaged_rows_are_begun_anew_and_say_so(folder, how):
    """Lost rows leave an empty index without positions, so that every file is read again."""
    fill(folder)
    for name in ("rows.db-wal", "rows.db-shm"):
        (folder / name).unlink(missing_ok=True)
    damage(folder / "rows.db", how)
    index = TextIndex(folder, nullcontext)
    assert index.rows.fresh
    assert index.rows.positions() == {}
    assert ids(index, "lakes") == []
    index.rows.upsert(FACTS)
    assert ids(index, "lakes") == ["en"]
    index.close()


def test_an_index_of_a_newer_version_is_refused_untouched(folder):
    """A newer Reverie's index is neither read nor wiped."""
    fill(folder)
    with sqlite3.connect(folder / "rows.db") as db:
        db.execute(f"PRAGMA user_version = {rows_file.LAYOUT + 1}")
    db.close()
    before = (folder / "rows.db").read_bytes()
    with pytest.raises(IndexUnavailable, match="newer"):
        TextIndex(folder, nullcontext)
    assert (folder / "rows.db").read_bytes() == before


def test_another_stamp_builds_the_text_index_again(folder):
    """A change of the tokeniser's version, in either direction, rebuilds from the rows without the files."""
    fill(folder)
    index = TextIndex(folder, nullcontext)
    index.rows.set_meta("text", "0.0.0")
    index.close()
    index = TextIndex(folder, nullcontext)
    assert index.rows.meta("text") != "0.0.0"
    assert ids(index, "lakes") == ["en"]
    index.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_done_without(tmp_path):
    """A read-only workspace without an index has one in memory."""
    tmp_path.chmod(0o500)
    index = TextIndex(tmp_path / ".index", nullcontext)
    index.rows.upsert(FACTS)
    assert ids(index, "lakes") == ["en"]
    index.close()
    tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_is_a_clear_error(tmp_path):
    """A file where the index folder should be raises IndexUnavailable."""
    (tmp_path / ".index").write_text("x")
    with pytest.raises(IndexUnavailable):
        TextIndex(tmp_path / ".index", nullcontext)


def test_a_crash_between_rows_and_commit_loses_nothing(folder):
    """A process that ends after writing rows leaves them searchable, and the next commit takes them in."""
    index = TextIndex(folder, nullcontext)
    index.rows.upsert(FACTS)
    index.close()
    index = TextIndex(folder, nullcontext)
    assert ids(index, "lakes") == ["en"]
    assert index.commit() == len(FACTS)
    index.close()


def test_a_crash_between_the_commit_and_its_note_doubles_nothing(index, folder):
    """Rows taken in twice, because the note was never made, are found once."""
    index.rows.upsert(FACTS)
    index.commit()
    with sqlite3.connect(folder / "rows.db") as db:
        db.execute("UPDATE row SET stale = 1")
    db.close()
    assert ids(index, "lakes") == ["en"]
    index.commit()
    assert ids(index, "lakes") == ["en"]
    assert scores(index, "lakes")["en"] > 0


def test_a_row_changed_while_it_is_taken_in_stays_waiting(index):
    """The note of a commit covers the version that was read, not one written meanwhile."""
    index.rows.upsert([row("a", "lake")])
    read = index.rows.stale(10)
    index.rows.upsert([row("a", "hill")])
    index.rows.taken(read, [])
    assert index.rows.behind() == 1
    assert ids(index, "lake") == []
    assert ids(index, "hill") == ["a"]


def test_the_lock_is_held_to_commit_and_never_to_search(folder):
    """Writers take the workspace's index lock; readers take none."""
    taken = []

    @contextmanager
    def lock():
        taken.append(1)
        yield

    index = TextIndex(folder, lock)
    taken.clear()
    index.rows.upsert(FACTS)
    ids(index, "lakes")
    assert not taken
    index.commit()
    assert taken == [1]
    index.close()


def test_a_busy_lock_leaves_the_rows_searchable(folder):
    """While another process commits, this one's rows are read directly."""

    @contextmanager
    def lock():
        if busy:
            raise Busy("held")
        yield

    busy = False
    index = TextIndex(folder, lock)
    busy = True
    index.rows.upsert(FACTS)
    with pytest.raises(Busy):
        index.commit()
    assert ids(index, "lakes") == ["en"]
    index.close()


CHILD = """
import sys
from contextlib import nullcontext
from pathlib import Path
import msgspec
from reverie.core.search.rows import Row
from reverie.index.text import TextIndex
index = TextIndex(Path(sys.argv[1]), nullcontext)
index.rows.upsert(msgspec.json.decode(sys.stdin.read(), type=list[Row]))
if sys.argv[2] == "commit":
    index.commit()
elif sys.argv[2] == "rebuild":
    index.rebuild()
index.close()
"""


@pytest.mark.parametrize("then", ["write", "commit", "rebuild"])
def test_another_processs_rows_are_seen_at_the_next_search(index, folder, then):
    """Read your writes across processes: written, committed or rebuilt elsewhere, found here."""
    index.rows.upsert(FACTS)
    index.commit()
    assert ids(index, "zebra") == []
    new = msgspec.json.encode([row("new", "zebra")]).decode()
    subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), then], input=new, text=True, check=True, timeout=60
    )
    assert ids(index, "zebra") == ["new"]
    assert ids(index, "lakes") == ["en"]
