"""The commands that read: recall, context, list, get, why."""

from __future__ import annotations

from typing import Annotated, get_args

import msgspec
import typer

from reverie.context import ContextRequest
from reverie.core.categories import hint
from reverie.core.search.context_plan import PARTS
from reverie.core.search.rows import Kind
from reverie.core.text.plural import many
from reverie.recall import Ask
from reverie.surface.cli.filters import Filtered, where_of
from reverie.surface.cli.frame import Verb, answer, application, globals_of
from reverie.surface.cli.session import instant, one_of, opened, text_of
from reverie.surface.entry_text import (
    behind_json,
    behind_lines,
    entry_json,
    entry_line,
    entry_lines,
    gone_line,
    history_lines,
    hit_lines,
    why_json,
    why_lines,
)
from reverie.surface.render import Line, dim, line
from reverie.surface.results import LeftOut, listed

app = application()

_RECALL = """\
reverie recall "when to call Dana?"
reverie recall 花生 -k 3
reverie recall "release steps" --category procedure --since 2026-06-01 --json
"""


@app.command("recall", cls=Filtered, epilog=_RECALL)
def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What is looked for; - reads it from standard input.")],
    k: Annotated[int, typer.Option("-k", "--limit", metavar="N", help="How many hits at most.")] = 10,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="entry, page, core, history, turn or value; repeatable."),
    ] = None,
    reference: Annotated[str, typer.Option(metavar="INSTANT", help="Relative dates count from then.")] = "",
) -> None:
    """Find what is known about something: entries, notebook pages, history and turns, best first."""
    kinds = tuple(one_of(one, "--kind", choices=get_args(Kind)) for one in kind or ())
    ask = Ask(
        query=text_of(query),
        k=k,
        where=where_of(ctx),
        kinds=kinds,
        reference=instant(reference, "--reference"),
    )
    with opened(ctx) as memory:
        found = memory.ask(ask)
    lines = [one for number, hit in enumerate(found.hits, 1) for one in hit_lines(hit, number)]
    if not lines:
        lines.append(line("Nothing is known about that."))
    if found.behind:
        lines.append(
            line(dim(f"not searched yet: {many(found.behind, 'file')}; ask again, or run `reverie reindex`"))
        )
    answer(ctx, found, lines)


@app.command(
    "context", cls=Verb, epilog='reverie context "what is planned for Friday?" --session s1 --budget 4000'
)
def context(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What the next answer is about; may be left out.")] = "",
    session: Annotated[str, typer.Option(help="The session the prompt is for.")] = "",
    budget: Annotated[
        int, typer.Option(metavar="TOKENS", help="At most so many tokens; 0: the setting's.")
    ] = 0,
    protocol: Annotated[
        bool, typer.Option("--protocol/--no-protocol", help="With the memory protocol in front, or without.")
    ] = True,
    part: Annotated[
        list[str] | None, typer.Option(metavar="PART", help=f"Only {', '.join(PARTS)}; repeatable.")
    ] = None,
) -> None:
    """Build what a host puts into its prompt, within a token budget."""
    parts = tuple(one_of(one, "--part", choices=PARTS) for one in part or ())
    request = ContextRequest(
        query=text_of(query), session=session, budget=budget, protocol=protocol, parts=parts
    )
    with opened(ctx) as memory:
        built = memory.context(request)
    answer(ctx, built, [built.text.rstrip("\n")])


@app.command(
    "list",
    cls=Filtered,
    epilog="reverie list --category decision --since 2026-06-01\nreverie list --forgotten",
)
def list_(
    ctx: typer.Context,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="What is forgotten instead, without its words.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="N", help="The latest so many; 0: all.")] = 0,
) -> None:
    """List entries by day, or with --forgotten what was let go and can be brought back."""
    where = where_of(ctx, limit=limit)
    with opened(ctx) as memory:
        if forgotten:
            gone = memory.gone(where if where.narrows else None)[-where.limit :]
            answer(ctx, gone, [gone_line(one) for one in gone] or [line("Nothing is forgotten.")])
            return
        states, rest = (memory.list(where), LeftOut()) if globals_of(ctx).json else listed(memory, where)
    lines: list[Line] = [entry_line(state) for state in states]
    none = [line("No entries."), *([line(dim(said))] if (said := hint(where.category)) else [])]
    flags = (("faded", "--faded"), ("hidden", "--hidden"), ("previous", "--previous"))
    told = [f"{number:,} {name} ({flag})" for name, flag in flags if (number := getattr(rest, name))]
    more = [line(dim(f"left out: {', '.join(told)}"))] if told else []
    answer(ctx, [entry_json(state) for state in states], [*(lines or none), *more])


@app.command("get", cls=Verb, epilog="reverie get 2b47366a")
def get(
    ctx: typer.Context, entry: Annotated[str, typer.Argument(help="Its id, or the beginning of it.")]
) -> None:
    """Show one entry whole, with what happened to it."""
    with opened(ctx) as memory:
        state, history = memory.get(entry), memory.history(entry)
    told = entry_json(state) | {"history": msgspec.to_builtins(history)}
    answer(ctx, told, [*entry_lines(state), *history_lines(history)])


@app.command("why", cls=Verb, epilog="reverie why 2b47366a\nreverie why page:9f86d081884c7d65")
def why(
    ctx: typer.Context,
    entry: Annotated[
        str, typer.Argument(help="An entry's id, or the beginning of it; or the whole id of any other hit.")
    ],
) -> None:
    """Show where an entry, or a hit of recall, comes from: pages, log, turns, and what became of it."""
    with opened(ctx) as memory:
        if ":" in entry:
            found = memory.behind(entry)
            answer(ctx, behind_json(found), behind_lines(found))
            return
        chain = memory.why(entry)
    answer(ctx, why_json(chain), why_lines(chain))
