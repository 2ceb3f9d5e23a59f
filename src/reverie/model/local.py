"""A model of one's own: llama.cpp's OpenAI-compatible server, in this process, on one file.

Owns starting it; promises that it listens on this machine alone and that nothing is downloaded; never decides which
model is used: the settings name its address like any other server's.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reverie.errors import ModelFailed, UsageError

_QUIET = -1


class LocalServer:
    """A running server; `base_url` is what `models.base_url` takes. It ends when it is closed or the process does.

    >>> from pathlib import Path
    >>> from reverie.model.local import LocalServer
    >>> with LocalServer(Path("small.gguf")) as server:  # doctest: +SKIP
    ...     print(server.base_url)
    http://127.0.0.1:39937/v1
    """

    def __init__(
        self, model: Path, *, port: int = 0, threads: int = 1, context: int = 8_192, name: str = ""
    ) -> None:
        """Load the GGUF file `model` and listen on `port`, 0 for a free one; returns once questions are answered.

        `threads` compute: more than the cores that are free make it many times slower. `context` is how many tokens a
        question and its answer may have together. `name` is what the server calls the model, the file's stem when
        empty. Raises ModelFailed without the extra, UsageError for a file that is no model.
        """
        try:
            import xllamacpp
        except ImportError as error:
            message = "a local model needs a package that is missing: run pip install 'reverie[local]'"
            raise ModelFailed(message, kind="missing") from error
        if not model.is_file():
            message = f"{model} is no file: name a model in the GGUF format"
            raise UsageError(message)
        params = xllamacpp.CommonParams()
        params.model.path = str(model)
        params.model_alias = {name or model.stem}
        params.hostnames = ["127.0.0.1"]
        params.port = port
        params.n_ctx = context
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.verbosity = _QUIET
        params.ui = False
        try:
            self._server: Any = xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            message = f"{model} cannot be loaded: name a model in the GGUF format that fits into the memory"
            raise UsageError(message) from error
        self.base_url = f"{self._server.listening_address}/v1"

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.close()

    def close(self) -> None:
        """Stop it and give its memory back; a second time changes nothing."""
        self._server = None  # the server's own end is that of its last reference
