"""Turns that are unread go out to a host's own model, and what it found is looked at item by item.

In: the turns of a session past its mark. Out: a span under a lease, with what is asked of whoever reads it; and for
each item of what came back, why it is not taken. What is stored in the end goes through `extract`, which asks the mark
of the session again under the write lock.

Owns which span is handed out and how a submission is checked; promises that what was forgotten, excluded or is memory
that came back is in no span, and that of two hosts none gets what the other has; never stores an entry. What survives a
crash: nothing but a lease, which ends by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reverie.core.days import format_instant
from reverie.core.records import Turn
from reverie.core.sessions.extracting import Reading
from reverie.core.sessions.handed import Handed, Lent
from reverie.core.sessions.pipeline import due, rhythm_of
from reverie.core.sessions.withheld import readable_turns
from reverie.errors import Busy
from reverie.model.extraction import examined
from reverie.model.extraction_request import CONTEXT_TURNS, FIELDS, SCHEMA, Span, first_batch, requests
from reverie.store import sessions, tries
from reverie.store.dreams import wanted
from reverie.store.hosts import lent
from reverie.store.workspace import Workspace


def hand_out(ws: Workspace, reading: Reading, *, names: Iterable[str] = (), by: str) -> Handed | None:
    """Hand out the first span that is unread and that nobody has, of the named sessions or of all; None for none.

    One in which nobody said anything has no `text`. Raises Busy where a named session is out.
    """
    out = lent.held(ws)
    for session in names or _unread(ws, reading):
        if session in out:
            if names:
                until = format_instant(out[session].until)
                message = f"{out[session].by} is reading {session} until {until}: ask again when it is done"
                raise Busy(message)
            continue
        start = reading.mark(session)
        turns, before = _turns(ws, session, start)
        if turns:
            one = Lent(
                handle=f"extract:{ws.new_id()}",
                session=session,
                start=start,
                stop=turns[-1].n + 1,
                by=by,
                until=wanted.until(ws),
            )
            lent.take(ws, one)
            return _handed(ws, reading, one, turns=turns, before=before)
    return None


def verdicts(ws: Workspace, reading: Reading, out: Lent, *, items: Sequence[Any]) -> dict[int, str]:
    """Return which items of what was found in a span are refused, by their place, and why."""
    every = sessions.load(ws, out.session).turns
    span = Span(
        turns=_seen(ws, reading, [turn for turn in every if out.start <= turn.n < out.stop]),
        before=_seen(ws, reading, [turn for turn in every if turn.n < out.start][-CONTEXT_TURNS:]),
    )
    found = examined(items, span, calendar=ws.calendar)
    return {place: why for place, why in enumerate(found) if why}


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return of an item what is asked for: members of the form that hold a text, a number or a list of such.

    Whatever else a model sent, nested as deep as it may be, is in no record and before no person.
    """
    return {name: one for name, one in item.items() if name in FIELDS and _is_plain(one)}


def _is_plain(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    inner = value if isinstance(value, list | tuple) else (value,)
    return all(one is None or isinstance(one, str | int | float) for one in inner)


def _unread(ws: Workspace, reading: Reading) -> list[str]:
    talks, rhythm = sessions.talks(ws, reading.mark), rhythm_of(ws.settings.extraction)
    return list(due(talks, "hand", now=ws.clock(), calendar=ws.calendar, rhythm=rhythm))


def _turns(ws: Workspace, session: str, start: int) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """Return the turns past a mark that fit one request, and those before them; none where the file was lost."""
    whole = sessions.load(ws, session)
    if start > whole.state.turns:
        return (), ()
    unread = [turn for turn in whole.turns if turn.n >= start]
    before = [turn for turn in whole.turns if turn.n < start][-CONTEXT_TURNS:]
    return first_batch(unread, most=tries.of(ws, session, str(start)).most), tuple(before)


def _handed(
    ws: Workspace, reading: Reading, out: Lent, *, turns: Sequence[Turn], before: Sequence[Turn]
) -> Handed:
    span = Span(
        turns=_seen(ws, reading, turns),
        before=_seen(ws, reading, before),
        known=tuple(reading.shown(out.session)),
    )
    asked = requests(span, ws.calendar, nonce=ws.new_id())
    return Handed(
        handle=out.handle,
        session=out.session,
        start=out.start,
        stop=out.stop,
        until=out.until,
        instructions=asked[0].instructions if asked else "",
        text="\n\n".join(one.text for one in asked),
        form=SCHEMA,
    )


def _seen(ws: Workspace, reading: Reading, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return turns with what may not be read of them marked."""
    return readable_turns(turns, masked=reading.masked, topics=ws.settings.exclusions)
