"""One lived workspace a run, copied by each test that harms it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lived import copy, live
from planting import World


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with a workspace that has lived two days; nobody changes it."""
    root = tmp_path_factory.mktemp("lived")
    live(root)
    return root


@pytest.fixture
def home(lived: Path, tmp_path: Path) -> Path:
    """Return a copy of it to harm."""
    return copy(lived, tmp_path / "home")


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a home in which everything was lived, with what its memory knew; nobody changes it."""
    return World(tmp_path_factory.mktemp("world"))
