"""The store for LangGraph's agents: the cases of LangGraph's own stores, compared with its InMemoryStore.

On both backends of the index, for what is searched by words or meaning.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hosts import DOCS, keys, said

import reverie

pytest.importorskip("langgraph.store", reason="the extra `langgraph` is not installed")

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from reverie.adapters.langgraph import ReverieStore
from reverie.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie import Memory, Opening
    from reverie.testing import FixedClock


@pytest.fixture
def store(memory: Memory) -> ReverieStore:
    """Return the store of an empty memory."""
    return ReverieStore(memory)


def test_reads_of_a_batch_see_what_was_before_its_writes(store: ReverieStore) -> None:
    """A batch of every kind of operation gives each result in its place, in whatever order they come."""
    assert isinstance(store, BaseStore)
    store.put(("test", "foo"), "key1", {"data": "value1"})
    store.put(("test", "bar"), "key2", {"data": "value2"})
    found = store.batch(
        [
            GetOp(("test", "foo"), "key1"),
            PutOp(("test", "bar"), "key2", {"data": "new"}),
            SearchOp(("test",), filter={"data": "value1"}),
            ListNamespacesOp(),
            GetOp(("test", "bar"), "key2"),
            GetOp(("test",), "key3"),
        ]
    )
    assert isinstance(found[0], Item)
    assert (found[0].value, found[0].namespace) == ({"data": "value1"}, ("test", "foo"))
    assert (found[1], keys(found[2]), found[5]) == (None, ["key1"], None)
    assert found[3] == [("test", "bar"), ("test", "foo")]
    assert found[4].value == {"data": "value2"}
    assert store.get(("test", "bar"), "key2").value == {"data": "new"}


def test_the_last_write_of_a_key_in_a_batch_counts(store: ReverieStore) -> None:
    """Two puts of a key and a delete in one batch leave what came last."""
    store.batch([PutOp(("t",), "a", {"n": 1}), PutOp(("t",), "a", {"n": 2}), PutOp(("t",), "b", {"n": 1})])
    assert store.get(("t",), "a").value == {"n": 2}
    store.batch([PutOp(("t",), "a", None), PutOp(("t",), "missing", None), PutOp(("t",), "b", {"n": 3})])
    assert (store.get(("t",), "a"), store.get(("t",), "b").value) == (None, {"n": 3})
    assert store.batch([]) == []


def test_an_item_keeps_its_beginning_and_tells_its_change(store: ReverieStore, clock: FixedClock) -> None:
    """Putting again keeps when a key was created and moves when it was updated; after a delete it is new."""
    store.put(("docs",), "doc1", {"title": "One"})
    first = store.get(("docs",), "doc1")
    clock.advance(minutes=5)
    store.put(("docs",), "doc1", {"title": "Two"})
    second = store.get(("docs",), "doc1")
    assert (second.value, second.created_at) == ({"title": "Two"}, first.created_at)
    assert second.updated_at > first.updated_at
    assert store.get(("other",), "doc1") is None
    store.delete(("docs",), "doc1")
    assert store.get(("docs",), "doc1") is None
    store.put(("docs",), "doc1", {"title": "Three"})
    assert store.get(("docs",), "doc1").created_at == clock()


NAMESPACES = [
    ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"), ("b", "a", "f"),
    ("users", "123"), ("users", "456", "settings"), ("users", "789", "settings"), ("admin", "users", "789"),
    ("guests", "456", "preferences"),
]  # fmt: skip


LISTINGS: list[dict[str, Any]] = [
    {}, {"prefix": ("a", "b")}, {"suffix": ("f",)}, {"prefix": ("a",), "suffix": ("f",)},
    {"prefix": ("a", "b"), "max_depth": 3}, {"prefix": ("a", "b"), "limit": 2}, {"prefix": ("a", "b"), "offset": 2},
    {"prefix": ("a", "*", "f")}, {"suffix": ("*", "f")}, {"prefix": ("nonexistent",)}, {"prefix": ("users", "123")},
    {"prefix": ("users", "*")}, {"suffix": ("*", "preferences")}, {"max_depth": 2}, {"max_depth": 1, "limit": 2},
    {"prefix": ("*", "users"), "suffix": ("*", "settings")}, {"prefix": ("users", "*", "settings"), "max_depth": 1},
    {"offset": 5, "limit": 3}, {"offset": 100}, {"limit": 0}, {"suffix": ("users", "789")},
]  # fmt: skip


@pytest.mark.parametrize("wanted", LISTINGS, ids=[str(number) for number in range(len(LISTINGS))])
def test_namespaces_are_listed_as_langgraphs_own_store_does(
    store: ReverieStore, wanted: dict[str, Any]
) -> None:
    """Prefixes, suffixes, wildcards, depth and pages give what InMemoryStore gives; an empty store gives nothing."""
    other = InMemoryStore()
    assert store.list_namespaces(**wanted) == []
    for number, namespace in enumerate(NAMESPACES):
        for one in (store, other):
            one.put(namespace, f"id_{number}", {"data": number})
    assert store.list_namespaces(**wanted) == other.list_namespaces(**wanted)


def test_a_suffix_may_be_one_label(store: ReverieStore) -> None:
    """A condition made by hand may name one label as a text."""
    store.put(("test", "public"), "x", {"a": 1})
    store.put(("test", "private"), "x", {"a": 1})
    op = ListNamespacesOp(match_conditions=(MatchCondition("suffix", "public"),))  # type: ignore[arg-type]
    assert store.batch([op]) == [[("test", "public")]]
    with pytest.raises(UsageError):
        store.batch([ListNamespacesOp(match_conditions=(MatchCondition("within", ("a",)),))])  # type: ignore[arg-type]


def test_namespaces_that_langgraph_refuses_are_refused(store: ReverieStore) -> None:
    """An empty namespace, a period, an empty label, another type and the root label are refused, async calls alike."""
    doc = {"foo": "bar"}
    for wrong in ((), ("the", "thing.about"), ("some", "fun", ""), ("langgraph", "foo"), ("nul\0",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(wrong, "foo", doc)
        with pytest.raises(InvalidNamespaceError):
            asyncio.run(store.aput(wrong, "foo", doc))
    for op in (PutOp(("a.b",), "k", doc), GetOp(("",), "k"), SearchOp(("a.b",)), PutOp((1,), "k", doc)):  # type: ignore[arg-type]
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    for namespace in (
        ("foo", "langgraph", "foo"),
        ("langgraph", "foo"),
    ):  # past the public put, the root is free
        asyncio.run(store.abatch([PutOp(namespace, "bar", doc)]))
        assert store.get(namespace, "bar").value == doc
        assert store.search(namespace)[0].value == doc
        store.delete(namespace, "bar")
        assert store.get(namespace, "bar") is None


FILTERS: list[dict[str, Any]] = [
    {}, {"color": "red"}, {"color": "red", "score": 4.5}, {"score": {"$gt": 3.2}}, {"score": {"$gte": 4.0}},
    {"score": {"$lt": 4}}, {"score": {"$lte": 3.5, "$gt": 3}}, {"color": {"$ne": "red"}}, {"color": {"$eq": "blue"}},
    {"missing": None}, {"score": {"$gte": 4.0}, "color": "green"}, {"color": {"inner": "red"}}, {"color": ["red"]},
]  # fmt: skip


@pytest.mark.parametrize("wanted", FILTERS, ids=[str(number) for number in range(len(FILTERS))])
def test_filters_admit_what_langgraphs_own_store_admits(store: ReverieStore, wanted: dict[str, Any]) -> None:
    """Equality, operators and several conditions give what InMemoryStore gives, page by page."""
    other = InMemoryStore()
    for key, value in DOCS.items():
        for one in (store, other):
            one.put(("test",), key, value)
    for key, value in DOCS.items():
        for one in (store, other):
            one.put(("test", "deep"), key, {**value, "score": value["score"] + 1})
    for page in ({}, {"limit": 2}, {"limit": 3, "offset": 2}, {"offset": 50}):
        for prefix in ((), ("test",), ("test", "deep"), ("no",)):
            ours, theirs = (one.search(prefix, filter=wanted, **page) for one in (store, other))
            assert [(one.namespace, one.key, one.value, one.score) for one in ours] == [
                (one.namespace, one.key, one.value, one.score) for one in theirs
            ]


def test_numbers_are_compared_as_numbers_and_nothing_raises(store: ReverieStore) -> None:
    """9 is less than 10, texts are compared as texts, members one by one; other types are neither more nor less."""
    values: dict[str, Any] = {"a": 2, "b": 9, "c": 10, "d": 9.5, "e": "9", "f": None, "g": [10], "h": True}
    for key, score in values.items():
        store.put(("test",), key, {"score": score, "at": {"x": 1, "y": [1, {"z": 2}]}})

    def found(wanted: dict[str, Any]) -> list[str]:
        return keys(store.search(("test",), filter=wanted, limit=50))

    assert found({"score": {"$gte": 9.5}}) == ["c", "d"]
    assert found({"score": {"$lt": "95"}}) == ["e"]
    assert found({"score": {"$gt": 1, "$lt": 9}}) == ["a"]
    assert found({"score": [10]}) == ["g"]
    assert len(found({"at": {"x": 1}})) == len(found({"at": {"y": [1, {"z": 2}]}})) == 8
    assert found({"at": {"y": [1]}}) == []
    with pytest.raises(UsageError, match=r"\$near"):
        found({"score": {"$near": 9}})


def test_a_life_begins_again_with_each_use(opening: Callable[..., Opening], clock: FixedClock) -> None:
    """An item ends its minutes after it was last used, unless a read says that it does not count."""
    with reverie.init(opening()) as memory:
        store = ReverieStore(memory)
        store.put(("foo",), "item1", {"foo": "bar"}, ttl=10)
        store.put(("foo",), "kept", {"foo": "bar"})
        clock.advance(minutes=8)
        assert store.get(("foo",), "item1") is not None
        clock.advance(minutes=8)
        assert len(store.search(("foo",), query="bar")) == 2
        clock.advance(minutes=8)
        assert store.get(("foo",), "item1", refresh_ttl=False) is not None
        clock.advance(minutes=2)
        assert store.get(("foo",), "item1", refresh_ttl=False) is None
        assert keys(store.search(("foo",), query="bar")) == ["kept"]
        assert said(memory, "bar") == ["foo: bar"]
        store.put(("foo",), "item1", {"foo": "again"}, ttl=None)
        clock.advance(days=400)
        assert store.get(("foo",), "item1").created_at == store.get(("foo",), "item1").updated_at


def test_the_stores_configuration_of_lives_counts(opening: Callable[..., Opening], clock: FixedClock) -> None:
    """A default life, reads that do not count, and sweeping while writing, which takes what ended from the file."""
    with reverie.init(opening()) as memory:
        config = {"default_ttl": 5.0, "refresh_on_read": False, "sweep_interval_minutes": 60}
        store = ReverieStore(memory, ttl=config)  # type: ignore[arg-type]
        store.put(("t",), "short", {"word": "ephemeral"})
        store.put(("t",), "long", {"word": "standing"}, ttl=None)
        clock.advance(minutes=4)
        assert store.get(("t",), "short") is not None
        clock.advance(minutes=1)
        assert store.get(("t",), "short") is None
        assert store.list_namespaces() == [("t",)]
        assert said(memory, "ephemeral") == []
        clock.advance(minutes=60)
        store.put(("t",), "other", {"word": "new"})
        assert b"ephemeral" not in (memory.root / ".state/kv.jsonl").read_bytes()
        assert store.get(("t",), "long").value == {"word": "standing"}
        for wrong in (0, -1, float("nan"), float("inf")):
            with pytest.raises(UsageError):
                store.put(("t",), "x", {"a": 1}, ttl=wrong)


def test_async_calls_are_batched_and_deduplicated_by_nobody_else(store: ReverieStore) -> None:
    """A hundred calls at once from one loop lose nothing, and a cancelled write took place when its task ends."""

    async def story() -> list[Any]:
        await asyncio.gather(*(store.aput(("t",), f"k{n}", {"n": n}) for n in range(60)))
        await asyncio.gather(*(store.adelete(("t",), f"k{n}") for n in range(20)))
        task = asyncio.ensure_future(store.aput(("t",), "late", {"n": 1}))
        asyncio.get_running_loop().call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.gather(
            store.asearch(("t",), limit=100),
            store.aget(("t",), "late"),
            store.alist_namespaces(prefix=("t",)),
        )

    found, late, listed = asyncio.run(story())
    assert sorted(keys(found)) == sorted([*(f"k{n}" for n in range(20, 60)), "late"])
    assert (late.value, listed) == ({"n": 1}, [("t",)])
