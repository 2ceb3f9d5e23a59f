"""What the tests of verbs share: a memory of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """An open memory, closed after the test."""
    with Desk(tmp_path) as made:
        yield made
