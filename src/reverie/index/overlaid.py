"""What waits for the drain, laid over the stored state.

Owns the states of queued entries and how far queued extractions have read; promises that laying what became more over
what was laid before gives what laying everything anew gives, at the cost of what is new; never writes the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from reverie.core.fold import EntryState, fold
from reverie.core.records import Entry, Event, Extraction, JournalRecord, Remember


class Overlaid:
    """The queue of one workspace as its state shows it; `states` are those of the entries that no log holds yet."""

    def __init__(
        self, among: Callable[[str, Iterable[str]], set[str]], events: Callable[[str], Iterable[Event]]
    ) -> None:
        """Show nothing; `among` returns which of some ids a query finds, `events` what happened to one."""
        self._among, self._events = among, events
        self._clear()

    def _clear(self) -> None:
        self._records: tuple[JournalRecord, ...] = ()
        self._waiting: dict[str, Entry] = {}
        self.states: dict[str, EntryState] = {}
        self.marks: dict[str, int] = {}
        self.notes: dict[str, tuple[datetime, str]] = {}

    def lay(
        self,
        records: tuple[JournalRecord, ...],
        masked: Callable[[Entry], bool],
        *,
        changed: set[str] | None,
    ) -> None:
        """Show these records and no others.

        With `changed`, the mask is that of the last time, and no states but those of these ids became other since: of
        records that only became more, the new ones alone are looked at. None is for anything else.
        """
        if changed is None or records[: len(self._records)] != self._records:
            self._clear()
        fresh = dict.fromkeys(one for one in changed or () if one in self._waiting)
        for record in records[len(self._records) :]:
            for entry in self._noted(record):
                if entry.id not in self._waiting and not masked(entry):
                    self._waiting[entry.id] = entry
                    fresh[entry.id] = None
        stored = self._among("SELECT id FROM entry WHERE id IN", fresh)
        happened = self._among("SELECT entry FROM event WHERE entry IN", fresh)
        happened |= self._among("SELECT other FROM event WHERE other != '' AND other IN", fresh)
        for one in fresh:
            if one in stored:
                self.states.pop(one, None)
            else:
                self.states[one] = fold(self._waiting[one], self._events(one) if one in happened else ())
        self._records = records

    def _noted(self, record: JournalRecord) -> Iterable[Entry]:
        """Return the entries of a record, and note how far it says that a session or a note was read."""
        if isinstance(record, Remember):
            return (record.entry,)
        if not isinstance(record, Extraction):
            return ()
        if record.session:
            self.marks[record.session] = max(self.marks.get(record.session, 0), record.stop)
        if record.note and record.at >= self.notes.get(record.note, (record.at, ""))[0]:
            self.notes[record.note] = (record.at, record.digest)
        return record.entries
