"""Step 5: a session over its token budget sheds its oldest turns into the history.

In: the turns of a session that are still active, those past the last ordinal the history holds. Out: one record in
`history.jsonl` for each slice of about `consolidation_ratio` of the budget, until what is active fits: a summary by
the model, or without a usable one the turns themselves as readable text, whole. No index, no git; the session file is
only read.

The order:

1. the active turns are read and the oldest slices are cut, at a user turn and never between a tool call and its result
2. the model is asked to condense a slice, under no lock
3. its record is appended under the history's lock, if none of its turns was archived meanwhile, and synced
4. 2 and 3 for the next slice, until what is left fits

What a crash leaves: before 3 is synced, nothing, and the next compaction cuts the same slice; after it, turns that
have left the window, for the window is worked out from the history and stored nowhere. Whoever comes second, after a
crash or beside another process, finds those turns archived and writes nothing. Turns stay in their session file for
ever, and are extracted from there whether or not they are active.

A model that fails costs form, never content: that record is raw and says why. After a failure that is not the slice's
own fault the model is not asked again in this run. A slice of which something is forgotten is raw too, for a reader
can leave the forgotten turn out of a raw record and must leave a summary out whole.

The newest exchange is never archived. When it alone exceeds the budget, the answer says so; to a caller who named a
budget of its own this is a BudgetOverflow, raised once everything older is archived.

Next: `digest`, which summarises sessions by the day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from reverie.core.due import Due
from reverie.core.forgetting.mask import Mask
from reverie.core.records import History, Turn
from reverie.core.sessions.active_match import matched
from reverie.core.sessions.active_text import NOTHING_FORGOTTEN, Readable
from reverie.core.sessions.active_window import content_of, oldest_slices, range_of, tokens_of
from reverie.core.sessions.intake import cleaned
from reverie.errors import BudgetOverflow, ModelFailed, UsageError
from reverie.importers.turns import Defaults, turn_of
from reverie.model.asking import Model
from reverie.model.summarising import OWN_FAULT, condense
from reverie.store import history, sessions
from reverie.store.workspace import Workspace


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction did.

    `archived` turns left the window, as `records` of the history, the last of them at `cursor`; `kept` turns of about
    `tokens` are left: `stays`. Of a session that is within the budget as a whole, all its turns are counted. Of a
    host's own messages those at the places `left` may leave its prompt. `problem` is a sentence when what is left
    exceeds the budget all the same, or a record is raw because a model failed; else empty.
    """

    archived: int = 0
    cursor: int | None = None
    kept: int = 0
    tokens: int = 0
    records: tuple[History, ...] = ()
    stays: tuple[Turn, ...] = ()
    left: tuple[int, ...] = ()
    problem: str = ""
    due: Due = Due()

    def __add__(self, other: Compacted) -> Compacted:
        """Return both together, of two sessions."""
        return Compacted(
            archived=self.archived + other.archived,
            cursor=max(filter(None, (self.cursor, other.cursor)), default=None),
            kept=self.kept + other.kept,
            tokens=self.tokens + other.tokens,
            records=self.records + other.records,
            problem=self.problem or other.problem,
            due=self.due | other.due,
        )


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """What a host has in its prompt: its messages as turns, and the tokens that no compaction can take away.

    Turns with the ordinal -1 are not captured yet; those of the role `system` are the host's own and never are.
    """

    turns: tuple[Turn, ...] = ()
    fixed: int = 0

    @property
    def fresh(self) -> list[Turn]:
        """The turns to capture, in order."""
        return [turn for turn in self.turns if turn.n < 0 and turn.role != "system"]

    def left(self, gone: AbstractSet[str]) -> tuple[int, ...]:
        """Return the places of the messages whose turns, by id, are gone from the window.

        A message that could not be captured, of a paused session say, is none of them: nobody else has it.
        """
        return tuple(place for place, turn in enumerate(self.turns) if turn.id in gone)


def window_of(ws: Workspace, session: str, messages: Sequence[Turn | Mapping[str, Any]]) -> Window:
    """Return a host's messages beside what the session has stored of them; raises UsageError for one that is none."""
    defaults = Defaults(session=session, now=ws.clock(), calendar=ws.calendar)
    given: list[Turn] = []
    for place, message in enumerate(messages):
        try:
            turn = (
                message
                if isinstance(message, Turn)
                else turn_of(message, place, defaults=defaults, before=ws.clock())
            )
        except UsageError as error:
            raise UsageError(f"message {place}: {error}") from error
        named = turn.id if isinstance(message, Turn) or message.get("id") else ""
        turn = msgspec.structs.replace(turn, session=session, id=named)
        given.append(cleaned(turn, allow=ws.settings.redaction_allow) if ws.settings.redaction else turn)
    fixed = sum(tokens_of(turn) for turn in given if turn.role == "system")
    return Window(turns=tuple(matched(given, sessions.read(ws, session))), fixed=fixed)


def is_over(ws: Workspace, session: str, *, budget: int | None = None, fixed: int = 0) -> bool:
    """Tell whether turns of `session` are about to leave its window: what they say had better be extracted first."""
    limit = _limit(ws, budget) - fixed
    if not ws.settings.enabled or (ws.disk.size(sessions.path_of(session)) or 0) <= limit:
        return False  # no turn takes more tokens than bytes
    turns = sessions.read(ws, session)
    if _tokens(turns) <= limit:
        return False  # the history, which holds every session's, need not be read
    reached = history.reached(ws, session).ordinal
    return bool(_slices(ws, [turn for turn in turns if turn.n > reached], limit))


def compact(
    ws: Workspace,
    session: str,
    *,
    budget: int | None = None,
    window: Window | None = None,
    model: Model | None = None,
    masked: Mask = NOTHING_FORGOTTEN,
) -> Compacted:
    """Archive the oldest turns of `session` until the rest is within `budget` tokens (default: the setting's).

    `window` is what a host has in its prompt besides; its fixed part counts. Raises BudgetOverflow when `budget` is
    given and the fixed part and the newest exchange alone exceed it, StoreUnwritable and Busy.
    """
    whole, host = _limit(ws, budget), window or Window()
    if not ws.settings.enabled:
        return Compacted()
    limit = whole - host.fixed
    every = turns = sessions.read(ws, session)
    shed = _Shedding(ws, Readable(session, ws.settings, masked), model)
    if _tokens(turns) > limit:  # else the history, which holds every session's, need not be read
        turns = shed.until(turns, limit)
    tokens, problem = _tokens(turns), shed.problem
    if tokens > limit:
        problem = _overflow(session, tokens, limit=whole, fixed=host.fixed)
        if budget is not None:
            raise BudgetOverflow(problem)
    archived = shed.archived
    return Compacted(
        archived=archived,
        cursor=shed.records[-1].cursor if shed.records else None,
        kept=len(turns),
        tokens=tokens,
        records=tuple(shed.records),
        stays=tuple(turns),
        left=host.left({turn.id for turn in every} - {turn.id for turn in turns}),
        problem=problem,
        due=Due(sessions=(session,)) if archived else Due(),
    )


def active(ws: Workspace, session: str) -> list[Turn]:
    """Return the turns of `session` that are still in its window: those the history does not hold."""
    return sessions.read(ws, session, start=history.reached(ws, session).ordinal + 1)


class _Shedding:
    """One compaction: what was archived so far, and the model while it can be asked."""

    def __init__(self, ws: Workspace, readable: Readable, model: Model | None) -> None:
        self._ws, self._readable, self._model = ws, readable, model
        self._why = ""
        self.archived = 0
        self.records: list[History] = []
        self.problem = ""

    def until(self, turns: list[Turn], limit: int) -> list[Turn]:
        """Archive slice after slice until the rest is within `limit` tokens, and return the rest."""
        session = self._readable.session
        known = history.reached(self._ws, session)
        while True:
            turns = [turn for turn in turns if turn.n > known.ordinal]
            slices = _slices(self._ws, turns, limit)
            if not slices:
                return turns
            for oldest in slices:
                stored = history.append(self._ws, self._record(oldest), known)
                if stored is None:  # another process archives this session too: look again at what is left
                    known = history.reached(self._ws, session)
                    break
                self.archived += len(oldest)
                self.records.append(stored)
                known = msgspec.structs.replace(known, ordinal=oldest[-1].n)

    def _record(self, turns: Sequence[Turn]) -> History:
        """Return the record of `turns`, dated as they are, so that an old conversation taken in today stays old."""
        clean = self._readable.turns(turns)
        raw = History(
            cursor=0,
            timestamp=turns[-1].at,
            session=self._readable.session,
            turns=range_of(turns),
            content=content_of(clean, self._ws.calendar),
            raw=True,
            why=self._why,
        )
        if self._model is None or not clean or not self._readable.whole(turns):
            return raw
        try:
            said = condense(
                self._model,
                clean,
                calendar=self._ws.calendar,
                nonce=self._ws.new_id(),
                keep=self._readable.line,
            )
        except ModelFailed as error:
            if error.kind not in OWN_FAULT:
                self._model, self._why = None, str(error)
            return self._failed(raw, str(error))
        return msgspec.structs.replace(raw, content=said, raw=False, by=self._model.name)

    def _failed(self, raw: History, why: str) -> History:
        self.problem = f"turns were archived word for word, not summarised: {why}"
        return msgspec.structs.replace(raw, why=why)


def _slices(ws: Workspace, turns: Sequence[Turn], limit: int) -> list[tuple[Turn, ...]]:
    return oldest_slices(turns, budget=limit, ratio=ws.settings.compaction.consolidation_ratio)


def _limit(ws: Workspace, budget: int | None) -> int:
    """Return the budget asked for, or the setting's; raises UsageError for one of no tokens."""
    if budget is not None and budget < 1:
        raise UsageError(f"budget is {budget}: it must be at least one token")
    return budget or ws.settings.compaction.context_tokens


def _overflow(session: str, tokens: int, *, limit: int, fixed: int) -> str:
    """Return the sentence for a prompt that no compaction brings within its budget."""
    if fixed:
        return (
            f"the system messages take {fixed:,} tokens and the newest exchange of session {session!r} {tokens:,}, of "
            f"{limit:,}; neither can be archived: shorten the system messages, or raise the budget"
        )
    return (
        f"the newest exchange of session {session!r} alone takes {tokens:,} tokens of {limit:,} and stays whole: "
        "raise compaction.context_tokens, or begin a new session"
    )


def _tokens(turns: Sequence[Turn]) -> int:
    return sum(map(tokens_of, turns))
