"""Step 5: a session over its token budget sheds its oldest turns into the history.

In: the turns of a session that are still active, those past the last ordinal the history holds. Out: one record in
`history.jsonl` for each slice of about `consolidation_ratio` of the budget, until what is active fits. Without a
model a record is raw: the turns as readable text, whole. No index, no git; the session file is only read.

The order:

1. the active turns are read and the oldest slice is cut, at a user turn and never between a tool call and its result
2. its record is appended under the history's lock, if none of its turns was archived meanwhile, and synced
3. the same again, while what is left exceeds the budget

What a crash leaves: before 2 is synced, nothing, and the next compaction cuts the same slice; after it, turns that
have left the window, for the window is worked out from the history and stored nowhere. Whoever comes second, after a
crash or beside another process, finds those turns archived and writes nothing. Turns stay in their session file for
ever.

The newest exchange is never archived. When it alone exceeds the budget, the answer says so; to a caller who named a
budget of its own this is a BudgetOverflow, raised once everything older is archived.

Next: `digest`, which summarises sessions by the day.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reverie.core.active_window import content_of, oldest_slices, range_of, tokens_of
from reverie.core.due import Due
from reverie.core.records import History, Turn
from reverie.errors import BudgetOverflow, UsageError
from reverie.store import history, sessions
from reverie.store.workspace import Workspace


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction did: turns archived, the cursor of the last record written, and what is still active.

    `kept` turns of about `tokens` are left; of a session that is within the budget as a whole, all its turns are
    counted. `problem` is a sentence when these exceed the budget all the same, else empty.
    """

    archived: int = 0
    cursor: int | None = None
    kept: int = 0
    tokens: int = 0
    problem: str = ""
    due: Due = Due()


def compact(ws: Workspace, session: str, *, budget: int | None = None) -> Compacted:
    """Archive the oldest turns of `session` until the rest is within `budget` tokens (default: the setting's).

    Raises BudgetOverflow when `budget` is given and the newest exchange alone exceeds it, StoreUnwritable and Busy.
    """
    if budget is not None and budget < 1:
        raise UsageError(f"budget is {budget}: it must be at least one token")
    if not ws.settings.enabled:
        return Compacted()
    limit = budget or ws.settings.compaction.context_tokens
    turns: Sequence[Turn] = sessions.read(ws, session)
    archived, cursor = 0, None
    if _tokens(turns) > limit:  # else the history, which holds every session's, need not be read
        turns, archived, cursor = _archive(ws, session, turns, limit)
    tokens = _tokens(turns)
    problem = ""
    if tokens > limit:
        problem = (
            f"the newest exchange of session {session!r} alone takes {tokens:,} tokens of {limit:,} and stays whole: "
            "raise compaction.context_tokens, or begin a new session"
        )
        if budget is not None:
            raise BudgetOverflow(problem)
    due = Due(sessions=(session,)) if archived else Due()
    return Compacted(
        archived=archived, cursor=cursor, kept=len(turns), tokens=tokens, problem=problem, due=due
    )


def active(ws: Workspace, session: str) -> list[Turn]:
    """Return the turns of `session` that are still in its window: those the history does not hold."""
    return sessions.read(ws, session, start=history.reached(ws, session).ordinal + 1)


def _archive(
    ws: Workspace, session: str, turns: Sequence[Turn], limit: int
) -> tuple[Sequence[Turn], int, int | None]:
    """Archive slice after slice; return what stays active, how many turns were archived here, and the last cursor."""
    known = history.reached(ws, session)
    archived, cursor = 0, None
    while True:
        turns = [turn for turn in turns if turn.n > known.ordinal]
        slices = oldest_slices(turns, budget=limit, ratio=ws.settings.compaction.consolidation_ratio)
        if not slices:
            return turns, archived, cursor
        for oldest in slices:
            stored = history.append(ws, _record(ws, session, oldest), known)
            if stored is None:  # another process archives this session too: look again at what is left
                known = history.reached(ws, session)
                break
            archived, cursor = archived + len(oldest), stored.cursor
            known = msgspec.structs.replace(known, ordinal=oldest[-1].n)


def _record(ws: Workspace, session: str, turns: Sequence[Turn]) -> History:
    """Return the raw record of `turns`, dated as they are, so that an old conversation taken in today stays old."""
    return History(
        cursor=0,
        timestamp=turns[-1].at,
        session=session,
        turns=range_of(turns),
        content=content_of(turns, ws.calendar),
        raw=True,
    )


def _tokens(turns: Sequence[Turn]) -> int:
    return sum(map(tokens_of, turns))
