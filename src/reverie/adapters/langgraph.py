"""A store for LangGraph's agents: its `BaseStore`, over a workspace's own file of values.

    from reverie.adapters.langgraph import ReverieStore

    store = ReverieStore(reverie.open("support"))

Owns what LangGraph's operations mean here; promises that what `put` returned from is on disk, that each operation sees
what any process stored before, that secrets are taken out first and forgotten words are left out, and that an item
which has ended is gone at that moment; never asks a model, nor anything elsewhere that the workspace's settings do not
name.

In a batch every read sees the store as it was before the batch's writes, and of two writes of one key the last counts,
as in LangGraph's own stores. Search is the workspace's own: by words in every language, by meaning where it has an
embedder. Items that do not answer the query follow those that do, without a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reverie.adapters.one_at_a_time import finished, lock_of
from reverie.core.formats.key_values import Name
from reverie.errors import UsageError
from reverie.memory import Memory
from reverie.recall import catch_up
from reverie.values import Put, Value, get, matching, namespaces, put, ranked, shown, sweep

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
    )
except ImportError as error:
    message = "LangGraph's store is not installed: run pip install 'reverie[langgraph]'"
    raise ImportError(message) from error

ROOT = "langgraph"  # the label above every namespace, which keeps other adapters' values apart
_SECONDS = 60


class ReverieStore(BaseStore):
    """A LangGraph store in the workspace of an open Memory; safe to call from several threads and tasks.

    `fields` are the paths of what is searched in items that say nothing themselves (`index=` of a put); by default all.
    `ttl` is LangGraph's own: `default_ttl` and `refresh_on_read` count; `sweep_interval_minutes` is how often writing
    drops what has ended from the file, and what has ended is never shown, whatever `omit_expired` says.
    """

    supports_ttl = True
    __slots__ = ("_fields", "_lock", "_memory", "_swept", "ttl_config")

    def __init__(
        self, memory: Memory, *, fields: Sequence[str] | None = None, ttl: TTLConfig | None = None
    ) -> None:
        """Work on `memory`, which stays the caller's to close."""
        self._memory = memory
        self._fields: tuple[str, ...] | bool = True if fields is None else tuple(fields)
        self.ttl_config = ttl
        self._lock = lock_of(memory)
        self._swept = memory.opened.ws.clock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations at once, and return the result of each in its place.

        Raises InvalidNamespaceError and UsageError for an operation that cannot be done, StoreUnwritable, Busy; then
        nothing was written.
        """
        wanted = [_checked(op) for op in ops]
        with self._lock:
            self._memory.opened.trusted_or_raise()
            used: list[Name] = []
            results = [self._read(op, used) for op in wanted]
            last = {(op.namespace, op.key): op for op in wanted if isinstance(op, PutOp)}
            puts = [self._put(op) for op in last.values()]
            if puts or used:
                put(self._memory.opened.writable, puts, used=used)
            self._sweep()
            return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations at once as `batch` does; a cancelled task ends when they have been done."""
        wanted = list(ops)
        return await finished(lambda: self.batch(wanted))

    def sweep(self) -> int:
        """Drop what has ended, was deleted or overwritten from the file, and return how many bytes that saved."""
        with self._lock:
            return sweep(self._memory.opened.writable)

    def _read(self, op: Op, used: list[Name]) -> Result:
        """Return the result of an operation that reads, None for any other; add the keys that it used."""
        ws, mask = self._memory.opened.ws, self._memory.opened.mask
        if isinstance(op, GetOp):
            found = get(ws, ((ROOT, *op.namespace), op.key), masked=mask)
            if found is not None and op.refresh_ttl:
                used.append(found.name)
            return None if found is None else Item(**_told(found))
        if isinstance(op, SearchOp):
            values = self._found(op)
            if op.refresh_ttl:
                used += [one.name for one in values]
            return [SearchItem(**_told(one), score=one.score) for one in values]
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        return None

    def _found(self, op: SearchOp) -> list[Value]:
        opened = self._memory.opened
        prefix = (ROOT, *op.namespace_prefix)
        mask, page = opened.mask, slice(op.offset, op.offset + op.limit)
        items = matching(opened.ws, prefix, masked=mask, wanted=op.filter)
        if not op.query or not items:
            return [shown(item, mask) for item in items[page]]
        catch_up(opened.ws, opened.state_now(), index=opened.index, masked=mask.row)
        best = ranked(opened.ws, items, op.query, index=opened.index)
        return [shown(item, mask, score=score) for item, score in best[page]]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        opened = self._memory.opened
        own = [one[1:] for one in namespaces(opened.ws, masked=opened.mask) if one[0] == ROOT]
        found = [
            one for one in own if all(_matches(one, condition) for condition in op.match_conditions or ())
        ]
        if op.max_depth is not None:
            found = sorted({one[: op.max_depth] for one in found})
        return found[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> Put:
        index = self._fields if op.index is None else tuple(op.index) if op.index else False
        value = None if op.value is None else dict(op.value)
        return Put(namespace=(ROOT, *op.namespace), key=op.key, value=value, ttl=op.ttl, index=index)

    def _sweep(self) -> None:
        every = (self.ttl_config or {}).get("sweep_interval_minutes")
        now = self._memory.opened.ws.clock()
        if every is not None and (now - self._swept).total_seconds() >= every * _SECONDS:
            self._swept = now
            sweep(self._memory.opened.writable)


def _told(value: Value) -> dict[str, Any]:
    return {
        "namespace": value.namespace[1:],
        "key": value.key,
        "value": value.value,
        "created_at": value.created,
        "updated_at": value.updated,
    }


def _checked(op: Op) -> Op:
    """Return an operation with its namespace as a tuple; raises for one that no store could do."""
    if isinstance(op, SearchOp):
        if min(op.limit, op.offset) < 0:
            raise UsageError(f"limit {op.limit}, offset {op.offset}: neither may be negative")
        return op._replace(namespace_prefix=_labels(op.namespace_prefix))
    if isinstance(op, GetOp | PutOp):
        if not isinstance(op.key, str):
            raise UsageError(f"the key is {type(op.key).__name__}: give text")
        return op._replace(namespace=_labels(op.namespace))
    if isinstance(op, ListNamespacesOp):
        if min(op.limit, op.offset) < 0:
            raise UsageError(f"limit {op.limit}, offset {op.offset}: neither may be negative")
        return op
    raise UsageError(f"{type(op).__name__} is no operation of a store")


def _labels(namespace: Iterable[Any]) -> tuple[str, ...]:
    for label in namespace:
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise InvalidNamespaceError(
                f"{label!r} in {namespace!r} is no label of a namespace: give text without periods and NUL bytes"
            )
    return tuple(namespace)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    given: Any = condition.path
    path = (given,) if isinstance(given, str) else tuple(given)
    if len(namespace) < len(path):
        return False
    if condition.match_type not in {"prefix", "suffix"}:
        raise UsageError(f"{condition.match_type!r} is no way to match a namespace: use prefix or suffix")
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))
