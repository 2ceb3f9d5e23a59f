"""What programs are told of what a verb did, the same on the command line and over HTTP.

Owns those types and making them from what the verbs return; promises that both surfaces answer with the same members;
never decides what a verb does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from reverie import steps
from reverie.core.due import Due
from reverie.core.fold import EntryState
from reverie.core.forgetting.letting_go import Naming
from reverie.core.records import Entry
from reverie.core.where import Where
from reverie.errors import UsageError
from reverie.forget import Erased, Forgotten
from reverie.importers.taken import Imported
from reverie.memory import Memory
from reverie.surface.entry_text import entry_json


class EntryNow(msgspec.Struct, frozen=True):
    """An entry and everything that happened to it since, as one flat object."""


class SessionEnded(msgspec.Struct, frozen=True):
    """A session that was closed, and what has become due by that."""

    session: str
    due: Due


class Paused(msgspec.Struct, frozen=True):
    """Whether a session, or with null everything, is off the record now."""

    session: str | None
    paused: bool


class TakenBack(msgspec.Struct, frozen=True):
    """The entry whose event was taken back, and how it stands now, null when it is forgotten all the same."""

    entry: str
    state: EntryNow | None


def taken_back(memory: Memory, event: str, *, why: str) -> dict[str, object]:
    """Take an event back, and return what `TakenBack` says."""
    entry = memory.take_back(event, why=why)
    state = None if memory.forgotten(entry) else entry_json(memory.get(entry))
    return {"entry": entry, "state": state}


class LeftOut(msgspec.Struct, frozen=True):
    """How many entries a list leaves out that its filter admits, by what would show them."""

    faded: int = 0
    hidden: int = 0
    previous: int = 0


def listed(memory: Memory, where: Where) -> tuple[list[EntryState], LeftOut]:
    """Return the entries that a filter lists, and what it leaves out, its limit aside."""
    found = memory.list(msgspec.structs.replace(where, limit=0))
    shown = {one.entry.id for one in found}
    rest = [one for one in memory.list(where.everything) if one.entry.id not in shown]
    hidden = [one for one in rest if one.hidden]
    previous = [one for one in rest if not (one.hidden or one.current)]
    out = LeftOut(len(rest) - len(hidden) - len(previous), len(hidden), len(previous))
    return found[-where.limit :], out


class Hidden(msgspec.Struct, frozen=True):
    """The entries that were hidden or brought back, or with a dry run would be."""

    ids: list[str]
    hidden: bool
    dry_run: bool


class Forgetting(msgspec.Struct, frozen=True):
    """The entries that were forgotten, or would be, or with a restore are remembered again; and what is left of them.

    `places` hold their words until an erase, `similar` say it and more and stay as they are, `problems` tell what could
    not be withdrawn yet, `turns` counts those that were named and count as never said, or with a restore as said after
    all. `still` names the entries and counts the turns that say whom it was about, and that it did not reach.
    """

    dry_run: bool
    ids: list[str]
    turns: int
    places: list[str]
    similar: list[str]
    problems: list[str]
    still: list[Naming]


def forgetting(done: Forgotten, *, dry_run: bool) -> Forgetting:
    """Return what a forget, or a restore, came to."""
    return Forgetting(
        dry_run=dry_run,
        ids=list(done.ids),
        turns=done.turns,
        places=list(done.places),
        similar=list(done.similar),
        problems=list(done.problems),
        still=list(done.still),
    )


class Erasing(msgspec.Struct, frozen=True):
    """The entries whose text was removed, or would be; where it stood, and what could not be cleaned.

    `turns` counts those that go whole, `said` those of which the sentences go that say whom a filter is about. `still`
    names the entries and counts the turns that say it all the same, `elsewhere` says what no erase reaches.
    """

    dry_run: bool
    ids: list[str]
    turns: int
    said: int
    places: list[str]
    leftovers: list[str]
    still: list[Naming]
    elsewhere: str


def erased(done: Erased, *, dry_run: bool) -> Erasing:
    """Return what an erase came to."""
    return Erasing(
        dry_run=dry_run,
        ids=list(done.ids),
        turns=done.turns,
        said=done.said,
        places=list(done.places),
        leftovers=list(done.leftovers),
        still=list(done.still),
        elsewhere=done.elsewhere,
    )


class Excluded(msgspec.Struct, frozen=True):
    """A topic that is never stored, or with `removed` is again, and the entries that name it."""

    topic: str
    removed: bool
    preview: bool
    entries: list[EntryNow]


def excluded(
    topic: str, named: Iterable[EntryState], *, removed: bool = False, preview: bool = False
) -> dict[str, object]:
    """Return what `Excluded` says of a topic and the entries that name it."""
    entries = [entry_json(one) for one in named]
    return {"topic": topic, "removed": removed, "preview": preview, "entries": entries}


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person's word, and what each verdict does; `stale` is what can only be rejected."""

    id: str
    topic: str
    place: str
    text: str
    why: str
    stale: bool
    accepting: str
    rejecting: str


def waiting(one: steps.review.Item) -> Waiting:
    """Return what waits for a word, with what each verdict does."""
    return Waiting(
        id=one.id,
        topic=one.topic,
        place=one.place,
        text=one.text,
        why=one.why,
        stale=one.stale,
        accepting=one.accepting,
        rejecting=one.rejecting,
    )


class Noted(msgspec.Struct, frozen=True):
    """The note that the text was added to."""

    note: str


class Queued(msgspec.Struct, frozen=True):
    """A judgement that the next drain applies."""

    id: str
    status: str = "QUEUED"


class Used(msgspec.Struct, frozen=True):
    """How many entries it was noted for."""

    used: int


class Diff(msgspec.Struct, frozen=True):
    """What a run changed, as a unified diff."""

    run: str
    diff: str


class Compacting(msgspec.Struct, frozen=True, kw_only=True):
    """What moved into the history, and what stays."""

    archived: int
    cursor: int | None
    kept: int
    tokens: int
    records: list[dict[str, Any]]
    problem: str


def compacted(memory: Memory, session: str, *, budget: int | None) -> Compacting:
    """Compact one session, or with none named each that is over its own budget; raises UsageError for a budget then."""
    if session:
        return compacting(memory.compact(session, budget=budget))
    if budget is not None:
        raise UsageError("a budget is for one session: name it")
    return compacting(memory.compact_all())


def compacting(done: steps.compact.Compacted) -> Compacting:
    """Return what a compaction did, without the turns that stay."""
    return Compacting(
        archived=done.archived,
        cursor=done.cursor,
        kept=done.kept,
        tokens=done.tokens,
        records=[{"cursor": one.cursor, "turns": one.turns, "raw": one.raw} for one in done.records],
        problem=done.problem,
    )


class Consolidating(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of all stages did."""

    agent: str
    facts_added: int
    watermark: str
    dry_run: bool
    drain_only: bool
    promote_only: bool
    stages: list[str]
    told: list[steps.consolidate.Told]
    problems: list[str]


def consolidating(done: steps.consolidate.Consolidated) -> Consolidating:
    """Return what a run of all stages did."""
    plan = done.plan
    return Consolidating(
        agent=done.agent,
        facts_added=done.facts_added,
        watermark="n/a" if plan.drain_only else done.watermark or "n/a",
        dry_run=plan.dry_run,
        drain_only=plan.drain_only,
        promote_only=plan.promote_only,
        stages=list(done.stages),
        told=list(done.told),
        problems=list(done.problems),
    )


class Unread(msgspec.Struct, frozen=True):
    """A piece that could not be read and was set aside: where it stands, and why."""

    place: int
    reason: str


class Importing(msgspec.Struct, frozen=True, kw_only=True):
    """What an import took in, passed over and could not read."""

    format: str
    turns: int
    facts: int
    repeated: int
    files: int
    sessions: list[str]
    passed: dict[str, int]
    unread: int
    skipped: list[Unread]
    dry_run: bool


def importing(done: Imported) -> Importing:
    """Return what an import did."""
    return Importing(
        format=done.format,
        turns=done.turns,
        facts=done.facts,
        repeated=done.repeated,
        files=done.files,
        sessions=list(done.sessions),
        passed=dict(done.passed),
        unread=done.unread,
        skipped=[Unread(one.place, one.reason) for one in done.skipped],
        dry_run=done.dry_run,
    )


def entry_schema() -> dict[str, Any]:
    """Return the schema of an entry with what happened to it, as one flat object."""
    _, parts = msgspec.json.schema_components([Entry, EntryState])
    told = {name: one for name, one in parts["EntryState"]["properties"].items() if name != "entry"}
    flat = {"sig": {"type": "number"}, "category": {"type": "string"}, "current": {"type": "boolean"}}
    return {
        "title": "EntryNow",
        "description": "An entry and everything that happened to it since.",
        "type": "object",
        "properties": {**parts["Entry"]["properties"], **told, **flat},
        "required": ["id", "text", "day", "category", "sig", "current"],
    }
