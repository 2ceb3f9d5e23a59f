"""Starting a daemon in a process of its own, and talking to it: by MCP with the official SDK's client, and by HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from reverie.core.records import Draft
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import make_workspace, open_workspace

T = TypeVar("T")
Talk = Callable[[Client], Awaitable[T]]

PATIENCE = 60


@dataclass
class Estate:
    """A home with a root of workspaces, and whichever daemon serves them."""

    home: Path
    daemon: subprocess.Popen[str] | None = None
    told: dict[str, str] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    _reader: threading.Thread | None = None

    @property
    def root(self) -> Path:
        """Where the workspaces lie."""
        return self.home / "root"

    @property
    def config(self) -> Path:
        """The folder of the user's configuration."""
        return self.home / "config"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every process."""
        return {**os.environ, "HOME": str(self.home), "REVERIE_EMBEDDER": "none"}

    def opening(self, name: str, user: str = "") -> Opening:
        """Return how one workspace is opened beside the daemon."""
        return Opening(path=self.root / name, config_dir=self.config, user=user, flags={"zone": "UTC"})

    def make(self, *names: str) -> None:
        """Make workspaces."""
        self.root.mkdir(exist_ok=True)
        for name in names:
            Memory(make_workspace(self.opening(name))).close()

    def memory(self, name: str, user: str = "") -> Memory:
        """Open a workspace beside the daemon, as another process would."""
        return Memory(open_workspace(self.opening(name, user)))

    def remember(self, name: str, text: str) -> str:
        """Remember a text of the user's without the daemon, and return its id."""
        with self.memory(name) as memory:
            return memory.remember(text, Draft(origin="user")).id

    def texts(self, name: str) -> list[str]:
        """Return the texts of all entries."""
        with self.memory(name) as memory:
            return [one.entry.text for one in memory.list()]

    def command(self, *words: str) -> list[str]:
        """Return a command line with this home's configuration."""
        return [sys.executable, "-P", "-m", "reverie", "--config-dir", str(self.config), *words]

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, *words: str) -> dict[str, str]:
        """Start a daemon at a free port, and return what it says once it serves."""
        command = self.command("serve", "--root", str(self.root), "--port", "0", "--json", *words)
        self.daemon = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.daemon.stdout
        first = self.daemon.stdout.readline()
        assert first, self.daemon.stderr and self.daemon.stderr.read()
        self.told = json.loads(first)
        self._reader = threading.Thread(target=self._read, args=(self.daemon,), daemon=True)
        self._reader.start()
        return self.told

    def _read(self, daemon: subprocess.Popen[str]) -> None:
        assert daemon.stderr
        self.log += [json.loads(line) for line in daemon.stderr]

    def end(self, by: signal.Signals = signal.SIGTERM) -> int:
        """End the daemon by a signal and return its exit code."""
        assert self.daemon
        self.daemon.send_signal(by)
        return self.ended()

    def ended(self) -> int:
        """Wait for the daemon's end and return its exit code."""
        daemon, self.daemon = self.daemon, None
        assert daemon
        assert self._reader
        assert daemon.stdout
        code = daemon.wait(PATIENCE)
        self._reader.join(PATIENCE)
        daemon.stdout.close()
        assert daemon.stderr
        daemon.stderr.close()
        return code

    @property
    def token(self) -> str:
        """The token of whoever started the daemon."""
        return Path(self.told["token_file"]).read_text().strip()

    def http(
        self, method: str, path: str, body: object = None, *, token: str | None = None, host: str = ""
    ) -> tuple[int, Any]:
        """Send one request, and return its status and JSON."""
        request = urllib.request.Request(self.told["url"] + path, method=method)  # noqa: S310 - our own address
        request.add_header("authorization", f"Bearer {self.token if token is None else token}")
        if host:
            request.add_header("host", host)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - as above
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"null")

    async def talking(
        self, said: Talk[T], path: str = "", *, token: str | None = None, mode: Any = "auto"
    ) -> T:
        """Connect the official client over streamable HTTP, and return what the talk returns."""
        headers = {"authorization": f"Bearer {self.token if token is None else token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
            transport = streamable_http_client(self.told["mcp"] + path, http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
                try:
                    return await said(client)
                except MCPError as error:  # raised here, the SDK would wrap it in groups
                    refused = error
        raise refused

    def talk(self, said: Talk[T], path: str = "", *, token: str | None = None, mode: Any = "auto") -> T:
        """Do that in an event loop of its own."""

        async def run() -> T:
            return await self.talking(said, path, token=token, mode=mode)

        return anyio.run(run)
