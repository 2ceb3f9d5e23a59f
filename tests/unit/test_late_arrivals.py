"""In whatever order statements arrive, what was said last is current."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie.core.where import Where

if TYPE_CHECKING:
    from pathlib import Path

HOMES = (
    ("I live in Lisbon.", datetime(2025, 1, 1, 12, tzinfo=UTC)),
    ("I live in Porto.", datetime(2026, 5, 1, 12, tzinfo=UTC)),
    ("I live in Madrid.", datetime(2026, 6, 30, 12, tzinfo=UTC)),
)


@pytest.mark.parametrize(
    "order", list(permutations(HOMES)), ids=lambda order: " ".join(one[0][10:-1] for one in order)
)
@pytest.mark.parametrize("drained", [False, True])
def test_what_was_said_last_is_current(
    tmp_path: Path, order: tuple[tuple[str, datetime], ...], *, drained: bool
) -> None:
    """By when they were said, not by when they came: one home is current, the others say until when (P-10)."""
    with Desk(tmp_path) as desk:
        for text, at in order:
            desk.say(text, session=f"talk of {at:%Y}-{at:%m}", at=at)
            desk.memory.extract()
            if drained:
                desk.memory.drain()
        assert [state.entry.text for state in desk.memory.list()] == ["User lives in Madrid"]
        before = desk.memory.list(Where(include_previous=True))
        assert len(before) == 3
        assert all(state.replaced for state in before if "Madrid" not in state.entry.text)
        assert desk.found("where does the user live")[0] == "User lives in Madrid"
        desk.memory.publish()
        text = desk.text("MEMORY.md")
        assert "Madrid" in text
        assert "Lisbon" not in text
        assert "Porto" not in text
