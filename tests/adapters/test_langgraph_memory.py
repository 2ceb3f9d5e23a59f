"""What LangGraph's store shares with the memory it is in: search on both backends, forgetting, people, exports."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from hosts import DOCS, keys, said

import reverie

pytest.importorskip("langgraph.store", reason="the extra `langgraph` is not installed")

from langgraph.store.base import (
    GetOp,
    PutOp,
    SearchOp,
)

from reverie.adapters.langgraph import ReverieStore
from reverie.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie import Memory, Opening
    from reverie.testing import FixedClock

NUTS = "User is allergic to macadamia nuts"


@pytest.fixture
def store(memory: Memory) -> ReverieStore:
    """Return the store of an empty memory."""
    return ReverieStore(memory)


@pytest.fixture(params=["embedded", "lancedb"])
def searched(request: pytest.FixtureRequest, opening: Callable[..., Opening]) -> Iterator[ReverieStore]:
    """Return a store on each backend of the index."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
    with reverie.init(opening(index=request.param)) as memory:
        yield ReverieStore(memory)


def test_search_puts_what_answers_first(searched: ReverieStore) -> None:
    """By words or meaning the best come first and scored, narrowed by filters; the rest follows without a score."""
    for key, value in DOCS.items():
        searched.put(("test",), key, value)
    assert keys(searched.search(("test",), query="apple", filter={"color": "red"})) == ["doc1", "doc2"]
    assert keys(searched.search(("test",), query="car", filter={"color": "red"})) == ["doc2", "doc1"]
    found = searched.search(("test",), query="blue car", filter={"score": {"$gt": 3.2}})
    assert len(found) == 3
    assert found[0].key == "doc4"
    assert found[0].score is not None
    wanted = {"score": {"$gte": 4.0}, "color": "green"}
    assert keys(searched.search(("test",), query="apple", filter=wanted)) == ["doc3"]
    pages = [searched.search(("test",), query="apple", limit=2, offset=offset) for offset in (0, 2)]
    assert sorted(keys(pages[0] + pages[1])) == sorted(DOCS)
    for query in ("", None, "test " * 100, "test!@#$%^&*()", "?!"):
        assert len(searched.search(("test",), query=query)) == 4


def test_a_changed_item_is_found_by_its_new_words_alone(searched: ReverieStore) -> None:
    """An update, a delete and `index=False` are heeded by the next search."""
    searched.put(("test",), "doc1", {"text": "zany zebra Xerxes"})
    searched.put(("test",), "doc2", {"text": "something about dogs"})
    assert searched.search(("test",), query="Xerxes")[0].key == "doc1"
    searched.put(("test",), "doc1", {"text": "new text about birds"})
    assert all(one.score is None for one in searched.search(("test",), query="Xerxes"))
    assert searched.search(("test",), query="birds")[0].key == "doc1"
    searched.put(("test",), "doc3", {"text": "new text about birds"}, index=False)
    assert keys(searched.search(("test",), query="birds"))[:1] == ["doc1"]
    assert [one.key for one in searched.search(("test",), query="birds") if one.score is not None] == ["doc1"]
    searched.delete(("test",), "doc1")
    assert [one for one in searched.search(("test",), query="birds") if one.score is not None] == []


def test_paths_say_what_is_searched(opening: Callable[..., Opening]) -> None:
    """The store's fields hold unless a put names its own: nested members, elements by place and all of them."""
    with reverie.init(opening()) as memory:
        store = ReverieStore(memory, fields=["title"])
        value = {
            "title": "alpha",
            "meta": {"note": "beta"},
            "parts": [{"t": "gamma"}, {"t": "delta"}],
            "x": "omega",
        }
        named = ["meta.note", "parts[-1].t"]
        store.put(("t",), "usual", value)
        store.put(("t",), "named", value, index=named)
        store.put(("t",), "every", value, index=["parts[*].t", "$"])

        def scored(query: str) -> set[str]:
            return {one.key for one in store.search(("t",), query=query) if one.score is not None}

        assert scored("alpha") == {"usual", "every"}
        assert scored("beta") == scored("delta") == {"named", "every"}
        assert scored("gamma") == scored("omega") == {"every"}
        memory.reindex()
        found = {hit.heading.rpartition(" ")[2]: hit.text for hit in memory.recall("beta alpha").hits}
        assert (found["usual"], found["named"]) == ("title: alpha", "note: beta\nt: delta")


def test_every_script_is_found(searched: ReverieStore) -> None:
    """Chinese, Japanese, Korean, Russian and Hindi values are each found by their own words (P-13)."""
    said = {
        "1": "这是中文",
        "2": "これは日本語です",
        "3": "이건 한국어야",
        "4": "Это русский",
        "5": "यह रूसी है",
    }
    for key, text in said.items():
        searched.put(("user_123", "memories"), key, {"text": text})
    for key, text in said.items():
        assert searched.search(("user_123", "memories"), query=text)[0].key == key


def test_many_namespaces_are_searched_together(searched: ReverieStore) -> None:
    """A prefix of more namespaces than the index is asked for by name finds what is meant all the same."""
    ops = [PutOp(("users", f"u{n}"), "k", {"text": f"note {n} about gardens"}) for n in range(400)]
    searched.batch([*ops, PutOp(("users", "u7"), "tea", {"text": "prefers oolong"})])
    assert searched.search(("users",), query="oolong", limit=1)[0].namespace == ("users", "u7")
    assert keys(searched.search(("users", "u7"), query="oolong")) == ["tea", "k"]


def test_threads_may_share_a_store(store: ReverieStore, memory: Memory) -> None:
    """Eight threads that write, read and search at once get their own words back."""
    wrong: list[Any] = []

    def work(name: str) -> None:
        for n in range(12):
            store.put(("t", name), str(n), {"text": f"{name} thing {n}"})
            if store.get(("t", name), str(n)).value != {"text": f"{name} thing {n}"}:
                wrong.append((name, n))
            store.search(("t",), query=f"{name} thing")

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []
    assert len(store.search(("t",), limit=1_000)) == 96
    assert memory.check() == ()


def test_what_is_no_json_is_refused_and_nothing_of_its_batch_is_stored(
    opening: Callable[..., Opening],
) -> None:
    """Objects, numbers that are none, half characters, depth and size give an error that says what to do."""
    with reverie.init(opening(max_turn_bytes="20000", exclusions="cats")) as memory:
        store = ReverieStore(memory)
        deep: Any = 1
        for _ in range(80):
            deep = [deep]
        for wrong in (object(), float("inf"), "half \ud800", deep, "x" * 30_000, "I like cats", {1, 2}):
            with pytest.raises(UsageError):
                store.batch([PutOp(("t",), "good", {"a": 1}), PutOp(("t",), "bad", {"value": wrong})])
        for key in ("ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8", "about cats"):
            with pytest.raises(UsageError):
                store.put(("t",), key, {"a": 1})
        with pytest.raises(UsageError):
            store.batch([SearchOp(("t",), limit=-1)])
        assert store.search(()) == []
        assert b"cats" not in b"".join(
            path.read_bytes() for path in (memory.root / ".journal").rglob("*") if path.is_file()
        )


def test_values_come_back_equal(store: ReverieStore, opening: Callable[..., Opening]) -> None:
    """Numbers of any size, nesting, every script, line breaks and empty things survive being stored and read anew."""
    value = {
        "big": 2**70,
        "f": 0.1,
        "none": None,
        "yes": True,
        "list": [[], {}, ""],
        "text": "a\n\u2028茶\0🍵",
    }
    store.put(("t", "茶"), "ключ / ..", value)
    again = ReverieStore(reverie.open(opening()))
    assert again.get(("t", "茶"), "ключ / ..").value == value
    found = store.search(("t",))[0]
    found.value["list"].append("changed by the caller")
    assert store.get(("t", "茶"), "ключ / ..").value == value


def test_recall_finds_values_and_context_shows_them(memory: Memory, store: ReverieStore) -> None:
    """What an agent keeps in the store is found beside its memories, after a rebuild too, until it is deleted."""
    store.put(("users", "dana"), "tea", {"text": "User prefers oolong tea", "cups": 3})
    for _ in range(2):
        (hit,) = [hit for hit in memory.recall("oolong").hits if hit.kind == "value"]
        assert (hit.text, hit.source) == ("User prefers oolong tea\ncups: 3", ".state/kv.jsonl")
        memory.reindex()
    assert "oolong" in memory.context(reverie.ContextRequest(query="oolong tea")).text
    assert said(memory, "dana cups") != []
    store.delete(("users", "dana"), "tea")
    assert said(memory, "oolong") == []


def test_forgotten_words_leave_values(memory: Memory, store: ReverieStore) -> None:
    """After a forget no reader of the store gets the words, in a value or a key, and a restore brings them back."""
    entry = memory.remember(NUTS).id
    value = {"notes": [NUTS, "User lives in Lisbon"], "deep": {"said": f"Know this:\n{NUTS}\nNo more."}}
    store.put(("users",), "dana", value)
    store.put(("users",), NUTS, {"a": 1})
    store.put(("users", NUTS), "since", {"a": 1})
    memory.forget([entry])
    assert store.list_namespaces() == [("users",)]
    for _ in range(2):
        assert store.get(("users",), "dana").value == {
            "notes": ["[forgotten]", "User lives in Lisbon"],
            "deep": {"said": "Know this:\n[forgotten]\nNo more."},
        }
        found = store.search(("users",), query="macadamia nuts")
        assert keys(found) == ["dana"]
        assert store.search(("users",), filter={"notes": {"$eq": value["notes"]}}) == []
        assert [text for text in said(memory, "macadamia nuts") if "macadamia" in text] == []
        assert "macadamia" not in memory.context(reverie.ContextRequest(query="macadamia")).text
        memory.reindex()
    memory.forget([entry], restore=True)
    assert store.get(("users",), "dana").value == value


def test_an_erase_takes_the_bytes_of_values(memory: Memory, store: ReverieStore) -> None:
    """After an erase no file holds the words, deleted and overwritten lines included, and the neighbours are there."""
    entry = memory.remember(NUTS).id
    store.put(("users",), "old", {"text": NUTS})
    store.put(("users",), "old", {"text": "Something else"})
    store.put(("users",), "dana", {"notes": [NUTS, "User lives in Lisbon"]})
    store.delete(("users",), "old")
    memory.drain()
    done = memory.erase([entry])
    assert ".state/kv.jsonl" in done.places
    holding = [
        path for path in memory.root.rglob("*") if path.is_file() and b"macadamia" in path.read_bytes()
    ]
    assert holding == []
    assert store.get(("users",), "dana").value == {"notes": ["[erased]", "User lives in Lisbon"]}
    assert "User lives in Lisbon" in said(memory, "Lisbon")[0]


def test_secrets_never_reach_the_disk(memory: Memory, store: ReverieStore) -> None:
    """Keys are taken out of values before the first byte is written (R-44)."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    store.put(("t",), "k", {"config": {"token": key}, "text": f"use {key}", "packed": f'{{"t":"{key}"}}'})
    assert key not in str(store.get(("t",), "k").value)
    assert not [
        path for path in memory.root.rglob("*") if path.is_file() and key.encode() in path.read_bytes()
    ]


def test_people_have_stores_of_their_own(memory: Memory, store: ReverieStore) -> None:
    """A person's store is in their own workspace: neither the agent nor another person finds it (R-34)."""
    with memory.person("Dana") as dana, memory.person("Bo") as bo:
        ReverieStore(dana).put(("notes",), "tea", {"text": "oolong"})
        store.put(("notes",), "soup", {"text": "pumpkin"})
        assert (store.get(("notes",), "tea"), ReverieStore(bo).search(())) == (None, [])
        assert said(bo, "oolong") == said(memory, "oolong") == []
        assert said(dana, "oolong") == ["text: oolong"]
        assert said(bo, "pumpkin") == ["text: pumpkin"]


def test_an_export_keeps_every_value(
    memory: Memory, store: ReverieStore, opening: Callable[..., Opening], clock: FixedClock
) -> None:
    """Into an empty workspace the values come as they were; beside others those that are missing come in (R-30)."""
    entry = memory.remember(NUTS).id
    store.put(("t",), "shared", {"text": "theirs"})
    clock.advance(minutes=1)
    store.put(("t",), "new", {"text": "oolong"}, index=["text"])
    store.put(("t",), "new", {"text": "oolong tea"}, ttl=60)
    store.put(("t",), "nuts", {"text": NUTS})
    store.put(("t",), "gone", {"text": "gone"})
    store.delete(("t",), "gone")
    memory.forget([entry])
    memory.export(memory.root.parent / "out")
    before = {one.key: one.dict() for one in store.search(())}
    with reverie.init(opening("empty")) as other:
        other.import_(memory.root.parent / "out")
        assert {one.key: one.dict() for one in ReverieStore(other).search(())} == before
    with reverie.init(opening("lived", exclusions="gone")) as other:
        theirs = ReverieStore(other)
        theirs.put(("t",), "shared", {"text": "mine"})
        for _ in range(2):
            told = other.import_(memory.root.parent / "out")
            assert told.passed["a value that is another one here"] == 1
            found = {one.key: one.value["text"] for one in theirs.search((), refresh_ttl=False)}
            assert found == {"shared": "mine", "new": "oolong tea"}
        assert (
            theirs.get(("t",), "new", refresh_ttl=False).created_at.isoformat() == before["new"]["created_at"]
        )
        assert "oolong tea" in said(other, "oolong")
        clock.advance(minutes=61)
        assert theirs.get(("t",), "new") is None


def test_a_switched_off_or_foreign_workspace_says_so(
    memory: Memory, store: ReverieStore, opening: Callable[..., Opening]
) -> None:
    """Where nothing is stored the host is told, and of a folder from elsewhere nothing is read or written."""
    store.put(("t",), "k", {"a": 1})
    off = ReverieStore(reverie.open(opening(enabled="false")))
    with pytest.raises(UsageError, match="switched off"):
        off.put(("t",), "k", {"a": 2})
    assert off.get(("t",), "k").value == {"a": 1}
    mine = opening()
    stranger = reverie.Opening(
        path=mine.path,
        config_dir=memory.root.parent / "another",
        environment=mine.environment,
        clock=mine.clock,
    )
    for op in (PutOp(("t",), "k", {"a": 2}), GetOp(("t",), "k")):
        with pytest.raises(reverie.ReverieError, match="trust"):
            ReverieStore(reverie.open(stranger)).batch([op])
