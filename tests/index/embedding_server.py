"""A real server on this machine that embeds, or misbehaves in the way it was told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reverie.testing import ToyEmbedder

Answer = tuple[int, bytes, dict[str, str]]


class Server(ThreadingHTTPServer):
    """Answers each POST with what `answer(path, request)` returns, and keeps what came."""

    daemon_threads = True

    def __init__(self) -> None:
        """Listen on a free port and answer as OpenAI's and Ollama's servers do."""
        super().__init__(("127.0.0.1", 0), Request)
        self.toy = ToyEmbedder(dimension=24)
        self.seen: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.answer: Callable[[str, dict[str, Any]], Answer] = self.embedded
        self.leave = threading.Event()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_port}"

    def vectors(self, request: dict[str, Any]) -> list[list[float]]:
        """Return the vectors asked for, twice as long as they need be: not every server makes unit ones."""
        return [[2 * float(number) for number in row] for row in self.toy.embed(request["input"])]

    def embedded(self, path: str, request: dict[str, Any]) -> Answer:
        """Answer as asked."""
        rows = self.vectors(request)
        if path == "/api/embed":
            return 200, json.dumps({"model": request["model"], "embeddings": rows}).encode(), {}
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        return 200, json.dumps({"object": "list", "data": data[::-1], "usage": {}}).encode(), {}


class Request(BaseHTTPRequestHandler):
    """Hands each request to the server's `answer`."""

    server: Server

    def do_POST(self) -> None:
        """Answer one request; an answer of status 0 is none."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, request, dict(self.headers)))
        status, body, headers = self.server.answer(self.path, request)
        if not status:
            return
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Server]:
    """Serve until the block ends."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.leave.set()
            server.shutdown()
            thread.join()
