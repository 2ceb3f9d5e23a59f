"""Embedders whose weights a library fetches when a model is first used: fastembed and sentence-transformers.

Owns how each is loaded and asked, and which of their errors mean what; promises that neither is imported before the
first embedding, and that onnxruntime reports nothing about this machine; never chooses a model: the setting names it.

Where a library keeps what it fetched is its own affair (`FASTEMBED_CACHE_PATH`, `HF_HOME`), outside the workspace.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from reverie.errors import EmbedderFailed
from reverie.index.embedder import BATCH, PROBE, probed, shortened, unit_rows

if TYPE_CHECKING:
    from reverie.index.embedder import Vectors

Encode = Callable[[Sequence[str], bool], Any]  # (texts, query) -> rows

_USUAL: Final = (OSError, ValueError, RuntimeError, KeyError, TypeError, ImportError, MemoryError)
# Where libraries beneath these two keep errors of their own, which no common class of Python's covers.
_THEIRS: Final = (
    ("httpx", ("HTTPError", "InvalidURL")),
    ("httpx2", ("HTTPError", "InvalidURL")),
    (
        "onnxruntime.capi.onnxruntime_pybind11_state",
        ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "RuntimeException"),
    ),
)


def _load_fastembed(model: str) -> Encode:
    # Read once, when onnxruntime is imported: it would else write an id of this machine and queue what it saw.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from fastembed import TextEmbedding

    embedding = TextEmbedding(model_name=model)

    def encode(texts: Sequence[str], query: bool) -> Any:  # noqa: ANN401, FBT001 - what numpy takes; see Encode
        made = embedding.query_embed(list(texts)) if query else embedding.passage_embed(list(texts))
        return list(made)

    return encode


def _load_sentence_transformers(model: str) -> Encode:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # one of its backends is onnxruntime
    from sentence_transformers import SentenceTransformer

    transformer = SentenceTransformer(model)

    def encode(texts: Sequence[str], query: bool) -> Any:  # noqa: ANN401, FBT001 - what numpy takes; see Encode
        way = transformer.encode_query if query else transformer.encode_document
        return way(list(texts), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)

    return encode


LIBRARIES: Final = {"fastembed": _load_fastembed, "sentence-transformers": _load_sentence_transformers}


class Downloaded:
    """The embedder of one model that a library fetches; safe to use from several threads."""

    def __init__(self, library: str, model: str) -> None:
        """Bind to a model of `fastembed` or `sentence-transformers`, loaded at the first embedding."""
        self.name = f"{library}:{model}"
        self._library, self._model = library, model
        self._encode: Encode | None = None
        self._probe: Vectors | None = None
        self._mutex = threading.Lock()

    @property
    def dimension(self) -> int:
        """How long each vector is; loads the model."""
        return int(self._probed().shape[1])

    def fingerprint(self) -> str:
        """Return what the vector of the probe says of the weights; loads the model."""
        return probed(self._probed())

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row of length one for each text; raises EmbedderFailed."""
        import numpy as np

        prepared = shortened(texts)
        rows = np.empty((len(prepared), self.dimension), dtype=np.float32)
        for first in range(0, len(prepared), BATCH):
            batch = prepared[first : first + BATCH]
            rows[first : first + len(batch)] = self._asked(batch, query=query, dimension=rows.shape[1])
        return rows

    def _probed(self) -> Vectors:
        if self._probe is None:
            self._probe = self._asked([PROBE], query=False, dimension=0)
        return self._probe

    def _asked(self, texts: Sequence[str], *, query: bool, dimension: int) -> Vectors:
        with self._mutex:
            encode = self._encode = self._encode or self._loaded()
            try:
                made = encode(texts, query)
            except _failures() as error:
                raise EmbedderFailed(f"{self.name} failed: {_short(error)}", kind="unusable") from error
        return unit_rows(made, len(texts), name=self.name, dimension=dimension)

    def _loaded(self) -> Encode:
        try:
            return LIBRARIES[self._library](self._model)
        except ModuleNotFoundError as error:
            raise EmbedderFailed(
                f"the embedder {self.name} needs {error.name}; run `pip install 'reverie[{self._library}]'`",
                kind="missing",
            ) from error
        except _failures() as error:
            raise EmbedderFailed(
                f"the model of {self.name} cannot be loaded ({_short(error)}); check its name, and that it can be"
                " downloaded once or lies in the library's cache",
                kind="no_such_model",
            ) from error


def _failures() -> tuple[type[Exception], ...]:
    """Return the classes of errors that loading or asking a model may raise, of the libraries imported by then."""
    theirs = [
        getattr(sys.modules[module], name, None)
        for module, names in _THEIRS
        if module in sys.modules
        for name in names
    ]
    found = [one for one in theirs if isinstance(one, type) and issubclass(one, Exception)]
    return (*_USUAL, *found)


def _short(error: Exception) -> str:
    """Return the first line of what a library says, cut."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
