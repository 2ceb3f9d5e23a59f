"""What holds for every test: nobody's own configuration is read, and how busy the machine is decides nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from reverie import opening, recall

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def _nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the whole run an empty home and no settings from the environment but one, as on a machine just installed.

    The offline embedder is installed for the tests that are about it; all others would wait for it at each rebuild.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("REVERIE_", "XDG_"))]:
            patch.delenv(name)
        patch.setenv("REVERIE_EMBEDDER", "none")
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Let a recall, and the linking of what was read, take the time it needs to see every file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(recall.catch_up.__kwdefaults__, "patience", 600.0)
        patch.setattr(opening, "LINKING", 600.0)
        yield
