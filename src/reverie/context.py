"""What a host puts into a prompt: what is known, chosen to fit, fenced as data.

In: MEMORY.md, USER.md and SOUL.md, promises and pins, what a query found, the digests, the summaries of the last days
and the history since the last dream. Out: one text within a token budget (`core.search.context_plan` has the shares),
and for a session the note of what it was shown. No model, no index but the state.

Owns reading these sources and `.state/rendered/`; promises that nothing forgotten, hidden or faded is among them,
though MEMORY.md and the digests may have been compiled before it was, and that what a session was shown is known to
any process that captures its turns afterwards; never writes what is shown.

What survives a crash here: the note is replaced whole before the text is returned. Without it, memory pasted back
into a turn would be taken for something new; so a note that cannot be written is reported in `problem`, and the text
is returned all the same: an agent without its memory is worse off.

`capture` reads the note; nothing else comes after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from reverie import layout
from reverie.core.days import day_after
from reverie.core.due_list import DueLine, due_lines
from reverie.core.forgetting.mask import Mask
from reverie.core.glance.digest_lines import compile_digest, periods
from reverie.core.records import History
from reverie.core.search.context_pieces import (
    Hit,
    Lines,
    history_pieces,
    relevant_pieces,
    summary_pieces,
)
from reverie.core.search.context_plan import Part, Piece, Planned, plan
from reverie.core.sessions.active_text import Readable
from reverie.core.sessions.injected import SHORTEST
from reverie.core.sessions.summary import Section
from reverie.core.text.tokens import estimate
from reverie.errors import Busy, StoreUnwritable, UsageError
from reverie.index.state import State
from reverie.model.counting import Count
from reverie.store import history, pages, rendered, summaries
from reverie.store.dreams import runs
from reverie.store.workspace import Workspace

NOTHING_FORGOTTEN = Mask()
TOKEN_CHARACTERS = 8  # more than any text has to a token: what is gathered fills the budget
_WEEK, _LONGTERM = layout.digest_file("week"), layout.digest_file("longterm")


class ContextRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the prompt is for: the query to find memories for, the session, the tokens there are (0: the setting's).

    `protocol` is False for a host that tells its agent how to use memory in words of its own. `parts` names the only
    parts wanted, as `core.search.context_plan` does; none named means all.

    >>> "User likes tea" in memory.context(ContextRequest(query="tea", budget=2_000)).text
    True
    """

    query: str = ""
    session: str = ""
    budget: int = 0
    protocol: bool = True
    parts: tuple[str, ...] = ()


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The text, about how many tokens it takes, and the entries in it.

    `left_out` are the entries that found no room, best first within each part; `cut` the parts something was cut from;
    `problem` a sentence when it could not be noted what the session was shown.
    """

    text: str
    tokens: int
    ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    problem: str = ""


def context(
    ws: Workspace,
    state: State,
    request: ContextRequest,
    *,
    hits: Iterable[Hit] = (),
    masked: Mask = NOTHING_FORGOTTEN,
    count: Count = estimate,
) -> Context:
    """Return what is known, within the budget; `hits` are what the query found, best first.

    `count` counts the tokens of a text. Raises BudgetOverflow when what is due and what is pinned do not fit, and
    UsageError for a budget below zero.
    """
    if not 0 <= request.budget < inf:  # what is no number, too
        raise UsageError(f"budget is {request.budget}: give a number of tokens, or 0 for the setting's")
    every = _parts(ws, state, request, hits, masked)
    planned = plan(
        tuple(part for part in every if not request.parts or part.name in request.parts),
        budget=request.budget or ws.settings.context.budget_tokens,
        nonce=ws.new_id(),
        protocol=request.protocol,
        count=count,
    )
    return Context(
        text=planned.text,
        tokens=planned.tokens,
        ids=planned.ids,
        left_out=planned.left_out,
        cut=planned.cut,
        problem=_note(ws, request.session, planned) if request.session else "",
    )


def _parts(
    ws: Workspace, state: State, request: ContextRequest, hits: Iterable[Hit], masked: Mask
) -> tuple[Part, ...]:
    """Gather everything that asks for room."""
    now = ws.clock()
    lines = Lines(state.find, now=now, facts=ws.settings.facts, masked=masked)
    due = due_lines(state.promises(), now, calendar=ws.calendar)
    return (
        Part("due", "## Commitments (due / overdue)", _promises(due.overdue + due.today)),
        Part("pinned", "## Pinned", lines.pinned(state.pins())),
        Part("relevant", "## Relevant Memory", relevant_pieces(hits)),
        Part("memory", "# Memory", lines.memory(_text(ws, layout.MEMORY))),
        Part("user", "# User", lines.written(_own_words(ws, layout.USER))),
        Part("soul", "# Soul", lines.written(_own_words(ws, layout.SOUL))),
        Part("ahead", "## Commitments ahead", _promises(due.upcoming + due.undated)),
        Part("digests", "# Digests", _digests(ws, state, lines)),
        Part("summaries", "# Session Summaries", _summaries(ws, state, masked)),
        Part("history", "# Recent History", _history(ws, request, masked)),
    )


def _promises(due: Sequence[DueLine]) -> tuple[Piece, ...]:
    return tuple(Piece(one.line, ids=(one.state.entry.id,), place=place) for place, one in enumerate(due))


def _own_words(ws: Workspace, path: str) -> str:
    """Return what a person wrote into a core file; nothing while it holds only the words it started with."""
    data = ws.disk.read(path) or b""
    return "" if pages.is_untouched(path, data) else data.decode("utf-8", "replace")


def _digests(ws: Workspace, state: State, lines: Lines) -> tuple[Piece, ...]:
    """Return today's digest as it would read now, for the file may be from yesterday, and the longer ones' files."""
    today = periods(ws.today, ws.settings.summaries)[0]
    fresh = compile_digest(
        today,
        state.each(today.since, today.until),
        now=ws.calendar.start(ws.today),
        facts=ws.settings.facts,
        calendar=ws.calendar,
    )
    texts = (fresh, _text(ws, _WEEK), _text(ws, _LONGTERM))
    return tuple(piece for text in texts for piece in lines.digest(text))


def _summaries(ws: Workspace, state: State, masked: Mask) -> tuple[Piece, ...]:
    """Return the summaries of the last days, newest day and, within one, latest section first."""
    today, days = ws.today, ws.settings.context.summary_days
    if not days:
        return ()
    found: list[tuple[str, str, str, list[Section]]] = []
    for path in summaries.files(ws, day_after(today, 1 - days), today):
        summary = summaries.read(ws, path)
        sections = list(summaries.shown(summary, state.find(summary.entries), masked=masked))
        if sections:
            found.append((summary.day, sections[0].at, summary.session, sections))
    pieces: list[Piece] = []
    for day, _, session, sections in sorted(found, key=lambda one: one[:3], reverse=True):
        pieces += summary_pieces(f"## {day} — {session}", sections, place=len(pieces))
    return tuple(pieces)


def _history(ws: Workspace, request: ContextRequest, masked: Mask) -> tuple[Piece, ...]:
    """Return what left the window since the last dream, of the session or of all, newest first.

    What nobody may read any more is left out of it, whenever that was decided.
    """
    dreamt, session = runs.watermark(ws), request.session
    budget = request.budget or ws.settings.context.budget_tokens

    def wanted(record: History) -> bool:
        here = not session or record.session == session
        return here and not record.aside and ws.calendar.day(record.timestamp) > dreamt

    found: list[Piece] = []
    for record in reversed(history.recent(ws, wanted, characters=budget * TOKEN_CHARACTERS)):
        hides = Readable(record.session, ws.settings, masked).hides
        heading = f"## {ws.calendar.day(record.timestamp)} — {record.session}, turns {record.turns}"
        text = history.content(ws, record, masked)
        found += history_pieces(heading, text, raw=record.raw, place=-len(found), hides=hides)
    return tuple(found)


def _note(ws: Workspace, session: str, planned: Planned) -> str:
    """Add what was rendered to what the session is known to have been shown; return why that failed, or nothing."""
    # Lines too short to be told from a person's own words are not marked, so they need not be known.
    shown = [line.strip() for line in planned.text.splitlines() if len(line.strip()) >= SHORTEST]

    try:
        rendered.note(ws, session, shown)
    except (StoreUnwritable, Busy) as error:
        return f"what session {session!r} was shown could not be noted, so it may be taken for new: {error}"
    return ""


def _text(ws: Workspace, path: str) -> str:
    return (ws.disk.read(path) or b"").decode("utf-8", "replace")
