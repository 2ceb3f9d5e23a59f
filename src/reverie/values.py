"""An adapter's own values, kept under a namespace and a key beside what the agent remembers.

In: puts, each a whole value or a deletion. Out: lines of `.state/kv.jsonl`, redacted, synced; values read back as they
were stored, found by namespace, by filter and by words. No model. What survives a crash here: see `store.hosts.kv`.

Nobody extracts from a value, and it is no entry: `recall` finds its words, and what was forgotten is left out of it by
every reader, as `[forgotten]`. A topic that is never stored is refused with an error, for a host that believes it has
stored something would go on without it.

Next: nothing; a value is there when the call returns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from reverie.core.days import shifted
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.mask import Mask
from reverie.core.formats.key_values import (
    DEEP,
    Item,
    Name,
    admits,
    decoded,
    depth_of,
    name_of,
    row_id,
    scope_of,
    text_of,
    withheld,
)
from reverie.core.limits import too_long, too_many
from reverie.core.records import KeyValue
from reverie.core.search.query import parse
from reverie.core.search.rank import rank
from reverie.core.search.rows import Filter
from reverie.errors import UsageError
from reverie.index.protocol import Index
from reverie.store.hosts import kv
from reverie.store.workspace import Workspace

_SCOPES = 256  # namespaces that a search is narrowed to by the index; of more, it looks through all
_DEPTH = 1_000  # candidates looked at for a page of results
_MINUTES = 60 * 24 * 366 * 1_000  # of the longest life


class Put(msgspec.Struct, frozen=True, kw_only=True):
    """What to store under a key: a JSON value, or None to delete it.

    It ends `ttl` minutes after it was last used. `index` are the paths of what is searched: true for all, false for
    nothing.
    """

    namespace: tuple[str, ...]
    key: str
    value: Any
    ttl: float | None = None
    index: tuple[str, ...] | bool = True


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A value as readers get it, with when its key was first and last stored, and how well it answers a query."""

    namespace: tuple[str, ...]
    key: str
    value: Any
    created: datetime
    updated: datetime
    score: float | None = None

    @property
    def name(self) -> Name:
        """Its namespace and key."""
        return self.namespace, self.key


def put(ws: Workspace, puts: Sequence[Put], *, used: Iterable[Name] = ()) -> None:
    """Store values with one write; `used` are the keys that were read, whose lives begin again.

    On return it is on disk. Raises UsageError for what cannot be stored, StoreUnwritable, Busy; then nothing was.
    """
    if puts and not ws.settings.enabled:
        raise UsageError("memory is switched off for this workspace (`enabled = false`): nothing was stored")
    now = ws.clock()
    lines = [_line(ws, one, now) for one in puts]
    read = tuple(dict.fromkeys(used))

    def make(table: kv.Table) -> list[KeyValue]:
        there = {name_of(line): item.created for line in lines if (item := table.get(name_of(line), now))}
        told = [
            msgspec.structs.replace(line, created=there[name_of(line)]) if _is_again(line, there) else line
            for line in lines
            if line.value is not msgspec.UNSET or name_of(line) in table.items
        ]
        return [*_touched(table, read, now), *told]

    if lines or any(item.line.ttl for name in read if (item := kv.table(ws).items.get(name))):
        kv.append(ws, make)


def _is_again(line: KeyValue, there: Mapping[Name, datetime]) -> bool:
    return line.value is not msgspec.UNSET and there.get(name_of(line), line.at) != line.at


def _touched(table: kv.Table, read: Iterable[Name], now: datetime) -> list[KeyValue]:
    found = (item for name in read if (item := table.get(name, now)) is not None)
    return [
        KeyValue(
            namespace=item.line.namespace,
            key=item.line.key,
            at=now,
            until=_end(now, item.line.ttl),
            touch=True,
        )
        for item in found
        if item.line.ttl is not None and item.until != _end(now, item.line.ttl)
    ]


def sweep(ws: Workspace) -> int:
    """Drop the values that have ended, and lines that were overwritten or deleted; return how many bytes that saved."""
    return kv.tidy(ws)


def get(ws: Workspace, name: Name, *, masked: Mask) -> Value | None:
    """Return the value under a namespace and key; None when there is none, or it has ended."""
    item = kv.table(ws).get(name, ws.clock())
    return None if item is None else shown(item, masked)


def matching(
    ws: Workspace, prefix: tuple[str, ...], *, masked: Mask, wanted: Mapping[str, Any] | None = None
) -> list[Item]:
    """Return the items beneath a namespace that a filter admits, in the order their keys were first stored."""
    return [
        item
        for item in kv.table(ws).living(ws.clock())
        if item.line.namespace[: len(prefix)] == prefix
        and not (masked and masked.text("\n".join((*item.line.namespace, item.line.key))))
        and (not wanted or admits(_read(item, masked), wanted))
    ]


def namespaces(ws: Workspace, *, masked: Mask) -> list[tuple[str, ...]]:
    """Return the namespaces in which there is a value that a reader may see, sorted."""
    return sorted({item.line.namespace for item in matching(ws, (), masked=masked)})


def ranked(
    ws: Workspace, items: Sequence[Item], query: str, *, index: Index
) -> list[tuple[Item, float | None]]:
    """Return items with those that answer a query first, best first and scored; the rest follows as it was.

    The index holds what `recall.catch_up` brought it up to.
    """
    now = ws.clock()
    asked = parse(query, date.fromisoformat(ws.today))
    if not asked.terms or not items:
        return [(item, None) for item in items]
    scopes = {scope_of(one) for one in {item.line.namespace for item in items}}
    where = Filter(kinds=("value",), scopes=tuple(scopes) if len(scopes) <= _SCOPES else ())
    by_id = {row_id(name_of(item.line)): item for item in items}
    found = index.search(asked, where=where, depth=_DEPTH, vector=index.meaning(query))
    ours = [one for one in found if one.row.id in by_id]
    best = rank(asked, ours, reference=now, k=max(1, len(ours)), judge=lambda one: one)
    first = {same: one.score for one in best for same in (one.id, *one.alike)}
    scored = [(by_id[id_], score) for id_, score in first.items()]
    return [*scored, *((item, None) for id_, item in by_id.items() if id_ not in first)]


def shown(item: Item, masked: Mask, *, score: float | None = None) -> Value:
    """Return an item as readers get it: a value of its own, without what was forgotten."""
    line = item.line
    # The standard library's reader keeps whole numbers of any size.
    value = json.loads(bytes(line.value)) if isinstance(line.value, msgspec.Raw) else None
    return Value(
        namespace=line.namespace,
        key=line.key,
        value=withheld(value, masked.text) if masked else value,
        created=item.created,
        updated=line.at,
        score=score,
    )


# Inside


def _end(now: datetime, minutes: float) -> datetime:
    """Return until when a value lives that is written or read now."""
    return shifted(now, timedelta(minutes=minutes))


def _line(ws: Workspace, wanted: Put, now: datetime) -> KeyValue:
    """Return the line that stores a value, without secrets; raises UsageError for what cannot be stored."""
    named = [*(("namespace", label) for label in wanted.namespace), ("key", wanted.key)]
    if reason := too_many("namespace", len(wanted.namespace)) or too_long(named):
        raise UsageError(f"{reason}: use a shorter name")
    for label in (*wanted.namespace, wanted.key):
        if ws.clean(label) != label:
            raise UsageError(
                "a namespace or key holds a secret, by which nobody could find it again: use another name"
            )
        if topic := excluded_by(label, ws.settings.exclusions):
            raise UsageError(f"the topic {topic!r} is excluded: nothing was stored")
    if wanted.value is None:
        return KeyValue(namespace=wanted.namespace, key=wanted.key, at=now)
    raw = ws.clean_raw(_encoded(wanted.value))
    if len(raw) > ws.settings.max_turn_bytes:
        message = (
            f"the value has {len(raw):,} bytes: at most {ws.settings.max_turn_bytes:,} fit (max_turn_bytes)"
        )
        raise UsageError(message)
    said = text_of(msgspec.json.decode(raw)) if ws.settings.exclusions else ""
    if topic := excluded_by(said, ws.settings.exclusions):
        raise UsageError(f"the topic {topic!r} is excluded: nothing was stored")
    if wanted.ttl is not None and not 0 < wanted.ttl <= _MINUTES:
        raise UsageError(f"ttl is {wanted.ttl}: give the minutes that it lives, more than none")
    return KeyValue(
        namespace=wanted.namespace,
        key=wanted.key,
        at=now,
        value=msgspec.Raw(raw),
        ttl=wanted.ttl,
        until=None if wanted.ttl is None else _end(now, wanted.ttl),
        index=wanted.index,
    )


def _read(item: Item, masked: Mask) -> Any:  # noqa: ANN401 - JSON
    """Return a value to be compared, by the quicker reader."""
    value = decoded(item.line)
    return withheld(value, masked.text) if masked else value


def _encoded(value: Any) -> bytes:  # noqa: ANN401 - whatever a host gives
    """Return a value as JSON; raises UsageError for what JSON cannot say."""
    if depth_of(value) > DEEP:
        raise UsageError(f"the value has more than {DEEP} levels of lists and objects: make it flatter")
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError) as error:  # half a surrogate pair is a ValueError
        raise UsageError(f"the value is no JSON: {error}") from error
