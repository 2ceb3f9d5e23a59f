"""What the tests of the index share: the place of one, on each backend."""

from __future__ import annotations

import pytest
from backends import BACKENDS, Place


@pytest.fixture(params=BACKENDS)
def place(request, tmp_path):
    """Give the place of an index of each backend."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
    made = Place(tmp_path, request.param)
    yield made
    made.close()
