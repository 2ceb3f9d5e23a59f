"""What a host is told whose own model dreams or reads turns, the same by MCP, by commands and over HTTP.

Owns those types, and settling several entries in one call; promises that every surface answers with the same members,
and that what is asked of the model names the tools as that surface has them; never judges anything: `reverie.lending`
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from reverie.core.days import format_instant
from reverie.core.dreams.rights import REFUSED
from reverie.core.sessions.handed import Submitted
from reverie.core.text.plural import many
from reverie.dream import Dreamt
from reverie.memory import Memory
from reverie.model.dream_prompt import Guest


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How a host asks for a batch: past the gates (`now`), of one `day`, of `most` entries, and `by` whom."""

    now: bool = False
    day: str = ""
    most: int = 0
    by: str = "host"


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A run under way, its end, what is asked and the entries; without a `run`, the `reason` there is none."""

    run: str = ""
    reason: str = ""
    until: str = ""
    instructions: str = ""
    batch: str = ""
    entries: list[str] = []


class Said(msgspec.Struct, frozen=True):
    """What a tool of a run answered, and whether it was `refused` and changed nothing."""

    text: str
    refused: bool


class Turns(msgspec.Struct, frozen=True, kw_only=True, rename={"start": "from", "stop": "to"}):
    """Turns `[from, to)` of a session to be read until then, and the form of what is found; no `handle` for none."""

    handle: str = ""
    session: str = ""
    start: int = 0
    stop: int = 0
    until: str = ""
    instructions: str = ""
    turns: str = ""
    form: Mapping[str, Any] = {}


class RefusedItem(msgspec.Struct, frozen=True):
    """An item of a submission that was not taken: its place in it, from 0, and why."""

    item: int
    reason: str


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a submission: whether the turns count as read, what was stored, and what was refused and why.

    `review` is the item under which it waits for a person's word; `reason` says why the turns are unread.
    """

    read: bool
    entries: int
    links: int
    refused: list[RefusedItem]
    review: str
    reason: str


def begin(memory: Memory, asked: Asked, *, guest: Guest) -> Begun:
    """Begin a run for a model that uses the tools as a `guest` of that kind does."""
    found = memory.dream_start(now=asked.now, day=asked.day, most=asked.most, by=asked.by)
    if isinstance(found, Dreamt):
        return Begun(reason=found.reason)
    task = msgspec.structs.replace(found.task, guest=guest)
    return Begun(
        run=found.run,
        until=format_instant(found.until),
        instructions=task.instructions,
        batch=task.text,
        entries=list(dict.fromkeys(part.id for part in task.parts)),
    )


def step(memory: Memory, run: str, *, tool: str, arguments: Mapping[str, Any]) -> Said:
    """Use one tool of a run; where `entry` is a list, for each of them, and what is unsettled is told once."""
    named = arguments.get("entry")
    several = isinstance(named, list | tuple) and bool(named)
    each = (
        [{**arguments, "entry": one} for one in dict.fromkeys(map(str, named or ()))]
        if several
        else [arguments]
    )
    said = [memory.dream_step(run, tool, arguments=one) for one in each]
    if len(said) > 1:
        heads = [one.partition("\n")[0] for one in said]
        text = "\n".join(filter(None, [*heads, said[-1].partition("\n")[2]]))
    else:
        text = "".join(said)
    return Said(text, any(one.startswith(REFUSED) for one in said))


def turns(memory: Memory, session: str, *, by: str) -> Turns:
    """Hand out turns to read, of one session or of any."""
    out = memory.extract_start(session=session, by=by)
    if out is None:
        return Turns()
    return Turns(
        handle=out.handle,
        session=out.session,
        start=out.start,
        stop=out.stop,
        until=format_instant(out.until),
        instructions=out.instructions,
        turns=out.text,
        form=out.form,
    )


def submission(done: Submitted) -> Submission:
    """Return what became of a submission."""
    return Submission(
        read=done.read,
        entries=done.entries,
        links=done.links,
        refused=[RefusedItem(place, why) for place, why in sorted(done.refused.items())],
        review=done.review,
        reason=done.reason,
    )


def begun_text(found: Begun) -> str:
    """Return the beginning of a run as a model reads it."""
    if not found.run:
        return f"Nothing to dream: {found.reason}."
    said = f"The run is {found.run}; it ends by itself at {found.until} unless a tool is used before."
    return f"{said}\n\n{found.instructions}\n\n{found.batch}"


def turns_text(found: Turns, submit: str) -> str:
    """Return turns to read as a model reads them; `submit` is how what was found is handed in."""
    if not found.handle:
        return "Every turn is read, or with another reader."
    said = f"Turns {found.start}-{found.stop - 1} of {found.session} are yours until {found.until}."
    return f"{said} {submit}\n\n{found.instructions}\n\n{found.turns}"


def submission_text(done: Submission) -> str:
    """Return what became of a submission as a model reads it."""
    if done.review:
        head = f"Put before the user, who is asked once: `reverie review show {done.review}`."
    elif done.read:
        head = f"The turns are read: {many(done.entries, 'entry')} stored."
    else:
        head = f"Nothing is stored: {done.reason}."
    return "\n".join((head, *(f"Item {one.item} was refused: {one.reason}." for one in done.refused)))


def finished_text(done: Dreamt) -> str:
    """Return what a run came to as a model reads it."""
    return "\n".join((f"{done}.", *done.problems))
