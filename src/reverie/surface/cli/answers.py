"""What each command answers with `--json`: the type of its one JSON value.

Owns the table and the types that no step has; promises that a command's value has the members of its type and no other;
never makes an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from reverie.capture import Captured
from reverie.check import Finding
from reverie.context import Context
from reverie.core.dreams.dreamt import Dreamt
from reverie.core.records import Event, Outcome, Run, Turn
from reverie.core.scopes import Member
from reverie.core.sessions.extracting import Extracted
from reverie.digest import Digested
from reverie.drain import Drained
from reverie.lint import Linted
from reverie.publish import Published
from reverie.recall import Found
from reverie.reindex import Reindexed
from reverie.remember import Remembered
from reverie.status import Status
from reverie.store.hosts.scheduling import Scheduled
from reverie.surface.cli.completing import Completion
from reverie.surface.daemon.serve import Served
from reverie.surface.doctor.symptoms import Examined
from reverie.surface.driving import Begun, Said, Submission, Turns
from reverie.surface.results import (
    Compacting,
    Consolidating,
    Diff,
    EntryNow,
    Erasing,
    Excluded,
    Forgetting,
    Hidden,
    Importing,
    Noted,
    Paused,
    Queued,
    SessionEnded,
    TakenBack,
    Used,
    Waiting,
)
from reverie.transfer import Exported
from reverie.unforget import Gone


class EntryWithHistory(EntryNow, frozen=True):
    """An entry as it stands now, and the events that made it so."""

    history: list[Event]


class Promise(EntryNow, frozen=True):
    """An entry that is a promise: its `part` of the list, how it is `shown`, and `by` when, "" for no time."""

    part: str
    shown: str
    by: str


class Refused(msgspec.Struct, frozen=True):
    """A line that was no turn: its number or place, and why."""

    line: int | str
    reason: str


class CapturedLines(msgspec.Struct, frozen=True):
    """What became of the lines on standard input; `repeated` were known already, `sessions` counts turns by session."""

    stored: int
    repeated: int
    not_recorded: int
    sessions: dict[str, int]
    redacted: list[str]
    refused: list[Refused]


class ConsolidatingAll(Consolidating, frozen=True, kw_only=True, omit_defaults=True):
    """What a run of all stages did; with `--people` also in each person's own memory, by name."""

    people: dict[str, Consolidating] = msgspec.field(default_factory=dict)


class Cited(msgspec.Struct, frozen=True):
    """A line of a page that cites the entry."""

    page: str
    line: int


class NumberedTurn(Turn, frozen=True, kw_only=True):
    """A turn with its ordinal."""


class Chain(msgspec.Struct, frozen=True):
    """The chain behind an entry: pages that cite it, the daily log, the turns it came from, what happened to it."""

    entry: EntryNow
    log: str
    pages: list[Cited]
    turns: list[NumberedTurn]
    events: list[Event]
    outcomes: list[Outcome]
    others: list[EntryNow]


class Row(msgspec.Struct, frozen=True):
    """A hit that is no entry: what it is, and where it stands."""

    id: str
    kind: str
    source: str
    place: int
    text: str
    heading: str
    day: str
    session: str


class BehindHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands behind a hit that is no entry; `along` names the shared workspace it was read from."""

    hit: Row
    turns: list[NumberedTurn]
    entries: list[Chain]
    along: str = ""


class Made(msgspec.Struct, frozen=True):
    """A workspace, and what runs `consolidate` in it, null when that was not asked."""

    workspace: str
    agent: str
    id: str
    schedule: Scheduled | None


class Trusted(msgspec.Struct, frozen=True):
    """A workspace that is the user's own now."""

    workspace: str
    trusted: bool


class Installed(msgspec.Struct, frozen=True):
    """The host's settings that hold our hooks, whether they changed, the workspace, and the events hooked."""

    file: str
    changed: bool
    workspace: str
    events: list[str]


class Uninstalled(msgspec.Struct, frozen=True):
    """The host's settings that no longer hold our hooks, and whether they changed."""

    file: str
    changed: bool


class TokenMade(msgspec.Struct, frozen=True):
    """A token that was just made, which is the only time it is told."""

    name: str
    token: str


class TokenKept(msgspec.Struct, frozen=True):
    """What a token opens: `*` stands for all; `file` holds the one that was made at the first start."""

    name: str
    right: str
    root: str
    workspaces: list[str]
    people: list[str]
    made: datetime
    expires: datetime | None
    file: str


class TokenRemoved(msgspec.Struct, frozen=True):
    """A token that opens nothing any more."""

    name: str
    removed: bool


class Failed(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """What went wrong: the class of the error, what to do, the exit code, and whether trying again can help."""

    kind: str
    message: str
    exit_code: int
    retryable: bool


class Failure(msgspec.Struct, frozen=True):
    """What any command answers that ends with an error."""

    error: Failed


# Each command, and the types of which its value has one.
ANSWERS: Mapping[str, tuple[Any, ...]] = {
    "capture": (Captured, CapturedLines),
    "end": (SessionEnded,),
    "pause": (Paused,),
    "resume": (Paused,),
    "remember": (Remembered,),
    "note": (Noted,),
    "correct": (Remembered,),
    "feedback": (Queued,),
    "judge": (EntryNow,),
    "used": (Used,),
    "pin": (EntryNow,),
    "due": (list[Promise],),
    "done": (EntryNow,),
    "take-back": (TakenBack,),
    "recall": (Found,),
    "context": (Context,),
    "list": (list[EntryNow], list[Gone]),
    "get": (EntryWithHistory,),
    "why": (Chain, BehindHit),
    "hide": (Hidden,),
    "forget": (Forgetting,),
    "erase": (Erasing,),
    "exclude": (Excluded,),
    "extract": (Extracted,),
    "drain": (Drained,),
    "compact": (Compacting,),
    "digest": (Digested,),
    "dream": (Dreamt,),
    "publish": (Published,),
    "lint": (Linted,),
    "consolidate": (ConsolidatingAll,),
    "dream-start": (Begun,),
    "dream-step": (Said,),
    "dream-finish": (Dreamt,),
    "extract-start": (Turns,),
    "extract-submit": (Submission,),
    "install": (Installed,),
    "uninstall": (Uninstalled,),
    "serve": (Served,),
    "token add": (TokenMade,),
    "token list": (list[TokenKept],),
    "token remove": (TokenRemoved,),
    "log": (list[Run],),
    "diff": (Diff,),
    "undo": (Run,),
    "restore": (Run,),
    "review list": (list[Waiting],),
    "review show": (Waiting,),
    "review accept": (Waiting,),
    "review reject": (Waiting,),
    "init": (Made,),
    "trust": (Trusted,),
    "status": (Status,),
    "doctor": (Examined,),
    "check": (list[Finding],),
    "members": (list[Member],),
    "reindex": (Reindexed,),
    "export": (Exported,),
    "import": (Importing,),
    "completion": (Completion,),
}

# Commands without a value of their own, each with the reason.
NO_ANSWER: Mapping[str, str] = {
    "mcp": "it speaks MCP on standard output",
    "hook": "it answers the host in the host's own form",
    "demo": "what it shows is meant for people; `--json` holds the same, in a form that may change",
}
