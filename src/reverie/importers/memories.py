"""What other memories stored: mem0's export, and `memory.jsonl` of the MCP reference server.

Owns turning their records into facts; promises that a fact's key holds its words, so that the same file read twice
gives the same facts and a changed one a new fact; never stores anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reverie.core.entries import derived_id
from reverie.errors import UsageError
from reverie.importers.taken import Fact, Found, Passed
from reverie.importers.turns import Defaults, instant_of


def is_mem0(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded value is one memory of a mem0 export."""
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def memories_of(value: Any) -> list[Any] | None:  # noqa: ANN401 - foreign JSON
    """Return the list of mem0 memories that an object holds, or None."""
    for name in ("results", "memories"):
        found = value.get(name) if isinstance(value, dict) else None
        if isinstance(found, list) and any(is_mem0(one) for one in found):
            return found
    return None


def mem0(value: Any, defaults: Defaults) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield the fact that one memory is; raises UsageError when it is none."""
    if not is_mem0(value):
        raise UsageError("it is no memory: it has no text in `memory`")
    text = value["memory"].strip()
    if not text:
        yield Passed("empty")
        return
    written = value.get("updated_at") or value.get("created_at")
    tags = value.get("categories")
    yield Fact(
        text=text,
        key=derived_id("mem0", str(value.get("id")), text),
        at=instant_of(written, defaults.calendar) if isinstance(written, str) else None,
        who=str(value.get("user_id") or ""),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
    )


def is_graph(value: Any) -> bool:  # noqa: ANN401 - foreign JSON
    """Whether a decoded line is an entity or a relation of the reference server."""
    return isinstance(value, dict) and (
        (value.get("type") == "entity" and "observations" in value)
        or (value.get("type") == "relation" and "relationType" in value)
    )


def graph(value: Any) -> Iterator[Found]:  # noqa: ANN401 - foreign JSON
    """Yield a fact for each observation of an entity, or for a relation; raises UsageError when it is neither."""
    if not is_graph(value):
        raise UsageError("it is no entity and no relation")
    if value["type"] == "relation":
        ends = [str(value.get(name) or "").strip() for name in ("from", "relationType", "to")]
        if not all(ends):
            raise UsageError("the relation lacks one of from, relationType, to")
        text = f"{ends[0]} {ends[1].replace('_', ' ')} {ends[2]}"
        yield Fact(text=text, key=derived_id("graph", *ends), about=ends[0])
        return
    name, told = str(value.get("name") or "").strip(), value["observations"]
    if not name or not isinstance(told, list):
        raise UsageError("the entity lacks a name or a list of observations")
    kind = str(value.get("entityType") or "").strip()
    if not told:
        yield Passed("an entity without observations")
    for one in told:
        if not isinstance(one, str) or not one.strip():
            yield Passed("empty")
            continue
        text = one.strip() if name.lower() in one.lower() else f"{name}: {one.strip()}"
        yield Fact(text=text, key=derived_id("graph", name, text), about=name, tags=(kind,) if kind else ())
