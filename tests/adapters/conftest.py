"""What the tests of the adapters share: a memory in a folder of its own, with a clock and an embedder of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie import Opening
from reverie.testing import FixedClock, ToyEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reverie import Memory

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    """Return a clock that stands at noon."""
    return FixedClock(NOON)


@pytest.fixture
def opening(tmp_path: Path, clock: FixedClock) -> Callable[..., Opening]:
    """Return a maker of openings of one folder, with nobody's own configuration."""

    def make(folder: str = "ws", **settings: str) -> Opening:
        return Opening(
            path=tmp_path / folder,
            config_dir=tmp_path / "config",
            environment={"HOME": str(tmp_path), "TZ": "UTC", "REVERIE_EMBEDDER": "none"},
            flags={"zone": "UTC", **settings},
            clock=clock,
            embedder=ToyEmbedder(),
        )

    return make


@pytest.fixture
def memory(opening: Callable[..., Opening]) -> Iterator[Memory]:
    """Return an empty memory."""
    with reverie.init(opening()) as made:
        yield made
