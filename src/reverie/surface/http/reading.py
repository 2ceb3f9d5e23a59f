"""The operations that read: recall, context, entries and where they come from, promises.

Owns what they take and give; promises that each is one line to a verb, and that what is hidden is shown only
to who asks for it; never changes what is remembered.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from reverie.context import Context, ContextRequest
from reverie.core.categories import hint
from reverie.core.fold import EntryState
from reverie.core.search.rows import Kind
from reverie.core.where import Where
from reverie.memory import Memory
from reverie.recall import Ask, Found
from reverie.surface import results
from reverie.surface.entry_text import behind_json, due_json, entry_json, why_json
from reverie.surface.http import shapes
from reverie.surface.http.operations import Cursor, Day, Id, Limit, Operation, Takes, Text
from reverie.surface.http.paging import page

Instant = Annotated[datetime, Meta(tz=True)]
Part = Literal[
    "due", "pinned", "relevant", "memory", "user", "soul", "ahead", "digests", "summaries", "history"
]


class Filters(Takes, frozen=True, kw_only=True):
    """Which entries are meant."""

    category: Annotated[str, Meta(description="Only this category, such as decision.")] = ""
    tag: Annotated[str, Meta(description="Only entries with this tag.")] = ""
    session: Annotated[str, Meta(description="Only what was said in this session.")] = ""
    about: Annotated[str, Meta(description="Only what concerns this person or thing.")] = ""
    who: Annotated[str, Meta(description="Only what this person said.")] = ""
    scope: Annotated[Literal["", "private", "team"], Meta(description="Only this scope.")] = ""
    since: Day = ""
    until: Day = ""
    as_of: Annotated[Instant | None, Meta(description="What was known and true then.")] = None
    previous: Annotated[bool, Meta(description="Also what held before and no longer does.")] = False
    hidden: Annotated[bool, Meta(description="Also what is hidden.")] = False
    faded: Annotated[bool | None, Meta(description="Also what has faded, or not.")] = None


class _Recall(Filters, frozen=True, kw_only=True):
    query: Annotated[Text, Meta(description="What is looked for, in any words or language.")]
    limit: Limit = 10
    kinds: Annotated[tuple[Kind, ...], Meta(description="Only these kinds.")] = ()
    reference: Annotated[Instant | None, Meta(description="Relative dates count from then.")] = None


class Listing(Filters, frozen=True, kw_only=True):
    """Which entries are meant, and which page of them."""

    limit: Limit = 100
    cursor: Cursor = ""


class _Context(Takes, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="What the next answer is about.")] = ""
    session: Annotated[str, Meta(description="The session the prompt is for, which is compacted.")] = ""
    budget: Annotated[
        int, Meta(description="At most so many tokens; 0: the setting's.", ge=0, le=10_000_000)
    ] = 0
    protocol: Annotated[bool, Meta(description="With the memory protocol in front.")] = True
    parts: Annotated[tuple[Part, ...], Meta(description="Only these; all if left out.")] = ()


class _One(Takes, frozen=True, kw_only=True):
    id: Id


class _Hit(Takes, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="An entry's id, or the whole id of any other hit.", min_length=1)]


def where_of(given: Filters) -> Where:
    """Return the filter that the arguments describe; raises UsageError for a day that is none."""
    return Where(
        category=given.category,
        tag=given.tag,
        session=given.session,
        about=given.about,
        who=given.who,
        scope=given.scope,
        since=given.since,
        until=given.until,
        as_of=given.as_of,
        include_previous=given.previous,
        include_hidden=given.hidden,
        include_faded=given.faded,
    )


def _recall(memory: Memory, given: _Recall) -> Found:
    ask = Ask(
        query=given.query, k=given.limit, where=where_of(given), kinds=given.kinds, reference=given.reference
    )
    return memory.ask(ask)


def _context(memory: Memory, given: _Context) -> Context:
    return memory.context(
        ContextRequest(
            query=given.query,
            session=given.session,
            budget=given.budget,
            protocol=given.protocol,
            parts=given.parts,
        )
    )


def _list(memory: Memory, given: Listing) -> dict[str, Any]:
    where = where_of(given)
    found, rest = (memory.list(where), results.LeftOut()) if given.cursor else results.listed(memory, where)
    part, more = page(found, given.limit, cursor=given.cursor, key=_id_of, form=entry_json)
    return {"entries": part, "next": more, "hint": hint(given.category), "left_out": rest}


def _id_of(state: EntryState) -> str:
    return state.entry.id


def _why(memory: Memory, given: _Hit) -> dict[str, object]:
    if ":" in given.id:
        return behind_json(memory.behind(given.id))
    return why_json(memory.why(given.id))


READING = (
    Operation(
        id="recall",
        method="post",
        path="/recall",
        summary="Find what is known about something: entries, pages, core files, history and turns, best first.",
        right="read",
        takes=_Recall,
        gives=Found,
        example={"query": "when to call Dana?", "limit": 3},
        run=_recall,
    ),
    Operation(
        id="context",
        method="post",
        path="/context",
        summary="Build what a host puts into its prompt, within a token budget.",
        right="read",
        raised={"session": "write"},
        takes=_Context,
        gives=Context,
        example={"query": "what is planned for Friday?", "budget": 4000},
        run=_context,
    ),
    Operation(
        id="list",
        method="get",
        path="/entries",
        summary="List entries by day.",
        right="read",
        takes=Listing,
        gives=shapes.ENTRIES,
        example={"category": "preference", "limit": 2},
        run=_list,
    ),
    Operation(
        id="get",
        method="get",
        path="/entries/{id}",
        summary="Show one entry whole.",
        right="read",
        takes=_One,
        gives=shapes.ENTRY,
        example={"id": "2b47366a861a87ca"},
        run=lambda memory, given: entry_json(memory.get(given.id)),
    ),
    Operation(
        id="history",
        method="get",
        path="/entries/{id}/history",
        summary="List what happened to an entry, oldest first, each event with the id that `take_back` takes.",
        right="read",
        takes=_One,
        gives=shapes.History,
        named="events",
        example={"id": "2b47366a861a87ca"},
        run=lambda memory, given: memory.history(given.id),
    ),
    Operation(
        id="why",
        method="get",
        path="/why/{id}",
        summary="Show where an entry, or another hit of recall, comes from, down to the turn.",
        right="read",
        takes=_Hit,
        gives=shapes.Behind,
        example={"id": "2b47366a861a87ca"},
        run=_why,
    ),
    Operation(
        id="due",
        method="get",
        path="/due",
        summary="List what was promised and is still open: overdue, today, upcoming, undated.",
        right="read",
        gives=shapes.PROMISES,
        named="promises",
        run=lambda memory, _: [due_json(one) for one in memory.due().lines],
    ),
)
