"""The commands that say what an entry is worth, and take back what was said: feedback, judge, used, take-back."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from reverie.core.records import Origin
from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import one_of, opened
from reverie.surface.entry_text import entry_json, judged
from reverie.surface.render import dim, line
from reverie.surface.results import Queued, Used, taken_back

app = application()

Id = Annotated[str, typer.Argument(metavar="ID", help="The entry's id, or the beginning of it.")]
By = Annotated[str, typer.Option(help="Whose word it is: user, agent, tool, file, web, import or other.")]
Why = Annotated[str, typer.Option(help="The reason, for whoever looks later.")]


@app.command(
    "feedback",
    cls=Verb,
    epilog="reverie feedback 2b47366a helpful\nreverie feedback 2b47366a 0.9 --why asked-twice",
)
def feedback(
    ctx: typer.Context,
    entry: Id,
    value: Annotated[
        str, typer.Argument(help="helpful, wrong, outdated, more, less, or a number from 0 to 1.")
    ],
    why: Why = "",
    by: By = "agent",
) -> None:
    """Say what an entry was worth; the next drain applies it."""
    with opened(ctx) as memory:
        record = memory.feedback(entry, value, why=why, by=one_of(by, "--by", choices=get_args(Origin)))
    answer(ctx, Queued(record), [line("QUEUED — not yet applied", dim(f" {record}"))])


@app.command("judge", cls=Verb, epilog='reverie judge 2b47366a 0.3 --why "said in passing"')
def judge(
    ctx: typer.Context,
    entry: Id,
    value: Annotated[float, typer.Argument(metavar="0..1", help="How much it matters.")],
    why: Why = "",
    by: By = "other",
) -> None:
    """Say what an outside judge thinks an entry matters; the writer's own word stays beside it."""
    with opened(ctx) as memory:
        memory.judge(entry, value, why=why, by=one_of(by, "--by", choices=get_args(Origin)))
        state = memory.get(entry)
    answer(ctx, entry_json(state), [line(judged(state), dim(f" {state.entry.id}"))])


@app.command("used", cls=Verb, epilog="reverie used 2b47366a 83f33219")
def used(
    ctx: typer.Context,
    entries: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Their ids, or the beginnings of them.")
    ],
) -> None:
    """Say that entries were of use: among equals they come first."""
    with opened(ctx) as memory:
        number = memory.used(entries)
    answer(ctx, Used(number), [line(f"noted for {number}")])


@app.command("take-back", cls=Verb, epilog="reverie get 2b47366a\nreverie take-back c0ffee00")
def take_back(
    ctx: typer.Context,
    event: Annotated[
        str,
        typer.Argument(metavar="EVENT", help="The event's id, as `reverie get` shows it, or its beginning."),
    ],
    why: Why = "",
) -> None:
    """Undo one event: a judgement, a pin, a hide, a correction, a promise kept, a link.

    What a correction or a promise had stored is hidden with it. An undoing may itself be taken back.
    """
    with opened(ctx) as memory:
        told = taken_back(memory, event, why=why)
    answer(ctx, told, [line("taken back", dim(f" {told['entry']}"))])
