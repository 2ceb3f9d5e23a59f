"""What these tests share: a memory of their own, and the places of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk
from places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """An open memory, closed after the test."""
    with Desk(tmp_path) as made:
        yield made


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Places without a setting."""
    return Places(tmp_path)
