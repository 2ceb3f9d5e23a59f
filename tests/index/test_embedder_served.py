"""Embedders behind HTTP, against a real server on this machine that answers well, badly or not at all."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from embedding_server import serving

from reverie.core.settings.value import Settings
from reverie.errors import EmbedderFailed
from reverie.index.embed.served import QUERY_SECONDS, REST_SECONDS, Served
from reverie.index.embedder import BATCH, LONGEST, PROBE, same_model
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from embedding_server import Answer, Server

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that embeds."""
    with serving() as running:
        yield running


def asking(server: Server, kind: str = "openai", **more: Any) -> Served:
    """Return an embedder of the server."""
    return Served(kind, "some-model", url=server.url, key=KEY, **{"timeout": 5.0, **more})


def failure(embedder: Served, texts: list[str] | None = None) -> EmbedderFailed:
    """Return the error of an embedding; no error holds the key."""
    with pytest.raises(EmbedderFailed) as caught:
        embedder.embed(texts or ["tea"])
    assert KEY not in str(caught.value)
    return caught.value


def always(status: int, body: bytes = b"", **headers: str) -> Callable[[str, dict[str, Any]], Answer]:
    """Return an answer that does not depend on what is asked."""
    return lambda _, __: (status, body, headers)


@pytest.mark.parametrize(("kind", "path"), [("openai", "/embeddings"), ("ollama", "/api/embed")])
def test_vectors_come_back_in_order_and_of_length_one(server: Server, kind: str, path: str) -> None:
    """Whatever the order and the length of the server's vectors, each text gets its own, of length one."""
    texts = [f"word{n} and tea" for n in range(BATCH + 5)]
    made = asking(server, kind).embed(texts)
    assert made.shape == (BATCH + 5, 24)
    assert str(made.dtype) == "float32"
    assert abs(made - ToyEmbedder(dimension=24).embed(texts)).max() < 1e-6
    assert {seen[0] for seen in server.seen} == {path}
    assert max(len(seen[1]["input"]) for seen in server.seen) == BATCH


def test_the_key_goes_to_the_server_as_a_token(server: Server) -> None:
    """The key stands in the Authorization header, and without a key there is no such header."""
    asking(server).embed(["tea"])
    assert server.seen[-1][2]["Authorization"] == f"Bearer {KEY}"
    Served("openai", "m", url=server.url).embed(["tea"])
    assert "Authorization" not in server.seen[-1][2]


def test_the_fingerprint_is_of_the_vectors_and_not_of_the_name(server: Server) -> None:
    """Renaming a model or moving the server changes nothing; other weights of the same dimension do (P-15)."""
    first = asking(server).fingerprint()
    with serving() as other:
        assert same_model(first, Served("ollama", "renamed", url=other.url).fingerprint())
        other.toy = ToyEmbedder(dimension=24, model="other weights")
        assert not same_model(first, Served("openai", "some-model", url=other.url).fingerprint())
        other.toy = ToyEmbedder(dimension=25)
        assert not same_model(first, Served("openai", "some-model", url=other.url).fingerprint())


def test_making_one_asks_nobody(server: Server) -> None:
    """A server is asked when the first vector is needed, and for its dimension once."""
    embedder = asking(server)
    assert server.seen == []
    assert (embedder.dimension, embedder.dimension) == (24, 24)
    embedder.fingerprint()
    assert [seen[1]["input"] for seen in server.seen] == [[PROBE]]


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, "auth", "key_variable"), (403, "auth", "key"), (404, "no_such_model", "/v1"),
        (429, "limit", "fewer requests"), (500, "down", "try again"), (503, "down", "try again"),
        (302, "down", "embedders.base_url"), (308, "down", "embedders.base_url"), (400, "refused", "status 400"),
    ],
)  # fmt: skip
def test_each_status_is_a_clear_error(server: Server, status: int, kind: str, said: str) -> None:
    """A status other than success says what happened and what to do, with what the server said about it (R-24)."""
    server.answer = always(
        status, b'{"error": "no\x1b[31m such\nluck"}', Location="http://127.0.0.1:9/elsewhere"
    )
    error = failure(asking(server))
    assert (error.kind, "such luck" in str(error)) == (kind, True)
    assert said in str(error)
    assert str(error).isprintable()


def test_ollama_says_how_a_model_comes(server: Server) -> None:
    """A model that Ollama does not have is an error that names the command."""
    server.answer = always(404, b'{"error": "model not found"}')
    assert "ollama pull" in str(failure(asking(server, "ollama")))


def test_the_servers_wish_to_be_left_alone_is_told(server: Server) -> None:
    """How long a server asks to be left alone stands in the error."""
    server.answer = always(429, b"", **{"Retry-After": "17"})
    assert "17 s" in str(failure(asking(server)))


def test_no_redirect_is_followed(server: Server) -> None:
    """A server cannot send texts and key on to another address."""
    with serving() as other:
        for status in (301, 302, 303, 307, 308):
            server.answer = always(status, Location=f"{other.url}/embeddings")
            failure(asking(server))
        assert other.seen == []


def test_a_server_that_echoes_the_key_does_not_bring_it_into_a_message(server: Server) -> None:
    """What a server says is shown without the key (the error itself is checked by `failure`)."""
    server.answer = always(401, f'{{"error": "Incorrect API key provided: {KEY}"}}'.encode())
    assert "Incorrect API key" in str(failure(asking(server)))


def test_a_key_no_header_can_hold_is_refused(server: Server) -> None:
    """A key with a line break is an error that does not show it, and nothing is sent."""
    embedder = Served("openai", "m", url=server.url, key="secret\r\nX-Other: 1")
    with pytest.raises(EmbedderFailed, match="no header") as caught:
        embedder.embed(["tea"])
    assert "secret" not in str(caught.value)
    assert server.seen == []


def test_a_timeout_is_an_error(server: Server) -> None:
    """S-50: a server that does not answer in the time allowed, 30 seconds by default, is an error of that kind."""
    server.answer = lambda _, __: (0 if server.leave.wait() else 500, b"", {})
    assert failure(asking(server, timeout=0.2)).kind == "timeout"
    assert Settings().embedders.timeout_seconds == 30.0


def test_a_server_that_drips_is_cut_off(server: Server) -> None:
    """An answer that comes byte by byte does not hold the call beyond the time allowed."""
    server.answer = always(200, b"{", **{"Content-Length": "1000000"})
    assert failure(asking(server, timeout=0.5)).kind in {"timeout", "down"}


def test_nobody_listening_is_an_error() -> None:
    """A port without a server is an error that names the address; bound and not listened at, it stays nobody's."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        error = failure(Served("ollama", "m", url=url))
    assert (error.kind, url in str(error)) == ("down", True)


def test_a_server_that_is_down_is_left_alone_for_a_while(server: Server) -> None:
    """After no answer the server is not asked again before the time is over, so that no recall waits for it twice."""
    now = [100.0]
    embedder = asking(server, clock=lambda: now[0])
    server.answer = always(503)
    failure(embedder)
    asked = len(server.seen)
    server.answer = server.embedded
    now[0] += REST_SECONDS - 1
    assert "shortly" in str(failure(embedder))
    assert len(server.seen) == asked
    now[0] += 2
    assert embedder.embed(["tea"]).shape == (1, 24)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"no json", b"[]", b"{}", b'{"data": 3}', b'{"data": []}', b'{"data": [{"index": 0}]}', b"\xff\xfe",
        b'{"data": [{"embedding": "AAAA", "index": 0}]}', b'{"data": [{"embedding": [], "index": 0}]}',
        b'{"data": [{"embedding": [NaN, 1.0], "index": 0}]}', b'{"data": [{"embedding": [null, 1], "index": 0}]}',
        b'{"data": [{"embedding": [0, 0, 0], "index": 0}]}', b'{"data": [{"embedding": [1e300, 1e300], "index": 0}]}',
        b'{"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}]}', b"[" * 5000,
    ],
    ids=lambda body: body[:40].decode("latin-1") or "empty",
)  # fmt: skip
def test_a_reply_that_is_no_vectors_is_an_error(server: Server, body: bytes) -> None:
    """Whatever a server sends in place of vectors is an error with a sentence, before and after it was probed."""
    embedder = asking(server)
    server.answer = always(200, body)
    assert failure(embedder).kind in {"unusable", "refused"}
    server.answer = server.embedded
    embedder.fingerprint()
    server.answer = always(200, body)
    assert failure(embedder).kind in {"unusable", "refused"}


def test_a_reply_of_ten_megabytes_is_an_error(server: Server) -> None:
    """A reply larger than vectors can be is not read to its end."""
    server.answer = always(200, b'{"data": [' + b" " * 10_000_000 + b"]}")
    error = failure(asking(server))
    assert (error.kind, "larger" in str(error)) == ("unusable", True)


def test_a_reply_cut_short_is_an_error(server: Server) -> None:
    """A connection that ends before the reply does is an error, not a shorter reply."""
    server.answer = always(200, b'{"data": []}', **{"Content-Length": "500", "Connection": "close"})
    assert failure(asking(server, timeout=1.0)).kind in {"down", "timeout"}


def test_another_dimension_is_an_error(server: Server) -> None:
    """A server that begins to give vectors of another length is refused: they compare with nothing (P-15)."""
    embedder = asking(server)
    embedder.embed(["tea"])
    server.toy = ToyEmbedder(dimension=12)
    error = failure(embedder)
    assert (error.kind, "12 numbers and of 24" in str(error)) == ("unusable", True)


def test_a_text_the_server_refuses_is_named(server: Server) -> None:
    """One text that the server will not take is found in its batch, and named by position (P-01)."""

    def fussy(path: str, request: dict[str, Any]) -> Answer:
        if any("poison" in text for text in request["input"]):
            return 400, b'{"error": "input is too long"}', {}
        return server.embedded(path, request)

    server.answer = fussy
    texts = [f"word{n}" for n in range(100)]
    texts[17] = texts[80] = "poison"
    error = failure(asking(server), texts)
    assert (error.kind, error.at) == ("refused", (17, 80))
    assert "input is too long" in str(error)


def test_a_text_without_a_usable_vector_is_named(server: Server) -> None:
    """One vector of zeros or of NaN spoils no other: its text is named (R-24)."""

    def blank(_: str, request: dict[str, Any]) -> Answer:
        rows = server.vectors(request)
        spoilt = [
            [float("nan")] * 24 if text == "nan" else [0.0] * 24 if text == "zero" else row
            for text, row in zip(request["input"], rows, strict=True)
        ]
        data = [{"index": n, "embedding": row} for n, row in enumerate(spoilt)]
        return 200, json.dumps({"data": data}).encode(), {}

    server.answer = blank
    error = failure(asking(server), ["tea", "nan", "rice", "zero", "bread"])
    assert error.at == (1, 3)


def test_a_server_that_refuses_everything_is_not_asked_for_each_text(server: Server) -> None:
    """When one text after the other is refused, the server is at fault and the rest is not sent."""
    embedder = asking(server)
    embedder.fingerprint()
    server.answer = always(422)
    before = len(server.seen)
    error = failure(embedder, [f"word{n}" for n in range(BATCH)])
    assert (error.kind, error.at) == ("unusable", ())
    assert len(server.seen) - before < 20


@pytest.mark.parametrize("text", ["", " \n", "x" * 50_000, "a\0b", "\ud800", "\x07\x1b", "🎈" * 3_000])
def test_any_text_gets_a_vector(server: Server, text: str) -> None:
    """Empty, huge, control, undecodable: each text is sent as one that any server takes."""
    assert asking(server).embed([text, "tea"]).shape == (2, 24)
    sent = server.seen[-1][1]["input"][0]
    assert 0 < len(sent) <= LONGEST
    assert "\0" not in sent


def test_no_texts_are_no_request(server: Server) -> None:
    """An empty list gives an empty matrix of the right width."""
    embedder = asking(server)
    embedder.fingerprint()
    assert embedder.embed([]).shape == (0, 24)
    assert len(server.seen) == 1


def test_a_question_waits_less_than_a_batch(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question is given up after QUERY_SECONDS, however long a batch may take."""
    waits: list[float] = []

    def noting(_: str, body: bytes, *, key: str, wait: float, texts: int) -> bytes:
        assert (key, texts) == (KEY, 1)
        waits.append(wait)
        return server.embedded("/embeddings", json.loads(body))[1]

    monkeypatch.setattr("reverie.index.embed.served.post", noting)
    embedder = asking(server, timeout=600.0)
    embedder.embed(["tea"])
    embedder.embed(["tea"], query=True)
    assert waits == [QUERY_SECONDS, 600.0, QUERY_SECONDS]
