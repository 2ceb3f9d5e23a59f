"""The commands that look back and take a person's word: log, diff, undo, restore, review."""

from __future__ import annotations

from typing import Annotated

import typer

from reverie.core.records import Run
from reverie.core.text.plural import many
from reverie.errors import UsageError
from reverie.review import Item
from reverie.surface.cli.frame import Verb, answer, application
from reverie.surface.cli.session import opened
from reverie.surface.entry_text import cut
from reverie.surface.render import Line, bold, dim, line
from reverie.surface.results import Diff, waiting

app = application()
review = application()
app.add_typer(review, name="review")

RunId = Annotated[str, typer.Argument(metavar="RUN", help="Its name, as `reverie log` shows it.")]


def _named(item: str) -> str:
    if not item:
        raise UsageError("name the item: `reverie review list` shows what waits")
    return item


ItemId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or the beginning of it.", callback=_named)]


@app.command("log", cls=Verb, epilog="reverie log --limit 5")
def log(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many at most.")] = 50,
) -> None:
    """List the latest runs, newest first."""
    with opened(ctx) as memory:
        runs = memory.log(limit=limit)
    answer(ctx, runs, [_run_line(run) for run in runs] or [line("No runs yet.")])


def _run_line(run: Run) -> Line:
    """Return a run on one line."""
    counts = ", ".join(f"{number} {kind}" for kind, number in run.counts.items() if number)
    result = "put back" if run.kind == "restore" and run.result == "undone" else run.result
    said = [result, counts, many(len(run.pages), "page") if run.pages else "", *run.problems]
    return line(
        bold(run.run), f" {' · '.join(part for part in said if part)}", dim(f" {run.commit[:12]}"), indent=4
    )


@app.command("diff", cls=Verb, epilog="reverie diff dream:20260702-030000")
def diff(ctx: typer.Context, run: RunId) -> None:
    """Show what a run changed, as a unified diff."""
    with opened(ctx) as memory:
        text = memory.diff(run)
    answer(ctx, Diff(run, text), [text.rstrip("\n")] if text else [line("It changed nothing.")])


@app.command(
    "undo", cls=Verb, epilog="reverie undo dream:20260702-030000\nreverie undo dream:20260702-030000 --retry"
)
def undo(
    ctx: typer.Context,
    run: RunId,
    retry: Annotated[bool, typer.Option("--retry", help="Dream of its entries again.")] = False,
) -> None:
    """Take one run's changes back."""
    with opened(ctx) as memory:
        done = memory.undo(run, retry=retry)
    answer(ctx, done, [_run_line(done)])


@app.command(
    "restore", cls=Verb, epilog="reverie restore 2026-07-02T03:00:00Z\nreverie restore dream:20260702-030000"
)
def restore(
    ctx: typer.Context,
    when: Annotated[str, typer.Argument(help="An instant with its offset, or a run: as it stood after it.")],
) -> None:
    """Put the notebook back to how it stood; what is forgotten stays so."""
    with opened(ctx) as memory:
        done = memory.restore(when)
    answer(ctx, done, [_run_line(done)])


@review.callback()
def _review() -> None:
    """Give your word on what waits for it: proposals, contradictions, and what was refused."""


@review.command("list", cls=Verb, epilog="reverie review list")
def review_list(ctx: typer.Context) -> None:
    """List what waits for a word."""
    with opened(ctx) as memory:
        items = memory.review()
    lines = [
        line(bold(one.id), f" {one.topic}{' (stale)' * one.stale} · {one.place} · ", cut(one.text), indent=4)
        for one in items
    ]
    answer(ctx, [waiting(one) for one in items], lines or [line("Nothing waits.")])


@review.command("show", cls=Verb, epilog="reverie review show 2b47")
def review_show(ctx: typer.Context, item: ItemId) -> None:
    """Show one item whole, and what accepting and rejecting it do."""
    with opened(ctx) as memory:
        (one,) = memory.review(item)
    answer(ctx, waiting(one), _whole(one))


@review.command("accept", cls=Verb, epilog="reverie review accept 2b47")
def review_accept(ctx: typer.Context, item: ItemId) -> None:
    """Accept an item."""
    with opened(ctx) as memory:
        (one,) = memory.review(item, accept=True)
    answer(ctx, waiting(one), [line("accepted: ", one.accepting)])


@review.command("reject", cls=Verb, epilog="reverie review reject 2b47")
def review_reject(ctx: typer.Context, item: ItemId) -> None:
    """Reject an item."""
    with opened(ctx) as memory:
        (one,) = memory.review(item, accept=False)
    answer(ctx, waiting(one), [line("rejected: ", one.rejecting)])


def _whole(one: Item) -> list[Line]:
    """Return an item with its text."""
    return [
        line(bold(f"{one.topic} {one.id}"), dim(f" {one.place}")),
        line(one.text),
        line(dim("why       "), one.why, indent=10),
        line(dim("accepting "), one.accepting, indent=10),
        line(dim("rejecting "), one.rejecting, indent=10),
    ]
