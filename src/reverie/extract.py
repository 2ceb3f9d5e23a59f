"""Step 3: unread turns and dated notes become entries with evidence, in one journal record a span.

In: the turns of a session past its mark, and notes whose bytes changed. Out: one extraction record in the journal for
each span, and links between what it found and what was known. The mark of a session is the highest `to` of its records,
wherever they stand. Without a model, all that is unread is one span, read by rule, and those of some hundred turns are
stored with one sync; with one, spans fit its requests.

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
from reverie.core.days import format_instant
from reverie.core.due import Due
from reverie.core.entries import derived_id
from reverie.core.guard.hints import is_echo
from reverie.core.guard.linking import linked
from reverie.core.records import Event, Extraction, Turn
from reverie.core.sessions.active_window import range_of
from reverie.core.sessions.extracting import Extracted, Reading, storing
from reverie.core.sessions.note_parts import parts
from reverie.core.sessions.pipeline import Moment, due, rhythm_of
from reverie.core.sessions.withheld import readable_turns
from reverie.errors import ModelFailed, ReverieError
from reverie.model.asking import Model
from reverie.model.extraction_request import CONTEXT_TURNS, Span, batches, first_batch
from reverie.model.rules.turns import Found
from reverie.model.spans import Taken, take, together
from reverie.store import history, journal, kept_out, notes, sessions, stream, tries
from reverie.store.entering import gave_entries, prepare, prepare_parts
from reverie.store.hosts import lent
from reverie.store.unread import Unread, past
from reverie.store.workspace import Workspace

__all__ = ["Extracted", "Reading", "extract"]

RAW = "raw/1"  # the extractor of a span that nothing could be read from
AT_ONCE = 1_000  # turns after which what rules read is stored; a crash loses the links of no more


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
class _Made:
    """What was read of a span, ready to be stored: its record, hints by entry, and what storing it will have done."""

    unread: Unread
    record: Extraction
    hints: dict[str, str]
    done: Extracted


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

    Without names, those sessions are read that `core.sessions.pipeline` says are due at this `moment`; by hand, all
    are. What is handed out to a host's model is left to it; with `upto` its reading is stored, of turns before that
    alone. A model that cannot be asked is a problem in the result, and ends the reading.
    """
    if not ws.settings.enabled:
        return Extracted()
    job = _Job(ws, reading, model, upto)
    done = Extracted()
    out = {} if upto else lent.held(ws)
    try:
        wanted = _due(job, moment) if names is None else dict.fromkeys(names)
        free = [one for one in wanted if one not in out]
        for step in _by_model(job, free) if model else _by_rule(job, free):
            done += step
        for session in () if names is None else (one for one in wanted if one in out):
            problem = f"{session} is being read by {out[session].by}: it is left to it"
            done += Extracted(problems=(problem,))
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


def _by_rule(job: _Job, names: Iterable[str]) -> Iterator[Extracted]:
    """Read sessions past their marks, each as one span, and store those of about `AT_ONCE` turns together.

    What stops the reading of one leaves those before it stored.
    """
    made: list[_Made] = []
    turns = 0
    try:
        for session in names:
            if (unread := _unread(job, session)) is not None:
                made.append(_made(job, unread, _take(job, unread, unread.turns)))
                turns += len(unread.turns)
            if turns >= AT_ONCE:
                ready, made, turns = made, [], 0
                yield _store(job, ready)
    except ReverieError:
        if made:
            yield _store(job, made)
        raise
    if made:
        yield _store(job, made)


def _by_model(job: _Job, names: Iterable[str]) -> Iterator[Extracted]:
    """Read sessions past their marks, span by span, each as far as it can be read."""
    for session in names:
        while (unread := _unread(job, session)) is not None:
            taken = Taken()
            for piece in batches(unread.turns):
                taken = together(taken, _take(job, unread, piece))
                if taken.trouble:
                    break
            if taken.trouble:
                step, goes_on = _in_trouble(job, unread, taken)
                yield step
                if not goes_on:
                    break
                continue
            yield _store(job, [_made(job, unread, taken)])
            tries.settle(job.ws, session, unread.tried, size=len(unread.turns), at=str(unread.stop))


def _unread(job: _Job, session: str) -> Unread | None:
    """Return the next span of the session past its mark, None when all is read."""
    ws, mark = job.ws, job.glance(session)
    found = past(ws, session, mark=mark, upto=job.upto, context=CONTEXT_TURNS)
    if found is None or job.model is None:
        return found
    tried = tries.of(ws, session, str(found.start))
    turns = found.turns if found.lost else first_batch(found.turns, most=tried.most)
    return msgspec.structs.replace(found, turns=turns, tried=tried)


def _take(job: _Job, unread: Unread, turns: Sequence[Turn]) -> Taken:
    """Read some turns, without what may not be read of them, under no lock."""
    shown = tuple(job.reading.shown(unread.session)) if job.model else ()
    span = Span(turns=_seen(job, turns), before=_seen(job, unread.before), known=shown)
    return take(job.model, span, calendar=job.ws.calendar, nonce=job.ws.new_id)


def _seen(job: _Job, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return turns with what may not be read of them marked."""
    return readable_turns(turns, masked=job.reading.masked, topics=job.ws.settings.exclusions)


def _in_trouble(job: _Job, unread: Unread, taken: Taken) -> tuple[Extracted, bool]:
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
    history.set_aside(ws, unread.raw(ws.calendar, taken.trouble))
    done = _store(job, [_made(job, unread, msgspec.structs.replace(taken, extractor=RAW))])
    given_up = tries.GivenUp(what, taken.trouble, ws.clock())
    tries.settle(ws, session, unread.tried, size=size, at=str(unread.stop), given_up=given_up)
    return done + Extracted(problems=(f"{given_up.what} was kept raw: {taken.trouble}",)), True


def _made(job: _Job, unread: Unread, taken: Taken) -> _Made:
    """Return the record of what was read of a span."""
    ws, name = job.ws, unread.named(taken.extractor)
    news, echoes = _news(job, unread.session, taken)
    prepared, refused = prepare(ws, name, [one.entry for one in news])
    record = Extraction(
        id=name,
        at=ws.clock(),
        session=unread.session,
        start=unread.start,
        stop=unread.stop,
        extractor=taken.extractor,
        entries=tuple(entry for _, entry in prepared),
    )
    hints = {entry.id: news[place].hint for place, entry in prepared if news[place].hint}
    done = Extracted(
        spans=1, refused=refused, echoes=echoes, asked=taken.asked, made_up=taken.made_up, problems=taken.left
    )
    return _Made(unread, record, hints, done + storing(record))


def _store(job: _Job, made: Sequence[_Made]) -> Extracted:
    """Append the records of spans under the write lock, of those whose session's mark still stands where it was."""
    ws = job.ws
    with ws.writing("extract"):
        marks = job.reading.marks([one.unread.session for one in made])
        moved = [one for one, mark in zip(made, marks, strict=True) if mark != one.unread.mark]
        stored = [one for one, mark in zip(made, marks, strict=True) if mark == one.unread.mark]
        journal.append_all(ws, [one.record for one in stored])
        for one in stored:
            if one.unread.lost:
                sessions.lift(ws, one.unread.session, to=one.unread.above, size=one.unread.size)
    done = Extracted(asked=sum(one.done.asked for one in moved))
    for one in stored:
        kept_out.excluded(ws, kept_out.on_topic(ws, one.unread.turns))
        done += one.done
    return done + _linked(job, [(one.record, one.hints) for one in stored])


def _news(job: _Job, session: str, taken: Taken) -> tuple[list[Found], int]:
    """Return what was found but for the agent's repeating what it was shown, and how often it did."""
    shown = job.reading.shown(session) if any(one.entry.origin == "agent" for one in taken.found) else ()
    news = [one for one in taken.found if one.entry.origin != "agent" or not is_echo(one.entry, shown)]
    return news, len(taken.found) - len(news)


def _linked(job: _Job, stored: Iterable[tuple[Extraction, Mapping[str, str]]]) -> Extracted:
    """Link what was just stored with what was known before, record by record; what stops it leaves the links so far."""
    ws, reading = job.ws, job.reading
    events: list[Event] = []
    written, shown = 0, True
    try:
        for record, hints in stored:
            if not shown:
                stream.append_all(ws, layout.EVENTS, events[written:])
                written = len(events)
                reading.mark(record.session)  # the state looks at the files again
            at, by, zone = ws.clock(), record.extractor, ws.calendar.zone
            found = linked(record.entries, hints, alike=reading.alike, at=at, by=by, zone=zone)
            shown = reading.told([one for one in record.entries if not reading.masked(one)], found)
            events += found
    finally:
        stream.append_all(ws, layout.EVENTS, events[written:])
    return Extracted(links=len(events), due=Due(publish=bool(events)))


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
    known = job.reading.known
    fresh = [part for part in parts(path, note.text) if not (job.model and gave_entries(part.name, known))]
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
    said = [(one.n, one.entry) for one in taken.found]
    entries, refused = prepare_parts(ws, names, said, known=job.reading.known)
    record = Extraction(
        # A note may come back to what it was: without the time, that reading would pass for the earlier one.
        id=derived_id(
            "extraction", note.path, note.before, note.digest, format_instant(now), taken.extractor
        ),
        at=now,
        note=note.path,
        digest=note.digest,
        extractor=taken.extractor,
        entries=entries,
    )
    with ws.writing("extract"):
        if job.reading.note(note.path) != note.before:
            return None
        journal.append(ws, record)
    read = Extracted(spans=1, refused=refused, asked=taken.asked, made_up=taken.made_up)
    return read + storing(record) + _linked(job, [(record, {})])
