"""Step 1: a turn goes to its session's file, redacted and synced.

In: a session's name and one turn. Out: the turn in `sessions/<session>.jsonl`, with its ordinal. No model, no index,
no git; the only step an agent waits for.

What survives a crash here: a turn that was acknowledged is on disk, whole; one that was not may be there or not, and
sending it again with the same id does no harm, for readers take each id once. A turn that is malformed is kept in
quarantine and the caller is told; nothing stored before is touched.

Next: `remember` for what a person says outright, `extract` for what the turns hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reverie import layout
from reverie.core.due import Due
from reverie.core.records import Turn
from reverie.core.sessions.injected import spans_of
from reverie.core.sessions.intake import cleaned, mistyped, must_be, problem
from reverie.core.sessions.pipeline import captured, rhythm_of
from reverie.errors import InvalidRecord, UsageError
from reverie.store import quarantine, sent, sessions, stream
from reverie.store.workspace import Workspace


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """The stored turn's id and ordinal (-1 when capture is paused or off), and what became due.

    `repeated` says that the same turn had come under its id before; `n` is then the ordinal it got first.
    """

    id: str = ""
    n: int = -1
    repeated: bool = False
    redacted: tuple[str, ...] = ()
    due: Due = Due()

    @property
    def recorded(self) -> bool:
        """Whether the turn was stored."""
        return self.n >= 0


def capture(ws: Workspace, session: str, turn: Turn, *, rendered: Sequence[str] = ()) -> Captured:
    """Store `turn` in `session`, and return once it is on disk.

    `rendered` are texts that Reverie rendered for this session: where the turn repeats them byte for byte, the span is
    marked as injected. Raises InvalidRecord for a turn that cannot be stored (it is set aside), StoreUnwritable, Busy.
    """
    if _is_off(ws):
        return Captured()
    clean = _ready(ws, session, turn, rendered)
    first = sent.ordinal(ws, session, clean)
    # One that stands is written again: that it stands does not say that it was synced. Readers take it once.
    stored = sessions.append(ws, session, clean)
    if stored is None:
        return Captured()
    read = captured(stored.n, rhythm_of(ws.settings.extraction)) is not None
    summarised = (stored.n + 1) % ws.settings.summaries.turns_per_summary == 0
    due = Due(sessions=(session,)) if read or summarised else Due()
    repeated = first >= 0
    n = first if repeated else stored.n
    return Captured(id=stored.id, n=n, repeated=repeated, redacted=clean.redacted, due=due)


def capture_many(
    ws: Workspace, session: str, turns: Sequence[Turn], *, rendered: Sequence[str] = ()
) -> tuple[str, ...]:
    """Store `turns`, which have ids, with one write and one sync: all of them or, where one cannot be stored, none.

    Return the ids of what was stored: none when capture is paused or off. Raises as `capture` does.
    """
    if _is_off(ws) or not turns:
        return ()
    clean = [_ready(ws, session, turn, rendered) for turn in turns]
    if not sessions.append_many(ws, session, clean):
        return ()
    return tuple(turn.id for turn in clean)


def _is_off(ws: Workspace) -> bool:
    return not ws.settings.enabled or ws.disk.glance(layout.PAUSED) is not None


def _ready(ws: Workspace, session: str, turn: Turn, rendered: Sequence[str]) -> Turn:
    """Return the turn as it is stored; one that cannot be is set aside, and InvalidRecord raised."""
    must_be(turn, Turn)
    turn = msgspec.structs.replace(turn, session=session)
    if reason := mistyped(turn):
        raise InvalidRecord(reason)
    clean = cleaned(turn, allow=ws.settings.redaction_allow) if ws.settings.redaction else turn
    if reason := problem(turn, limit=ws.settings.max_turn_bytes):
        refuse(ws, session, quarantine.legible(clean), reason=reason)
        raise InvalidRecord(reason)
    return msgspec.structs.replace(clean, injected=spans_of(clean.content, rendered)) if rendered else clean


def refuse(ws: Workspace, session: str, raw: bytes, *, reason: str) -> None:
    """Keep a turn that cannot be stored, redacted like any other, so that a person can mend and retry it."""
    source = f"capture {session}".encode("utf-8", "replace").decode()
    quarantine.set_aside(ws, [stream.Damaged(source, 0, ws.clean_raw(raw), reason)])


def end(ws: Workspace, session: str) -> Due:
    """Close `session`, and return what that made due: its last turns to summarise and extract."""
    sessions.switch(ws, session, "end")
    return Due(sessions=(session,), drain=True, digest=True)


def pause(ws: Workspace, session: str | None = None) -> None:
    """Keep `session`, or with None everything, off the record until `resume`; raises UsageError for an empty name."""
    if session is None:
        ws.disk.replace(layout.PAUSED, b"")
    else:
        sessions.switch(ws, _named(session), "pause")


def resume(ws: Workspace, session: str | None = None) -> None:
    """Take `pause` back; what was said meanwhile was not recorded."""
    if session is not None:
        sessions.switch(ws, _named(session), "resume")
    elif ws.disk.size(layout.PAUSED) is not None:
        ws.disk.remove(layout.PAUSED)


def _named(session: str) -> str:
    """Return the session's name; a host whose name came out empty must not switch everything off."""
    if not str(session).strip():
        message = "the session has no name: name one, or give none at all to mean everything"
        raise UsageError(message)
    return session
