"""The commands by which a host's own model dreams and reads turns: for an agent with a shell and no key for a model."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from reverie.errors import UsageError
from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import opened, text_of
from reverie.surface.driving import (
    Asked,
    begin,
    begun_text,
    finished_text,
    step,
    submission,
    submission_text,
    turns,
    turns_text,
)

app = application()

Run = Annotated[str, typer.Argument(metavar="RUN", help="Its name, as `reverie dream-start` gave it.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="What the model goes by, for the record.")]

_LIST = "entry"  # the argument that may stand several times
_START = "reverie dream-start --now --model claude\nreverie dream-start --date 2026-07-01 --batch 20 --json"
_STEP = """\
reverie dream-step dream:20260702-030000 list folder=notebook
reverie dream-step dream:20260702-030000 write path=3_Personal/Tea.md text=- < tea.md
reverie dream-step dream:20260702-030000 settle entry=2b47366a861a87ca outcome=cited page=3_Personal/Tea.md
"""
_SUBMIT = """\
reverie extract-submit extract:0123456789abcdef - < entries.json
reverie extract-submit extract:0123456789abcdef '[]'       nothing in the turns is worth keeping
"""


@app.command("dream-start", cls=Verb, epilog=_START)
def dream_start(
    ctx: typer.Context,
    now: Annotated[bool, typer.Option("--now", help="Do not wait for enough time and entries.")] = False,
    date: Annotated[str, typer.Option(metavar="DAY", help="Only the entries of this day, YYYY-MM-DD.")] = "",
    batch: Annotated[int, typer.Option(metavar="N", min=0, help="At most so many entries; 0 for all.")] = 0,
    model: Model = "host",
) -> None:
    """Hand out entries of past days to a model of your own, with what is asked of it.

    Only where `mcp.host_model` is set. It works with `reverie dream-step`, and `reverie dream-finish` ends the run.
    """
    with opened(ctx) as memory:
        found = begin(memory, Asked(now=now, day=date, most=batch, by=model), guest="cli")
    answer(ctx, found, [begun_text(found)])


@app.command("dream-step", cls=Verb, epilog=_STEP)
def dream_step(
    ctx: typer.Context,
    run: Run,
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help="read, list, search, recall, write, edit or settle.")
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=VALUE]...",
            help="What the tool takes; a VALUE that is - is read from standard input.",
        ),
    ] = None,
) -> None:
    """Use one tool in a run that `reverie dream-start` began."""
    told = _arguments(arguments or ())
    with opened(ctx) as memory:
        said = step(memory, run, tool=tool, arguments=told)
    answer(ctx, said, [said.text])


@app.command("dream-finish", cls=Verb, epilog="reverie dream-finish dream:20260702-030000")
def dream_finish(
    ctx: typer.Context,
    run: Run,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Change nothing; the entries are pending again.")
    ] = False,
) -> None:
    """Have a run judged, and installed where it holds: after your word the first time."""
    with opened(ctx) as memory:
        done = memory.dream_finish(run, give_up=give_up)
    answer(ctx, done, [finished_text(done)])


@app.command(
    "extract-start", cls=Verb, epilog="reverie extract-start --model claude\nreverie extract-start s1 --json"
)
def extract_start(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(help="Only of this session.")] = "",
    model: Model = "host",
) -> None:
    """Hand out turns that nobody has read yet to a model of your own, with what is asked of it."""
    with opened(ctx) as memory:
        found = turns(memory, session, by=model)
    submit = f"Hand in the entries with `reverie extract-submit {found.handle} -`, as JSON on standard input."
    answer(ctx, found, [turns_text(found, submit)])


@app.command("extract-submit", cls=Verb, epilog=_SUBMIT)
def extract_submit(
    ctx: typer.Context,
    handle: Annotated[str, typer.Argument(metavar="HANDLE", help="As `reverie extract-start` gave it.")],
    entries: Annotated[
        str, typer.Argument(metavar="JSON", help="A list of entries; - reads it from standard input.")
    ],
) -> None:
    """Hand in what was found in turns: it is stored, after your word the first time."""
    found = _entries(text_of(entries))
    with opened(ctx) as memory:
        done = submission(memory.extract_submit(handle, found))
    answer(ctx, done, [submission_text(done)])


def _arguments(words: list[str] | tuple[str, ...]) -> dict[str, Any]:
    """Return what `name=value` words say; raises UsageError."""
    told: dict[str, Any] = {}
    if sum(one.endswith("=-") for one in words) > 1:
        raise UsageError("standard input holds one value: give the others as NAME=VALUE")
    for one in words:
        name, equals, value = one.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"{one[:80]!r}: write NAME=VALUE, such as path=notebook/3_Personal/Tea.md")
        if name in told and name != _LIST:
            raise UsageError(f"{name} is given twice: give it once")
        value = text_of(value)
        told[name] = [*told[name], value] if name in told else [value] if name == _LIST else value
    return told


def _entries(text: str) -> list[Any]:
    """Return the entries that a text holds, in a list or under `entries`; raises UsageError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        found = found.get("entries")
    if not isinstance(found, list):
        raise UsageError('the entries are no JSON list: write [{"text": …, "evidence": …}], or [] for none')
    return found
