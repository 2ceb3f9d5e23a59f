"""The operations that let go: hide, forget, and topics that are never stored.

Owns what they take and give; promises that each is one line to a verb; never erases: that needs an admin (`admin`).
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from reverie.core.where import Where
from reverie.memory import Memory
from reverie.surface import results
from reverie.surface.http import shapes
from reverie.surface.http.operations import Ids, Operation, Takes
from reverie.surface.http.paging import page
from reverie.surface.http.reading import Filters, Listing, where_of


class _Meant(Takes, frozen=True, kw_only=True):
    """Entries by id, or all that a filter admits, one of the two."""

    ids: Ids = ()
    where: Annotated[Filters | None, Meta(description="All that this admits, instead of ids.")] = None
    dry_run: Annotated[bool, Meta(description="Only say which.")] = False


class Meant(_Meant, frozen=True, kw_only=True):
    """The same, and turns by their whole ids."""

    ids: Annotated[
        tuple[str, ...],
        Meta(
            description="The entries' ids, or the beginnings of them; a turn by its whole id.",
            max_length=10_000,
        ),
    ] = ()


class _Hide(_Meant, frozen=True, kw_only=True):
    unhide: Annotated[bool, Meta(description="Bring them back into sight.")] = False


class _Exclude(Takes, frozen=True, kw_only=True):
    topic: Annotated[str, Meta(description="A word or words, matched on word borders.", min_length=1)]
    preview: Annotated[bool, Meta(description="Only say which entries name it.")] = False


def filter_of(given: _Meant) -> Where | None:
    """Return the filter of those that are meant, None where they are named."""
    return where_of(given.where) if given.where else None


def _hide(memory: Memory, given: _Hide) -> results.Hidden:
    meant = memory.hideable(given.ids, where=filter_of(given), unhide=given.unhide)
    ids = [one.entry.id for one in meant]
    if not given.dry_run:
        memory.hide(ids, unhide=given.unhide)
    return results.Hidden(ids, hidden=not given.unhide, dry_run=given.dry_run)


def _forget(memory: Memory, given: Meant) -> results.Forgetting:
    done = memory.forget(given.ids, where=filter_of(given), dry_run=given.dry_run)
    return results.forgetting(done, dry_run=given.dry_run)


def _gone(memory: Memory, given: Listing) -> dict[str, Any]:
    where = where_of(given)
    part, more = page(
        memory.gone(where if where.narrows else None),
        given.limit,
        cursor=given.cursor,
        key=lambda one: one.id,
        form=lambda one: one,
    )
    return {"entries": part, "next": more}


def _exclude(memory: Memory, given: _Exclude) -> dict[str, object]:
    named = memory.exclude(given.topic, preview=given.preview)
    return results.excluded(given.topic, named, preview=given.preview)


LETTING = (
    Operation(
        id="hide",
        method="post",
        path="/hide",
        summary="Take entries out of recall and MEMORY.md, reversibly.",
        right="write",
        takes=_Hide,
        gives=results.Hidden,
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
        gives=results.Forgetting,
        example={"ids": ["2b47366a861a87ca"], "dry_run": True},
        unplaced=True,
        run=_forget,
    ),
    Operation(
        id="gone",
        method="get",
        path="/forgotten",
        summary="List what is forgotten and not erased, in the order it was let go, without its words.",
        right="read",
        takes=Listing,
        gives=shapes.Forgotten,
        example={"about": "Jonas"},
        run=_gone,
    ),
    Operation(
        id="exclude",
        method="post",
        path="/exclusions",
        summary="Never store a topic again, and list the entries that name it already, which stay.",
        right="write",
        takes=_Exclude,
        gives=results.Excluded,
        example={"topic": "health", "preview": True},
        run=_exclude,
    ),
)
