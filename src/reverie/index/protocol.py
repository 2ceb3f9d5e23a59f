"""What an index is, whatever serves it: the rows it is fed, and the searches over them.

Owns the protocols that steps and feeding are written against, and the two that a backend on this machine fills in:
words and vectors beside `rows.db`. `index.choosing` says which backends there are, and `docs/explanation/index.md` what
each promises. Nothing here names an engine or a database, so that one on a server can fill in `Index` as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from reverie.core.search.query import Query
from reverie.core.search.rows import Candidate, Filter, Row
from reverie.index.documents import Document

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

DEPTH = 64  # candidates a search gives to the ranking, of each kind


class RowStore(Protocol):
    """The rows of one workspace, and how far the files they came from were read."""

    fresh: bool
    """Whether it was begun anew and holds nothing; whoever feeds it sets this back."""

    in_memory: bool
    """Whether nothing could be written, so that the rows are this process's alone for as long as they are open."""

    def get(self, ids: Iterable[str]) -> dict[str, Row]:
        """Return the rows with these ids; an unknown id is left out."""

    def turns(self, session: str, ordinals: range) -> list[Row]:
        """Return the turns of a session with these ordinals (a range without steps), in order."""

    def count(self) -> int:
        """Return how many rows there are."""

    def behind(self) -> int:
        """Return how many rows the index of words has not taken in; a search reads the newest of them itself."""

    def positions(self) -> dict[str, str]:
        """Return each source with the stamp its reader left (what it means is the reader's affair)."""

    def meta(self, key: str) -> str:
        """Return a note about how the rows were made, empty when there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Keep a note about how the rows were made."""

    def upsert(self, rows: Iterable[Row], *, position: tuple[str, str] | None = None) -> None:
        """Add rows, or replace those with the same ids, and note `(source, stamp)`, all or nothing."""

    def replace_source(self, source: str, rows: Iterable[Row], *, stamp: str = "") -> None:
        """Make `rows` the only rows of `source`, all or nothing; an empty `stamp` forgets the source's position."""

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the rows with these ids; an unknown id is no error."""

    def reset(self) -> None:
        """Forget every row and position, so that the files are read again from their start."""


class Index(Protocol):
    """A search index over the rows of one workspace; safe to use from several threads and processes.

    What cannot be used raises IndexUnavailable, what another process holds Busy. A trouble with the embedder is
    neither: words go on serving, and `trouble` says what it is.
    """

    @property
    def rows(self) -> RowStore:
        """The rows that are searched."""

    @property
    def embedder(self) -> str:
        """The name of what makes its vectors, empty for nothing."""

    def search(
        self,
        query: Query,
        *,
        where: Filter | None = None,
        depth: int = DEPTH,
        extra: Sequence[Row] = (),
        vector: Floats | None = None,
    ) -> list[Candidate]:
        """Return candidates for `core.search.rank.rank`: the best by words, and with `vector` the nearest by meaning.

        Every row written before, by any process, is seen. `extra` are rows that stand in no file yet; they win over a
        row of the same id, and have no vector.
        """

    def meaning(self, text: str) -> Floats | None:
        """Return the vector of a query, None while no row has one or the embedder is another or cannot be used."""

    def embed(self, *, deadline: float | None = None) -> None:
        """Give vectors to rows that have none, newest first; `vectorless` says how many are left.

        With a `deadline` (of `time.monotonic`) no model is loaded and nothing is begun that would not end in time.
        """

    def behind(self) -> int:
        """Return how many rows a search cannot see yet."""

    def vectorless(self) -> int:
        """Return how many rows have no vector; 0 without an embedder."""

    def trouble(self) -> str:
        """Return why rows were left without a vector, the last time, as a sentence; empty when none were."""

    def commit(self) -> int:
        """Take every row in that is not yet, and return how many there were; waits for the index lock."""

    def rebuild(self) -> None:
        """Build the index of words again from the rows."""

    def reset(self) -> None:
        """Forget every row, word and vector, to be fed again from the files."""

    def close(self) -> None:
        """Close it; what is not yet taken in stays noted."""


# What a backend beside `rows.db` fills in


class Words(Protocol):
    """An open index of words: documents known by number, scored by BM25 over two views of each."""

    def write(self, batches: Iterable[tuple[Sequence[int], Iterable[Document]]]) -> Iterator[None]:
        """Take in batches of (numbers to let go of, documents to add); yields after each one is kept."""

    def reload(self) -> None:
        """See what another process, or this one, wrote since the last look."""

    def count(self) -> int:
        """Return about how many documents there are."""

    def frequency(self, field: str, term: str) -> int:
        """Return about how many documents hold `term` in `field` (`own` or `window`)."""

    def search(
        self, terms: Sequence[str], where: Filter, *, depth: int, any_words: bool = True
    ) -> dict[int, float]:
        """Return the numbers of the `depth` best documents with their scores.

        Without `any_words`, what passes the filter is found even when it holds none of the terms.
        """


class WordPlace(Protocol):
    """Where an index of words lies. `stamp` names its kind and layout: another one is built again."""

    @property
    def stamp(self) -> str:
        """What built it: kind and layout."""

    def intact(self, checked: str) -> str:
        """Return a note of what was seen, given back as `checked`; raises IndexUnavailable when it is damaged."""

    def open(self, *, fresh: bool = False) -> Words:
        """Open it, or make it anew when `fresh`; raises IndexUnavailable."""


class Vectored(msgspec.Struct, frozen=True, kw_only=True):
    """The vectors there are: whose (`fingerprint`), how long, and how far their files reach.

    Kept in `rows.db`, and written there only after the bytes it speaks of are synced. `generation` goes up whenever
    places change their meaning; `size` counts the places given out; `files` is the store's own note of its files.
    """

    kind: str = ""
    fingerprint: str = ""
    dimension: int = 0
    generation: int = 0
    size: int = 0
    files: tuple[tuple[int, ...], ...] = ()


class Near(NamedTuple):
    """A row near the query: its number, the place its vector lies, and the cosine of the two."""

    num: int
    place: int
    similarity: float


class Tidied(NamedTuple):
    """What tidying did: the note to keep, and where each living place went, None when they stayed where they were."""

    about: Vectored
    moved: Mapping[int, int] | None


class Vectors(Protocol):
    """A store of vectors at places, asked for those near another. Writing needs the index lock, reading none."""

    @property
    def kind(self) -> str:
        """What it is and in which layout: vectors of another kind are made again."""

    def empty(self, *, fingerprint: str, dimension: int) -> Vectored:
        """Begin anew with a generation of its own; what was there before is still served until the note is kept."""

    def add(
        self, about: Vectored, rows: Sequence[tuple[int, Row]], *, matrix: Floats
    ) -> tuple[Vectored, list[int]]:
        """Store one vector for each numbered row, synced, and return the note to keep and their places."""

    def search(
        self, about: Vectored, vector: Floats, *, where: Filter, depth: int, dead: Sequence[int]
    ) -> list[Near]:
        """Return the `depth` nearest that `where` may allow, best first; a place in `dead` is never returned.

        `dead` are all such places of this generation, oldest first. Filter values are compared by hash, so a row that
        does not pass may slip in. Raises IndexUnavailable when the store is damaged.
        """

    def similarities(self, about: Vectored, vector: Floats, *, places: Mapping[int, int]) -> dict[int, float]:
        """Return the cosine for rows (number -> place) whose vectors are there."""

    def tidy(self, about: Vectored, dead: Sequence[int]) -> Tidied | None:
        """Let go of dead places when they weigh; None when they do not."""

    def sound(self, about: Vectored) -> bool:
        """Whether every vector of the note is there as it was written."""

    def keep_only(self, about: Vectored) -> None:
        """Remove what belongs to other generations than the one whose note is kept."""

    def close(self) -> None:
        """Close what is open."""
