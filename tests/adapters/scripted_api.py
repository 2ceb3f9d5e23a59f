"""A model's API on this machine that answers by a script: Anthropic's Messages and OpenAI's Responses, streamed."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]
Step = list[Block] | Callable[[], list[Block]]
_PATHS = ("/v1/messages", "/v1/responses")


def text(words: str) -> Block:
    """Return words that the model says."""
    return {"type": "text", "text": words}


def use(tool: str, *, of: str = "", **given: Any) -> Block:
    """Return a call of a tool, `of` a namespace of tools."""
    return {"type": "tool_use", "name": tool, "input": given, **({"namespace": of} if of else {})}


class ScriptedApi:
    """The API: what it answers next, and every request it got.

    A step that is a function is asked when its turn comes; beyond the script the answer is "Noted.". A request that
    neither offers tools nor goes on is an errand of the host, as naming a session is, and takes no step.
    """

    def __init__(self) -> None:
        """Listen on a free port."""
        self.script: deque[Step] = deque()
        self.requests: list[dict[str, Any]] = []
        self.others: list[str] = []
        self._lock, self._count = threading.Lock(), 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def seen(self, place: int = -1) -> str:
        """Return every text that the model was sent with one request."""
        return "\n".join(_texts(self.requests[place]))

    def answer(self, path: str, request: dict[str, Any]) -> list[Block]:
        """Return the events that answer one request."""
        with self._lock:
            thread = request.get("thread") or {}
            asked = bool(request.get("tools")) or thread.get("type") == "continue"
            step: Step = self.script.popleft() if self.script and asked else [text("Noted.")]
            if asked:
                self.requests.append(request)
            self._count += 1
            number = self._count
        said = step() if callable(step) else step
        blocks = [{"id": f"toolu_{number:04}{place}", **one} for place, one in enumerate(said)]
        make = _message if path == _PATHS[0] else _response
        return make(number, str(request.get("model")), blocks)


def _texts(value: Any) -> list[str]:
    """Return every text within a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for one in inner for found in _texts(one)]


def _message(number: int, model: str, blocks: list[Block]) -> list[Block]:
    """Return a message as Anthropic streams it."""
    head = {
        "id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1},
    }  # fmt: skip
    events: list[Block] = [{"type": "message_start", "message": head}]
    for place, one in enumerate(blocks):
        if one["type"] == "text":
            begun: Block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": one["text"]}
        else:
            begun = {**one, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(one["input"])}
        events += [
            {"type": "content_block_start", "index": place, "content_block": begun},
            {"type": "content_block_delta", "index": place, "delta": delta},
            {"type": "content_block_stop", "index": place},
        ]
    why = "tool_use" if any(one["type"] == "tool_use" for one in blocks) else "end_turn"
    ended = {"stop_reason": why, "stop_sequence": None}
    return [
        *events,
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def _response(number: int, model: str, blocks: list[Block]) -> list[Block]:
    """Return a response as OpenAI streams it."""
    items = [_item(number, one) for one in blocks]
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    head = {
        "id": f"resp_{number:04}",
        "object": "response",
        "model": model,
        "status": "in_progress",
        "output": [],
    }
    ended = {**head, "status": "completed", "output": items, "usage": usage}
    told = ("response.output_item.added", "response.output_item.done")
    return [
        {"type": "response.created", "response": head},
        *({"type": kind, "output_index": n, "item": one} for kind in told for n, one in enumerate(items)),
        {"type": "response.completed", "response": ended},
    ]  # fmt: skip


def _item(number: int, one: Block) -> Block:
    """Return the item of a response that a block is."""
    if one["type"] == "text":
        part = {"type": "output_text", "text": one["text"], "annotations": []}
        head = {"type": "message", "id": f"msg_{number:04}", "role": "assistant"}
        return {**head, "status": "completed", "content": [part]}
    return {
        "type": "function_call", "id": f"fc_{one['id']}", "call_id": one["id"], "status": "completed",
        "name": one["name"], "arguments": json.dumps(one["input"]), "namespace": one.get("namespace"),
    }  # fmt: skip


def _handler(api: ScriptedApi) -> type[BaseHTTPRequestHandler]:
    """Return the handler of a server's requests."""

    class Answering(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def do_GET(self) -> None:
            """There is nothing to get."""
            self._other()

        def do_HEAD(self) -> None:
            """There is nothing to look at."""
            self._other()

        def do_POST(self) -> None:
            """Answer a request of a model."""
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            path = self.path.partition("?")[0]
            if path not in _PATHS:
                self._other()
                return
            events = api.answer(path, json.loads(data))
            with suppress(OSError):  # whoever asked may have been killed
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for event in events:
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        def _other(self) -> None:
            if self.command != "HEAD":
                api.others.append(f"{self.command} {self.path}")
            self.send_response(404)
            self.send_header("content-length", "0")
            self.end_headers()

    return Answering
