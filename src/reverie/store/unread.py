"""What of a session no extraction has read yet: its turns past the mark.

Owns where such a span begins; promises that every turn of a file that was lost and begun anew counts as unread, and
every turn of a copy that was merged into it as text; never moves a mark.
"""

from __future__ import annotations

import msgspec

from reverie.core.days import Calendar
from reverie.core.entries import derived_id
from reverie.core.records import History, Turn
from reverie.core.sessions.active_window import content_of, range_of
from reverie.store import sessions, tries
from reverie.store.workspace import Workspace


class Unread(msgspec.Struct, frozen=True):
    """Turns to be read as one span: the session's mark, where the span begins, and the turns before it.

    `lost` says that the mark was reached in a file that is gone, or in one of two that were merged: it says nothing of
    these turns. Such a file goes on from the ordinal `above` once they were read, unless it no longer has `size` bytes:
    what came meanwhile is unread, too.
    """

    session: str
    mark: int
    start: int
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    lost: bool
    tried: tries.Try
    above: int
    size: int

    @property
    def stop(self) -> int:
        """The ordinal that follows the span."""
        return self.turns[-1].n + 1

    def named(self, extractor: str) -> str:
        """Return the id of the record of what `extractor` reads of the span."""
        # The turns are part of it: where a session file was lost, its ordinals are given again to other words.
        said = (part for turn in self.turns for part in (turn.id, turn.content))
        return derived_id("extraction", self.session, str(self.start), str(self.stop), extractor, *said)

    def raw(self, calendar: Calendar, why: str) -> History:
        """Return the record that keeps the span as it is in the history, and says `why` nothing was read of it."""
        return History(
            cursor=0,
            timestamp=self.turns[-1].at,
            session=self.session,
            turns=range_of(self.turns),
            content=content_of(self.turns, calendar),
            why=why,
        )


def past(ws: Workspace, session: str, *, mark: int, upto: int = 0, context: int = 0) -> Unread | None:
    """Return the turns of the session past its mark, with as many before them as `context`; None when all is read.

    A mark beyond the last ordinal was reached in a file that is gone. The present one is read as one span from its
    beginning, and its ordinals go on above the mark; else every turn up to there would stay hidden. So it is with turns
    under ordinals that were used before: they are read with what lies past the mark. With `upto`, no turn of that
    ordinal or a later one is among them.
    """
    whole = sessions.load(ws, session)
    gone = mark > whole.state.turns
    again = () if gone or upto else whole.again
    start, lost = 0 if gone else mark, gone or bool(again)
    wanted = [turn for turn in whole.turns if start <= turn.n < (upto or turn.n + 1)]
    turns = tuple(sorted((*(turn for turn in again if turn.n < start), *wanted), key=lambda turn: turn.n))
    if not turns:
        return None
    start = min(start, turns[0].n) if lost else start
    before = tuple(turn for turn in whole.turns if turn.n < start)[-context:] if context else ()
    above = max(mark, whole.state.turns)
    return Unread(session, mark, start, turns, before, lost, tries.Try(str(start)), above, whole.size)
