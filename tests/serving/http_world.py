"""A root with workspaces, served over HTTP in this process, and clients with tokens of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from reverie.core.settings.http import HttpSettings
from reverie.entrance import Opening
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.surface.http.app import app
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.tokens import Tokens
from reverie.testing import FixedClock

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
BASE = "http://localhost:8765"


@dataclass
class World:
    """A home with a root, its server, and a first token; `support` is a workspace with one entry."""

    home: Path
    limits: HttpSettings = field(default_factory=HttpSettings)
    most: int = 64

    def __post_init__(self) -> None:
        """Make the workspace."""
        self.clock = FixedClock(NOW)
        opening = Opening(config_dir=self.home / "config", flags={"zone": "UTC"}, clock=self.clock)
        self.hosted = Hosted(self.root, opening=opening, most=self.most)
        self.tokens = Tokens(self.home / "config", self.root, clock=self.clock)
        self.app = app(self.hosted, self.tokens, limits=self.limits)
        self.name = self.hosted.make("support")
        self.entry = self.hosted.call(
            "support", lambda memory: memory.remember("Dana prefers tea").id
        ).result()

    @property
    def root(self) -> Path:
        """The root."""
        return self.home / "root"

    @property
    def first(self) -> str:
        """The first token, an admin's."""
        return self.tokens.first().read_text().strip()

    def client(self, token: str | None = None, **headers: str) -> TestClient:
        """Return a client with a token, the first one if none is given, none for ""."""
        token = self.first if token is None else token
        own = {"authorization": f"Bearer {token}"} if token else {}
        return TestClient(self.app, base_url=BASE, headers={**own, **headers}, raise_server_exceptions=False)

    def ask(self, method: str, path: str, *, token: str | None = None, **given: Any) -> Any:
        """Send one request about the workspace `support`, and return the response."""
        return self.client(token).request(method, f"/v1/workspaces/support{path}", **given)

    def value(self, method: str, path: str, **given: Any) -> Any:
        """Send one request that has to succeed, and return what it gives."""
        response = self.ask(method, path, **given)
        assert response.status_code == 200, response.text
        return response.json()

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """Open the workspace beside the server, as another process would."""
        opening = Opening(
            path=self.root / self.name,
            config_dir=self.home / "config",
            flags={"zone": "UTC"},
            clock=self.clock,
        )
        with Memory(open_workspace(opening)) as memory:
            yield memory

    def close(self) -> None:
        """End."""
        self.hosted.close()


@contextmanager
def world_at(home: Path, **given: Any) -> Iterator[World]:
    """Serve a root for a while."""
    world = World(home, **given)
    try:
        yield world
    finally:
        world.close()
