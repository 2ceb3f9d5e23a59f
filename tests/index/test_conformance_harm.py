"""What every index outlives, on each backend: other processes, kills, damage, a switch of the backend."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import msgspec
import pytest
from backends import BACKENDS, LAKES, asked, ids, nearest, spoken, toy
from july import FACTS, row

from reverie.errors import Busy, IndexUnavailable
from reverie.index import rows_file
from reverie.index.placing import Placing
from reverie.testing import ToyEmbedder

CHILD = """
import sys
from pathlib import Path
import msgspec
from reverie.core.search.rows import Row
from reverie.core.settings.value import Settings
from reverie.index.choosing import open_index
from reverie.testing import ToyEmbedder
sys.path.insert(0, sys.argv[3])
from locked import locks
root = Path(sys.argv[1])
index = open_index(Settings(index=sys.argv[2]), root, name="ws", embedder=ToyEmbedder(synonyms={"automobile": "car"}),
                   lock=locks(root))
for line in sys.stdin:
    index.rows.upsert(msgspec.json.decode(line, type=list[Row]))
    index.commit()
    index.embed()
index.close()
"""


def test_what_another_process_wrote_is_seen(place):
    """A vector stored elsewhere is found here at the next search, although this process has the files mapped."""
    index = place.open(toy())
    index.rows.upsert([row("tea", "tea")])
    index.commit()
    index.embed()
    assert nearest(index, "automobile") == "tea"
    other = place.open(toy())
    other.rows.upsert([row("car", "car")])
    other.commit()
    other.embed()
    assert nearest(index, "automobile") == "car"
    other.rows.upsert([row(f"n{n}", f"n{n}") for n in range(1_200)])
    other.embed()
    other.rows.delete([f"n{n}" for n in range(1_200)])
    other.embed()
    assert nearest(index, "automobile") == "car"


@pytest.mark.slow
def test_two_processes_index_at_once(place):
    """Both write, commit and embed under the index lock; every row has its words and its vector at the end."""
    rows = [[row(f"{who}{n}", f"{who} number{n} car") for n in range(40)] for who in "ab"]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(place.root), place.backend, str(__file__).rpartition("/")[0]],
            stdin=subprocess.PIPE,
            text=True,
        )
        for _ in rows
    ]
    for child, mine in zip(children, rows, strict=True):
        for start in range(0, 40, 10):
            child.stdin.write(msgspec.json.encode(mine[start : start + 10]).decode() + "\n")
        child.stdin.close()
    assert [child.wait(120) for child in children] == [0, 0]
    index = place.open(ToyEmbedder(synonyms={"automobile": "car"}))
    index.commit()
    index.embed()
    assert index.rows.count() == 80
    assert index.vectorless() == 0
    assert spoken(index, "number39")[:2] == ["a39", "b39"]
    assert {one.row.id for one in asked(index, "automobile", depth=100) if one.similarity} == {
        one.id for mine in rows for one in mine
    }


def test_a_reopened_index_answers_the_same(place):
    """R-23b: ids, order and similarities survive closing."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    before = asked(index, "lakes 茶")
    index.close()
    assert asked(place.open(toy()), "lakes 茶") == before


def test_switching_the_backend_is_a_rebuild(place):
    """Rows are kept, words come back at once, vectors with the next run, from the cache."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    index.close()
    pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
    other = BACKENDS[1 - BACKENDS.index(place.backend)]
    embedder = toy()
    index = place.open(embedder, index=other)
    assert spoken(index, "lakes") == ["en"]
    assert index.meaning("lakes") is None
    index.embed()
    assert embedder.calls == 0
    assert nearest(index, LAKES) == "en"


def truncated(path):
    """Cut a file in half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def junk(path):
    """Put something else in a file's place."""
    path.write_bytes(b"junk" * 20)


HARMS = {"truncated": truncated, "junk": junk, "gone": lambda path: path.unlink()}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("part", ["words", "vectors"])
def test_harmed_files_are_made_again(place, harm, part):
    """Each file of the engine harmed at once: words answer from the first search, vectors after the next run."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    index.close()
    for path in sorted(getattr(place, part).rglob("*")):
        if path.is_file():
            HARMS[harm](path)
    index = place.open(toy())
    assert spoken(index, "lakes") == ["en"]
    asked(index, "lakes")
    index.embed()
    assert index.vectorless() == 0
    assert nearest(index, LAKES) == "en"


@pytest.mark.parametrize("part", ["words", "vectors"])
def test_a_folder_that_is_gone_or_a_file_is_made_again(place, part):
    """Deleting any folder beneath `.index` is harmless, and so is a file in its place."""
    for replaced in (False, True):
        index = place.open(toy())
        index.rows.upsert(FACTS)
        index.commit()
        index.embed()
        index.close()
        shutil.rmtree(getattr(place, part))
        if replaced:
            getattr(place, part).write_text("x")
        index = place.open(toy())
        assert spoken(index, "lakes") == ["en"]
        asked(index, "lakes")
        index.embed()
        assert nearest(index, LAKES) == "en"
        index.close()


def test_all_of_it_may_be_deleted(place):
    """Without `.index` the index begins empty and says so; what is fed again is found again."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.embed()
    index.close()
    shutil.rmtree(place.root / ".index")
    index = place.open(toy())
    assert index.rows.fresh
    assert ids(index, "lakes") == []
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    assert nearest(index, LAKES) == "en"


def test_a_reset_index_is_empty(place):
    """`reset` forgets rows, words and vectors."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    index.reset()
    assert ids(index, "lakes") == []
    assert index.rows.count() == 0
    index.rows.upsert(FACTS[:2])
    index.embed()
    assert nearest(index, LAKES) == "en"


def test_an_index_of_a_newer_version_is_refused_untouched(place):
    """A newer Reverie's rows are neither read nor wiped."""
    place.open().close()
    with sqlite3.connect(place.root / ".index" / "rows.db") as db:
        db.execute(f"PRAGMA user_version = {rows_file.LAYOUT + 1}")
    db.close()
    with pytest.raises(IndexUnavailable, match="newer"):
        place.open()


def test_a_held_lock_costs_neither_words_nor_time(place):
    """While another process holds the index lock, rows are found by reading and no recall waits to store vectors."""
    waits = []

    @contextmanager
    def lock(timeout):
        if held:
            waits.append(timeout)
            raise Busy("held")
        yield

    held = False
    index = place.open(toy(), lock=lock)
    index.rows.upsert([row("tea", "tea")])
    index.embed()
    index.meaning("tea")
    held = True
    index.rows.upsert(FACTS)
    with pytest.raises(Busy):
        index.commit()
    waits.clear()
    index.embed(deadline=1e12)
    assert waits == [0]
    assert spoken(index, "lakes") == ["en"]
    assert index.vectorless() == len(FACTS)


def test_a_note_that_was_not_kept_doubles_nothing(place):
    """A process killed after the vectors were stored and before the note: they are stored once more, found once."""
    index = place.open(toy())
    index.rows.upsert([row("tea", "tea")])
    index.embed()
    placing = Placing(index.rows)
    before = placing.about()
    index.rows.upsert([row("car", "car")])
    index.embed()
    # As it was before the note: the bytes are there, and nobody speaks of them.
    places = {name: place for name, (_, place) in index.rows.places(["tea", "car"]).items()}
    placing.move({places["tea"]: places["tea"]}, before)
    assert nearest(index, "automobile") == "tea"
    index.embed()
    found = [one.row.id for one in asked(index, "automobile", depth=100) if one.similarity is not None]
    assert sorted(found) == ["car", "tea"]
    assert nearest(index, "automobile") == "car"
