"""The operations that write: turns, entries, notes, and what is said about entries.

Owns what they take and give; promises that each is one line to a verb, and that on its answer what was sent is on disk;
never erases, undoes or gives a person's word: `admin` has those.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from reverie.capture import Captured
from reverie.core.records import Attachment, Draft, Origin, Role, Scope, Score, Stare, Status, ToolCall, Turn
from reverie.memory import Memory
from reverie.remember import Remembered
from reverie.surface import results
from reverie.surface.entry_text import entry_json
from reverie.surface.http import shapes
from reverie.surface.http.operations import Id, Ids, Operation, Takes, Text
from reverie.surface.http.reading import Instant

Session = Annotated[str, Meta(description="The conversation's name.", min_length=1, max_length=10_000)]
Share = Annotated[float, Meta(ge=0, le=1)]


class _Turn(Takes, frozen=True, kw_only=True):
    session: Session
    role: Annotated[Role, Meta(description="Who spoke.")]
    content: Annotated[str, Meta(description="What was said, whole.")]
    at: Annotated[Instant | None, Meta(description="When; now, if not given.")] = None
    id: Annotated[str, Meta(description="The turn's id, so that sending it again does no harm.")] = ""
    name: Annotated[str, Meta(description="Who spoke, or the tool's name.")] = ""
    call: Annotated[str, Meta(description="The tool call that a tool's turn answers.")] = ""
    calls: Annotated[tuple[ToolCall, ...], Meta(description="The tool calls that the turn made.")] = ()
    attachments: Annotated[tuple[Attachment, ...], Meta(description="Files that the turn refers to.")] = ()


class _Session(Takes, frozen=True, kw_only=True):
    session: Session


class _AnySession(Takes, frozen=True, kw_only=True):
    session: Annotated[str, Meta(description="Which; everything if left out.", max_length=10_000)] = ""


class _Remember(Takes, frozen=True, kw_only=True):
    text: Annotated[Text, Meta(description="What to remember, in one sentence that is understood alone.")]
    category: Annotated[str, Meta(description="fact, decision, preference, procedure, … or your own.")] = (
        "fact"
    )
    tags: tuple[str, ...] = ()
    sig: Annotated[Score, Meta(description="How much it matters, 0 to 1.")] = None
    conf: Annotated[Score, Meta(description="How sure it is, 0 to 1.")] = None
    stare: Annotated[
        Stare | None, Meta(description="Five scores of 0 to 1; null for what is not scored.")
    ] = None
    who: Annotated[str, Meta(description="Who said or promised it.")] = ""
    about: Annotated[str, Meta(description="Whom or what it concerns.")] = ""
    since: Annotated[
        str,
        Meta(
            description="True from then on: a date, a month, a year, an instant, or words such as yesterday."
        ),
    ] = ""
    until: Annotated[str, Meta(description="True until then, likewise.")] = ""
    due: Annotated[
        str, Meta(description="By when it is promised, such as next Friday; makes it a commitment.")
    ] = ""
    every: Annotated[
        str, Meta(description="How often a promise comes again: day, 2 weeks, month, friday.")
    ] = ""
    scope: Scope = "private"
    origin: Annotated[Origin, Meta(description="Whose words these are.")] = "agent"
    status: Status = "active"
    supersedes: Annotated[tuple[str, ...], Meta(description="The ids of what it replaces.")] = ()
    evidence: Annotated[str, Meta(description="The words it stands on.")] = ""
    pin: Annotated[bool, Meta(description="Keep it in MEMORY.md and every context.")] = False
    at: Annotated[Instant | None, Meta(description="When it was said; now, if not given.")] = None
    session: Annotated[str, Meta(description="The session it belongs to.")] = ""
    key: Annotated[str, Meta(description="The same key and text again change nothing.")] = ""


class _Note(Takes, frozen=True, kw_only=True):
    text: Text


class _Correct(Takes, frozen=True, kw_only=True):
    id: Id
    text: Annotated[Text, Meta(description="What holds instead.")]
    why: Annotated[Literal["change", "mistake"], Meta(description="It was true before, or never was.")]
    by: Origin = "user"


class _Feedback(Takes, frozen=True, kw_only=True):
    id: Id
    value: Annotated[str, Meta(description="helpful, wrong, outdated, more, less, or a number from 0 to 1.")]
    why: str = ""
    by: Origin = "agent"


class _Judge(Takes, frozen=True, kw_only=True):
    id: Id
    value: Annotated[Share, Meta(description="How much it matters.")]
    why: str = ""
    by: Origin = "other"


class _Pin(Takes, frozen=True, kw_only=True):
    id: Id
    unpin: Annotated[bool, Meta(description="No longer keep it there.")] = False


class _Done(Takes, frozen=True, kw_only=True):
    id: Id
    cancelled: Annotated[bool, Meta(description="It no longer holds.")] = False
    until: Annotated[
        str, Meta(description="It is due then instead: a date, an instant, or words such as next Friday.")
    ] = ""


class _Used(Takes, frozen=True, kw_only=True):
    ids: Ids


class _TakeBack(Takes, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="The event's id, or the beginning of it.", min_length=1)]
    why: str = ""


def _capture(memory: Memory, given: _Turn) -> Captured:
    now: datetime = given.at or memory.opened.ws.clock()
    told = {
        name: getattr(given, name)
        for name in ("role", "content", "id", "name", "call", "calls", "attachments")
    }
    return memory.capture(given.session, Turn(at=now, **told))


def _remember(memory: Memory, given: _Remember) -> Remembered:
    told = msgspec.structs.asdict(given)
    text, told["supersedes"] = told.pop("text"), tuple(memory.get(one).entry.id for one in given.supersedes)
    return memory.remember(text, Draft(**told))


def _pin(memory: Memory, given: _Pin) -> dict[str, object]:
    memory.pin(given.id, unpin=given.unpin)
    return entry_json(memory.get(given.id))


def _judge(memory: Memory, given: _Judge) -> dict[str, object]:
    memory.judge(given.id, given.value, why=given.why, by=given.by)
    return entry_json(memory.get(given.id))


def _done(memory: Memory, given: _Done) -> dict[str, object]:
    memory.done(given.id, cancelled=given.cancelled, until=given.until)
    return entry_json(memory.get(given.id))


def _end(memory: Memory, given: _Session) -> results.SessionEnded:
    return results.SessionEnded(given.session, memory.end(given.session))


def _pause(memory: Memory, given: _AnySession) -> results.Paused:
    memory.pause(given.session or None)
    return results.Paused(given.session or None, paused=True)


def _resume(memory: Memory, given: _AnySession) -> results.Paused:
    memory.resume(given.session or None)
    return results.Paused(given.session or None, paused=False)


WRITING = (
    Operation(
        id="capture",
        method="post",
        path="/turns",
        summary="Store one turn of a session.",
        right="write",
        takes=_Turn,
        gives=Captured,
        example={"session": "s1", "role": "user", "content": "I moved to Lisbon.", "id": "m-17"},
        run=_capture,
    ),
    Operation(
        id="end",
        method="post",
        path="/sessions/end",
        summary="Close a session, and say what that makes due.",
        right="write",
        takes=_Session,
        gives=results.SessionEnded,
        example={"session": "s1"},
        run=_end,
    ),
    Operation(
        id="pause",
        method="post",
        path="/sessions/pause",
        summary="Keep a session, or everything, off the record.",
        right="write",
        takes=_AnySession,
        gives=results.Paused,
        example={"session": "s2"},
        run=_pause,
    ),
    Operation(
        id="resume",
        method="post",
        path="/sessions/resume",
        summary="Take a pause back.",
        right="write",
        takes=_AnySession,
        gives=results.Paused,
        example={"session": "s2"},
        run=_resume,
    ),
    Operation(
        id="remember",
        method="post",
        path="/entries",
        summary="Store a text as an entry.",
        right="write",
        takes=_Remember,
        gives=Remembered,
        example={"text": "Dana prefers calls before noon", "category": "preference", "about": "Dana"},
        run=_remember,
    ),
    Operation(
        id="note",
        method="post",
        path="/notes",
        summary="Add to the agent's own note of the day, which extraction reads.",
        right="write",
        takes=_Note,
        gives=results.Noted,
        example={"text": "Deployed v2; the queue was empty."},
        run=lambda memory, given: results.Noted(memory.note(given.text)),
    ),
    Operation(
        id="correct",
        method="post",
        path="/entries/{id}/correct",
        summary="Put a text in the place of an entry: it changed, or never was true.",
        right="write",
        takes=_Correct,
        gives=Remembered,
        example={"id": "2b47366a861a87ca", "text": "User now prefers coffee", "why": "change"},
        run=lambda memory, given: memory.correct(given.id, given.text, why=given.why, by=given.by),
    ),
    Operation(
        id="feedback",
        method="post",
        path="/entries/{id}/feedback",
        summary="Say what an entry was worth; the next drain applies it.",
        right="write",
        takes=_Feedback,
        gives=results.Queued,
        example={"id": "2b47366a861a87ca", "value": "helpful"},
        run=lambda memory, given: results.Queued(
            memory.feedback(given.id, given.value, why=given.why, by=given.by)
        ),
    ),
    Operation(
        id="judge",
        method="post",
        path="/entries/{id}/judge",
        summary="Say what an outside judge thinks an entry matters.",
        right="write",
        takes=_Judge,
        gives=shapes.ENTRY,
        example={"id": "2b47366a861a87ca", "value": 0.3, "why": "said in passing"},
        run=_judge,
    ),
    Operation(
        id="pin",
        method="post",
        path="/entries/{id}/pin",
        summary="Keep an entry in MEMORY.md and every context, or no longer.",
        right="write",
        takes=_Pin,
        gives=shapes.ENTRY,
        example={"id": "2b47366a861a87ca"},
        run=_pin,
    ),
    Operation(
        id="done",
        method="post",
        path="/entries/{id}/done",
        summary="Say that a promise is kept, cancelled, or due at another time.",
        right="write",
        takes=_Done,
        gives=shapes.ENTRY,
        example={"id": "83f33219d7033862"},
        run=_done,
    ),
    Operation(
        id="used",
        method="post",
        path="/used",
        summary="Say that entries were of use: among equals they come first.",
        right="write",
        takes=_Used,
        gives=results.Used,
        example={"ids": ["2b47366a861a87ca"]},
        run=lambda memory, given: results.Used(memory.used(given.ids)),
    ),
    Operation(
        id="take_back",
        method="post",
        path="/events/{id}/take-back",
        summary="Undo one event that happened to an entry.",
        right="write",
        takes=_TakeBack,
        gives=results.TakenBack,
        example={"id": "c0ffee00c0ffee00"},
        run=lambda memory, given: results.taken_back(memory, given.id, why=given.why),
    ),
)
