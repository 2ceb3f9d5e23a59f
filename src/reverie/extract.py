"""Step 3: unread turns and dated notes become entries with evidence, in one journal record a span.

In: the turns of a session past its mark, and notes whose bytes changed. Out: one extraction record in the journal, and
links between what it found and what was known. The mark of a session is the highest `to` of its records, wherever
they stand.

What survives a crash here: before the record is synced, nothing happened and the span is read again; after it, the
span is never read again. Two processes that read the same span both come to the write lock, where the second finds
the mark moved and drops its reading. Links are events with derived ids, so writing them twice is writing them once; a
crash before them leaves repeats unfolded until the next dream looks.

Next: `drain`, which writes the entries into their days' logs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

import msgspec

from reverie import layout
from reverie.core.days import format_instant
from reverie.core.due import Due
from reverie.core.entries import derived_id, notable, problem
from reverie.core.exclusions import excluded_by
from reverie.core.fold import EntryState
from reverie.core.links import links_of
from reverie.core.names import is_day
from reverie.core.records import Entry, Event, Extraction, Turn
from reverie.core.redact import redact
from reverie.errors import UnsafePath
from reverie.model.rules import EXTRACTOR, Found
from reverie.model.rules import extract as read_turns
from reverie.store import journal, quarantine, sessions, stream
from reverie.store.workspace import Workspace

NOTE_BYTES = 1_000_000  # a longer note is a document; it is reported and left alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What an extraction did: spans read, entries found, links made, refusals, and what became due."""

    spans: int = 0
    entries: int = 0
    links: int = 0
    refused: int = 0
    problems: tuple[str, ...] = ()
    due: Due = Due()

    def __add__(self, other: Extracted) -> Extracted:
        """Return both together."""
        return Extracted(
            spans=self.spans + other.spans,
            entries=self.entries + other.entries,
            links=self.links + other.links,
            refused=self.refused + other.refused,
            problems=self.problems + other.problems,
            due=self.due | other.due,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What extraction asks of the state: marks, notes read, entries by id, and entries that resemble one.

    `mark` and `note` look at drained and queued records alike and are asked again under the write lock.
    """

    mark: Callable[[str], int]
    note: Callable[[str], str]
    known: Callable[[str], Entry | None]
    alike: Callable[[Entry], Sequence[EntryState]]


def extract(
    ws: Workspace, reading: Reading, *, names: Iterable[str] | None = None, notes: bool = True
) -> Extracted:
    """Read what is unread of the named sessions (all when None) and of the dated notes."""
    if not ws.settings.enabled:
        return Extracted()
    done = Extracted()
    for session in _by_time(ws) if names is None else names:
        done += _session(ws, session, reading)
    return done + _notes(ws, reading) if notes else done


def _by_time(ws: Workspace) -> list[str]:
    """Return the names of all sessions, the one that spoke last at the end: a change is linked to what stood before."""
    found = ((one.last.timestamp() if one.last else 0.0, one.name) for one in sessions.states(ws))
    return [name for _, name in sorted(found)]


def _session(ws: Workspace, session: str, reading: Reading) -> Extracted:
    """Read the session past its mark.

    A mark beyond the last ordinal was reached in a file that is gone. What stands in the present one is read from its
    beginning, once, and its ordinals go on above the mark; else every turn up to there would stay hidden.
    """
    mark = reading.mark(session)
    whole = sessions.load(ws, session)
    start = mark if mark <= whole.state.turns else 0
    turns = [turn for turn in whole.turns if turn.n >= start]
    if not turns:
        return Extracted()
    stop = turns[-1].n + 1
    found = read_turns(turns, ws.calendar)
    # The turns are part of the name: where a session file was lost, its ordinals are given again to other words.
    said = (part for turn in turns for part in (turn.id, turn.content))
    record_id = derived_id("extraction", session, str(start), str(stop), EXTRACTOR, *said)
    entries, refused = _prepare(ws, record_id, found)
    record = Extraction(
        id=record_id,
        at=ws.clock(),
        session=session,
        start=start,
        stop=stop,
        extractor=EXTRACTOR,
        entries=entries,
    )
    with ws.writing("extract"):
        if reading.mark(session) != mark:
            return Extracted()
        journal.append(ws, record)
        if start != mark:
            sessions.lift(ws, session, to=mark)
    return _stored(ws, record, reading, refused)


def _prepare(ws: Workspace, record_id: str, found: Sequence[Found]) -> tuple[tuple[Entry, ...], int]:
    """Give what was found its ids and days; what cannot be stored is set aside, excluded topics are dropped."""
    entries: list[Entry] = []
    refused: list[stream.Damaged] = []
    for ordinal, item in enumerate(found):
        named = derived_id(record_id, str(ordinal))
        at = item.entry.at.replace(microsecond=0)
        entry = _clean(ws, msgspec.structs.replace(item.entry, id=named, at=at, day=ws.calendar.day(at)))
        if excluded_by(f"{entry.text} {entry.evidence}", ws.settings.exclusions):
            continue
        if reason := problem(entry):
            refused.append(stream.Damaged("extract", ordinal, msgspec.json.encode(entry), reason))
        else:
            entries.append(entry)
    quarantine.set_aside(ws, refused)
    return tuple(entries), len(refused)


def _clean(ws: Workspace, entry: Entry) -> Entry:
    """Return `entry` without secrets: a turn captured with redaction off may still hold some."""
    if not ws.settings.redaction:
        return entry

    def clean(text: str) -> str:
        return redact(text, allow=ws.settings.redaction_allow).text if text else text

    return msgspec.structs.replace(
        entry,
        text=clean(entry.text),
        evidence=clean(entry.evidence),
        tags=tuple(clean(tag) for tag in entry.tags),
        about=clean(entry.about),
        who=clean(entry.who),
    )


def _stored(ws: Workspace, record: Extraction, reading: Reading, refused: int) -> Extracted:
    """Link what was just stored with what was known before, and say what became due."""
    events = _links(ws, record.entries, reading)
    stream.append_all(ws, layout.EVENTS, events)
    due = Due(
        drain=bool(record.entries), publish=bool(events) or any(notable(entry) for entry in record.entries)
    )
    return Extracted(spans=1, entries=len(record.entries), links=len(events), refused=refused, due=due)


def _links(ws: Workspace, entries: Sequence[Entry], reading: Reading) -> list[Event]:
    """Return the links of each entry to what stood before it, in the order they were said."""
    events: dict[str, Event] = {}
    before: dict[str, EntryState] = {}
    for entry in entries:
        # A drain may have stored the record meanwhile: its entries are then met on both sides.
        others = before | {state.entry.id: state for state in reading.alike(entry)}
        links = links_of(entry, list(others.values()), at=ws.clock(), by=EXTRACTOR)
        events |= {link.id: link for link in links}
        before[entry.id] = EntryState(entry=entry, sig=entry.sig or 0.0, confirmed=entry.at)
    return list(events.values())


def _notes(ws: Workspace, reading: Reading) -> Extracted:
    """Read each dated note whose bytes changed; lines read before have the same ids and are left out."""
    done = Extracted()
    for path in note_files(ws):
        try:
            data = ws.disk.read(path) or b""
        except UnsafePath as error:
            done += Extracted(problems=(str(error),))
            continue
        digest = hashlib.sha256(data).hexdigest()
        if not is_day(_day_of(path)):
            done += Extracted(problems=(f"{path} is named after no day: call it YYYY-MM-DD.md",))
        elif len(data) > NOTE_BYTES:
            done += Extracted(problems=(f"{path} has {len(data):,} bytes: at most {NOTE_BYTES:,} are read",))
        elif (before := reading.note(path)) != digest:
            done += _note(ws, path, data.decode("utf-8", "replace"), (before, digest), reading)
    return done


def _day_of(path: str) -> str:
    """Return the day a note is named after."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")[:10]


def _note(ws: Workspace, path: str, text: str, digests: tuple[str, str], reading: Reading) -> Extracted:
    """Read one note, as what the agent said on the note's day; `digests` are of its bytes as last read, and now."""
    before, digest = digests
    at, now = ws.calendar.start(_day_of(path)), ws.clock()
    entries: list[Entry] = []
    refused = 0
    occurrences: dict[str, int] = {}
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        if not paragraph.strip():
            continue
        # A paragraph is read alone and named by its own words, so that editing one leaves the others' ids alone.
        occurrences[paragraph] = occurrences.get(paragraph, -1) + 1
        name = derived_id("note", path, paragraph.strip(), str(occurrences[paragraph]), EXTRACTOR)
        found = read_turns([Turn(role="user", content=paragraph, at=at, n=0)], ws.calendar)
        prepared, bad = _prepare(ws, name, found)
        fresh = [entry for entry in prepared if reading.known(entry.id) is None]
        entries += [msgspec.structs.replace(entry, origin="agent", turns="", session="") for entry in fresh]
        refused += bad
    record = Extraction(
        # A note may come back to what it was: without the time, that reading would pass for the earlier one.
        id=derived_id("extraction", path, before, digest, format_instant(now), EXTRACTOR),
        at=now,
        note=path,
        digest=digest,
        extractor=EXTRACTOR,
        entries=tuple(entries),
    )
    with ws.writing("extract"):
        if reading.note(path) != before:
            return Extracted()
        journal.append(ws, record)
    return _stored(ws, record, reading, refused)


def note_files(ws: Workspace) -> list[str]:
    """Return the paths of the dated notes that `notes.globs` names, sorted."""
    tops = {pattern.rsplit("/", 1)[0] if "/" in pattern else "" for pattern in ws.settings.notes.globs}
    paths = [f"{top}/{name}" if top else name for top in sorted(tops) for name in ws.disk.list(top)]
    return [
        path
        for path in paths
        if path.endswith(".md") and any(fnmatch(path, pattern) for pattern in ws.settings.notes.globs)
    ]
