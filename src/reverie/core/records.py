"""The values Reverie stores: turns, entries, journal records, events, outcomes, runs, tombstones, history.

Owns the shape of every JSONL record; promises that a value decoded here is valid in type; never reads a file.
Instants are aware UTC datetimes. A `When` is text: a date `2026-07-03`, a month `2026-07`, a year `2026`, or an
RFC 3339 instant with offset. Days are `YYYY-MM-DD`. Ids are 16 lower-case hex digits. What comes in masses is kept from
the garbage collector (`gc=False`), whose search for cycles takes a third of the time of reading it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from reverie.core.limits import Count, Ordinal

Role = Literal["user", "assistant", "tool", "system"]
Origin = Literal["user", "agent", "tool", "file", "web", "import", "other"]
Scope = Literal["private", "team"]
Status = Literal["active", "discussed"]
OutcomeKind = Literal["cited", "merged", "superseded", "declined", "unprocessable", "pending"]
Score = float | None  # 0.0 to 1.0; None when not given
Stare = tuple[Score, Score, Score, Score, Score]  # Significance, Temporal, Asymmetry, Relational, Episodic


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call an assistant turn made: its id, the tool's name and the arguments as the JSON text sent."""

    id: str
    name: str
    arguments: str = ""


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file a turn refers to; Reverie keeps the reference, never the bytes."""

    ref: str
    name: str = ""
    media_type: str = ""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="turn"):
    """One message of a session.

    `n` is its ordinal in the session file (0 for the first, -1 before it is stored); `call` names the tool call
    a `tool` turn answers; `injected` are `[start, end)` character spans of `content` that were memory rendered
    into the prompt, which no later step reads.

    >>> memory.capture("s1", Turn(role="user", content="I moved to Lisbon.", at=now)).recorded
    True
    """

    role: Role
    content: str
    at: datetime
    session: str = ""
    id: str = ""
    n: Ordinal = -1
    name: str = ""
    user: str = ""
    calls: tuple[ToolCall, ...] = ()
    call: str = ""
    attachments: tuple[Attachment, ...] = ()
    injected: tuple[tuple[Count, Count], ...] = ()
    redacted: tuple[str, ...] = ()  # kinds of secrets taken out before the turn was stored
    item: str = ""  # a host's own form of the turn, as JSON, where its other members do not say all of it


class Opened(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="session"):
    """The first line of a session file: its full name. `n` is the ordinal the next turn gets."""

    session: str
    at: datetime
    n: Count = 0


class Switched(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="switch"):
    """A session was ended, paused or resumed. `n` is the ordinal the next turn gets, `paused` what holds now."""

    to: Literal["end", "pause", "resume"]
    at: datetime
    n: Count
    paused: bool = False


SessionLine = Opened | Turn | Switched


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a writer may say about an explicit write, besides its text.

    `key` is the caller's idempotency key; `sig` and `conf` are 0.0 to 1.0; `since` and `until` bound when it is
    true in the world; `due` makes it a commitment, and `every` one that comes again (`core.due_every`). A time in
    `due` without an offset is the workspace's own.

    >>> memory.remember("Never deploy on Fridays", Draft(category="procedure", key="fridays")).repeated
    False
    """

    category: str = "fact"
    tags: tuple[str, ...] = ()
    sig: Score = None
    conf: Score = None
    who: str = ""
    about: str = ""
    since: str = ""
    until: str = ""
    due: str = ""
    every: str = ""
    scope: Scope = "private"
    origin: Origin = "agent"
    status: Status = "active"
    stare: Stare | None = None
    supersedes: tuple[str, ...] = ()
    evidence: str = ""
    pin: bool = False
    at: datetime | None = None
    session: str = ""
    key: str = ""


class Entry(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, rename={"since": "from"}
):
    """One memory: a line of a daily log.

    `day` is its logical day, fixed when it is queued, so a later change of zone does not move it. `turns` is
    `12` or `12-13` (ordinals of its session). `sig` None means the category's default. `evidence` are words
    that stand in the source. `who` said or promised it, `about` is whom or what it concerns, of a promise to whom.
    `every` says how often a promise comes again after `due`, its first time.
    """

    id: str
    text: str
    at: datetime
    day: str
    category: str = "fact"
    tags: tuple[str, ...] = ()
    sig: Score = None
    conf: Score = None
    who: str = ""
    about: str = ""
    since: str = ""
    until: str = ""
    due: str = ""
    every: str = ""
    scope: Scope = "private"
    origin: Origin = "other"
    status: Status = "active"
    stare: Stare | None = None
    supersedes: tuple[str, ...] = ()
    session: str = ""
    turns: str = ""
    evidence: str = ""
    owner: str = ""  # of a copy in a shared workspace: the id of the giver's, a blank, its agent


class Remember(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="remember"):
    """A journal record: one explicit write. `key` is the hash of the caller's idempotency key, if it gave one."""

    id: str
    at: datetime
    entry: Entry
    key: str = ""


class Extraction(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag="extraction",
    rename={"start": "from", "stop": "to"},
):
    """A journal record: what one reading of a span found.

    For a session, `start` and `stop` are turn ordinals, `[start, stop)`; the session's mark is the highest
    `stop`. For a dated note, `note` is its path and `digest` the SHA-256 of the bytes that were read.
    """

    id: str
    at: datetime
    extractor: str
    entries: tuple[Entry, ...] = ()
    session: str = ""
    start: Count = 0
    stop: Count = 0
    note: str = ""
    digest: str = ""


class Feedback(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="feedback"):
    """A journal record: a judgement on an entry, applied by the next drain.

    `value` is `helpful`, `wrong`, `outdated`, `more`, `less`, or a number from 0 to 1 as text.
    """

    id: str
    at: datetime
    entry: str
    value: str
    why: str = ""
    by: Origin = "agent"


JournalRecord = Remember | Extraction | Feedback


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened to an entry after it was written; the fold of all events is its state.

    `kind` is one of `core.fold.KINDS`. `entry` is the entry it happened to, `other` the one it points at (for links:
    `entry` supersedes, repeats, strengthens or contradicts `other`). `value` is a significance, a feedback word, or the
    zone of a promise whose keeping another entry tells; `when` a new due date (of `complete`: the next); `of` the id
    of the event an `undo` takes back. `body` is the whole entry for the kinds that store one at once.
    """

    id: str
    at: datetime
    kind: str
    entry: str = ""
    other: str = ""
    value: str = ""
    when: str = ""
    of: str = ""
    why: str = ""
    by: str = ""
    body: Entry | None = None
    key: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a dream run did with one pending record, or with one part of it.

    `page` is the notebook page (relative to the notebook) that cites it, `into` the entry it was merged into or
    superseded by. `part` and `parts` number the parts of an entry too long for one batch. The last outcome of a part
    stands; `pending` takes those before it back.
    """

    run: str
    entry: str
    outcome: OutcomeKind
    at: datetime
    page: str = ""
    into: str = ""
    reason: str = ""
    part: Count = 0
    parts: Count = 1


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The record of one dream, undo, restore or merge, written when it ends. `watermark` is a day or empty."""

    run: str
    kind: str
    started: datetime
    ended: datetime
    dreamer: str
    result: str  # productive, nothing, failed, undone
    commit: str = ""
    parent: str = ""
    watermark: str = ""
    pages: tuple[str, ...] = ()
    counts: dict[str, Count] = {}
    problems: tuple[str, ...] = ()
    undoes: str = ""


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a session: the turn's id and ordinal, and the keyed hash of the evidence in it (empty: all of it)."""

    session: str
    turn: str
    digest: str = ""
    n: Ordinal = -1


class Sketch(msgspec.Struct, frozen=True, omit_defaults=True):
    """A phrase under the workspace's key: HMAC-SHA-256, the number of words (two or more), a hash of the first two."""

    keyed: str
    words: Count
    head: int


class Tombstone(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What must stay forgotten, without readable text: one statement, and where it was said.

    `keyed` is HMAC-SHA-256 of its words under the workspace's key, `alike` that of its telling words in order (empty
    when there are too few); `phrases` find its text and its evidence inside other text; `signature` are the smallest
    keyed hashes of its telling words, for finding what says it and more. `spared` are entries that share its evidence
    and were not meant. A later line of the same id adds to it, or takes it back with `lifted`.
    """

    id: str
    at: datetime
    entries: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    keyed: str = ""
    alike: str = ""
    phrases: tuple[Sketch, ...] = ()
    signature: tuple[int, ...] = ()
    spared: tuple[str, ...] = ()
    by: str = ""
    lifted: bool = False


class History(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `history.jsonl`: turns `[a, b]` of a session, summarised, or verbatim when `raw`.

    `by` is the model that wrote a summary; `why` says why a record is raw although a model was to summarise it, or
    why it is `aside`: turns that no extraction could read, kept for the dream, which stay in their active window.
    """

    cursor: Count
    timestamp: datetime
    session: str
    turns: str
    content: str
    raw: bool = False
    by: str = ""
    why: str = ""
    aside: bool = False


class KeyValue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `kv.jsonl`, an adapter's own store: the last line of a key wins, one without `value` deletes it.

    `created` is when the key was first stored, if before `at`; `ttl` how many minutes it lives, `until` when it ends,
    which a line with `touch`, that says nothing else, moves. `index` are the paths of what is searched (true: all).
    """

    namespace: tuple[str, ...]
    key: str
    at: datetime
    value: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET  # any JSON, kept as it was written
    created: datetime | None = None
    ttl: float | None = None
    until: datetime | None = None
    index: tuple[str, ...] | bool = True
    touch: bool = False


class Recalled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `recall_log.jsonl`: ids that a recall showed, best first, or that a host said it used."""

    at: datetime
    shown: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
