"""The command that takes in what another program kept: import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from reverie.core.text.plural import many
from reverie.importers.taken import Imported, Progress
from reverie.importing import Wish
from reverie.surface.cli.frame import Verb, answer, application, globals_of
from reverie.surface.cli.session import opened
from reverie.surface.exits import SET_ASIDE
from reverie.surface.render import Line, dim, line
from reverie.surface.results import importing

app = application()

_SHOWN = 20  # unreadable pieces told one by one; the rest are counted, and all are kept

_EXAMPLES = """\
reverie import chatgpt-export.zip --dry-run
reverie import conversation.jsonl --session s1
reverie import ~/.claude/projects/my-project
reverie import ~/Notes
reverie import ~/backup/2026-07-01
"""


@app.command("import", cls=Verb, epilog=_EXAMPLES)
def import_(
    ctx: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A file, a ZIP archive, a folder of sessions or notes, an export."
        ),
    ],
    session: Annotated[str, typer.Option(help="For turns that name none; else the file's name.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would come in; write nothing.")
    ] = False,
) -> None:
    """Take in conversations, another memory, a vault of notes, or an export; the same again adds nothing.

    The format is told by what the file holds. What cannot be read is set aside and told; the exit code is then 65.
    """
    with opened(ctx) as memory, _shown(quiet=globals_of(ctx).json) as tell:
        done = memory.import_(source, wish=Wish(session=session, dry_run=dry_run, tell=tell))
    answer(ctx, importing(done), _lines(done))
    if done.skipped:
        raise typer.Exit(SET_ASIDE)


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar with counts and the time left on standard error, where a person sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[seen]:,} found"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("import", total=None, seen=0)
        yield lambda now: bar.update(task, completed=now.done, total=now.total or None, seen=now.seen)


def _lines(done: Imported) -> Iterator[Line]:
    """Yield what an import did, for people."""
    known = f", {done.repeated:,} known already" if done.repeated else ""
    would = " would come in" if done.dry_run else ""
    sessions = len(done.sessions)
    parts = [f"{many(done.turns, 'turn')} in {many(sessions, 'session')}"] if sessions else []
    parts += [many(done.facts, "fact")] if done.facts else []
    parts += [many(done.files, "file")] if done.files else []
    yield line(f"{done.format}: {', '.join(parts) or 'nothing new'}{would}{known}")
    for reason, count in done.passed.items():
        yield line(dim(f"{count:,} left out: {reason}"), indent=2)
    for one in done.skipped[:_SHOWN]:
        yield line(f"{one.place} set aside: {one.reason}", indent=2)
    if done.unread > _SHOWN:
        yield line(f"… and {done.unread - _SHOWN:,} more: `reverie status` counts them")
