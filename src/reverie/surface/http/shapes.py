"""What answers look like where no type of the package says it: for the specification, and for whoever reads it.

Owns those types; promises that an answer holds at least what stands here; never makes one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reverie.consolidate import Told
from reverie.core.fold import EntryState
from reverie.core.records import Entry, Event, Outcome, Run, Turn
from reverie.core.scopes import Member

PARTS = "#/components/schemas/"  # where the specification keeps the types

ENTRY = {"$ref": f"{PARTS}EntryNow"}  # an entry and what happened to it, flat: `entry_schema`
ENTRIES = {
    "type": "object",
    "properties": {"entries": {"type": "array", "items": ENTRY}, "next": {"type": "string"}},
    "required": ["entries", "next"],
}
PROMISES = {
    "type": "object",
    "properties": {"promises": {"type": "array", "items": ENTRY}},
    "required": ["promises"],
}


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


class Behind(msgspec.Struct, frozen=True, kw_only=True):
    """What stands behind an entry, from the pages that cite it to the turns; behind another hit, the `hit` itself."""

    entry: dict[str, Any] = {}
    log: str = ""
    pages: list[dict[str, Any]] = []
    turns: list[Turn] = []
    events: list[Event] = []
    outcomes: list[Outcome] = []
    others: list[dict[str, Any]] = []
    hit: dict[str, Any] = {}
    entries: list[dict[str, Any]] = []


class History(msgspec.Struct, frozen=True):
    """What happened to an entry, oldest first."""

    events: list[Event]


class Runs(msgspec.Struct, frozen=True):
    """Runs, newest first, and the cursor of the next page."""

    runs: list[Run]
    next: str = ""


class Diff(msgspec.Struct, frozen=True):
    """What a run changed, as a unified diff."""

    run: str
    diff: str


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """Something that waits for a person's word, and what each verdict does."""

    id: str
    topic: str
    place: str
    text: str
    why: str
    stale: bool
    accepting: str
    rejecting: str


class Review(msgspec.Struct, frozen=True):
    """What waits for a word, and the cursor of the next page."""

    items: list[Waiting]
    next: str = ""


class FileName(msgspec.Struct, frozen=True):
    """A file that may be read, by its path."""

    path: str
    title: str
    what: str


class Files(msgspec.Struct, frozen=True):
    """The files that may be read, and the cursor of the next page."""

    files: list[FileName]
    next: str = ""


class Members(msgspec.Struct, frozen=True):
    """Who belongs to a shared workspace."""

    members: list[Member]


class Done(msgspec.Struct, frozen=True):
    """It was done."""

    done: bool = True


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


class Count(msgspec.Struct, frozen=True):
    """How many entries it was done for, or with a dry run would be."""

    count: int
    dry_run: bool


class TakenBack(msgspec.Struct, frozen=True):
    """The entry whose event was taken back."""

    entry: str


class Compacting(msgspec.Struct, frozen=True, kw_only=True):
    """What moved into the history, and what stays."""

    archived: int
    cursor: int | None
    kept: int
    tokens: int
    records: list[dict[str, Any]]
    problem: str


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


class Settings(msgspec.Struct, frozen=True):
    """The settings that a workspace may decide itself, each with the value that holds."""

    settings: dict[str, Any]


class Workspace(msgspec.Struct, frozen=True):
    """A workspace's name here."""

    workspace: str


class Workspaces(msgspec.Struct, frozen=True):
    """The workspaces that the token opens, and the cursor of the next page."""

    workspaces: list[str]
    next: str = ""
