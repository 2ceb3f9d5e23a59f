"""A provider on this machine that refuses everything it is asked."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAID = b'{"error": {"message": "no such key", "type": "invalid_request_error"}}'


class Request(BaseHTTPRequestHandler):
    """Answers that the key is none."""

    def do_POST(self) -> None:
        """Refuse."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(_SAID)))
        self.end_headers()
        self.wfile.write(_SAID)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def provider() -> Iterator[str]:
    """Listen for a while, and yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Request) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
