"""A server that speaks just enough of the OpenAI API to answer, or to misbehave in one of many ways."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Act = Callable[["Call"], None]


class Call(BaseHTTPRequestHandler):
    """One request to the server; `act` of the server decides what is answered."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Read the question, keep it, and act."""
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(self.body)
        self.server.keys.append(self.headers.get("authorization", ""))
        self.server.next()(self)

    def send(self, data: bytes, *, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        """Answer with these bytes."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """The server, on a free port; `acts` in turn say what is done with each request, the last one for ever."""

    daemon_threads = True

    def __init__(self, *acts: Act) -> None:
        """Listen; the acts are taken in turn."""
        super().__init__(("127.0.0.1", 0), Call)
        self.acts: list[Act] = list(acts)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.over = threading.Event()

    def __enter__(self) -> Self:
        """Serve in a thread."""
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and let go of whoever is kept waiting."""
        self.over.set()
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        """The address that `models.base_url` takes."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next(self) -> Act:
        """Return what to do now."""
        return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a client that hung up go."""


def completion(content: str | None, *, finish: str = "stop", **message: Any) -> bytes:
    """Return a chat completion as OpenAI writes it."""
    told = {"role": "assistant", "content": content, **message}
    return json.dumps(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": "test",
            "choices": [{"index": 0, "message": told, "finish_reason": finish}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    ).encode()


def says(content: str | None, *, finish: str = "stop", **message: Any) -> Act:
    """Answer with a completion."""
    return lambda call: call.send(completion(content, finish=finish, **message))


def fails(status: int, *, code: str = "", message: str = "no", **headers: str) -> Act:
    """Answer with an error of the API, which repeats a key as some do."""
    error = {"error": {"message": f"{message} sk-secret-part", "type": "x", "code": code or None}}
    return lambda call: call.send(json.dumps(error).encode(), status=status, **headers)


def page(call: Call) -> None:
    """Answer with a page for people."""
    call.send(b"<!doctype html><html><body>Sign in</body></html>", kind="text/html; charset=utf-8")


def hangs(call: Call) -> None:
    """Take the question and never answer."""
    call.server.over.wait(30)
    call.close_connection = True


def trickles(call: Call) -> None:
    """Begin an answer and send a byte of it every now and then, so that no single wait is long."""
    call.send_response(200)
    call.send_header("content-type", "application/json")
    call.send_header("content-length", "100000")
    call.end_headers()
    until = time.monotonic() + 30
    while not call.server.over.wait(0.02) and time.monotonic() < until:
        call.wfile.write(b" ")
    call.close_connection = True


def breaks_off(call: Call) -> None:
    """Send half of an answer and hang up."""
    data = completion("half")
    call.send_response(200)
    call.send_header("content-type", "application/json")
    call.send_header("content-length", str(len(data)))
    call.end_headers()
    call.wfile.write(data[: len(data) // 2])
    call.close_connection = True


def floods(call: Call) -> None:
    """Send ten megabytes in one answer, in chunks whose number nobody announced."""
    call.send_response(200)
    call.send_header("content-type", "application/json")
    call.send_header("transfer-encoding", "chunked")
    call.end_headers()
    chunk = b"x" * 100_000
    for _ in range(100):
        call.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
    call.wfile.write(b"0\r\n\r\n")


def sends(data: bytes, *, kind: str = "application/json") -> Act:
    """Answer with these bytes."""
    return lambda call: call.send(data, kind=kind)


def in_turn(acts: Iterable[Act]) -> Server:
    """Return a server that does one after another."""
    return Server(*acts)
