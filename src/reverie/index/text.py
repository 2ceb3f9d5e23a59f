"""Keyword search over every row, in any script.

Owns the bringing together of `rows.db` and the tantivy folder beside it; promises that a search sees every row
written before it, by any process, committed to the text index or not (the newest `SCANNED` of the rest are read
directly; `behind` counts what is left), that a missing, damaged or older text index is built again from the rows
without the caller, and that where nothing can be written rows and words go on in memory; never reads the workspace's
files: whoever opens it feeds it rows.

Order of a write: 1. the rows, in one SQLite transaction that also notes them as not yet indexed. 2. later, under the
index lock, one tantivy commit. 3. the note is taken back. A crash between any two leaves rows that are searched by
reading, and the next commit takes them in again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from reverie import layout
from reverie.core.search.query import Query
from reverie.core.search.rank import REACH
from reverie.core.search.rows import Candidate, Filter, Row
from reverie.core.text import tokens
from reverie.errors import IndexUnavailable, StoreUnwritable, UnsafePath
from reverie.index import documents, engine, pending
from reverie.index.protocol import DEPTH, WordPlace, Words
from reverie.index.rows import Numbered, Rows

SCANNED: Final = 256  # rows not yet indexed that a search reads itself
TERMS: Final = 48  # of a long query only so many are asked for, the rarest
PERIOD_DEPTH: Final = 50  # further candidates from each period a query names
_BATCH: Final = 10_000  # rows of one commit; smaller ones leave more segments for every search to ask
_SAMPLE: Final = 400  # rows from which mean lengths are taken

Lock = Callable[[], AbstractContextManager[object]]
T = TypeVar("T")


class TextIndex:
    """The search rows of one workspace and the text index over them; safe to use from several threads."""

    def __init__(self, folder: Path, lock: Lock, *, words: Callable[[Rows], WordPlace] | None = None) -> None:
        """Open the index in `folder` (the workspace's `.index`), building the text part when it must be.

        `words` says where the words of these rows lie, a tantivy folder beside them when not given. `lock` gives the
        workspace's index lock. Raises IndexUnavailable when the folder cannot be used or was made by a newer Reverie,
        and Busy when the text part must be built while another process holds the lock.
        """
        self.rows = Rows(folder)
        beside = engine.Folder(folder / PurePosixPath(layout.TEXT_INDEX).name)
        self._lock = lock
        self._mutex = threading.Lock()
        self._lengths: dict[str, float] = {}
        self._waiting: tuple[object, list[Numbered]] = (None, [])
        self._gathered = pending.Gathered()  # what is read, by number and staleness, or by id
        self._read: dict[Hashable, Row] = {}
        self._read_ids: frozenset[str] = frozenset()
        self._scanned: Sequence[Numbered] | None = None  # what was gathered last
        self._extra: tuple[Row, ...] = ()
        with ExitStack() as failing:
            failing.callback(self.rows.close)
            self._place: WordPlace = words(self.rows) if words else beside
            self._stamp = self._stamped()
            self._engine = self._open()
            failing.pop_all()

    def close(self) -> None:
        """Close the index; rows not yet taken in stay noted for the next commit."""
        self.rows.close()

    def behind(self) -> int:
        """Return how many rows a search cannot see yet."""
        return max(0, self.rows.behind() - SCANNED)

    def commit(self) -> int:
        """Take every noted row into the text index and return how many there were; waits for the index lock."""
        return self._writing(self._committed)

    def rebuild(self) -> None:
        """Build the text index again from the rows."""
        self._writing(self._rebuilt)

    def reset(self) -> None:
        """Forget every row and position and leave an empty index, to be fed again from the files."""
        with self._lock():
            self.rows.reset()
            self._engine = self._make()

    # -- searching

    def search(
        self, query: Query, *, where: Filter | None = None, depth: int = DEPTH, extra: Sequence[Row] = ()
    ) -> list[Candidate]:
        """Return candidates for `core.search.rank.rank`, best words first.

        `extra` are rows that stand in no file the index was fed from yet; they are scored with the same statistics,
        and win over an indexed row of the same id.
        """
        try:
            return self._search(query, where or Filter(), depth, extra)
        except IndexUnavailable:
            self.rebuild()
        return self._search(query, where or Filter(), depth, extra)

    def _search(self, query: Query, where: Filter, depth: int, extra: Sequence[Row]) -> list[Candidate]:
        # Read before the reload: a row committed in between is then found twice, which is mended below, not never.
        waiting = self._noted()
        with self._mutex:
            self._engine.reload()
            wanted = self._rarest(query.terms)
            found = self._engine.search(wanted, where, depth=depth)
            for period in query.periods:
                days = _narrowed(where, period.first, period.last)
                if days is not None:
                    found |= self._engine.search(wanted, days, depth=PERIOD_DEPTH, any_words=False)
            scored = self._scan(wanted, waiting, extra)
            rows, read = self._read, self._read_ids
        stored = self.rows.numbered(list(found))
        candidates = [
            candidate(stored[num].row, score)
            for num, score in found.items()
            if num in stored and stored[num].row.id not in read
        ]
        candidates += [
            candidate(rows[key], scored.get(key, 0.0))
            for key in (rows if query.periods else scored)
            if where.allows(rows[key]) and (scored.get(key, 0.0) > 0.0 or _in_periods(rows[key], query))
        ]
        candidates.sort(key=lambda candidate: (-candidate.lexical, candidate.row.id))
        return candidates[: depth + PERIOD_DEPTH * len(query.periods)]

    def _rarest(self, terms: Sequence[str]) -> Sequence[str]:
        if len(terms) <= TERMS:
            return terms
        rarity = [
            (self._engine.frequency("own", term) or self._engine.count(), place)
            for place, term in enumerate(terms)
        ]
        return [terms[place] for _, place in sorted(rarity)[:TERMS]]

    def _noted(self) -> list[Numbered]:
        """Return the newest rows not taken in yet; the same list while nothing changes."""
        version = (
            self.rows.version()
        )  # asked first: what changes in between is then read once more, not never
        if self._waiting[0] != version:
            self._waiting = (version, self.rows.newest(SCANNED))
        return self._waiting[1]

    def _scan(
        self, terms: Sequence[str], waiting: Sequence[Numbered], extra: Sequence[Row]
    ) -> dict[Hashable, float]:
        """Return the scores of the rows that must be read directly and hold any of `terms`; `extra` wins."""
        same = waiting is self._scanned and len(extra) == len(self._extra)
        if not same or any(
            row.n >= 0 or row is not old for row, old in zip(extra, self._extra, strict=False)
        ):
            self._gather(waiting, extra)
        if not self._read:
            return {}
        statistics = pending.Statistics(self._engine.count(), self._means(), self._engine.frequency)
        return self._gathered.scores(terms, statistics=statistics)

    def _gather(self, waiting: Sequence[Numbered], extra: Sequence[Row]) -> None:
        """Read the rows that are not in the text index, and no others."""
        winning = {row.id for row in extra}
        # A change of a row or of a turn beside it makes it more stale, so that what was read stays right under its key.
        rows: dict[Hashable, Row] = {
            (one.num, one.stale): one.row for one in waiting if one.row.id not in winning
        }
        new = {key: row for key, row in rows.items() if key not in self._gathered}
        # The same object says the same; but in a session the turns around it may have changed.
        new |= {row.id: row for row in extra if row.n >= 0 or self._read.get(row.id) is not row}
        rows |= {row.id: row for row in extra}
        counted = self._count(list(new.values()))
        self._scanned = None  # until it is done
        self._gathered.set(rows, dict(zip(new, counted, strict=True)))
        self._read, self._read_ids = rows, frozenset(row.id for row in rows.values())
        self._scanned, self._extra = waiting, tuple(extra)

    def _count(self, rows: Sequence[Row]) -> list[pending.Pending]:
        """Return rows ready to be scored, in their order."""
        return [pending.counted(*views) for views in documents.views(rows, self.rows.turns)]

    def _means(self) -> dict[str, float]:
        """Return the mean length of each view, from the rows added last when the index was opened or committed."""
        if not self._lengths:
            sample = sorted(self.rows.sample(_SAMPLE), key=lambda row: (row.session, row.n, row.id))
            views = documents.views(sample, self.rows.turns)
            self._lengths = {
                field: sum(len(pair[view]) for pair in views) / max(len(views), 1)
                for view, field in enumerate(("own", "window"))
            }
        return self._lengths

    # -- building

    def _open(self) -> Words:
        """Open the index of words, or make it anew when it is missing, damaged or of another stamp."""
        # Another process may have made it while this one waited.
        return self._opened() or self._writing(lambda: self._opened() or self._rebuilt())

    def _writing(self, work: Callable[[], T]) -> T:
        """Do `work` under the lock; where nothing can be written, on rows and words that are in memory from then on."""
        try:
            with self._lock():
                return work()
        except (StoreUnwritable, UnsafePath):  # the folder, or what stands in the place of the lock
            pass
        except IndexUnavailable as error:
            if not error.unwritable:
                raise
        self.rows.retreat()
        self._place, self._lock = engine.Memory(), nullcontext
        self._stamp = self._stamped()
        self._engine = self._make()
        return work()

    def _committed(self) -> int:
        try:
            self._engine.reload()  # another process may have made it anew
        except IndexUnavailable:
            self._engine = self._make()
        return self._commit()

    def _rebuilt(self) -> Words:
        self._engine = self._make()
        self._commit()
        return self._engine

    def _stamped(self) -> str:
        return f"{self._place.stamp}.{tokens.VERSION}.{REACH}"

    def _opened(self) -> Words | None:
        """Open what is there, None when it must be made anew; the rows are all there for it."""
        if self.rows.meta("text") == self._stamp:
            with suppress(IndexUnavailable):
                self.rows.set_meta("checked", self._place.intact(self.rows.meta("checked")))
                return self._place.open()
        return None

    def _make(self) -> Words:
        """Make an empty text index, under the lock; every row is noted as not taken in before the old one goes."""
        self.rows.set_meta("text", "")
        self.rows.all_stale()
        made = self._place.open(fresh=True)
        self.rows.set_meta("text", self._stamp)
        return made

    def _commit(self) -> int:
        """Take in what is noted, under the lock, and what was changed meanwhile."""
        total = 0
        with self._mutex:
            while True:
                taken: deque[tuple[list[Numbered], list[int]]] = deque()
                for _ in self._engine.write(self._batches(taken)):
                    rows, gone = taken.popleft()
                    self.rows.taken(rows, gone)
                    total += len(rows)
                if not self.rows.behind():
                    break
            self._lengths = {}
            self._engine.reload()
        return total

    def _batches(
        self, taken: deque[tuple[list[Numbered], list[int]]]
    ) -> Iterator[tuple[Sequence[int], Iterable[documents.Document]]]:
        """Yield what tantivy is to let go of and to add, noting in `taken` what each batch was.

        The next batch may be asked for before the one before is noted as taken in.
        """
        gone = self.rows.gone()
        last: Numbered | None = None
        while (noted := self.rows.stale(_BATCH, after=last)) or gone:
            taken.append((noted, gone))
            # A power cut may take back what SQLite noted but not what tantivy synced, so any number may be held.
            any_held = self._engine.count() > 0
            yield [*gone, *(one.num for one in noted if any_held or one.known)], self._documents(noted)
            gone = []
            last = noted[-1] if noted else None

    def _documents(self, noted: Sequence[Numbered]) -> Iterator[documents.Document]:
        for start in range(0, len(noted), _SAMPLE):
            part = noted[start : start + _SAMPLE]
            views = documents.views([one.row for one in part], self.rows.turns)
            for (num, row, *_), (own, window) in zip(part, views, strict=True):
                yield documents.Document(num, row.day, own, window, documents.facets(row))


def candidate(row: Row, score: float) -> Candidate:
    """Return a row as a candidate, with what it says of its own standing."""
    return Candidate(
        row=row, lexical=score, sig=row.sig, standing="discussed" if row.status == "discussed" else "current"
    )


def _narrowed(where: Filter, first: date, last: date) -> Filter | None:
    """Return the filter within those days, or None when it allows none of them."""
    since, until = max(where.since, first.isoformat()), min(where.until or "9999", last.isoformat())
    if since > until:
        return None
    return Filter(
        kinds=where.kinds,
        sessions=where.sessions,
        persons=where.persons,
        categories=where.categories,
        scopes=where.scopes,
        tags=where.tags,
        since=since,
        until=until,
    )


def _in_periods(row: Row, query: Query) -> bool:
    return any(period.first.isoformat() <= row.day <= period.last.isoformat() for period in query.periods)
