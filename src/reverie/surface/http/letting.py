"""The operations that let go: hide, forget, and topics that are never stored.

Owns what they take and give; promises that each is one line to a verb; never erases: that needs an admin (`admin`).
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from reverie.forget import Forgotten
from reverie.memory import Memory
from reverie.surface.entry_text import entry_json
from reverie.surface.http import shapes
from reverie.surface.http.operations import Ids, Operation, Takes
from reverie.surface.http.reading import Filters, where_of


class Meant(Takes, frozen=True, kw_only=True):
    """Entries by id, or all that a filter admits, one of the two."""

    ids: Ids = ()
    where: Annotated[Filters | None, Meta(description="All that this admits, instead of ids.")] = None
    dry_run: Annotated[bool, Meta(description="Only say which.")] = False


class _Hide(Meant, frozen=True, kw_only=True):
    unhide: Annotated[bool, Meta(description="Bring them back into sight.")] = False


class _Exclude(Takes, frozen=True, kw_only=True):
    topic: Annotated[str, Meta(description="A word or words, matched on word borders.", min_length=1)]
    preview: Annotated[bool, Meta(description="Only say which entries name it.")] = False


def _hide(memory: Memory, given: _Hide) -> shapes.Count:
    where = where_of(given.where) if given.where else None
    count = memory.hide(given.ids, where=where, unhide=given.unhide, dry_run=given.dry_run)
    return shapes.Count(count, given.dry_run)


def _forget(memory: Memory, given: Meant) -> Forgotten:
    where = where_of(given.where) if given.where else None
    return memory.forget(given.ids, where=where, dry_run=given.dry_run)


def _exclude(memory: Memory, given: _Exclude) -> list[dict[str, Any]]:
    return [entry_json(one) for one in memory.exclude(given.topic, preview=given.preview)]


LETTING = (
    Operation(
        id="hide",
        method="post",
        path="/hide",
        summary="Take entries out of recall and MEMORY.md, reversibly.",
        right="write",
        takes=_Hide,
        gives=shapes.Count,
        example={"where": {"tag": "draft"}, "dry_run": True},
        run=_hide,
    ),
    Operation(
        id="forget",
        method="post",
        path="/forget",
        summary="Forget entries and the words they came from; their bytes stay until they are erased.",
        right="write",
        takes=Meant,
        gives=Forgotten,
        example={"ids": ["2b47366a861a87ca"], "dry_run": True},
        unplaced=True,
        run=_forget,
    ),
    Operation(
        id="exclude",
        method="post",
        path="/exclusions",
        summary="Never store a topic again, and list the entries that name it already, which stay.",
        right="write",
        takes=_Exclude,
        gives={"type": "object", "properties": {"entries": {"type": "array", "items": shapes.ENTRY}}},
        named="entries",
        example={"topic": "health", "preview": True},
        run=_exclude,
    ),
)
