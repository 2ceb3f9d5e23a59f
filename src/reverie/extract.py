"""Step 3: unread turns and dated notes become entries with evidence, in one journal record a span.

In: the turns of a session past its mark, and notes whose bytes changed. Out: one extraction record in the journal for
each span, and links between what it found and what was known. The mark of a session is the highest `to` of its records,
wherever they stand. Without a model, all that is unread is one span, read by rule; with one, spans fit its requests.

What survives a crash here: before the record is synced, nothing happened and the span is read again; after it, the
span is never read again. Two processes that read the same span both come to the write lock, which neither holds while
a model answers; the second finds the mark moved and drops its reading. Links are events with derived ids, so writing
them twice is writing them once; a crash before them leaves repeats unfolded until the next dream looks.

A model's reply that cannot be read leaves its span unread; after `extraction.tries` such replies the span is halved. A
single turn that cannot be read is kept in the history, for the dream, and the mark moves on. A model that cannot be
reached, or may not be asked, leaves everything unread: rules do not stand in for it.

Next: `drain`, which writes the entries into their days' logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from reverie import layout
from reverie.core.active_window import content_of, range_of
from reverie.core.days import format_instant
from reverie.core.due import Due
from reverie.core.entries import derived_id, notable
from reverie.core.extracting import Extracted, Reading
from reverie.core.hints import is_echo
from reverie.core.linking import linked
from reverie.core.note_parts import parts
from reverie.core.pipeline import Moment, due, rhythm_of
from reverie.core.records import Entry, Extraction, History, Turn
from reverie.core.withheld import readable_turn
from reverie.errors import ModelFailed
from reverie.model.asking import Model
from reverie.model.extraction_request import CONTEXT_TURNS, Span, batches, first_batch
from reverie.model.rules import Found
from reverie.model.spans import Taken, take, together
from reverie.store import history, journal, kept_out, lent, notes, sessions, stream, tries
from reverie.store.entering import prepare
from reverie.store.workspace import Workspace

__all__ = ["Extracted", "Reading", "extract"]

RAW = "raw/1"  # the extractor of a span that nothing could be read from


@dataclass(frozen=True, slots=True)
class _Job:
    """One extraction: where, what it asks of the state, and the model that reads, if any."""

    ws: Workspace
    reading: Reading
    model: Model | None
    upto: int = 0

    def glance(self, session: str) -> int:
        """Return a session's mark, by rule perhaps an old one: there a reading that comes too late costs little."""
        return (self.reading.mark if self.model else self.reading.glance or self.reading.mark)(session)


@dataclass(frozen=True, slots=True)
class _Unread:
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
    def after(self) -> str:
        return str(self.turns[-1].n + 1)


def extract(
    ws: Workspace,
    reading: Reading,
    *,
    model: Model | None = None,
    names: Iterable[str] | None = None,
    moment: Moment = "hand",
    upto: int = 0,
) -> Extracted:
    """Read what is unread of the named sessions and of the dated notes, by `model` or by rule.

    Without names, those sessions are read that `core.pipeline` says are due at this `moment`; by hand, all are. What
    is handed out to a host's model is left to it; with `upto` its reading is stored, of turns before that alone. A
    model that cannot be asked is a problem in the result, and ends the reading.
    """
    if not ws.settings.enabled:
        return Extracted()
    job = _Job(ws, reading, model, upto)
    done = Extracted()
    out = {} if upto else lent.held(ws)
    try:
        for session in _due(job, moment) if names is None else names:
            if session not in out:
                for step in _session(job, session):
                    done += step
            elif names is not None:
                done += Extracted(
                    problems=(f"{session} is being read by {out[session].by}: it is left to it",)
                )
        for step in () if upto else _notes(job):
            done += step
    except ModelFailed as error:
        done += Extracted(problems=(str(error),))
    return done


def _due(job: _Job, moment: Moment) -> list[str]:
    """Return the sessions that are due, the one that spoke last at the end: a change is linked to what stood before."""
    ws = job.ws
    talks, rhythm = sessions.talks(ws, job.glance), rhythm_of(ws.settings.extraction)
    return list(due(talks, moment, now=ws.clock(), calendar=ws.calendar, rhythm=rhythm))


def _session(job: _Job, session: str) -> Iterator[Extracted]:
    """Read the session past its mark, span by span, as far as it can be read."""
    while (unread := _unread(job, session)) is not None:
        taken = Taken()
        for piece in batches(unread.turns) if job.model else (unread.turns,):
            taken = together(taken, _take(job, unread, piece))
            if taken.trouble:
                break
        if taken.trouble:
            step, goes_on = _in_trouble(job, unread, taken)
            yield step
            if not goes_on:
                return
            continue
        yield _store(job, unread, taken)
        if job.model is None:
            return
        tries.settle(job.ws, session, unread.tried, size=len(unread.turns), at=unread.after)


def _unread(job: _Job, session: str) -> _Unread | None:
    """Return the next span of the session past its mark, None when all is read.

    A mark beyond the last ordinal was reached in a file that is gone. The present one is read as one span from its
    beginning, and its ordinals go on above the mark; else every turn up to there would stay hidden.
    """
    ws, mark = job.ws, job.glance(session)
    whole = sessions.load(ws, session)
    lost = mark > whole.state.turns
    start = 0 if lost else mark
    turns = tuple(turn for turn in whole.turns if start <= turn.n < (job.upto or turn.n + 1))
    if not turns:
        return None
    tried = tries.of(ws, session, str(start)) if job.model else tries.Try(str(start))
    turns = turns if lost or not job.model else first_batch(turns, most=tried.most)
    before = tuple(turn for turn in whole.turns if turn.n < start)[-CONTEXT_TURNS:]
    return _Unread(session, mark, start, turns, before, lost, tried)


def _take(job: _Job, unread: _Unread, turns: Sequence[Turn]) -> Taken:
    """Read some turns, without what may not be read of them, under no lock."""
    shown = tuple(job.reading.shown(unread.session)) if job.model else ()
    span = Span(turns=_seen(job, turns), before=_seen(job, unread.before), known=shown)
    return take(job.model, span, calendar=job.ws.calendar, nonce=job.ws.new_id)


def _seen(job: _Job, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return turns with what may not be read of them marked."""
    masked, topics = job.reading.masked, job.ws.settings.exclusions
    return tuple(readable_turn(turn, masked=masked, topics=topics) for turn in turns)


def _in_trouble(job: _Job, unread: _Unread, taken: Taken) -> tuple[Extracted, bool]:
    """Note that a span could not be read, and return what that did, and whether reading the session may go on.

    A turn that is given up is kept in the history first; a crash before its record leaves it to be tried again, and
    the history takes it once.
    """
    ws, session = job.ws, unread.session
    size = 1 if unread.lost else len(unread.turns)  # of a lost file all that is left is one span
    verdict = tries.failed(ws, session, unread.tried, size=size, cut=taken.cut)
    what = f"turns {range_of(unread.turns)} of {session}"
    if verdict != "give up":
        trouble = Extracted(asked=taken.asked, problems=(f"{what} could not be read: {taken.trouble}",))
        return (trouble, False) if verdict == "again" else (Extracted(asked=taken.asked), True)
    raw = History(
        cursor=0,
        timestamp=unread.turns[-1].at,
        session=session,
        turns=range_of(unread.turns),
        content=content_of(unread.turns, ws.calendar),
        why=taken.trouble,
    )
    history.set_aside(ws, raw)
    done = _store(job, unread, msgspec.structs.replace(taken, extractor=RAW))
    given_up = tries.GivenUp(what, taken.trouble, ws.clock())
    tries.settle(ws, session, unread.tried, size=size, at=unread.after, given_up=given_up)
    return done + Extracted(problems=(f"{given_up.what} was kept raw: {taken.trouble}",)), True


def _store(job: _Job, unread: _Unread, taken: Taken) -> Extracted:
    """Append the record of a span under the write lock, if its session's mark still stands where it was."""
    ws, stop = job.ws, unread.turns[-1].n + 1
    # The turns are part of the name: where a session file was lost, its ordinals are given again to other words.
    said = (part for turn in unread.turns for part in (turn.id, turn.content))
    name = derived_id("extraction", unread.session, str(unread.start), str(stop), taken.extractor, *said)
    news, echoes = _news(job, unread.session, taken)
    prepared, refused = prepare(ws, name, [one.entry for one in news])
    record = Extraction(
        id=name,
        at=ws.clock(),
        session=unread.session,
        start=unread.start,
        stop=stop,
        extractor=taken.extractor,
        entries=tuple(entry for _, entry in prepared),
    )
    with ws.writing("extract"):
        if job.reading.mark(unread.session) != unread.mark:
            return Extracted(asked=taken.asked)
        journal.append(ws, record)
        if unread.lost:
            sessions.lift(ws, unread.session, to=unread.mark)
    kept_out.excluded(ws, kept_out.on_topic(ws, unread.turns))
    hints = {entry.id: news[place].hint for place, entry in prepared if news[place].hint}
    read = Extracted(
        spans=1, refused=refused, echoes=echoes, asked=taken.asked, made_up=taken.made_up, problems=taken.left
    )
    return read + _linked(job, record, hints)


def _news(job: _Job, session: str, taken: Taken) -> tuple[list[Found], int]:
    """Return what was found but for the agent's repeating what it was shown, and how often it did."""
    shown = job.reading.shown(session) if any(one.entry.origin == "agent" for one in taken.found) else ()
    news = [one for one in taken.found if one.entry.origin != "agent" or not is_echo(one.entry, shown)]
    return news, len(taken.found) - len(news)


def _linked(job: _Job, record: Extraction, hints: Mapping[str, str]) -> Extracted:
    """Link what was just stored with what was known before, and say what became due."""
    ws, by = job.ws, record.extractor
    events = linked(
        record.entries, hints, alike=job.reading.alike, at=ws.clock(), by=by, zone=ws.calendar.zone
    )
    stream.append_all(ws, layout.EVENTS, events)
    follows = Due(drain=bool(record.entries), publish=bool(events) or any(map(notable, record.entries)))
    return Extracted(entries=len(record.entries), links=len(events), due=follows)


def _notes(job: _Job) -> Iterator[Extracted]:
    """Read each dated note whose bytes changed, as what the agent said on the note's day."""
    for note in notes.changed(job.ws, job.reading.note):
        if isinstance(note, str):
            yield Extracted(problems=(note,))
        else:
            yield from _note(job, note)


def _note(job: _Job, note: notes.Note) -> Iterator[Extracted]:
    """Read the paragraphs of a note that gave no entries yet, as many in one record as fit one request.

    A note's record says how far it was read: in its last one stands the digest of its bytes.
    """
    ws, path, at = job.ws, note.path, job.ws.calendar.start(note.day)
    fresh = [part for part in parts(path, note.text) if not job.model or not _known(job, part.name)]
    names = [*(part.name for part in fresh), ""]
    role: Literal["user", "assistant"] = "assistant" if job.model else "user"
    said = (Turn(role=role, content=part.text, at=at, n=n) for n, part in enumerate(fresh))
    queue = list(_seen(job, said))
    before = note.before
    while True:
        tried = tries.of(ws, path, names[-len(queue) - 1]) if job.model else tries.Try("")
        piece = first_batch(queue, most=tried.most) if job.model else tuple(queue)
        taken = Taken()
        if piece:
            taken = take(job.model, Span(turns=piece), calendar=ws.calendar, nonce=ws.new_id)
        given_up = None
        if taken.trouble:
            verdict = tries.failed(ws, path, tried, size=len(piece), cut=taken.cut)
            if verdict != "halve":
                problem = f"{path}, a part of it, could not be read: {taken.trouble}"
                yield Extracted(problems=(problem,), asked=taken.asked if verdict == "again" else 0)
            if verdict == "again":
                return
            if verdict == "halve":
                continue
            given_up = tries.GivenUp(f"a paragraph of {path}", taken.trouble, ws.clock())
        queue = queue[len(piece) :]
        digest = f"{note.digest} but for {len(queue)}" if queue else note.digest
        stored = _store_note(job, msgspec.structs.replace(note, before=before, digest=digest), names, taken)
        if stored is None:
            return
        if job.model:
            after = names[-len(queue) - 1]
            tries.settle(ws, path, tried, size=len(piece), at=after, given_up=given_up)
        kept_out.excluded(ws, kept_out.on_topic(ws, piece))
        yield stored
        if not queue:
            return
        before = digest


def _store_note(job: _Job, note: notes.Note, names: Sequence[str], taken: Taken) -> Extracted | None:
    """Append the record of some paragraphs, called `names`, if the note was not read meanwhile; None when it was."""
    ws, now = job.ws, job.ws.clock()
    entries: list[Entry] = []
    refused = 0
    for n in dict.fromkeys(one.n for one in taken.found):
        said = [one.entry for one in taken.found if one.n == n]
        prepared, bad = prepare(ws, names[n], said)
        refused += bad
        fresh = [entry for _, entry in prepared if job.reading.known(entry.id) is None]
        entries += [
            msgspec.structs.replace(
                entry, origin="agent" if entry.status == "active" else entry.origin, turns="", session=""
            )
            for entry in fresh
        ]
    record = Extraction(
        # A note may come back to what it was: without the time, that reading would pass for the earlier one.
        id=derived_id(
            "extraction", note.path, note.before, note.digest, format_instant(now), taken.extractor
        ),
        at=now,
        note=note.path,
        digest=note.digest,
        extractor=taken.extractor,
        entries=tuple(entries),
    )
    with ws.writing("extract"):
        if job.reading.note(note.path) != note.before:
            return None
        journal.append(ws, record)
    read = Extracted(spans=1, refused=refused, asked=taken.asked, made_up=taken.made_up)
    return read + _linked(job, record, {})


def _known(job: _Job, name: str) -> bool:
    """Whether a part of a note gave entries before: reading it again by a model could give them other words."""
    return any(job.reading.known(derived_id(name, str(place))) is not None for place in range(3))
