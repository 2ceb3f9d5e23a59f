"""An embedder as the index uses it: how fast it is, what it was asked last, and when to leave it alone.

Owns the pace of one embedder and its failures; promises that a query is embedded once however many indexes are asked
it, that a text which cannot be embedded costs the others nothing, and that an embedder that failed is left alone for a
while, so that no recall waits for a server that is down; loads nothing before it is asked for a vector.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.errors import EmbedderFailed
from reverie.index.embedder import BATCH, Embedder

if TYPE_CHECKING:
    from reverie.index.protocol import Floats

RESTS: Final = 60.0  # seconds without a query to an embedder that failed


class Made(NamedTuple):
    """Vectors of some texts: which of them, by position, and one row for each; and why others have none."""

    at: list[int]
    matrix: Floats
    trouble: EmbedderFailed | None


class Meaning:
    """One embedder, or none, shared by the indexes that are asked together."""

    def __init__(self, embedder: Embedder | None, *, close: Callable[[], None] = lambda: None) -> None:
        """Use `embedder`; None means that words stand alone. `close` closes what it has open."""
        self.embedder, self.close = embedder, close
        self.known = ""  # its fingerprint, once asked for
        self._asked: tuple[str, Floats] | None = None
        self._pace: float | None = None
        self._resting = float("-inf")

    def fingerprint(self) -> str:
        """Return what tells the embedder's vectors from all others'; empty without one. Raises EmbedderFailed."""
        if self.embedder is not None and not self.known:
            self.known = self.embedder.fingerprint()
        return self.known

    def within(self, seconds: float) -> int:
        """Return how many texts can be embedded in that time; 0 while no vector was made, for that takes longest."""
        return int(seconds / self._pace) if self._pace else 0

    def query(self, text: str) -> Floats | None:
        """Return the vector of a query, None while the embedder rests. Raises EmbedderFailed."""
        if self.embedder is None or time.monotonic() < self._resting:
            return None
        if self._asked is None or self._asked[0] != text:
            try:
                self.fingerprint()  # loads what must be loaded, so that the pace below is that of embedding
                self._asked = text, self._paced([text], query=True)[0]
            except EmbedderFailed:
                self._resting = time.monotonic() + RESTS
                raise
        return self._asked[1]

    def vectors(self, texts: Sequence[str]) -> Made:
        """Return the vectors of stored texts, as many of them as can be made."""
        import numpy as np

        at: list[int] = []
        parts: list[Floats] = []
        trouble: EmbedderFailed | None = None
        for start in range(0, len(texts), BATCH):
            places = list(range(start, min(start + BATCH, len(texts))))
            try:
                try:
                    parts.append(self._paced([texts[place] for place in places]))
                except EmbedderFailed as error:
                    if not error.at:
                        raise
                    trouble = error
                    refused = set(error.at)
                    places = [place for at_, place in enumerate(places) if at_ not in refused]
                    if places:
                        parts.append(self._paced([texts[place] for place in places]))
            except EmbedderFailed as error:
                trouble = error
                break
            at += places
        matrix: Floats = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
        return Made(at, matrix, trouble)

    def _paced(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """Return the vectors and remember how long one took."""
        if self.embedder is None:
            raise EmbedderFailed("there is no embedder")
        began = time.monotonic()
        made = self.embedder.embed(texts, query=query)
        self._pace = max((time.monotonic() - began) / max(len(texts), 1), 1e-6)
        return made
