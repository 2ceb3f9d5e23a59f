"""What of a session no extraction has read yet: its turns past the mark.

Owns where such a span begins; promises that every turn of a file that was lost and begun anew counts as unread; never
moves a mark.
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

    `lost` says that the mark was reached in a file that is gone.
    """

    session: str
    mark: int
    start: int
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    lost: bool
    tried: tries.Try

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
    beginning, and its ordinals go on above the mark; else every turn up to there would stay hidden. With `upto`, no
    turn of that ordinal or a later one is among them.
    """
    whole = sessions.load(ws, session)
    lost = mark > whole.state.turns
    start = 0 if lost else mark
    turns = tuple(turn for turn in whole.turns if start <= turn.n < (upto or turn.n + 1))
    if not turns:
        return None
    before = tuple(turn for turn in whole.turns if turn.n < start)[-context:] if context else ()
    return Unread(session, mark, start, turns, before, lost, tries.Try(str(start)))
