"""A whole memory on a real small model: what it says is checked like any model's words, and nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import reverie
from reverie.opening import Opening

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.model.local import LocalServer

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
TURNS = (
    "I moved from Berlin to Lisbon last March and I work as a nurse now.",
    "I am allergic to peanuts, so never suggest a satay recipe.",
)


@pytest.mark.slow
def test_turns_are_read_and_summarised(tmp_path: Path, llama_server: LocalServer) -> None:
    """Each turn is read or stays unread with a reason, every entry stands on words of the turns, the books count it."""
    opening = Opening(
        path=tmp_path / "agent",
        config_dir=tmp_path / "config",
        environment={},
        flags={
            "zone": "UTC",
            "model": "smollm2",
            "models.base_url": llama_server.base_url,
            "models.timeout_seconds": "60",
        },
        clock=lambda: NOW,
    )
    with reverie.init(opening) as memory:
        for text in TURNS:
            memory.capture("s1", reverie.Turn(role="user", content=text, at=NOW))
        done = memory.extract()
        memory.digest()
        memory.drain()
        seen = memory.status()
        # A small model may write on until its time is over; then the turns wait, and status says why.
        assert seen.unread == ({"s1": 2} if done.problems else {})
        assert bool(done.problems) == any("reading turns" in one.what for one in seen.problems)
        used = seen.models["extraction"]
        assert used.calls >= 1
        assert used.tokens > 0 or used.failed
        said = " ".join(TURNS)
        for one in memory.list():
            assert one.entry.evidence in said
        assert [hit.text for hit in memory.ask(reverie.Ask(query="peanuts", kinds=("turn",))).hits]
