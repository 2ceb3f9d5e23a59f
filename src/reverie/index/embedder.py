"""What turns texts into vectors, as the index sees it.

Owns the protocol of an embedder and the shape of its vectors; promises that what passes `unit_rows` is one finite
float32 row of length one for each text; never loads an embedder (`index.embed.choosing` does) and imports numpy only
when there are vectors to look at.
"""

from __future__ import annotations

import base64
import hashlib
import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]  # [texts, dimension], each row of length one

BATCH: Final = 64  # texts asked of an embedder at once, and the most that a failure costs
LONGEST: Final = 8_000  # characters of a text that an embedder sees; what follows changes no vector
# Of varied scripts and kinds, so that another model, tokeniser or preparation of the text shows itself.
PROBE: Final = "The second café on Elm Street, 2026-11-30: 我们在那里见面。 Встретимся там? snake_case v2.1"
PREPARED: Final = "1"  # how `shortened` prepares a text; another way makes other vectors of the same weights
_NUMBERS: Final = 256  # of the probe's vector that a fingerprint keeps
_LARGEST: Final = 127
_SAME: Final = (
    0.999  # cosine of two probes of one model; runs of one server differ by less than a tenth of this
)


class Embedder(Protocol):
    """Turns texts into vectors that lie near each other when the texts mean alike.

    Making one loads nothing and asks nobody; the first use does. Safe to use from one thread at a time.
    """

    @property
    def name(self) -> str:
        """What the setting `embedder` calls it, `auto` already decided."""

    @property
    def dimension(self) -> int:
        """How long each vector is; may load the model or ask the server. Raises EmbedderFailed."""

    def fingerprint(self) -> str:
        """Return what tells its vectors from all others', by content and never by name alone.

        Compare two by `same_model`. May load the model or ask the server. Raises EmbedderFailed.
        """

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row of length one for each text, in order: float32, `[len(texts), dimension]`.

        `query` says that the texts are asked, not stored; some models prepare them differently. Any number of texts,
        of any length and content, the empty one included. Raises EmbedderFailed, whose `at` names the texts that are
        themselves at fault: the others can be embedded without them.
        """


def shortened(texts: Sequence[str]) -> list[str]:
    """Return the texts as an embedder may see them: cut to `LONGEST`, encodable, and never without a character."""
    return [_encodable(text[:LONGEST]) if text.strip() else "." for text in texts]


def unit_rows(made: Any, count: int, *, name: str, dimension: int = 0) -> Vectors:  # noqa: ANN401 - from outside
    """Return what an embedder gave as `count` rows of length one; `dimension` 0 takes any.

    Raises EmbedderFailed when it is not that many rows, or rows of another dimension, and, naming the rows in `at`,
    when some hold what is no finite number or nothing but zeros.
    """
    import numpy as np

    try:
        with np.errstate(over="ignore"):
            rows = np.asarray(made, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbedderFailed(f"{name} gave no vectors but {type(made).__name__}", kind="unusable") from error
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] == 0:  # noqa: PLR2004 - rows and columns
        raise EmbedderFailed(f"{name} gave an array {rows.shape} for {count} texts", kind="unusable")
    if dimension and rows.shape[1] != dimension:
        raise EmbedderFailed(
            f"{name} gave vectors of {rows.shape[1]} numbers and of {dimension} before: another model answers there;"
            " run `reverie reindex`",
            kind="unusable",
        )
    with np.errstate(invalid="ignore"):
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    wrong = np.flatnonzero(~np.isfinite(lengths) | (lengths < np.finfo(np.float32).tiny))
    if wrong.size:
        raise EmbedderFailed(
            f"{name} gave no usable vector for {wrong.size} of {count} texts",
            kind="unusable",
            at=tuple(int(place) for place in wrong),
        )
    unit: Vectors = (rows / lengths[:, None]).astype(np.float32)
    return unit


def fingerprint_of(*hashes: str) -> str:
    """Return the fingerprint of weights whose hashes are known, and of how texts are prepared for them."""
    return hashlib.sha256("\n".join((PREPARED, *hashes)).encode()).hexdigest()[:32]


def probed(vectors: Vectors) -> str:
    """Return the fingerprint of weights that nobody can read: the dimension, and the vector of `PROBE`, rounded."""
    import numpy as np

    row = vectors[0]
    some = row[np.linspace(0, row.size - 1, min(row.size, _NUMBERS)).astype(int)]
    rounded = np.rint(some * (_LARGEST / max(float(np.abs(some).max()), 1e-9))).astype(np.int8)
    return f"probe:{row.size}:{base64.b64encode(rounded.tobytes()).decode()}"


def same_model(one: str, other: str) -> bool:
    """Whether two fingerprints are of one model: equal, or of probes that lie as near as two runs of a server do.

    A server's numbers differ a little from run to run and machine to machine; that must not embed everything anew.
    """
    if one == other:
        return bool(one)
    first, second = (_probe(fingerprint) for fingerprint in (one, other))
    if first is None or second is None or first[0] != second[0]:
        return False
    lengths = math.sqrt(_product(first[1], first[1]) * _product(second[1], second[1]))
    return lengths > 0 and _product(first[1], second[1]) / lengths >= _SAME


def _probe(fingerprint: str) -> tuple[str, array[int]] | None:
    """Return the dimension and the numbers of a probe's fingerprint, None for any other."""
    kind, _, rest = fingerprint.partition(":")
    dimension, _, numbers = rest.partition(":")
    if kind != "probe":
        return None
    try:
        return dimension, array("b", base64.b64decode(numbers, validate=True))
    except ValueError:
        return None


def _product(one: Sequence[int], other: Sequence[int]) -> float:
    return float(sum(a * b for a, b in zip(one, other, strict=False)))  # one dimension: equally long


def _encodable(text: str) -> str:
    """Return the text without what no encoder takes: half surrogate pairs and the NUL character."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
