"""Making search rows from the files and the state, for what changed since last time.

Owns which rows a file gives: one an entry, a paragraph of a page or core file, a history record, a turn, a value;
promises that the cost follows what was added, and that whatever it did not get to is counted; never writes a canonical
file.

Each kind keeps its own measure of how far it has come: entries by the state's list of changed ones, sessions and the
history by the byte they were read up to, pages by size and time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.entries import derived_id
from reverie.core.fold import EntryState
from reverie.core.formats import framing
from reverie.core.pages.chunks import VERSION, paragraph_chunks
from reverie.core.pages.front_matter import read as read_front
from reverie.core.pages.plain import citing, uncited
from reverie.core.pages.source import split
from reverie.core.records import History, Opened, SessionLine, Turn
from reverie.core.search.rows import Row
from reverie.core.sessions.active_window import unread
from reverie.core.text.names import is_day
from reverie.errors import IndexUnavailable, InvalidRecord, UnsafePath
from reverie.index import value_feeding
from reverie.index.places import Files
from reverie.index.protocol import RowStore
from reverie.index.state import State

CORE = (layout.USER, layout.SOUL)
DESCRIPTION = "description"  # the status of a row that holds what a page says it is about
AT_LEAST = 64_000  # bytes read however late it is: on a busy machine, too, what was just said is found
_BATCH = 2_000  # entries whose rows are made in one transaction while somebody waits
_LARGE = 10_000  # as above, while nobody does
_ALL = 1 << 40


def _nothing(_: Row) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Feeding:
    """One catch-up of the search rows. `deadline` is a `time.monotonic` value, or None for as long as it takes.

    `masked` tells the turns that are forgotten: they get no row, for a row's words also stand with its neighbours'.
    """

    files: Files
    rows: RowStore
    state: State
    calendar: Calendar
    notebook: str
    deadline: float | None = None
    masked: Callable[[Row], bool] = _nothing

    def run(self) -> int:
        """Bring the rows up to the files, and return how many sources are left when time ran out.

        Where nothing can be written they are brought up in memory, whatever time that takes when there was nothing.
        """
        try:
            return self._run()
        except IndexUnavailable as error:
            if not error.unwritable or not self.rows.in_memory:
                raise
        return self._run()

    def _run(self) -> int:
        if self.rows.in_memory:
            left = self._entries_aside()
        else:
            if self.rows.fresh:
                self.state.all_dirty()
                self.rows.fresh = False
            left = self._entries()
        stamps = self.rows.positions()
        spent, shut = 0, list[str]()
        for path, status in self._sources(shut):
            stamp = f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"
            if path.endswith(".md"):
                stamp = f"{stamp} {VERSION}"  # cut in another way, a page is read again, and nothing else is
            before = stamps.pop(path, "")
            if before.rpartition(" @")[0] == stamp:
                continue
            size = status.st_size - _reached(before, status)
            if self._late() and spent + size > AT_LEAST:
                left += 1
                continue
            spent += size
            # What may not be opened keeps the rows it had, and hides no other file; `check` names it.
            with suppress(UnsafePath):
                if path == layout.KV:
                    value_feeding.feed(
                        self.files,
                        self.rows,
                        calendar=self.calendar,
                        stamp=stamp,
                        before=before,
                        masked=self.masked,
                    )
                elif path.endswith(".jsonl"):
                    self._stream(path, stamp, before, status)
                else:
                    self._page(path, stamp, status)
        for path in stamps:
            if not path.startswith(tuple(shut)):
                self.rows.replace_source(path, [], stamp="")
        return left

    def _late(self) -> bool:
        # In memory there may be nothing yet, and this process alone can make it.
        return self.deadline is not None and not self.rows.in_memory and time.monotonic() > self.deadline

    def _entries(self) -> int:
        """Make the rows of changed entries; 1 when some are left."""
        batch = _LARGE if self.deadline is None else _BATCH
        while dirty := self.state.dirty(batch):
            shown = {one: state for one, state in dirty.items() if state is not None}
            self.rows.upsert(row_of(state) for state in shown.values())
            self.rows.delete(one for one in dirty if one not in shown)
            self.state.clean(dirty)
            if self._late():
                return 1
        return 0

    def _entries_aside(self) -> int:
        """Make the rows of changed entries without telling the state so: the file of rows still lacks them."""
        if self.rows.fresh:
            self.rows.upsert(row_of(state) for state in self.state.states())
            self.rows.fresh = False
            return 0
        dirty = self.state.dirty(_ALL)
        self.rows.upsert(row_of(state) for state in dirty.values() if state is not None)
        self.rows.delete(one for one, state in dirty.items() if state is None)
        return 0

    def _sources(self, shut: list[str]) -> Iterator[tuple[str, Any]]:
        """Yield every file that gives rows of its own, apart from the daily logs, with its status.

        A folder that may not be opened is added to `shut`: its files keep the rows they had, and `check` names it.
        """
        for path in (*CORE, layout.HISTORY, layout.KV):
            status = self.files.stat(path)
            if status is not None:
                yield path, status
        talks: Sequence[tuple[str, Any]] = ()
        pages: Sequence[tuple[str, Any]] = ()
        try:
            talks = self.files.statuses(layout.SESSIONS)
        except UnsafePath:
            shut.append(f"{layout.SESSIONS}/")
        try:
            pages = self.state.walked()
        except UnsafePath:
            shut.append(f"{self.notebook}/")
        yield from (found for found in talks if found[0].endswith(".jsonl"))
        yield from (found for found in pages if layout.is_page(found[0].removeprefix(f"{self.notebook}/")))

    def _page(self, path: str, stamp: str, status: Any) -> None:  # noqa: ANN401 - os.stat_result
        data = self.files.read(path)
        if data is None:
            return
        at = datetime.fromtimestamp(status.st_mtime, UTC)
        text = data.decode("utf-8", "replace")
        front = split(text).front
        updated = read_front(front).updated
        if is_day(updated):
            at = self.calendar.start(updated)  # when it was last written, whatever the file was copied since
        kind = "core" if path in CORE else "page"
        seen: dict[str, int] = {}
        rows = []
        cited = {number: found for number, _, found in citing(text)}
        for chunk in paragraph_chunks(text):
            seen[chunk.text] = seen.get(chunk.text, -1) + 1
            # A line that was too long for one chunk has its citations in the chunk where they stand.
            ids = [
                " ".join(one for one in cited.get(number, ()) if f"#^{one}" in line)
                for number, line in enumerate(chunk.text.split("\n"), chunk.line)
            ]
            rows.append(
                Row(
                    id=f"{kind}:{derived_id(path, chunk.text, str(seen[chunk.text]))}",
                    kind=kind,  # type: ignore[arg-type]
                    source=path,
                    text=uncited(chunk.text, text),
                    heading=" › ".join(chunk.heading_path),
                    at=at,
                    day=self.calendar.day(at),
                    place=chunk.line,
                    digest="\n".join(ids),
                    # With front matter nothing else begins on the first line.
                    status=DESCRIPTION if chunk.line == 1 and front is not None else "",
                )
            )
        self.rows.replace_source(path, rows, stamp=f"{stamp} @")

    def _stream(self, path: str, stamp: str, before: str, status: Any) -> None:  # noqa: ANN401 - os.stat_result
        """Make the rows of what a session or the history gained."""
        start = _reached(before, status)
        data = self.files.read_from(path, max(0, start - 1))
        if start and not data.startswith(b"\n"):
            start, data = (
                0,
                self.files.read(path) or b"",
            )  # it was cut, and what grew since has its lines elsewhere
        if before and not start:
            self.rows.replace_source(path, [], stamp="")
        lines, _ = framing.read(data[1:] if start else data, start=start)
        rows: list[Row] = []
        session = ""
        if path != layout.HISTORY:
            session = self._session_of(path)
        for line in lines:
            row = self._history_row(line) if path == layout.HISTORY else self._turn_row(line, path, session)
            if row is not None and not self.masked(row):
                rows.append(row)
        known = self.rows.get(row.id for row in rows) if start else {}
        # A turn sent twice keeps its first place.
        fresh = {row.id: row for row in reversed(rows) if row.id not in known}
        end = lines[-1].end if lines else start
        self.rows.upsert(fresh.values(), position=(path, f"{stamp} @{end}"))

    def _session_of(self, path: str) -> str:
        """Return the full name of the session stored at `path`, from its first line."""
        data = self.files.read(path) or b""
        lines, _ = framing.read(data[: data.find(b"\n") + 1])
        for line in lines[:1]:
            try:
                first = framing.decode(line, SessionLine, path=path)
            except InvalidRecord:
                continue
            if isinstance(first, Opened):
                return first.session
        return path.rsplit("/", 1)[-1].removesuffix(".jsonl")

    def _turn_row(self, line: framing.Line, path: str, session: str) -> Row | None:
        try:
            turn = framing.decode(line, SessionLine, path=path)
        except InvalidRecord:
            return None
        if not isinstance(turn, Turn) or turn.role == "system":
            return None
        text = unread(turn)
        if not text.strip():
            return None
        return Row(
            id=f"turn:{derived_id(session, turn.id, turn.role, turn.content)}",
            kind="turn",
            source=path,
            text=text,
            at=turn.at,
            day=self.calendar.day(turn.at),
            session=session,
            n=turn.n,
            person=turn.name or turn.user,
            role=turn.role,
            place=turn.n,
            digest=turn.id,
        )

    def _history_row(self, line: framing.Line) -> Row | None:
        try:
            record = framing.decode(line, History, path=layout.HISTORY)
        except InvalidRecord:
            return None
        if record.raw:
            return None  # its turns have rows of their own
        return Row(
            id=f"history:{record.cursor}",
            kind="history",
            source=layout.HISTORY,
            text=record.content,
            at=record.timestamp,
            day=self.calendar.day(record.timestamp),
            session=record.session,
            place=record.cursor,
        )


def _reached(before: str, status: Any) -> int:  # noqa: ANN401 - os.stat_result
    """Return the byte up to which a stream was read, by its stamp; 0 for a page, or for a file that was cut."""
    reached = int(before.rpartition("@")[2].partition(".")[0] or 0) if before else 0
    return reached if reached <= status.st_size else 0


def row_of(state: EntryState) -> Row:
    """Return the search row of an entry in its present state."""
    entry = state.entry
    return Row(
        id=entry.id,
        kind="entry",
        source=layout.log_file(entry.day),
        text=f"{entry.text}\n{entry.evidence}"
        if entry.evidence and entry.evidence not in entry.text
        else entry.text,
        at=entry.at,
        day=entry.day,
        category=entry.category,
        tags=entry.tags,
        session=entry.session,
        person=entry.who,
        about=entry.about,
        role={"user": "user", "agent": "assistant"}.get(entry.origin, ""),
        origin=entry.origin,
        scope=entry.scope,
        status=entry.status,
        sig=state.sig,
        since=entry.since,
        until=entry.until,
    )


_queued: WeakKeyDictionary[State, tuple[int, list[Row]]] = WeakKeyDictionary()


def queued_rows(state: State) -> list[Row]:
    """Return the search rows of the entries that wait for the drain: the same objects until the state changes."""
    known = _queued.get(state)
    if known is None or known[0] != state.version:
        known = _queued[state] = (state.version, [row_of(one) for one in state.queued()])
    return known[1]
