"""The commands that let go: hide, forget, erase, exclude."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import typer

from reverie.core.fold import EntryState
from reverie.core.forgetting.saying import apart
from reverie.core.text.plural import many
from reverie.core.where import Where, must_narrow
from reverie.errors import UsageError
from reverie.forget import Erased
from reverie.memory import Memory
from reverie.surface.cli.filters import Letting, where_of
from reverie.surface.cli.frame import Verb, answer, application, globals_of
from reverie.surface.cli.session import opened
from reverie.surface.cli.watching import Work, erasing, watched
from reverie.surface.entry_text import entry_line, still_lines
from reverie.surface.render import Line, Styled, dim, line, say
from reverie.surface.results import Hidden, erased, excluded, forgetting

app = application()

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Their ids, or the beginnings of them.")
]
Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Their ids, or the beginnings of them; a turn by its whole id."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show which, and change nothing.")]

_CONFIRMED = {"y", "yes"}


@dataclass(frozen=True, slots=True)
class _Meant:
    """The entries a command is about, shown or forgotten."""

    states: tuple[EntryState, ...] = ()
    forgotten: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        """Their ids."""
        return [*(state.entry.id for state in self.states), *self.forgotten]

    def lines(self, head: str) -> list[str | Styled | Line]:
        """Return a heading with their number, and each on a line."""
        hidden = [line(f"{one} (forgotten)", indent=2) for one in self.forgotten]
        return [line(f"{head}: {len(self.ids)}"), *map(entry_line, self.states), *hidden]

    def now(self, memory: Memory) -> _Meant:
        """Return the same entries as they stand after something was done with them."""
        return _named(memory, self.ids)


def _named(memory: Memory, entries: Iterable[str]) -> _Meant:
    """Return the entries that ids, or the beginnings of them, name; raises NotFound, AmbiguousId."""
    _, ids = apart(entries)
    named = [(one, memory.forgotten(one)) for one in ids]
    states = [memory.get(one) for one, gone in named if not gone]
    kept = {state.entry.id: state for state in states}
    return _Meant(tuple(kept.values()), tuple(dict.fromkeys(gone for _, gone in named if gone)))


def _filter(context: typer.Context, entries: Sequence[str] | None) -> Where | None:
    """Return the filter of a call, None for one that names entries; raises UsageError for both, and for neither."""
    where = where_of(context)
    if entries and not where.narrows:
        return None
    must_narrow(entries or (), where)
    return where


def _meant(memory: Memory, entries: Sequence[str], where: Where | None, *, forgotten: bool = False) -> _Meant:
    """Return the entries that are named, or all that a filter admits; with `forgotten` also those that are."""
    if where is None:
        return _named(memory, entries)
    gone = [one.id for one in memory.gone(where)] if forgotten else []
    return _Meant(tuple(memory.list(where.everything)), tuple(gone))


@app.command(
    "hide",
    cls=Letting,
    epilog="reverie hide 2b47366a\nreverie hide --tag draft --dry-run\nreverie hide 2b47366a --unhide",
)
def hide(
    ctx: typer.Context,
    entries: Ids = None,
    unhide: Annotated[bool, typer.Option("--unhide", help="Bring them back into sight.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Take entries, by id or all that a filter admits, out of recall and MEMORY.md, reversibly."""
    named, chosen = entries or [], _filter(ctx, entries)
    with opened(ctx) as memory:
        meant = _Meant(tuple(memory.hideable(named, where=chosen, unhide=unhide)))
        if not dry_run:
            memory.hide(meant.ids, unhide=unhide)
            meant = meant.now(memory)
    said = "brought back" if unhide else "hidden"
    told = Hidden(meant.ids, hidden=not unhide, dry_run=dry_run)
    answer(
        ctx,
        told,
        [
            *meant.lines(f"would be {said}" if dry_run else said),
            *_nothing(meant.ids, "hidden" if unhide else "shown"),
        ],
    )


@app.command(
    "forget",
    cls=Letting,
    epilog="reverie forget 2b47366a\nreverie forget --about Jonas --dry-run\nreverie forget --about Jonas --restore",
)
def forget(
    ctx: typer.Context,
    entries: Named = None,
    restore: Annotated[bool, typer.Option("--restore", help="Take the forgetting back.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Forget entries, by id or all that a filter admits, and the words they came from; bytes stay until `erase`."""
    named, chosen = entries or [], _filter(ctx, entries)
    with opened(ctx) as memory:
        meant = _Meant() if restore else _meant(memory, named, chosen)
        done = memory.forget(named, where=chosen, dry_run=dry_run, restore=restore)
        if restore:
            meant = _named(memory, done.ids)
    said = "remembered again" if restore else "forgotten"
    lines = meant.lines(f"would be {said}" if dry_run else said)
    lines += _along(done.ids, meant)
    lines += _turns(done.turns, "counted as said" if restore else "counted as never said")
    lines += [line(dim(f"bytes remain in {place} until `reverie erase`"), indent=4) for place in done.places]
    lines += [line(f"not withdrawn yet: {problem}", indent=4) for problem in done.problems]
    lines += [line(f"left, though it says that and more: {one}", indent=4) for one in done.similar]
    lines += [line(told, indent=4) for one in done.still for told in still_lines(one)]
    answer(
        ctx,
        forgetting(done, dry_run=dry_run),
        [*lines, *([] if done.turns else _nothing((*done.ids, *meant.ids), "shown or hidden"))],
    )


@app.command("erase", cls=Letting, epilog="reverie erase 2b47366a --dry-run\nreverie erase 2b47366a --yes")
def erase(
    ctx: typer.Context,
    entries: Named = None,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: there is no way back.")] = False,
) -> None:
    """Remove the text of entries, by id or all that a filter admits, from every file of the workspace, for good.

    Backups and exports elsewhere keep it.
    """
    named, chosen = entries or [], _filter(ctx, entries)
    with opened(ctx) as memory:
        meant = _meant(memory, named, chosen, forgotten=True)

        @cache  # it reads every file, and both the question and the bar may want it
        def planned() -> Erased:
            return memory.erase(named, where=chosen, dry_run=True)

        def work() -> Work:
            return erasing(memory.root, len(planned().places))

        if not (dry_run or yes):
            _confirm(ctx, lambda: _taken(planned(), meant, chosen))
        with watched(work, quiet=dry_run or globals_of(ctx).json):
            done = memory.erase(named, where=chosen, dry_run=dry_run)
    answer(
        ctx,
        erased(done, dry_run=dry_run),
        [
            *_taken(done, meant, chosen, head="would be erased" if dry_run else "erased"),
            *[line(told, indent=4) for one in done.still for told in still_lines(one, erasing=True)],
            *(_left(done) if _reached(done) else _nothing((), "shown, hidden or forgotten")),
        ],
    )


def _nothing(found: Sequence[str], looked_at: str) -> list[Line]:
    """Return what to say where nothing was found."""
    return [] if found else [line(f"no entry that is {looked_at} matches")]


def _turns(number: int, how: str) -> list[Line]:
    """Return how many turns were reached, where there are any."""
    return [line(f"{many(number, 'turn')}: {how}", indent=2)] if number else []


def _along(ids: Iterable[str], meant: _Meant) -> list[Line]:
    """Return the entries that go or come back with those that are meant."""
    others = [one for one in ids if one not in meant.ids]
    return [line(f"{one} (with them: it says the same, or rests on them)", indent=2) for one in others]


def _reached(done: Erased) -> bool:
    """Whether an erase found anything to take."""
    return bool(done.ids or done.turns or done.said)


def _taken(
    done: Erased, meant: _Meant, where: Where | None, *, head: str = "to be erased for good"
) -> list[str | Styled | Line]:
    """Return what an erase takes, or took: entries, turns, and what turns say of whom a filter is about."""
    about = where.about if where is not None else ""
    said = _turns(done.said, f"the sentences that say {about}")
    return [*meant.lines(head), *_along(done.ids, meant), *_turns(done.turns, "whole"), *said]


def _left(done: Erased) -> list[Line]:
    """Return what an erasure could not remove, and what it cannot reach."""
    lines = [line(f"still found in {place}: erase it there by hand", indent=4) for place in done.leftovers]
    return [*lines, line(dim(done.elsewhere))]


def _confirm(ctx: typer.Context, shown: Callable[[], Iterable[str | Styled | Line]]) -> None:
    """Ask a person whether to go on; where nobody can answer, demand `--yes`."""
    if globals_of(ctx).json or not sys.stdin.isatty():
        raise UsageError("erasing cannot be undone: look with --dry-run, then say --yes")
    say(*shown(), to=sys.stderr)
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in _CONFIRMED:
        raise typer.Abort


@app.command(
    "exclude",
    cls=Verb,
    epilog='reverie exclude "health" --preview\nreverie exclude "health"\nreverie exclude "health" --remove',
)
def exclude(
    ctx: typer.Context,
    topic: Annotated[str, typer.Argument(help="A word or words, matched on word borders.")],
    remove: Annotated[bool, typer.Option("--remove", help="Store the topic again.")] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Only show which entries name it.")] = False,
) -> None:
    """Never store a topic again, and show which entries name it already; they stay."""
    if remove and preview:
        raise UsageError("--remove and --preview exclude each other: choose one")
    with opened(ctx) as memory:
        named = _Meant(tuple(memory.exclude(topic, remove=remove, preview=preview)))
    said = "is stored again" if remove else "would not be stored" if preview else "is not stored any more"
    told = excluded(topic, named.states, removed=remove, preview=preview)
    answer(ctx, told, [line(f"{topic} {said}"), *named.lines("entries that name it")])
