"""Search by words and by meaning over the rows of one workspace: what implements `protocol.Index` on this machine.

Owns the bringing together of words, vectors and embedder; promises that words serve whatever becomes of the vectors,
that vectors of two embedders are never mixed, that a row whose words changed is not found by the vector of the old
ones, and that nothing here loads numpy or a model before there are vectors to search or to make; never embeds in the
path of a write.

A row has its words at once and its vector later: in what is left of a recall's patience, in `reindex` and in
`consolidate`. A text that cannot be embedded, or an embedder that is down, leaves the row found by its words and
counted by `vectorless`; it is tried again the next time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from reverie.core.search.query import Query
from reverie.core.search.rows import Candidate, Filter, Row
from reverie.errors import Busy, EmbedderFailed, IndexUnavailable, StoreUnwritable
from reverie.index import documents
from reverie.index.embedder import BATCH, same_model
from reverie.index.meaning import Meaning
from reverie.index.placing import Placing, Seen
from reverie.index.protocol import DEPTH, Vectored, Vectors
from reverie.index.rows import Numbered, Rows
from reverie.index.text import Lock, TextIndex, candidate

if TYPE_CHECKING:
    from reverie.index.protocol import Floats

TOGETHER: Final = 1_024  # rows whose vectors are stored in one append
STORING: Final = 0.015  # seconds of a recall's patience kept for storing what was embedded
TROUBLE: Final = "trouble"  # the note that says why rows have no vector


class SearchIndex:
    """Words, vectors and rows of one workspace; safe to use from several threads."""

    def __init__(
        self, words: TextIndex, vectors: Vectors, *, meaning: Meaning, lock: Lock, at_once: Lock
    ) -> None:
        """Search `words`, and `vectors` by what `meaning` makes of a query.

        `lock` gives the index lock, waiting for it; `at_once` gives it or raises Busy.
        """
        self._words, self._vectors, self._meaning = words, vectors, meaning
        self._lock, self._at_once = lock, at_once
        self._placing = Placing(words.rows)
        self._mutex = threading.Lock()
        self._dead: list[int] = []
        self._seq = self._generation = 0

    @property
    def rows(self) -> Rows:
        """The rows that are searched."""
        return self._words.rows

    @property
    def embedder(self) -> str:
        """The name of what makes its vectors, empty for nothing."""
        return self._meaning.embedder.name if self._meaning.embedder is not None else ""

    def close(self) -> None:
        """Close it; what is not yet taken in stays noted."""
        self._vectors.close()
        self._meaning.close()
        self._words.close()

    def behind(self) -> int:
        """Return how many rows a search cannot see yet."""
        return self._words.behind()

    def vectorless(self) -> int:
        """Return how many rows have no vector; 0 without an embedder."""
        if self._meaning.embedder is None:
            return 0
        about = self._placing.about()
        others = self._meaning.known and not same_model(about.fingerprint, self._meaning.known)
        return self.rows.count() if about.kind != self._vectors.kind or others else self._placing.lack()

    def trouble(self) -> str:
        """Return why rows were left without a vector, the last time; empty when none were."""
        return self.rows.meta(TROUBLE)

    def commit(self) -> int:
        """Take every noted row into the index of words and return how many there were; waits for the index lock."""
        return self._words.commit()

    def rebuild(self) -> None:
        """Build the index of words again from the rows."""
        self._words.rebuild()

    def reset(self) -> None:
        """Forget every row, word and vector, to be fed again from the files."""
        self._words.reset()
        with self._lock(), self._mutex:
            self._vectors.close()
            self._vectors.keep_only(Vectored())

    # -- searching

    def search(
        self,
        query: Query,
        *,
        where: Filter | None = None,
        depth: int = DEPTH,
        extra: Sequence[Row] = (),
        vector: Floats | None = None,
    ) -> list[Candidate]:
        """Return candidates by words, best first, with their similarity; then those that only `vector` found."""
        found = self._words.search(query, where=where, depth=depth, extra=extra)
        if vector is None:
            return found
        replaced = {row.id for row in extra}
        try:
            near = self._near(vector, [one for one in found if one.row.id not in replaced], where, depth)
        except IndexUnavailable as error:
            self._mend(error)
            return found
        joined = [
            msgspec.structs.replace(one, similarity=near.pop(one.row.id)[1]) if one.row.id in near else one
            for one in found
        ]
        more = [(row, similarity) for row, similarity in near.values() if row.id not in replaced]
        more.sort(key=lambda pair: (-pair[1], pair[0].id))
        return joined + [
            msgspec.structs.replace(candidate(row, 0.0), similarity=similarity) for row, similarity in more
        ]

    def _near(
        self, vector: Floats, found: Sequence[Candidate], where: Filter | None, depth: int
    ) -> dict[str, tuple[Row, float]]:
        """Return the nearest rows, and those found by words that have a vector, by id, with their similarities."""
        allowed = where or Filter()
        with self._mutex:
            for _ in range(3):  # again when another process gave the places another meaning meanwhile
                about = self._look().about
                if about.kind != self._vectors.kind or not about.size or about.dimension != vector.size:
                    return {}
                nearest = self._vectors.search(about, vector, where=allowed, depth=depth, dead=self._dead)
                stored = self.rows.numbered([one.num for one in nearest])
                known = self.rows.places(one.row.id for one in found)
                if self._placing.about().generation == about.generation:
                    break
            else:
                return {}
            near = {
                stored[one.num].row.id: (stored[one.num].row, one.similarity)
                for one in nearest
                if one.num in stored
                and stored[one.num].place == one.place
                and allowed.allows(stored[one.num].row)
            }
            lacking = known.keys() - near.keys()
            rest = {known[one.row.id][0]: one.row for one in found if one.row.id in lacking}
            places = dict(known[name] for name in lacking)
            for num, similarity in self._vectors.similarities(about, vector, places=places).items():
                near[rest[num].id] = rest[num], similarity
        return near

    def _look(self) -> Seen:
        """Return what the vectors are now, with the list of dead places brought up to it."""
        seen = self._placing.look(self._seq)
        if seen.about.generation != self._generation:
            self._dead, self._generation = [], seen.about.generation
        self._dead += seen.dead
        self._seq = seen.seq
        return seen

    def meaning(self, text: str) -> Floats | None:
        """Return the vector of a query, None while no row has one or the embedder is another or cannot be used."""
        about = self._placing.about() if self._meaning.embedder is not None else Vectored()
        if not about.size or about.kind != self._vectors.kind:
            return None
        try:
            vector = self._meaning.query(text)
            ours = vector is not None and same_model(about.fingerprint, self._meaning.fingerprint())
        except EmbedderFailed as error:
            self._note(str(error))
            return None
        return vector if ours else None

    # -- making vectors

    def embed(self, *, deadline: float | None = None) -> None:
        """Give vectors to rows that have none, newest first."""
        if self._meaning.embedder is None or self.rows.in_memory:
            return
        try:
            self._fill(deadline)
        except EmbedderFailed as error:
            self._note(str(error))
        except IndexUnavailable as error:
            self._mend(error)
        except (Busy, StoreUnwritable):
            pass  # another process is storing, or nothing can be stored; these rows are embedded the next time

    def _fill(self, deadline: float | None) -> None:
        """Embed batch after batch until every row was tried, or time is up. Raises EmbedderFailed, Busy."""
        below = None
        # With time, whose vectors there are is looked at even when no row lacks one.
        about = self._ready(bounded=False) if deadline is None else None
        trouble: EmbedderFailed | None = None
        while (count := self._affordable(deadline)) and (
            noted := self._placing.lacking(count, **({} if below is None else {"below": below}))
        ):
            about = about or self._ready(bounded=True)
            if about is None:
                return
            below = noted[-1].num
            made = self._meaning.vectors([documents.spoken(one.row) for one in noted])
            trouble = made.trouble or trouble
            lock = self._lock if deadline is None else self._at_once
            if made.at and not self._store(about, [noted[at] for at in made.at], made.matrix, lock=lock):
                return  # another process began anew
            if made.trouble is not None and not made.trouble.at:
                raise made.trouble
        if trouble is not None:
            raise trouble
        if deadline is None:
            self._note("")
            self._tidy()
        elif about is not None and not self._placing.lacking(1):
            self._note("")

    def _affordable(self, deadline: float | None) -> int:
        """Return how many rows to embed next."""
        if deadline is None:
            return TOGETHER
        return min(BATCH, self._meaning.within(deadline - time.monotonic() - STORING))

    def _ready(self, *, bounded: bool) -> Vectored | None:
        """Return what the vectors are, begun anew when they are another embedder's; None when there is no time.

        Only a run with time lets vectors go: two processes with two embedders would do so to each other at each recall.
        """
        about = self._placing.about()
        if self._are_ours(about):
            return about
        if bounded and about.size:
            return None
        with (self._at_once if bounded else self._lock)(), self._mutex:
            about = self._placing.about()
            return about if self._are_ours(about) else self._emptied()

    def _are_ours(self, about: Vectored) -> bool:
        return (
            about.kind == self._vectors.kind
            and about.dimension == self._dimension()
            and same_model(about.fingerprint, self._meaning.fingerprint())
        )

    def _dimension(self) -> int:
        return self._meaning.embedder.dimension if self._meaning.embedder is not None else 0

    def _emptied(self) -> Vectored:
        """Begin anew, under the index lock: no row has a vector, and what held the old ones is removed."""
        about = self._vectors.empty(fingerprint=self._meaning.fingerprint(), dimension=self._dimension())
        self._placing.forget(about)
        self._vectors.close()
        self._vectors.keep_only(about)
        return about

    def _mend(self, trouble: IndexUnavailable) -> None:
        """Note what is wrong, and let damaged vectors go: rows are embedded again when there is time.

        A full disk or a server out of reach is no damage: what is there is kept.
        """
        self._note(str(trouble))
        try:
            with self._at_once(), self._mutex:
                if not self._vectors.sound(self._placing.about()):
                    self._emptied()
        except (Busy, EmbedderFailed, IndexUnavailable, StoreUnwritable) as error:
            self._note(str(error))

    def _store(self, about: Vectored, noted: Sequence[Numbered], matrix: Floats, *, lock: Lock) -> bool:
        """Append vectors and give the rows their places; False when what they were made for is no longer there."""
        with lock(), self._mutex:
            now = self._placing.about()
            if now.generation != about.generation:
                return False
            kept, places = self._vectors.add(now, [(one.num, one.row) for one in noted], matrix=matrix)
            self._placing.place(noted, places, about=kept)
            return True

    def _tidy(self) -> None:
        """Let go of the places of vectors that no row owns any more, once they are many."""
        with self._lock(), self._mutex:
            about = self._look().about
            if about.kind != self._vectors.kind:
                return
            done = self._vectors.tidy(about, self._dead)
            if done is None:
                return
            if done.moved is None:
                self._placing.bury(self._dead, done.about)
            else:
                self._placing.move(done.moved, done.about)
            self._vectors.close()
            self._vectors.keep_only(done.about)

    def _note(self, trouble: str) -> None:
        """Keep why rows have no vector, for `trouble`."""
        with suppress(Busy, IndexUnavailable):  # a search does not fail for want of a note
            if self.rows.meta(TROUBLE) != trouble:
                self.rows.set_meta(TROUBLE, trouble)
