"""Nothing derived is opened through a link: a workspace may have come with somebody's repository."""

from __future__ import annotations

import os
import sqlite3
from contextlib import nullcontext
from pathlib import Path

import pytest
from july import ids, row

from reverie.errors import IndexUnavailable
from reverie.index.schema import open_database
from reverie.index.text import TextIndex


def victim(folder: Path) -> Path:
    """Make somebody's database."""
    folder.mkdir()
    path = folder / "state.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (word TEXT)")
        db.execute("INSERT INTO theirs VALUES ('kept')")
    db.close()
    return path


@pytest.mark.parametrize(
    "name", ["meta.json", ".managed.json", ".tantivy-writer.lock", "planted", "planted.term"]
)
def test_a_pipe_among_the_words_is_not_waited_for(tmp_path: Path, name: str) -> None:
    """Whatever pipe stands in the folder of the text index, a search answers, and the folder is made anew."""
    index = TextIndex(tmp_path / ".index", nullcontext)
    index.rows.upsert([row("tea", "green tea")])
    index.commit()
    index.close()
    place = tmp_path / ".index" / "text" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    index = TextIndex(tmp_path / ".index", nullcontext)
    assert ids(index, "tea") == ["tea"]
    index.close()
    assert not place.is_fifo()


def test_a_linked_index_folder_is_not_written(tmp_path: Path) -> None:
    """P-18: where `.index` is a link, the state is built in memory and the search refused; what it leads to stays."""
    theirs = victim(tmp_path / "theirs")
    (tmp_path / "theirs" / "text").mkdir()
    (tmp_path / "theirs" / "text" / "thesis.md").write_text("years of work")
    before = {path: path.read_bytes() for path in sorted((tmp_path / "theirs").rglob("*")) if path.is_file()}
    link = tmp_path / "w" / ".index"
    link.parent.mkdir()
    link.symlink_to(theirs.parent)
    open_database(link / "state.db", stamp="UTC").close()
    with pytest.raises(IndexUnavailable, match="link"):
        TextIndex(link, nullcontext)
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.parametrize("name", ["state.db", "state.db-wal", "rows.db"])
@pytest.mark.parametrize("hard", [False, True])
def test_a_linked_database_is_not_written(tmp_path: Path, name: str, *, hard: bool) -> None:
    """P-18: a symbolic or hard link in a database's place loses its name; the file it led to keeps its bytes."""
    theirs = victim(tmp_path / "theirs")
    before = theirs.read_bytes()
    index = tmp_path / "w" / ".index"
    index.mkdir(parents=True, mode=0o700)
    if hard:
        (index / name).hardlink_to(theirs)
    else:
        (index / name).symlink_to(theirs)
    open_database(index / "state.db", stamp="UTC").close()
    TextIndex(index, nullcontext).close()
    assert theirs.read_bytes() == before
