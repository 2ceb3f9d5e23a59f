"""An embedder for tests: deterministic, made of the words of a text, and able to fail when told.

Owns the fake that `reverie.testing` shows; promises the same vectors on every machine, and that texts which share
words, or words that a table calls the same, lie near each other; never serves a memory in earnest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from reverie.errors import EmbedderFailed
from reverie.index.embedder import fingerprint_of, shortened, unit_rows

if TYPE_CHECKING:
    from reverie.index.embedder import Vectors

# A script without spaces has no words to find: each of its characters counts as one.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]|[^\W_]+")


class ToyEmbedder:
    """An embedder that needs no weights: each word adds a direction of its own, drawn from its hash.

    `synonyms` maps a word to the one it counts as. `model` is the name of invented weights: two that differ make
    vectors that do not compare. `fail_at=n` makes the n-th call fail, every one from it on with `forever`; `refuses`
    makes each call fail that holds a text with that word, and name the texts in `at`. `calls` counts the calls, and
    `asked` keeps the texts, in order.

    >>> from reverie.testing import ToyEmbedder
    >>> toy = ToyEmbedder(synonyms={"automobile": "car"})
    >>> car, automobile, tea = toy.embed(["a red car", "a red automobile", "green tea"])
    >>> bool(car @ automobile > 0.99 > 0.5 > car @ tea)
    True
    >>> toy.calls, len(toy.asked)
    (1, 3)
    """

    def __init__(
        self,
        dimension: int = 64,
        *,
        synonyms: Mapping[str, str] | None = None,
        model: str = "toy",
        fail_at: int = 0,
        forever: bool = False,
        refuses: str = "",
    ) -> None:
        """Make an embedder of `dimension` numbers a vector."""
        self.name, self.dimension = model, dimension
        self.calls = 0
        self.asked: list[str] = []
        self._synonyms = dict(synonyms or {})
        self._fail_at, self._forever, self._refuses = fail_at, forever, refuses

    def fingerprint(self) -> str:
        """Return what its vectors are made of: the model, the dimension and the synonyms."""
        return fingerprint_of(self.name, str(self.dimension), *sorted(map(str, self._synonyms.items())))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:  # noqa: ARG002 - both are alike here
        """Return one row of length one for each text; raises EmbedderFailed where it was told to."""
        import numpy as np

        self.calls += 1
        self.asked += texts
        if self._fail_at and (self.calls == self._fail_at or (self._forever and self.calls > self._fail_at)):
            raise EmbedderFailed(f"{self.name} was told to fail at call {self._fail_at}")
        at = tuple(n for n, text in enumerate(texts) if self._refuses and self._refuses in text)
        if at:
            raise EmbedderFailed(f"{self.name} refuses {self._refuses!r}", kind="refused", at=at)
        rows = np.zeros((len(texts), self.dimension), dtype=np.float64)
        for place, text in enumerate(shortened(texts)):
            for word in _WORD.findall(text.casefold()) or [text]:
                rows[place] += self._direction(self._synonyms.get(word, word))
        return unit_rows(rows, len(texts), name=self.name, dimension=self.dimension)

    def _direction(self, word: str) -> list[float]:
        """Return the numbers of a word: bytes of its hash, around zero."""
        size = 64
        seed = f"{self.name}\0{word}".encode()
        blocks = range(-(-self.dimension // size))
        drawn = b"".join(blake2b(seed, digest_size=size, salt=n.to_bytes(2, "big")).digest() for n in blocks)
        return [byte - 127.5 for byte in drawn[: self.dimension]]
