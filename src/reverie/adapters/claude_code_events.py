"""Claude Code: the events its hooks are called for, and taking in what the transcript gained at each.

Owns the protocol's input, and the hook that only captures; promises that such a hook loads neither index nor model, and
that what it leaves to a whole memory that one does, for nothing is taken in twice; never writes to a transcript.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from reverie.core.formats import framing
from reverie.core.sessions.pipeline import Talk, fired, rhythm_of
from reverie.core.text.plural import many
from reverie.errors import NotFound, ReverieError, UnsafePath, UsageError
from reverie.index.glance import mark_of
from reverie.store import sessions
from reverie.store.hosts import hooks
from reverie.store.rendered import rendered_for
from reverie.store.workspace import Workspace
from reverie.transcripts import follow, waiting

TIMEOUTS = {
    "SessionStart": 15,
    "UserPromptSubmit": 15,
    "Stop": 30,
    "PreCompact": 120,
    "SessionEnd": 15,
}  # seconds
EVENTS = tuple(TIMEOUTS)
_OTHERS = 3  # transcripts of other sessions, those read last, that a start takes in: one may have been killed
LARGEST = 32 << 20  # bytes of what a hook is given; a prompt is far shorter
# A person waits for these: words find what meaning would need a model for.
FLAGS = {"embedder": "none"}


class Event(msgspec.Struct, frozen=True):
    """What of a hook's standard input is used."""

    name: str
    session: str = ""
    transcript: str = ""
    prompt: str = ""
    source: str = ""


def event_of(name: str, data: bytes) -> Event:
    """Return the event that stands on a hook's standard input; raises UsageError for what is none."""
    try:
        given = msgspec.json.decode(data)
    except framing.NO_JSON as error:
        message = f"what the hook got is no JSON: {error}"
        raise UsageError(message) from error
    if not isinstance(given, dict):
        message = "what the hook got is no JSON object"
        raise UsageError(message)
    said = _text(given, "hook_event_name") or name
    if name not in EVENTS or said != name:
        message = f"the hook {name} was called for {said}: the events are {', '.join(EVENTS)}"
        raise UsageError(message)
    return Event(
        name=name,
        session=_text(given, "session_id"),
        transcript=_text(given, "transcript_path"),
        prompt=_text(given, "prompt"),
        source=_text(given, "source"),
    )


def captured(ws: Workspace, event: Event) -> bool:
    """Do all that an event asks for where that is to capture; False where a whole memory is to go on, or to say why.

    A prompt and a session's start are answered from memory, and what is due is read by one.
    """
    if event.name not in {"Stop", "SessionEnd"} or not event.session:
        return False
    try:
        problems = take_in(ws, event)
        if event.name == "SessionEnd" and ws.settings.model != "none":
            sessions.switch(ws, event.session, "end")
        elif event.name == "SessionEnd" or (ws.settings.model == "none" and _is_due(ws, event.session)):
            return False
        hooks.went(ws, event.name, "; ".join(problems))
    except ReverieError:
        return False
    return True


def _is_due(ws: Workspace, session: str) -> bool:
    """Whether the session may have to be read now, judged by how far it is known to have been."""
    turns, last = sessions.reached(ws, session)
    if turns is None:
        return True
    talk = Talk(session=session, turns=turns, read=mark_of(ws.root, session), last=last)
    rhythm = rhythm_of(ws.settings.extraction)
    return fired(talk, "tick", now=ws.clock(), calendar=ws.calendar, rhythm=rhythm) is not None


def take_in(ws: Workspace, event: Event) -> list[str]:
    """Take in what the session's transcript gained, and what earlier hooks had no time for; return what failed."""
    problems = []
    starts = event.name == "SessionStart"
    others = [path for path in waiting(ws, grown=starts) if path != event.transcript]
    for path in (event.transcript, *others[-(_OTHERS if starts else 1) :]):
        if not path:
            continue
        try:
            done = follow(
                ws, path, event.session or "claude-code", rendered=lambda one: rendered_for(ws, one)
            )
        except NotFound as error:
            # A session that has said nothing has no transcript yet. Should it be killed, another's start reads it.
            if path == event.transcript:
                hooks.expected(ws, path)
            else:
                hooks.gone(ws, path)
                problems.append(str(error))
        except UnsafePath as error:
            problems.append(str(error))
        else:
            if done.unread:
                problems.append(
                    f"{many(done.unread, 'line')} of the transcript not read: `reverie review list`"
                )
    return problems


def trouble(event: str, error: Exception) -> str:
    """Return the answer that tells the person what went wrong; only a session's start is interrupted for that."""
    if event != "SessionStart":
        return ""
    return json.dumps({"systemMessage": f"Reverie: {' '.join(str(error).split())[:500]}"})


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
