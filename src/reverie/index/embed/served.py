"""Embedders behind HTTP: any server with OpenAI's `/embeddings`, and Ollama's `/api/embed`.

Owns what is sent and how a reply is read; promises that one answer takes no longer and is no larger than allowed, that
a text or a key goes to the address of the setting alone (no redirect is followed), and that no message holds a key;
never keeps what was sent.

A server that does not answer is left alone for a while, so that each recall does not wait for it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from reverie.errors import EmbedderFailed
from reverie.index.embed.posting import Refused, post
from reverie.index.embedder import BATCH, PROBE, probed, shortened, unit_rows

if TYPE_CHECKING:
    from reverie.index.embedder import Vectors

QUERY_SECONDS: Final = 10.0  # the most a question waits; whoever asks has keyword search meanwhile
REST_SECONDS: Final = 30.0  # how long a server that did not answer is left alone
FAULTY: Final = 4  # refused texts of one batch, above which the server is at fault and not they


class _Row(msgspec.Struct):
    embedding: list[float]
    index: int = -1


class _OpenAI(msgspec.Struct):
    data: list[_Row]


class _Ollama(msgspec.Struct):
    embeddings: list[list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One way of asking: where, with what beside the texts, how the reply is read, and what helps if it is none."""

    path: str
    also: dict[str, Any]
    read: Callable[[bytes], list[list[float]]]
    absent: str


def _read_openai(body: bytes) -> list[list[float]]:
    rows = msgspec.json.decode(body, type=_OpenAI).data
    if sorted(row.index for row in rows) == list(range(len(rows))):
        rows.sort(key=lambda row: row.index)
    return [row.embedding for row in rows]


def _read_ollama(body: bytes) -> list[list[float]]:
    return msgspec.json.decode(body, type=_Ollama).embeddings


WIRES: Final = {
    "openai": Wire(
        path="/embeddings",
        also={"encoding_format": "float"},
        read=_read_openai,
        absent="check the model's name and embedders.base_url, which mostly ends in /v1",
    ),
    "ollama": Wire(
        path="/api/embed", also={"truncate": True}, read=_read_ollama, absent="run `ollama pull` for it"
    ),
}


class Served:
    """The embedder of one model of one server; safe to use from several threads.

    `clock` counts seconds.
    """

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        url: str,
        key: str = "",
        timeout: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Bind to a model behind `url`, asked with `key`; `kind` is a key of WIRES, `timeout` in seconds."""
        self.name = f"{kind}:{model}"
        self._model, self._wire = model, WIRES[kind]
        self._url, self._key, self._timeout = url.rstrip("/") + self._wire.path, key, timeout
        self._clock = clock
        self._mutex = threading.Lock()
        self._probe: Vectors | None = None
        self._resting: tuple[float, str] | None = None

    @property
    def dimension(self) -> int:
        """How long each vector is; asks the server once."""
        return int(self._probed().shape[1])

    def fingerprint(self) -> str:
        """Return what the vector of the probe says of the model behind the address; asks the server once."""
        return probed(self._probed())

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row of length one for each text; raises EmbedderFailed."""
        import numpy as np

        dimension = self.dimension
        prepared = shortened(texts)
        rows = np.empty((len(prepared), dimension), dtype=np.float32)
        faulty: dict[int, str] = {}
        for first in range(0, len(prepared), BATCH):
            places = range(first, min(first + BATCH, len(prepared)))
            for place, row in self._each(prepared, places, query=query, faulty=faulty):
                rows[place] = row
        if faulty:
            reason = next(iter(faulty.values()))
            message = f"{self.name} refuses {len(faulty)} of {len(prepared)} texts: {reason}"
            raise EmbedderFailed(message, kind="refused", at=tuple(sorted(faulty)))
        return rows

    def _probed(self) -> Vectors:
        if self._probe is None:
            try:
                self._probe = self._asked([PROBE], query=True, dimension=0)
            except Refused as refused:
                raise EmbedderFailed(f"{self.name}: {refused}", kind="refused") from refused
        return self._probe

    def _each(
        self, texts: Sequence[str], places: range, *, query: bool, faulty: dict[int, str]
    ) -> list[tuple[int, Any]]:
        """Return the vectors of the texts at `places`; a batch that is refused is halved until the text is found."""
        try:
            asked = [texts[place] for place in places]
            return list(zip(places, self._asked(asked, query=query, dimension=self.dimension), strict=True))
        except Refused as refused:
            if len(places) == 1:
                faulty[places[0]] = str(refused)
                if len(faulty) > FAULTY:
                    message = f"{self.name} refuses one text after the other: {refused}"
                    raise EmbedderFailed(message, kind="unusable") from refused
                return []
        middle = len(places) // 2
        halves = (places[:middle], places[middle:])
        return [pair for half in halves for pair in self._each(texts, half, query=query, faulty=faulty)]

    def _asked(self, texts: Sequence[str], *, query: bool, dimension: int) -> Vectors:
        """Return the vectors of one request; raises Refused when the texts may be at fault."""
        body = msgspec.json.encode({"model": self._model, "input": list(texts), **self._wire.also})
        wait = min(self._timeout, QUERY_SECONDS) if query else self._timeout
        with self._mutex:
            reply = self._reply(body, texts=len(texts), wait=wait)
        try:
            made = self._wire.read(reply)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused(f"its reply cannot be read ({error})") from error
        try:
            return unit_rows(made, len(texts), name=self.name, dimension=dimension)
        except EmbedderFailed as error:
            if error.at:
                raise Refused(str(error)) from error
            raise

    def _reply(self, body: bytes, *, texts: int, wait: float) -> bytes:
        if self._resting is not None and self._clock() < self._resting[0]:
            raise EmbedderFailed(f"{self._resting[1]}; it is tried again shortly", kind="down")
        self._resting = None
        try:
            return post(self._url, body, key=self._key, wait=wait, texts=texts)
        except EmbedderFailed as error:
            message = f"{self.name}: {error}"
            if error.kind in {"down", "timeout", "limit"}:
                self._resting = (self._clock() + REST_SECONDS, message)
            if error.kind == "no_such_model":
                message += f"; {self._wire.absent}"
            raise EmbedderFailed(message, kind=error.kind) from error
