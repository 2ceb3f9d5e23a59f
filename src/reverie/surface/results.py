"""What programs are told of what a verb did, the same on the command line and over HTTP.

Owns those types and making them from what the verbs return; promises that both surfaces answer with the same members;
never runs a verb.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reverie.compact import Compacted
from reverie.consolidate import Consolidated, Told
from reverie.core.fold import EntryState
from reverie.core.records import Entry
from reverie.importers.taken import Imported


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


def compacting(done: Compacted) -> Compacting:
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
    told: list[Told]
    problems: list[str]


def consolidating(done: Consolidated) -> Consolidating:
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
