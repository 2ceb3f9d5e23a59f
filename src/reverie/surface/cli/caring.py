"""The commands of care: init, trust, status, check, reindex, export, import."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import typer

from reverie.check import Finding
from reverie.core.settings.value import PublishSettings
from reverie.core.text.plural import many
from reverie.memory import Memory
from reverie.opening import make_workspace, trust_workspace
from reverie.surface.cli.frame import Verb, answer, application, globals_of
from reverie.surface.cli.scheduling import KINDS, arrange, schedule_lines
from reverie.surface.cli.session import one_of, opened, opening_of
from reverie.surface.cli.watching import reindexing, watched
from reverie.surface.exits import FOUND
from reverie.surface.own_settings import keep_settings
from reverie.surface.render import Line, Styled, dim, line
from reverie.surface.status_text import status_lines

app = application()

Folder = Annotated[
    Path | None, typer.Argument(metavar="[FOLDER]", help="The workspace's folder; or --workspace.")
]

_PRESETS: tuple[str, ...] = get_args(get_type_hints(PublishSettings)["budget_preset"])

_INIT = """\
reverie init
reverie init ~/memory/support --budget-preset lean
reverie init --agent-id support-bot --zone Europe/Berlin
reverie init --schedule systemd
"""


@app.command("init", cls=Verb, epilog=_INIT)
def init(
    ctx: typer.Context,
    folder: Folder = None,
    budget_preset: Annotated[
        str, typer.Option(help="How large MEMORY.md may be: lean, balanced, rich, …")
    ] = "",
    zone: Annotated[str, typer.Option(help="The time zone of its days, such as Europe/Berlin.")] = "",
    schedule: Annotated[
        str,
        typer.Option(
            metavar="systemd|cron|none", help="What runs `consolidate` every half hour; none takes it back."
        ),
    ] = "",
) -> None:
    """Make a folder a workspace; one that is a workspace already keeps every file it has."""
    kind = one_of(schedule, "--schedule", choices=KINDS) if schedule else None
    told = (
        {"publish.budget_preset": one_of(budget_preset, "--budget-preset", choices=_PRESETS)}
        if budget_preset
        else {}
    )
    told |= {"zone": zone} if zone else {}
    opening = opening_of(ctx, folder)
    with Memory(make_workspace(opening)) as memory:
        if told:
            keep_settings(memory.opened.writable, told)
        identity = memory.opened.identity
        root = memory.root
    made = arrange(opening, kind) if kind else None
    value = {"workspace": str(root), "agent": identity.agent, "id": identity.id, "schedule": made}
    agent = f" --agent-id {shlex.quote(opening.agent)}" if opening.agent else ""
    where = agent if opening.path is None else f" -w {shlex.quote(str(root))}"
    said = [line(f"{root} is the memory of {identity.agent}"), *(schedule_lines(made, root) if made else ())]
    answer(ctx, value, said, [line(dim(f"next: reverie{where} remember …"))])


@app.command("trust", cls=Verb, epilog="reverie trust ~/memory/from-a-colleague")
def trust(ctx: typer.Context, folder: Folder = None) -> None:
    """Say that a workspace that came from elsewhere is yours, after you looked at it; until then it is read-only."""
    with Memory(trust_workspace(opening_of(ctx, folder))) as memory:
        root = memory.root
    answer(ctx, {"workspace": str(root), "trusted": True}, [line(f"{root} is trusted")])


@app.command("status", cls=Verb, epilog="reverie status\nreverie status --json")
def status(ctx: typer.Context) -> None:
    """Show where everything stands, and what needs attention with its remedy."""
    with opened(ctx) as memory:
        seen = memory.status()
    answer(ctx, seen, status_lines(seen))


@app.command(
    "members",
    cls=Verb,
    epilog="reverie members -w ~/memory/team\nreverie members -w ~/memory/team --add ~/memory/support",
)
def members(
    ctx: typer.Context,
    add: Annotated[str, typer.Option(metavar="FOLDER|ID", help="A workspace that may give and read.")] = "",
    remove: Annotated[str, typer.Option(metavar="FOLDER|ID", help="One that no longer may.")] = "",
) -> None:
    """List the workspaces that belong to a shared one: they may give to it and read it along."""
    with opened(ctx) as memory:
        found = memory.members(add=add, remove=remove)
    lines = [line(f"{one.id} {one.agent}", dim(f" since {one.at:%Y-%m-%d}")) for one in found]
    answer(ctx, found, lines or [line(dim("nobody: `reverie members --add FOLDER`"))])


@app.command("check", cls=Verb, epilog="reverie check\nreverie check --repair")
def check(
    ctx: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what is derived, finish what was interrupted.")
    ] = False,
) -> None:
    """Verify every file, and say what does not hold; exits 1 when an error was found."""
    with opened(ctx) as memory:
        findings = memory.check(repair=repair)
    answer(ctx, findings, [_finding(one) for one in findings] or [line("Everything holds.")])
    if any(one.severity == "error" for one in findings):
        raise typer.Exit(FOUND)


def _finding(one: Finding) -> Line:
    """Return a finding on one line."""
    style = "bold red" if one.severity == "error" else "yellow"
    return line(
        Styled(f"{one.severity} ", style), f"{one.place}: {one.what}", dim(f" — {one.remedy}"), indent=2
    )


@app.command("reindex", cls=Verb, epilog="reverie reindex")
def reindex(ctx: typer.Context) -> None:
    """Throw the derived files away and build them again from the others."""
    with opened(ctx) as memory, watched(lambda: reindexing(memory.root), quiet=globals_of(ctx).json):
        done = memory.reindex()
    answer(
        ctx,
        done,
        [line(f"{many(done.entries, 'entry')} and {many(done.rows, 'search row')}, from the files")],
    )


@app.command("export", cls=Verb, epilog="reverie export ~/backup/2026-07-01")
def export(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="FOLDER", help="An empty or new folder.")],
) -> None:
    """Write everything to an empty folder, loss-free: `reverie import` takes it back."""
    with opened(ctx) as memory:
        done = memory.export(target)
    answer(ctx, done, [line(f"{many(done.files, 'file')}, {many(done.size, 'byte')} in {done.folder}")])
