"""The commands that write outright: remember, note, correct, pin, due, done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, get_args

import msgspec
import typer

from reverie.core.records import Draft, Origin, Scope, Status
from reverie.errors import InvalidRecord
from reverie.remember import Remembered
from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import instant, one_of, opened, text_of
from reverie.surface.entry_text import due_json, entry_json, settled
from reverie.surface.render import Line, dim, line
from reverie.surface.scores_text import stare_of

if TYPE_CHECKING:
    from reverie.memory import Memory

app = application()

Id = Annotated[str, typer.Argument(metavar="ID", help="The entry's id, or the beginning of it.")]
By = Annotated[str, typer.Option(help="Whose word it is: user, agent, tool, file, web, import or other.")]

Every = Annotated[str, typer.Option(metavar="OFTEN", help="It comes again: day, 2 weeks, month, friday.")]

_OPTION = re.compile("`(at|due)`")  # as Python names what an option gives

_REMEMBER = """\
reverie remember "Dana prefers calls before noon" --category preference --about Dana
reverie remember "Send Dana the quote" --due 2026-07-10
reverie remember "Water the plants" --due 2026-07-03 --every friday
reverie remember "Never deploy on Fridays" --category procedure --pin --key no-friday-deploys
"""


@app.command("remember", cls=Verb, epilog=_REMEMBER)
def remember(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What is to be remembered; - reads it from standard input.")],
    category: Annotated[
        str, typer.Option(help="fact, decision, preference, procedure, … or your own.")
    ] = "fact",
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag; repeatable.")] = None,
    sig: Annotated[float | None, typer.Option(metavar="0..1", help="How much it matters.")] = None,
    conf: Annotated[float | None, typer.Option(metavar="0..1", help="How sure it is.")] = None,
    stare: Annotated[
        str, typer.Option(metavar="S,T,A,R,E", help="Five scores 0..1; leave out unscored ones.")
    ] = "",
    who: Annotated[str, typer.Option(help="Who said or promised it.")] = "",
    about: Annotated[str, typer.Option(help="Whom or what it concerns.")] = "",
    since: Annotated[str, typer.Option("--from", metavar="WHEN", help="True from then on.")] = "",
    until: Annotated[str, typer.Option(metavar="WHEN", help="True until then.")] = "",
    due: Annotated[str, typer.Option(metavar="WHEN", help="A promise, due then.")] = "",
    every: Every = "",
    scope: Annotated[str, typer.Option(help="private or team.")] = "private",
    by: By = "user",
    status: Annotated[str, typer.Option(help="active, or discussed: said, not agreed.")] = "active",
    supersedes: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="What it replaces; repeatable.")
    ] = None,
    evidence: Annotated[str, typer.Option(help="The words it stands on.")] = "",
    pin: Annotated[bool, typer.Option("--pin", help="Keep it in MEMORY.md and every context.")] = False,
    at: Annotated[str, typer.Option(metavar="INSTANT", help="When it was said; now, if not given.")] = "",
    session: Annotated[str, typer.Option(help="The session it belongs to.")] = "",
    key: Annotated[str, typer.Option(help="The same key and text again change nothing.")] = "",
) -> None:
    """Store a text as an entry; on return it is on disk, and recall finds it.

    WHEN is a date, a month, a year, or a date and time: of the workspace's zone, unless it has an offset. Words that
    mean one are taken, too, such as tomorrow, "next Friday" or 下周五.
    """
    draft = Draft(
        category=category,
        tags=tuple(tag or ()),
        sig=sig,
        conf=conf,
        stare=stare_of(stare, "--stare"),
        who=who,
        about=about,
        since=since,
        until=until,
        due=due,
        every=every,
        scope=one_of(scope, "--scope", choices=get_args(Scope)),
        origin=one_of(by, "--by", choices=get_args(Origin)),
        status=one_of(status, "--status", choices=get_args(Status)),
        evidence=evidence,
        pin=pin,
        at=instant(at, "--at"),
        session=session,
        key=key,
    )
    with opened(ctx) as memory:
        replaced = tuple(memory.get(one).entry.id for one in supersedes or ())
        done = _remembered(memory, text_of(text), msgspec.structs.replace(draft, supersedes=replaced))
    answer(ctx, done, _told(done, _became(done, said=due)))


def _remembered(memory: Memory, text: str, draft: Draft) -> Remembered:
    """Remember; an error names the option that a part of the draft came from."""
    try:
        return memory.remember(text, draft)
    except InvalidRecord as error:
        raise InvalidRecord(_OPTION.sub(r"`--\1`", str(error))) from error


def _told(done: Remembered, became: str) -> list[Line]:
    """Return the lines that say what became of a text, what was taken out of it, and what may be a slip."""
    out = f" (taken out: {', '.join(done.redacted)})" if done.redacted else ""
    return [
        line(became, out, dim(f" {done.id}" if done.id else "")),
        *([line(dim(done.hint))] if done.hint else ()),
    ]


def _became(done: Remembered, *, said: str) -> str:
    """Return what became of a text, and when it is due where that was `said` in other words than are stored."""
    if done.refused:
        return f"not stored: {done.refused}"
    if done.repeated:
        return "known already"
    if done.asked:
        return "stored, and hidden, for something like it was forgotten: `reverie review list` asks about it"
    if done.queued:
        return "queued for the next drain; recall finds it already"
    return "stored" if done.when == said else f"stored, due {done.when}"


@app.command(
    "note", cls=Verb, epilog='reverie note "Deployed v2; the queue was empty."\nreverie note - < today.md'
)
def note(
    ctx: typer.Context, text: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")]
) -> None:
    """Add to the agent's own note of the day, which extraction reads."""
    with opened(ctx) as memory:
        path = memory.note(text_of(text))
    answer(ctx, {"note": path}, [line(f"added to {path}")])


@app.command(
    "correct", cls=Verb, epilog='reverie correct 2b47366a "Mira works at Lindqvist Rail" --why change'
)
def correct(
    ctx: typer.Context,
    entry: Id,
    text: Annotated[str, typer.Argument(help="What holds instead; - reads it from standard input.")],
    why: Annotated[str, typer.Option(help="change: it was true before; mistake: it never was.")],
    by: By = "user",
) -> None:
    """Put a text in the place of an entry."""
    reason = one_of(why, "--why", choices=("change", "mistake"))
    with opened(ctx) as memory:
        done = memory.correct(
            entry,
            text_of(text),
            why="mistake" if reason == "mistake" else "change",
            by=one_of(by, "--by", choices=get_args(Origin)),
        )
    became = "is said never to have been true" if reason == "mistake" else "is shown as previous"
    answer(ctx, done, _told(done, f"stored; the old text {became}"))


@app.command("pin", cls=Verb, epilog="reverie pin 2b47366a\nreverie pin 2b47366a --unpin")
def pin(
    ctx: typer.Context,
    entry: Id,
    unpin: Annotated[bool, typer.Option("--unpin", help="No longer keep it there.")] = False,
) -> None:
    """Keep an entry in MEMORY.md and in every context."""
    with opened(ctx) as memory:
        memory.pin(entry, unpin=unpin)
        state = memory.get(entry)
    answer(
        ctx, entry_json(state), [line("no longer pinned" if unpin else "pinned", dim(f" {state.entry.id}"))]
    )


@app.command("due", cls=Verb, epilog="reverie due\nreverie due --json")
def due(ctx: typer.Context) -> None:
    """List what was promised and is still open: overdue, today, upcoming, undated."""
    with opened(ctx) as memory:
        found = memory.due()
    told = [due_json(one) for one in found.lines]
    answer(ctx, told, [one.line for one in found.lines] or ["Nothing is promised."])


@app.command("done", cls=Verb, epilog="reverie done 2b47366a\nreverie done 2b47366a --until 2026-07-20")
def done(
    ctx: typer.Context,
    entry: Id,
    cancelled: Annotated[bool, typer.Option("--cancelled", help="It no longer holds.")] = False,
    until: Annotated[str, typer.Option(metavar="WHEN", help="It is due then instead.")] = "",
) -> None:
    """Say that a promise is kept, cancelled, or due at another time; one that comes again is due anew."""
    with opened(ctx) as memory:
        memory.done(entry, cancelled=cancelled, until=until)
        state = memory.get(entry)
    said = settled(state, cancelled=cancelled, until=until)
    answer(ctx, entry_json(state), [line(said, dim(f" {state.entry.id}"))])
