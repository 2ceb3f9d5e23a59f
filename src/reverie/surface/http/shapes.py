"""What answers over HTTP look like where neither the package nor `surface.results` has a type for it.

Owns those types; promises that an answer holds at least what stands here; never makes one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reverie.core.records import Event, Outcome, Run, Turn
from reverie.core.scopes import Member
from reverie.surface import results
from reverie.unforget import Gone

PARTS = "#/components/schemas/"  # where the specification keeps the types

ENTRY = {"$ref": f"{PARTS}EntryNow"}  # an entry and what happened to it, flat: `results.entry_schema`
ENTRIES = {
    "type": "object",
    "properties": {
        "entries": {"type": "array", "items": ENTRY},
        "next": {"type": "string"},
        "hint": {"type": "string", "description": "What to say of a category that may be a slip."},
        "left_out": {
            "type": "object",
            "description": "How many entries the filter admits and the list leaves out; told with the first page.",
            "properties": {name: {"type": "integer"} for name in results.LeftOut.__struct_fields__},
        },
    },
    "required": ["entries", "next"],
}
PROMISES = {
    "type": "object",
    "properties": {"promises": {"type": "array", "items": ENTRY}},
    "required": ["promises"],
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


class Forgotten(msgspec.Struct, frozen=True):
    """What is forgotten, without its words, and the cursor of the next page."""

    entries: list[Gone]
    next: str = ""


class Runs(msgspec.Struct, frozen=True):
    """Runs, newest first, and the cursor of the next page."""

    runs: list[Run]
    next: str = ""


class Review(msgspec.Struct, frozen=True):
    """What waits for a word, and the cursor of the next page."""

    items: list[results.Waiting]
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
