"""An index of LanceDB on an object store: a server of its own, asked through the engine's own client."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import msgspec
import pytest
from backends import LAKES, ids, nearest, spoken, toy
from july import FACTS, row
from object_store import KEY, SECRET, object_store

import reverie
from reverie.core.settings.value import Settings
from reverie.errors import BadSettings, IndexUnavailable
from reverie.index.choosing import open_index
from reverie.opening import Opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from object_store import ObjectStore

    from reverie.index.protocol import Index

pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
pytestmark = pytest.mark.slow

URL = "s3://bucket/memories"
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
index = open_index(Settings(index="lancedb", index_url=sys.argv[2], lock_wait_seconds=100), root, name="ws",
                   embedder=ToyEmbedder(synonyms={"automobile": "car"}), lock=locks(root))
for line in sys.stdin:
    index.rows.upsert(msgspec.json.decode(line, type=list[Row]))
    index.commit()
    index.embed()
index.close()
"""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """An empty object store, and the variables that lead to it."""
    with object_store() as made:
        for name, value in made.variables().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield made


def opened(root: Path, *, name: str = "ws") -> Index:
    """Open the index of a workspace whose tables lie on the object store."""
    settings = Settings(index="lancedb", index_url=URL)
    return open_index(settings, root, name=name, embedder=toy(), lock=lambda _: nullcontext())


def filled(root: Path, *, name: str = "ws") -> Index:
    """Open it and put the facts of July into it."""
    index = opened(root, name=name)
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    return index


def test_words_and_vectors_lie_on_the_store_and_no_text(store: ObjectStore, tmp_path: Path) -> None:
    """Tables are made there and nowhere else, appended to, replaced in, searched, and hold no sentence."""
    index = filled(tmp_path)
    assert nearest(index, LAKES) == "en"
    index.rows.upsert([row("boat", "a green boat")])
    index.commit()
    index.embed()
    assert spoken(index, "boat") == ["boat"]
    index.rows.upsert([row("boat", "a red kite")])
    index.commit()
    index.embed()
    assert (spoken(index, "boat"), spoken(index, "kite")) == ([], ["boat"])
    index.rows.delete(["boat"])
    index.commit()
    assert "boat" not in ids(index, "kite")
    index.close()
    assert store.objects
    assert all(name.startswith("bucket/memories/ws-") for name in store.objects)
    assert not (tmp_path / ".index" / "lance").exists()
    held = b"".join(store.objects.values())
    assert b"User moved to Berlin" not in held
    assert SECRET.encode() not in held + b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def test_another_opening_finds_what_is_there(store: ObjectStore, tmp_path: Path) -> None:
    """A second opening of the workspace reads the tables and writes none."""
    filled(tmp_path).close()
    store.asked.clear()
    index = opened(tmp_path)
    assert (spoken(index, "lakes"), nearest(index, LAKES), index.vectorless()) == (["en"], "en", 0)
    index.close()
    assert not [one for one in store.asked if not one.startswith(("GET", "HEAD"))]


def test_tables_that_are_gone_are_built_again(store: ObjectStore, tmp_path: Path) -> None:
    """A bucket emptied by somebody else costs time: words are back at the next opening, vectors with the next run."""
    filled(tmp_path).close()
    store.objects.clear()
    index = opened(tmp_path)
    assert spoken(index, "lakes") == ["en"]
    ids(index, LAKES)
    index.embed()
    assert nearest(index, LAKES) == "en"
    index.rebuild()
    assert spoken(index, "lakes") == ["en"]


@pytest.mark.parametrize("harm", [lambda _: b"", lambda data: data[: len(data) // 2], lambda _: b"junk" * 20])
def test_damaged_objects_are_built_again(store: ObjectStore, tmp_path: Path, harm) -> None:  # type: ignore[no-untyped-def]
    """Objects that were cut or replaced are noticed, and the tables made anew from the rows."""
    filled(tmp_path).close()
    for name, data in store.objects.items():
        store.objects[name] = harm(data)
    index = opened(tmp_path)
    assert spoken(index, "lakes") == ["en"]
    ids(index, LAKES)
    index.embed()
    assert nearest(index, LAKES) == "en"


def test_workspaces_share_an_address_and_nothing_else(store: ObjectStore, tmp_path: Path) -> None:
    """Each workspace has tables of its own, and emptying one leaves the other's."""
    one, other = filled(tmp_path / "one", name="one"), opened(tmp_path / "other", name="other")
    assert spoken(other, "lakes") == []
    other.rows.upsert([row("x", "hills")])
    other.commit()
    other.reset()
    other.rows.upsert([row("y", "hills")])
    assert (spoken(other, "hills"), spoken(one, "lakes"), nearest(one, LAKES)) == (["y"], ["en"], "en")
    assert {name.split("/")[2].split("-")[0] for name in store.objects} == {"one", "other"}


def test_two_processes_index_on_the_store_at_once(store: ObjectStore, tmp_path: Path) -> None:
    """Two processes write one workspace's tables; every row has its words and its vector at the end."""
    rows = [[row(f"{who}{n}", f"{who} number{n} car") for n in range(20)] for who in "ab"]
    arguments = [str(tmp_path), URL, str(__file__).rpartition("/")[0]]
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stdin=subprocess.PIPE, text=True)
        for _ in rows
    ]
    for child, mine in zip(children, rows, strict=True):
        assert child.stdin is not None
        for start in range(0, 20, 5):
            child.stdin.write(msgspec.json.encode(mine[start : start + 5]).decode() + "\n")
        child.stdin.close()
    assert [child.wait(120) for child in children] == [0, 0]
    index = opened(tmp_path)
    index.commit()
    index.embed()
    assert (index.rows.count(), index.vectorless(), index.behind()) == (40, 0, 0)
    assert spoken(index, "number19")[:2] == ["a19", "b19"]
    assert store.objects


def test_without_its_key_the_store_says_so(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that refuses the key, or is not there, is one sentence without the secret; nothing is lost by it."""
    filled(tmp_path).close()
    before = dict(store.objects)
    for name, value in (("AWS_ACCESS_KEY_ID", "AKIAWRONG"), ("AWS_ENDPOINT", "http://127.0.0.1:9")):
        with monkeypatch.context() as wrong:
            wrong.setenv(name, value)
            with pytest.raises(IndexUnavailable, match="reverie reindex") as caught:
                ids(opened(tmp_path), "lakes")
            assert SECRET not in str(caught.value)
            assert "\n" not in str(caught.value)
    assert store.objects == before
    assert nearest(opened(tmp_path), LAKES) == "en"


def test_only_the_users_configuration_names_the_store(store: ObjectStore, tmp_path: Path) -> None:
    """An address in a workspace's own file is not honoured, and nothing is sent there; in the user's it is."""
    opening = Opening(
        path=tmp_path / "ws",
        config_dir=tmp_path / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC"},
    )
    with reverie.init(opening) as memory:
        memory.remember("The boat is green")
        memory.drain()
    own = tmp_path / "ws" / "reverie.toml"
    kept = own.read_text()
    own.write_text(f'{kept}\nindex = "lancedb"\nindex_url = "{URL}"\n')
    with pytest.raises(BadSettings, match="index"):
        reverie.open(opening)
    assert not store.asked
    own.write_text(kept)
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "config.toml").write_text(f'index = "lancedb"\nindex_url = "{URL}"\n')
    with reverie.open(opening) as memory:
        assert [hit.text for hit in memory.recall("boat").hits] == ["The boat is green"]
        memory.erase([memory.list()[0].entry.id])
        assert memory.recall("boat").hits == ()
    assert any(one.startswith("PUT") for one in store.asked)
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
