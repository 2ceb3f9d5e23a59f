"""The commands that take in a conversation: capture, end, pause, resume."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, get_args

import typer

from reverie import capture as capturing
from reverie.core.records import Role, Turn
from reverie.core.text.plural import many
from reverie.errors import InvalidRecord, UsageError
from reverie.importers import turns as turn_lines
from reverie.memory import Memory
from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import instant, one_of, opened, text_of
from reverie.surface.exits import SET_ASIDE
from reverie.surface.render import Line, dim, line
from reverie.surface.results import Paused, SessionEnded

app = application()

_SHOWN = 20  # refused lines told one by one; the rest are counted, and all are kept

_CAPTURE = """\
reverie capture s1 user "I moved to Lisbon."
reverie capture s1 assistant - < answer.txt
reverie capture s1 - < turns.jsonl         each line {"role": …, "content": …, "timestamp": …}
reverie capture - < turns.jsonl            each line names its "session" too
"""


@dataclass(slots=True)
class _Tally:
    """What became of the lines of one call."""

    stored: int = 0
    repeated: int = 0
    not_recorded: int = 0
    sessions: dict[str, int] = field(default_factory=dict)
    redacted: list[str] = field(default_factory=list)
    refused: list[dict[str, object]] = field(default_factory=list)

    def took(self, session: str, done: capturing.Captured) -> None:
        """Count a turn that was taken."""
        if not done.recorded:
            self.not_recorded += 1
            return
        if done.repeated:
            self.repeated += 1
            return
        self.stored += 1
        self.sessions[session] = self.sessions.get(session, 0) + 1
        self.redacted += [kind for kind in done.redacted if kind not in self.redacted]

    def lines(self) -> Iterator[Line]:
        """Yield what happened, for people."""
        known = f", {self.repeated:,} known already" if self.repeated else ""
        yield line(f"{many(self.stored, 'turn')} stored in {many(len(self.sessions), 'session')}{known}")
        if self.not_recorded:
            yield line(f"{many(self.not_recorded, 'turn')} not recorded: memory is paused or switched off")
        if self.redacted:
            yield line(f"taken out before writing: {', '.join(self.redacted)}")
        for one in self.refused[:_SHOWN]:
            yield line(f"line {one['line']} refused: {one['reason']}")
        if len(self.refused) > _SHOWN:
            yield line(f"… and {len(self.refused) - _SHOWN} more")
        if self.refused:
            yield line(dim("they are kept aside: `reverie status` lists them"))


@app.command("capture", cls=Verb, epilog=_CAPTURE)
def capture(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(help="The conversation's name; - when the lines name theirs.")],
    role: Annotated[str, typer.Argument(help="user, assistant, tool or system; - for lines.")] = "",
    text: Annotated[str, typer.Argument(help="What was said; - reads it from standard input.")] = "",
    at: Annotated[str, typer.Option(metavar="INSTANT", help="When it was said; now, if not given.")] = "",
    id: Annotated[
        str, typer.Option("--id", help="The turn's id, so that sending it again does no harm.")
    ] = "",
    name: Annotated[str, typer.Option(help="Who spoke, or the tool's name.")] = "",
) -> None:
    """Store one turn of a conversation, or many as JSON lines from standard input.

    On return they are on disk. A line that is no turn is kept aside, told, and does not keep the others from being
    stored; the exit code is then 65.
    """
    if "-" in {session, role} and not text:
        if session == "-" and role:
            raise UsageError("`reverie capture -` takes no further argument: the lines name their sessions")
        with opened(ctx) as memory:
            tally = _lines(memory, "" if session == "-" else session)
        answer(ctx, tally, tally.lines())
        if tally.refused:
            raise typer.Exit(SET_ASIDE)
        return
    if not role or not text:
        raise UsageError("give SESSION, ROLE and TEXT, or SESSION - and JSON lines on standard input")
    with opened(ctx) as memory:
        turn = Turn(
            role=one_of(role, "ROLE", choices=get_args(Role)),
            content=text_of(text),
            at=instant(at, "--at") or memory.opened.ws.clock(),
            id=id,
            name=name,
        )
        done = memory.capture(session, turn)
    known = "known already: " if done.repeated else ""
    off = "not recorded: memory is paused or switched off"
    said = f"{known}turn {done.n} of {session}" if done.recorded else off
    out = f" (taken out: {', '.join(done.redacted)})" if done.redacted else ""
    answer(ctx, done, [line(said, out, dim(f" {done.id}"))])


def _lines(memory: Memory, session: str) -> _Tally:
    """Store the turns that stand on standard input, a JSON object a line."""
    ws, tally = memory.opened.writable, _Tally()
    defaults = turn_lines.Defaults(session=session, now=ws.clock(), calendar=ws.calendar)
    for number, found in enumerate(turn_lines.read(sys.stdin.buffer, defaults), 1):
        if isinstance(found, turn_lines.Skipped):
            capturing.refuse(ws, session, found.raw, reason=found.reason)
            tally.refused.append({"line": found.place, "reason": found.reason})
            continue
        try:
            tally.took(found.session, memory.capture(found.session, found))
        except InvalidRecord as error:
            tally.refused.append({"line": number, "reason": str(error)})
    return tally


@app.command("end", cls=Verb, epilog="reverie end s1")
def end(ctx: typer.Context, session: Annotated[str, typer.Argument(help="The conversation's name.")]) -> None:
    """Close a session: its last turns are due to be read."""
    with opened(ctx) as memory:
        due = memory.end(session)
    answer(ctx, SessionEnded(session, due), [line(f"{session} is closed; `reverie consolidate` reads it")])


@app.command("pause", cls=Verb, epilog="reverie pause s1\nreverie pause")
def pause(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Argument(help="Which; everything if left out.")] = None,
) -> None:
    """Keep a session, or everything, off the record until `resume`."""
    with opened(ctx) as memory:
        memory.pause(session)
    answer(ctx, Paused(session, paused=True), [line(f"{session or 'everything'} is off the record now")])


@app.command("resume", cls=Verb, epilog="reverie resume s1\nreverie resume")
def resume(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Argument(help="Which; everything if left out.")] = None,
) -> None:
    """Take `pause` back; what was said meanwhile was not recorded."""
    with opened(ctx) as memory:
        memory.resume(session)
    answer(
        ctx,
        Paused(session, paused=False),
        [line(f"{session or 'everything'} is on the record again")],
    )
