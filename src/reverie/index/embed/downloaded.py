"""Embedders whose weights a library loads: fastembed and sentence-transformers.

Owns how each is loaded and asked, and which of their errors mean what; promises that neither is imported before the
first embedding, that a model which the setting names by a whole path is loaded from that folder and nothing of it is
fetched, and that onnxruntime reports nothing about this machine; never chooses a model: the setting names it.

A model named otherwise is fetched when it is first used. Where a library keeps it is the library's own affair
(`FASTEMBED_CACHE_PATH`, `HF_HOME`), outside the workspace.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from reverie.errors import EmbedderFailed, ModelTrouble
from reverie.index.embed.folders import Output, folder_of, model_file, pooling
from reverie.index.embedder import BATCH, PROBE, probed, shortened, unit_rows

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.index.embedder import Vectors

Encode = Callable[[Sequence[str], bool], Any]  # (texts, query) -> rows

_USUAL: Final = (
    OSError,
    ValueError,
    RuntimeError,
    LookupError,
    TypeError,
    AttributeError,
    ImportError,
    MemoryError,
)
# Where libraries beneath these two keep errors of their own, which no common class of Python's covers.
_THEIRS: Final = (
    ("httpx", ("HTTPError", "InvalidURL")),
    ("httpx2", ("HTTPError", "InvalidURL")),
    (
        "onnxruntime.capi.onnxruntime_pybind11_state",
        (
            "Fail",
            "InvalidArgument",
            "InvalidGraph",
            "InvalidProtobuf",
            "NoModel",
            "NoSuchFile",
            "NotImplemented",
            "RuntimeException",
        ),
    ),
)


def _load_fastembed(model: str) -> Encode:
    # Read once, when onnxruntime is imported: it would else write an id of this machine and queue what it saw.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from fastembed import TextEmbedding

    folder = folder_of(model)
    embedding = TextEmbedding(model_name=model) if folder is None else _load_folder(folder)

    def encode(texts: Sequence[str], query: bool) -> Any:  # noqa: ANN401, FBT001 - what numpy takes; see Encode
        made = embedding.query_embed(list(texts)) if query else embedding.passage_embed(list(texts))
        return list(made)

    return encode


def _load_folder(folder: Path) -> Any:  # noqa: ANN401 - fastembed's TextEmbedding
    """Load an ONNX model from a folder; raises OSError or ValueError for one that holds none."""
    file = model_file(folder)
    import onnxruntime as ort
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    quick = ort.SessionOptions()  # only to be asked for its outputs
    quick.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(folder / file, quick, providers=["CPUExecutionProvider"])
    outputs = tuple(Output(one.name, len(one.shape)) for one in session.get_outputs())
    way, output = pooling(folder, outputs)
    # The library keeps a list of such models, by name, as long as the process lives.
    name = f"{folder}/{file}:{way}:{output}"
    if all(known["model"].lower() != name.lower() for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            name,
            pooling=PoolingType(way),
            normalization=False,  # `unit_rows` does it
            sources=ModelSource(url=folder.as_uri()),
            dim=1,  # what the library would tell of it; nobody asks
            model_file=file,
            output_name=output,
        )
    # A place for what it fetches is made before it looks whether it must fetch anything.
    return TextEmbedding(
        name, cache_dir=str(folder), specific_model_path=str(folder), local_files_only=True, cuda=False
    )


def _load_sentence_transformers(model: str) -> Encode:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # one of its backends is onnxruntime
    from sentence_transformers import SentenceTransformer

    folder = folder_of(model)
    if folder is not None and not folder.is_dir():  # else it is taken for a name, and asked for elsewhere
        raise FileNotFoundError(f"there is no folder {folder}")
    transformer = (
        SentenceTransformer(model)
        if folder is None
        else SentenceTransformer(str(folder), local_files_only=True)
    )

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
            with _Failing(f"{self.name} failed: {{}}", kind="unusable"):
                made = encode(texts, query)
        return unit_rows(made, len(texts), name=self.name, dimension=dimension)

    def _loaded(self) -> Encode:
        remedy = (
            "check its name, and that it can be downloaded once or lies in the library's cache"
            if folder_of(self._model) is None
            else "check the path, and that the folder holds the whole model"
        )
        try:
            with _Failing(
                f"the model of {self.name} cannot be loaded ({{}}); {remedy}", kind="no_such_model"
            ):
                return LIBRARIES[self._library](self._model)
        except ModuleNotFoundError as error:
            raise EmbedderFailed(
                f"the embedder {self.name} needs {error.name}; run `pip install 'reverie[{self._library}]'`",
                kind="missing",
            ) from error


class _Failing:
    """Turns what a library raises into EmbedderFailed.

    Not by an `except`: a part of theirs written in another language raises the bare class `Exception`, and to catch
    that would catch everything.
    """

    def __init__(self, sentence: str, *, kind: ModelTrouble) -> None:
        """Say `sentence`, with what the library said in the place of `{}`."""
        self._sentence, self._kind = sentence, kind

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Raise ours instead of theirs; an error of another class goes on as it is."""
        if isinstance(error, ModuleNotFoundError):
            return
        if isinstance(error, _failures()) or (isinstance(error, Exception) and type(error) is Exception):
            raise EmbedderFailed(self._sentence.replace("{}", _short(error)), kind=self._kind) from error


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


def _short(error: BaseException) -> str:
    """Return the first line of what a library says, cut."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
