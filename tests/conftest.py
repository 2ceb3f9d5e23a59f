"""What holds for every test: nobody's own configuration is read, and no property has a deadline on a busy machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("house", deadline=None)
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
