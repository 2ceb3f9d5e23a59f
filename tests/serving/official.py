"""The official programs for servers of MCP: the inspector's command line, the conformance suite; and a first word."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import npm
import uvicorn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Those that a server of any purpose can pass; the others call tools, prompts and resources made for the suite alone.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def installed() -> Path:
    """Return the folder of both programs, installed when they are not there yet."""
    return npm.installed("node") / ".bin"


def inspected(programs: Path, *words: object) -> Any:
    """Return what the inspector's command line answers to these words."""
    done = subprocess.run(
        [programs / "mcp-inspector-cli", "--cli", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """Serve an application in this process, and give the address of its MCP."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=5))
    door = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join()
        door.close()


def passes(programs: Path, address: str) -> None:
    """Assert that the server at `address` passes each scenario."""
    for scenario in SCENARIOS:
        done = subprocess.run(
            [programs / "conformance", "server", "--url", address, "--scenario", scenario],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (scenario, done.stdout, done.stderr)
        assert ", 0 failed" in done.stdout, (scenario, done.stdout)
