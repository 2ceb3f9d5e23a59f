"""The commands that run one stage each, and `consolidate`, which runs them all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer

from reverie.consolidate import Consolidated, Plan
from reverie.core.dreams.editing import Edited
from reverie.core.sessions.pipeline import STEPS
from reverie.core.text.plural import many
from reverie.dream import Dreamt
from reverie.errors import ReverieError
from reverie.lint import Linted
from reverie.memory import Memory
from reverie.publish import Published
from reverie.surface.cli.frame import Verb, answer, application, globals_of
from reverie.surface.cli.session import one_of, opened
from reverie.surface.cli.watching import adding, dreaming, watched
from reverie.surface.render import Line, dim, line, say
from reverie.surface.results import compacted, consolidating

app = application()

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")]


@app.command("extract", cls=Verb, epilog="reverie extract\nreverie extract s1 s2\nreverie extract --due")
def extract(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None, typer.Argument(metavar="[SESSION]...", help="Which; all if left out.")
    ] = None,
    due: Annotated[
        bool,
        typer.Option(
            "--due", help="Only sessions that ended, fell silent, are of a past day, or said enough."
        ),
    ] = False,
) -> None:
    """Read unread turns and notes into the journal."""
    with opened(ctx) as memory:
        root = memory.root
        with watched(lambda: adding(root, "extract"), quiet=globals_of(ctx).json):
            done = memory.extract(sessions or None, moment="tick" if due else "hand")
    parts = [f"{many(done.entries, 'entry')} found in {many(done.spans, 'span')}", many(done.links, "link")]
    parts += [f"{done.refused} refused"] if done.refused else []
    parts += [f"{done.echoes} echoes of memory left out"] if done.echoes else []
    parts += [f"{len(done.made_up)} made up by the model"] if done.made_up else []
    answer(ctx, done, [line(", ".join(parts)), *(line(problem, indent=2) for problem in done.problems)])


@app.command("drain", cls=Verb, epilog="reverie drain")
def drain(ctx: typer.Context) -> None:
    """Store what is queued in the daily logs; exits 2 with the queue intact when that fails."""
    with opened(ctx) as memory:
        done = memory.drain()
    parts = [f"{many(done.stored, 'entry')} stored", f"{many(done.feedback, 'judgement')} applied"]
    parts += [f"{done.refused} refused and kept aside"] if done.refused else []
    parts += [f"{done.repeated} known already"] if done.repeated else []
    answer(ctx, done, [line(", ".join(parts))])


@app.command("compact", cls=Verb, epilog="reverie compact\nreverie compact s1 --budget 16000")
def compact(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(help="Which; every session over its budget if left out.")] = "",
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Instead of the setting's.")] = None,
) -> None:
    """Move the oldest turns of long sessions into the history."""
    with opened(ctx) as memory:
        done = compacted(memory, session, budget=budget)
    said = [line(f"{many(done.archived, 'turn')} moved into the history, {done.kept} left")]
    answer(ctx, done, [*said, *([line(done.problem, indent=2)] if done.problem else ())])


@app.command("digest", cls=Verb, epilog="reverie digest")
def digest(ctx: typer.Context) -> None:
    """Summarise sessions, and write today, week and long-term anew."""
    with opened(ctx) as memory:
        done = memory.digest()
    changed = ", ".join(done.changed) or "nothing changed"
    answer(ctx, done, [line(changed), *(line(problem, indent=2) for problem in done.problems)])


_DREAM = """\
reverie dream                     when enough time and entries have gathered
reverie dream --now               at once
reverie dream --now --dry-run     show the changes as a diff
reverie dream --now --date 2026-07-01 --batch 20
"""


@app.command("dream", cls=Verb, epilog=_DREAM)
def dream(
    ctx: typer.Context,
    now: Annotated[bool, typer.Option("--now", help="Do not wait for enough time and entries.")] = False,
    dry_run: DryRun = False,
    date: Annotated[str, typer.Option(metavar="DAY", help="Only the entries of this day, YYYY-MM-DD.")] = "",
    batch: Annotated[
        int, typer.Option(metavar="N", min=0, help="At most so many entries, in one batch; 0 for all.")
    ] = 0,
) -> None:
    """Fold closed days into the notebook, in one commit or none.

    A dry run settles and writes nothing, but a model is asked all the same.
    """
    with opened(ctx) as memory:
        root = memory.root
        with watched(
            lambda: dreaming(root, sum(memory.status().pending.values())), quiet=globals_of(ctx).json
        ):
            done = memory.dream(now=now, dry_run=dry_run, day=date, most=batch)
    answer(ctx, done, _dreamt(done))


def _dreamt(done: Dreamt) -> Iterator[Line]:
    """Yield what a dream did."""
    yield line(done.result, f": {done}" if str(done) else "", dim(f" {done.run}" if done.run else ""))
    for page in done.pages:
        yield line(f"  {page}")
    for path in done.proposed:
        yield line(f"  {path} waits for your word: reverie review list")
    for problem in done.problems:
        yield line(f"  {problem}", indent=4)
    if done.diff:
        yield line(done.diff.rstrip("\n"))


@app.command("publish", cls=Verb, epilog="reverie publish\nreverie publish --set publish.budget_preset=lean")
def publish(ctx: typer.Context) -> None:
    """Compile MEMORY.md within its budget."""
    with opened(ctx) as memory:
        done = memory.publish()
    answer(ctx, done, _published(done))


def _published(done: Published) -> Iterator[Line]:
    """Yield what became of MEMORY.md."""
    yield line(f"{done.path} {'written' if done.changed else 'unchanged'}, {done.characters:,} characters")
    if done.left_out:
        yield line(f"{many(len(done.left_out), 'entry')} did not fit")
    if done.protected_out:
        yield line(f"{len(done.protected_out)} of them are protected: raise the budget, or let something go")
    if done.edited is not None:
        yield line("what you wrote inside the compiled part waits: see `reverie review list`")
    if done.problem:
        yield line(done.problem)


@app.command("lint", cls=Verb, epilog="reverie lint\nreverie lint --fix\nreverie lint --editorial")
def lint(
    ctx: typer.Context,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Mend what is safe: links to moved pages, forgotten lines, marks for review."
        ),
    ] = False,
    editorial: Annotated[
        bool,
        typer.Option(
            "--editorial", help="Let the model that dreams read the pages and edit them, judged like a dream."
        ),
    ] = False,
) -> None:
    """Look the notebook over for what is stale, broken, contradicted, orphaned or uncited."""
    with opened(ctx) as memory:
        done = memory.lint(fix=fix, editorial=editorial)
    answer(ctx, done, _linted(done))


def _linted(done: Linted) -> Iterator[Line]:
    """Yield what was mended, what is left, and the run."""
    for one in done.mended:
        yield line(f"{one.page}:{one.line} {one.kind}: mended", indent=2)
    for one in done.findings:
        yield line(f"{one.page}:{one.line} {one.kind}: {one.reason}", dim(f" — {one.remedy}"), indent=2)
    for reason in done.refused:
        yield line(f"not mended: {reason}", indent=2)
    yield line(f"{many(done.pages, 'page')}, {many(len(done.findings), 'finding')}")
    if done.mended:
        yield line(f"{len(done.mended)} mended in {done.run}: `reverie undo {done.run}` takes that back")
    if done.edited is not None:
        yield from _edited(done.edited)


def _edited(done: Edited) -> Iterator[Line]:
    """Yield what a model edited, and why it did not edit more."""
    for reason in done.refused:
        yield line(f"not edited: {reason}", indent=2)
    if done.problem:
        yield line(done.problem)
    elif done.run:
        yield line(
            f"{many(len(done.pages), 'page')} edited in {done.run}: `reverie undo {done.run}` takes that back"
        )
    else:
        yield line("nothing was edited")


_TRIGGERS = ", ".join(STEPS)
_CONSOLIDATE = """\
reverie consolidate                   from cron, as often as you like
reverie consolidate --after end       what follows the end of a session: no dream
reverie consolidate --drain-only
reverie consolidate --people          and in each person's own memory
reverie consolidate --dry-run --json
"""


@app.command("consolidate", cls=Verb, epilog=_CONSOLIDATE)
def consolidate(
    ctx: typer.Context,
    drain_only: Annotated[
        bool, typer.Option("--drain-only", help="Store what is queued, and no more.")
    ] = False,
    promote_only: Annotated[
        bool, typer.Option("--promote-only", help="Digests and MEMORY.md, and no more.")
    ] = False,
    after: Annotated[str, typer.Option(metavar="TRIGGER", help=f"Only what follows {_TRIGGERS}.")] = "",
    dry_run: DryRun = False,
    people: Annotated[
        bool, typer.Option("--people", help="Also in the memory that each person has of their own.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say below the line what each stage did.")
    ] = False,
) -> None:
    """Run everything that is due, in order, the drain first; a second run changes nothing.

    Exits 0, or 2 when the drain failed and the queue is intact. Another stage that failed is named on standard error
    and in `problems`, and the rest runs;
    `told` and `--verbose` say what each stage did.
    """
    trigger = one_of(after, "--after", choices=tuple(STEPS)) if after else None
    plan = Plan(drain_only=drain_only, promote_only=promote_only, dry_run=dry_run, after=trigger)
    with opened(ctx) as memory:
        root = memory.root
        with watched(lambda: adding(root, "consolidate"), quiet=globals_of(ctx).json):
            done = memory.consolidate(plan)
        others, failed = _with_people(memory, plan) if people else ({}, [])
    lines = _consolidated(done, every=dry_run or verbose)
    lines += [f"{person}: {one}" for person, one in others.items()]
    told = msgspec.structs.asdict(consolidating(done))
    told |= {"people": {name: consolidating(one) for name, one in others.items()}} if people else {}
    answer(ctx, told, lines)
    troubles = [*done.problems, *(f"{name}: {said}" for name, one in others.items() for said in one.problems)]
    say(*(f"reverie: {problem}" for problem in troubles), to=sys.stderr)
    if failed:
        raise failed[0]


def _with_people(memory: Memory, plan: Plan) -> tuple[dict[str, Consolidated], list[ReverieError]]:
    """Run the same in each person's own memory; one that fails keeps nobody else's from being run."""
    done: dict[str, Consolidated] = {}
    failed: list[ReverieError] = []
    for name in memory.opened.people():
        try:
            with memory.person(name) as one:
                done[name] = one.consolidate(plan)
        except ReverieError as error:
            failed.append(error)
    return done, failed


def _consolidated(done: Consolidated, *, every: bool) -> list[str | Line]:
    """Return the line of a run, and below it what each stage did where that was asked for."""
    return [str(done), *(line(dim(f"  {one.stage}: {one.said}")) for one in done.told if every)]
