"""An export that meets other memories: what it has that is not there is added, and nothing is overwritten.

In: a verified export, and the state here. Out: sessions, notes and pages that are missing here as they were; turns that
a session here lacks, at its end; entries through the journal, with the records of how far sessions were read; events
that happened to them. No model.

What was forgotten on either side does not come in, and the answer counts it. An entry whose id stands here for another
text is a conflict: it is told, and both workspaces keep theirs. Outcomes of dreams come in where they hold here: what
is cited on a page that came as it is, what was declined, and what was folded into one of those. Any other entry is
dreamt of here. The records of compacted turns come with a session that is here as it is there, under cursors of this
history.
The runs of dreams and their commits stay out (two histories of two notebooks have no common order), as do MEMORY.md,
which is compiled, USER.md and SOUL.md, of which each memory has its own, and settings. A dry run counts the same and
writes nothing.

What survives a crash here: everything written, each piece synced. Merging again finds less to do, for turns and entries
are known by their ids.

Next: `drain`, which stores the entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from reverie import layout
from reverie.core.entries import derived_id
from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.mask import Mask
from reverie.core.formats.key_values import decoded, name_of, text_of
from reverie.core.records import Entry, Event, Extraction, JournalRecord, KeyValue, Outcome, Remember, Run
from reverie.core.where import Where
from reverie.importers.taken import Imported
from reverie.importers.turns import Skipped
from reverie.index.state import State
from reverie.store import history, journal, sessions, stream
from reverie.store.dreams import changing, runs
from reverie.store.filesystem.disk import Disk
from reverie.store.forgotten import tombstones
from reverie.store.hosts import kv
from reverie.store.workspace import Workspace

_ADDED = (layout.NOTEBOOK, layout.SUMMARIES, layout.FILES, layout.SKILLS, layout.NOTES)
_FORGETTING = frozenset({"forget", "restore"})


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge did, and the entries of this workspace that were forgotten in the other one."""

    imported: Imported
    forgotten: tuple[str, ...] = ()

    @property
    def planned(self) -> Imported:
        """What a dry run answers: with the entries here that would be forgotten, as they were in the other one."""
        if not self.forgotten:
            return self.imported
        passed = {**self.imported.passed, "forgotten there, and then here too": len(self.forgotten)}
        return msgspec.structs.replace(self.imported, passed=passed)


def merge(ws: Workspace, state: State, other: Disk, *, mask: Mask, dry_run: bool = False) -> Merged:
    """Add what the export in the folder of `other` has and this workspace lacks; raises StoreUnwritable, Busy.

    A dry run counts what would be added and left out, and writes nothing.
    """
    theirs = Workspace(other.root, ws.settings, clock=ws.clock, new_id=ws.new_id, disk=other)
    merging = _Merging(ws, state, theirs=theirs, mask=mask, dry_run=dry_run)
    merging.talk()
    merging.files()
    merging.entries()
    merging.events()
    merging.outcomes()
    merging.history()
    merging.values()
    forgotten = {entry for tomb in merging.gone.tombstones for entry in tomb.entries}
    # Of what was forgotten here once a person here has had the last word, whichever it was.
    settled = {entry for tomb in tombstones.read(ws) for entry in tomb.entries}
    return Merged(imported=merging.told(), forgotten=tuple(sorted(state.find(sorted(forgotten - settled)))))


class _Merging:
    """One merge under way: the two workspaces, what was accepted, and what is counted."""

    def __init__(self, ws: Workspace, state: State, *, theirs: Workspace, mask: Mask, dry_run: bool) -> None:
        self._ws, self._here, self._theirs, self._mask = ws, state, theirs, mask
        self._dry = dry_run
        self.gone = tombstones.mask(theirs)
        self._there = State(None, theirs.disk, calendar=theirs.calendar, notebook=theirs.notebook)
        self._there.catch_up(self.gone)
        self._there.overlay(journal.waiting(theirs).records, self.gone)
        self._whole: set[str] = set()  # sessions and notes that are here as they are there
        self._accepted: set[str] = set()
        self._count: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._conflicts: list[Skipped] = []

    def told(self) -> Imported:
        """Return what was done."""
        return Imported(
            format="reverie-export",
            turns=self._count["turns"],
            facts=self._count["entries"],
            repeated=self._count["repeated"],
            sessions=tuple(sorted(sessions.names(self._theirs))),
            skipped=tuple(self._conflicts),
            unread=len(self._conflicts),
            passed={reason: number for reason, number in self._passed.items() if number},
            files=self._count["files"],
            dry_run=self._dry,
        )

    def talk(self) -> None:
        """Bring sessions: whole where there is none of the name, else the turns that are missing, at the end."""
        for path in sessions.files(self._theirs):
            data = self._theirs.disk.read(path) or b""
            own = self._ws.disk.read(path)
            turns = sessions.open_file(self._theirs, path).turns
            name = sessions.open_file(self._theirs, path).state.name
            if own is None:
                if not self._dry:
                    self._ws.disk.replace(path, data)
                    self._retract(name)
                self._whole.add(name)
                self._count["turns"] += len(turns)
                continue
            if own.startswith(data):
                self._whole.add(name)
                self._count["repeated"] += len(turns)
                continue
            known = {sessions.identity(turn) for turn in sessions.read(self._ws, name)}
            for turn in turns:
                if self.gone.retracted(name, turn.id):
                    self._passed["a turn that was taken back there"] += 1
                elif sessions.identity(turn) in known:
                    self._count["repeated"] += 1
                else:
                    if not self._dry:
                        sessions.append(self._ws, name, turn)
                    self._count["turns"] += 1

    def _retract(self, session: str) -> None:
        """Take back here what was taken back there of a session that comes in as it is."""
        for tomb in self.gone.tombstones:
            spans = tuple(span for span in tomb.spans if span.session == session)
            if spans and not tomb.keyed:
                here = msgspec.structs.replace(tomb, id=self._ws.new_id(), spans=spans)
                tombstones.append(self._ws, [here])

    def files(self) -> None:
        """Bring notes, pages and other files that are missing; what differs here stays as it is here."""
        for path in self._theirs.disk.walk(""):
            folder = path.partition("/")[0]
            is_note = "/" not in path and path.endswith(".md") and path[:1].isdigit()
            if folder not in _ADDED and not is_note and folder != layout.PEOPLE:
                continue
            if folder == layout.PEOPLE and self._is_met(path):
                self._passed["a person who has a workspace here"] += 1
                continue
            own, data = self._ws.disk.read(path), self._theirs.disk.read(path)
            if own is None and data is not None:
                if not self._dry:
                    self._ws.disk.replace(path, data)
                self._count["files"] += 1
            elif own != data:
                self._passed["a file that is another one here"] += 1
                continue
            self._whole.add(path)

    def entries(self) -> None:
        """Queue the entries that are missing, with the records that say how far whole sessions and notes were read."""
        everything = Where(include_hidden=True, include_previous=True)
        wanted = {one.entry.id: one.entry for one in self._there.states(everything)}
        for record in self._records():
            if isinstance(record, Extraction):
                self._extraction(record, wanted)
        for entry in wanted.values():
            if self._accepts(entry):
                placed = entry if entry.session in self._whole else msgspec.structs.replace(entry, turns="")
                self._queue(Remember(id=derived_id("merge", entry.id), at=entry.at, entry=placed))
        self._passed["forgotten there"] += len(self._there.masked())

    def events(self) -> None:
        """Append what happened to the entries that are here now, but for what forgets or restores."""
        there: stream.Read[Event] = stream.read(self._theirs, layout.EVENTS, Event)
        here: stream.Read[Event] = stream.read(self._ws, layout.EVENTS, Event)
        known = {event.id for event in here.records}
        self._append(
            layout.EVENTS,
            [
                event
                for event in there.records
                if event.id not in known
                and event.kind not in _FORGETTING
                and event.entry in self._accepted
                and (not event.other or event.other in self._accepted)
            ],
        )

    def outcomes(self) -> None:
        """Append the outcomes of entries that have none here, where what they say holds here too."""
        standing = {one: self._there.outcomes(one) for one in sorted(self._accepted)}
        had = {one for one in standing if self._here.outcomes(one)}
        fresh = {one: found for one, found in standing.items() if found and one not in had}
        settled = {*had, *(one for one, found in fresh.items() if all(map(self._holds, found)))}
        while more := [
            one
            for one, found in fresh.items()
            if one not in settled and all(self._holds(each) or each.into in settled for each in found)
        ]:
            settled.update(more)
        self._settle([each for one in fresh if one in settled for each in fresh[one]])
        self._passed["an entry that is dreamt of here anew"] += len(fresh.keys() - settled)
        self._passed["a run of dreams, whose history stays in the export"] += len(runs.read(self._theirs))

    def history(self) -> None:
        """Append what sessions that are here as they are there were condensed to, where it is not here yet."""
        for record in history.read(self._theirs):
            if record.session not in self._whole:
                continue
            masks = (self._mask, self.gone)
            if any(one.covers(record.session, record.turns) or one.text(record.content) for one in masks):
                self._passed["a record of the history that tells of what is forgotten"] += 1
            elif self._dry:
                continue
            elif record.aside:
                history.set_aside(self._ws, record)
            else:
                history.append(self._ws, record, history.reached(self._ws, record.session))

    def _holds(self, outcome: Outcome) -> bool:
        """Whether an outcome says here what it said there: its page is here, or it names neither page nor entry."""
        if outcome.outcome == "cited":
            return f"{self._theirs.notebook}/{outcome.page}" in self._whole
        return outcome.outcome == "declined"

    def _settle(self, outcomes: Sequence[Outcome]) -> None:
        """Append outcomes as those of a run of this workspace, which is recorded first: `check` asks for it."""
        if self._dry or not outcomes:
            return
        now, replace = self._ws.clock(), msgspec.structs.replace
        name = changing.name_of(self._ws, "merge", now)
        counts = dict(Counter(str(one.outcome) for one in outcomes))
        run = Run(
            run=name,
            kind="merge",
            started=now,
            ended=now,
            dreamer="import",
            result="productive",
            counts=counts,
        )
        runs.append_once(self._ws, run)
        self._append(layout.OUTCOMES, [replace(one, run=name) for one in outcomes])

    def _append(self, path: str, records: Sequence[msgspec.Struct]) -> None:
        if not self._dry:
            stream.append_all(self._ws, path, records)

    def values(self) -> None:
        """Append the values of adapters whose keys are missing here; one that differs stays as it is here."""
        here, now = kv.table(self._ws), self._ws.clock()
        lines: list[KeyValue] = []
        for item in kv.table(self._theirs).living(now):
            own = here.items.get(name_of(item.line))
            said = "\n".join((*item.line.namespace, item.line.key, text_of(decoded(item.line))))
            if own is not None:
                if own.line.value == item.line.value:
                    self._count["repeated"] += 1
                else:
                    self._passed["a value that is another one here"] += 1
            elif self._mask.text(said) or self.gone.text(said):
                self._passed["a value that says something forgotten"] += 1
            elif excluded_by(said, self._ws.settings.exclusions):
                self._passed["an excluded topic"] += 1
            else:
                lines.append(msgspec.structs.replace(item.line, created=item.created, until=item.until))
                self._count["values"] += 1
        if lines and not self._dry:
            kv.append(self._ws, lambda table: [line for line in lines if name_of(line) not in table.items])

    def _records(self) -> Iterator[JournalRecord]:
        seen: set[str] = set()
        for record in (*journal.archived(self._theirs), *journal.waiting(self._theirs).records):
            if record.id not in seen:
                seen.add(record.id)
                yield record

    def _extraction(self, record: Extraction, wanted: dict[str, Entry]) -> None:
        """Queue a reading of a session or note that is here as it was read, with those entries that come in."""
        if (record.session or record.note) not in self._whole:
            return
        found = [wanted.pop(one.id) for one in record.entries if one.id in wanted]
        entries = tuple(one for one in found if self._accepts(one))
        if record.session:
            read = self._here.mark(record.session) >= record.stop
        else:
            read = self._here.note_digest(record.note) == record.digest
        if entries or not read:
            self._queue(msgspec.structs.replace(record, entries=entries))

    def _accepts(self, entry: Entry) -> bool:
        """Whether an entry comes in; counted either way."""
        known = self._here.known(entry.id)
        if self._mask(entry):
            self._passed["forgotten here"] += 1
        elif known is not None and known.text == entry.text:
            self._accepted.add(entry.id)
            self._count["repeated"] += 1
        elif known is not None:
            reason = f"entry {entry.id} says something else here: both workspaces keep theirs"
            self._conflicts.append(
                Skipped(len(self._conflicts) + 1, entry.text.encode("utf-8", "replace"), reason)
            )
        elif excluded_by(f"{entry.text} {entry.evidence}", self._ws.settings.exclusions):
            self._passed["an excluded topic"] += 1
        else:
            self._accepted.add(entry.id)
            self._count["entries"] += 1
            return True
        return False

    def _queue(self, record: JournalRecord) -> None:
        if not self._dry:
            journal.append(self._ws, record)

    def _is_met(self, path: str) -> bool:
        """Whether the person whose file this is had a workspace here before."""
        person = "/".join(path.split("/")[:2])
        origin = f"{person}/{layout.ORIGIN}"
        return self._ws.disk.read(origin) not in (None, self._theirs.disk.read(origin))
