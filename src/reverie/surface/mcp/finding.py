"""The tools that read: recall, list, get, due, context, status, and `search` and `fetch`, which some clients need.

Owns what they show; promises that each entry comes with the id that other tools take, its day and its standing; never
shows what is hidden.
"""

from __future__ import annotations

from typing import Any, get_args
from urllib.parse import unquote

import msgspec

from reverie.context import ContextRequest
from reverie.core.categories import hint
from reverie.core.days import parse_instant
from reverie.core.fold import EntryState
from reverie.core.search.context_plan import PARTS
from reverie.core.search.rows import Kind
from reverie.core.text.plural import many
from reverie.core.where import Where
from reverie.errors import NotFound
from reverie.memory import Memory
from reverie.recall import Ask, Hit
from reverie.surface.entry_text import (
    due_json,
    entry_json,
    entry_line,
    entry_lines,
    hit_lines,
    said_by,
    why_json,
    why_lines,
)
from reverie.surface.mcp.answers import (
    FLAG,
    INTEGER,
    NUMBER,
    OBJECT,
    TEXT,
    TEXTS,
    Answer,
    lines,
    listing,
    shape,
)
from reverie.surface.mcp.fields import Field
from reverie.surface.mcp.resources import ENTRY, read_resource, uri_of
from reverie.surface.mcp.tools import ID, Tool, Values
from reverie.surface.results import listed
from reverie.surface.status_text import status_lines

MOST = 1_000  # entries or hits in one answer
_KINDS: tuple[Kind, ...] = get_args(Kind)
_TOLD_OUT = ("faded", "previous")  # of what a list leaves out: what is hidden is for a person alone
_PRIVATE = ("workspace",)  # of the status: where the memory lies is nobody's business but the server's

_FILTERS = (
    Field("category", "text", "Only this category, such as preference, decision, fact or commitment."),
    Field("tag", "text", "Only entries with this tag."),
    Field("about", "text", "Only what concerns this person or thing."),
    Field("who", "text", "Only what this person said."),
    Field("session", "text", "Only what was said in this session."),
    Field("since", "text", "Not before this day, as YYYY-MM-DD."),
    Field("until", "text", "Not after this day, as YYYY-MM-DD."),
    Field("as_of", "text", "What was known and true at this instant, such as 2026-07-01T12:00:00Z."),
    Field("previous", "flag", "Also what held before and no longer does."),
    Field("faded", "flag", "Also what has faded; recall finds it anyway, further below."),
    Field("scope", "text", "Only this scope.", choices=("private", "team")),
)
_ENTRY = shape("id", "text", id=TEXT, text=TEXT, day=TEXT, category=TEXT, sig=NUMBER, current=FLAG)
_PROMISE = shape("id", "text", "part", id=TEXT, text=TEXT, due=TEXT, part=TEXT, shown=TEXT, by=TEXT)
_HIT = shape("id", "text", id=TEXT, kind=TEXT, text=TEXT, day=TEXT, score=NUMBER, source=TEXT, standing=TEXT)


def _recall(memory: Memory, values: Values) -> Answer:
    found = memory.ask(
        Ask(
            query=values["query"],
            k=values["limit"],
            where=_where(values),
            kinds=tuple(map(_kind, values["kinds"])),
            reference=parse_instant(values["reference"]) if values["reference"] else None,
        )
    )
    said = [one for number, hit in enumerate(found.hits, 1) for one in hit_lines(hit, number)]
    text = lines(
        said,
        f"Nothing is known about that. ({found.hint}.)" if found.hint else "Nothing is known about that.",
    )
    if found.behind:
        text += f"\n(Not searched yet: {many(found.behind, 'file')}; asking again searches more.)"
    return Answer(
        text, {"hits": [_hit(hit) for hit in found.hits], "behind": found.behind, "hint": found.hint}
    )


def _list(memory: Memory, values: Values) -> Answer:
    where = _where(values, limit=values["limit"])
    found, rest = listed(memory, where)
    said = hint(values["category"])
    none = f"No entries. ({said}.)" if said else "No entries."
    text = lines(map(entry_line, found), none)
    if told := [f"{number:,} {name}" for name in _TOLD_OUT if (number := getattr(rest, name))]:
        text += f"\n(Left out: {', '.join(told)}; the arguments so called show them.)"
    value = {"entries": [entry_json(state) for state in found], "hint": said}
    return Answer(text, value | {"left_out": {name: getattr(rest, name) for name in _TOLD_OUT}})


def _get(memory: Memory, values: Values) -> Answer:
    state = _shown(memory, values["id"])
    if not values["source"]:
        return Answer(lines(entry_lines(state)), {"entry": entry_json(state)})
    chain = memory.why(state.entry.id)
    return Answer(lines(why_lines(chain)), why_json(chain))


def _due(memory: Memory, _: Values) -> Answer:
    found = memory.due().lines
    told = {"promises": [due_json(one) for one in found]}
    return Answer(lines([one.line for one in found], "Nothing is promised."), told)


def _context(memory: Memory, values: Values) -> Answer:
    asked = {name: values[name] for name in ("query", "session", "budget", "protocol", "parts")}
    request = ContextRequest(**asked)
    built = memory.context(request)
    return Answer(built.text.rstrip("\n"), dict(msgspec.to_builtins(built)))


def _status(memory: Memory, _: Values) -> Answer:
    seen = memory.status()
    told = msgspec.to_builtins(seen, str_keys=True)
    return Answer(lines(status_lines(seen)), told | dict.fromkeys(_PRIVATE, ""))


def _search(memory: Memory, values: Values) -> Answer:
    found = memory.ask(Ask(query=values["query"], k=10, kinds=("entry", "page"))).hits
    results = []
    for hit in found:
        uri = uri_of(hit.source) if hit.kind == "page" else ENTRY + hit.id
        title = f"{hit.day} {hit.heading or hit.category}: {said_by(hit)}"
        results.append({"id": uri, "title": title[:200], "url": uri})
    return Answer("", {"results": results})


def _fetch(memory: Memory, values: Values) -> Answer:
    wanted = values["id"]
    if not wanted.startswith(ENTRY) and "/" in wanted:
        text = read_resource(memory, wanted)
        name = unquote(wanted.rpartition("/")[2])
        return Answer("", {"id": wanted, "title": name, "text": text, "url": wanted, "metadata": {}})
    entry = _shown(memory, wanted.removeprefix(ENTRY)).entry
    said = {"day": entry.day, "category": entry.category, "about": entry.about, "origin": entry.origin}
    return Answer(
        "",
        {
            "id": ENTRY + entry.id,
            "title": f"{entry.day} {entry.category}",
            "text": entry.text,
            "url": ENTRY + entry.id,
            "metadata": {name: value for name, value in said.items() if value},
        },
    )


def _shown(memory: Memory, prefix: str) -> EntryState:
    """Return the entry that a prefix names, if it is not hidden; raises NotFound."""
    state = memory.get(prefix)
    if state.hidden:
        raise NotFound(
            f"the entry {prefix} is hidden: a person can show it again with `reverie hide --unhide`"
        )
    return state


def _where(values: Values, *, limit: int = 0) -> Where:
    """Return the filter that the arguments describe; raises UsageError."""
    return Where(
        category=values["category"],
        tag=values["tag"],
        about=values["about"],
        who=values["who"],
        session=values["session"],
        since=values["since"],
        until=values["until"],
        as_of=parse_instant(values["as_of"]) if values["as_of"] else None,
        scope=values["scope"],
        include_previous=values["previous"],
        include_faded=values["faded"] or None,
        limit=limit,
    )


def _kind(name: str) -> Kind:
    return next(one for one in _KINDS if one == name)  # `choices` of the argument let no other pass


def _hit(hit: Hit) -> dict[str, Any]:
    """Return a hit for programs."""
    return {name: value for name, value in msgspec.to_builtins(hit).items() if value} | {
        "text": hit.text,
        "score": hit.score,
    }


FINDING = (
    Tool(
        name="memory_recall",
        title="Recall",
        summary="Find what is known about something: entries, notebook pages, core files, history and turns, best"
        " first. Use it whenever something said earlier may matter.",
        run=_recall,
        fields=(
            Field("query", "text", "What is looked for, in any words or language.", required=True),
            Field("limit", "integer", "How many hits at most.", default=10, within=(1, MOST)),
            Field("kinds", "texts", "Only these kinds.", choices=_KINDS),
            Field(
                "reference", "text", "Relative dates in the query count from this instant; now if left out."
            ),
            *_FILTERS,
        ),
        output=shape("hits", "behind", hits=listing(_HIT), behind=INTEGER, hint=TEXT),
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_list",
        title="List entries",
        summary="List entries by day, the latest last.",
        run=_list,
        fields=(
            Field("limit", "integer", "The latest so many.", default=50, within=(1, MOST)),
            *_FILTERS,
        ),
        output=shape("entries", entries=listing(_ENTRY), hint=TEXT, left_out=OBJECT),
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_get",
        title="Get an entry",
        summary="Show one entry whole and, with `source`, where it comes from: pages, logs, turns.",
        run=_get,
        fields=(ID, Field("source", "flag", "Also where it comes from.")),
        output=shape("entry", entry=_ENTRY, log=TEXT, pages=listing(OBJECT), turns=listing(OBJECT)),
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_due",
        title="What is due",
        summary="List what was promised and is still open: overdue, today, upcoming, undated.",
        run=_due,
        output=shape("promises", promises=listing(_PROMISE)),
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_context",
        title="Context",
        summary="Build what is worth having in mind, within a token budget: promises, what is relevant to the query,"
        " MEMORY.md, who the user is, recent days. Call it once when a conversation begins.",
        run=_context,
        fields=(
            Field("query", "text", "What the conversation is about."),
            Field("session", "text", "The session this is for, where the host records turns."),
            Field(
                "budget",
                "integer",
                "At most so many tokens; 0: the setting's.",
                default=0,
                within=(0, 1_000_000),
            ),
            Field("protocol", "flag", "With the memory protocol in front.", default=True),
            Field("parts", "texts", "Only these parts.", choices=PARTS),
        ),
        output=shape("text", "tokens", text=TEXT, tokens=INTEGER, ids=TEXTS, left_out=TEXTS, cut=TEXTS),
        repeats=True,
    ),
    Tool(
        name="memory_status",
        title="Status",
        summary="Show where everything stands, and what needs attention with its remedy.",
        run=_status,
        output=shape(
            "agent", "entries", agent=TEXT, entries=INTEGER, queued=INTEGER, problems=listing(OBJECT)
        ),
        reads=True,
        repeats=True,
        bare=True,
    ),
    Tool(
        name="search",
        title="Search",
        summary="Search the memory; returns ids, titles and URLs for `fetch`.",
        run=_search,
        fields=(Field("query", "text", "What is looked for.", required=True),),
        output=shape("results", results=listing(shape("id", "title", "url", id=TEXT, title=TEXT, url=TEXT))),
        reads=True,
        repeats=True,
        json=True,
    ),
    Tool(
        name="fetch",
        title="Fetch",
        summary="Return one thing that `search` found, whole.",
        run=_fetch,
        fields=(Field("id", "text", "The id that `search` gave.", required=True),),
        output=shape("id", "title", "text", "url", id=TEXT, title=TEXT, text=TEXT, url=TEXT, metadata=OBJECT),
        reads=True,
        repeats=True,
        json=True,
    ),
)
