"""A life without any model."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reverie.core.records import Draft, Turn
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.testing import FixedClock

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_with_no_model_everything_works_and_status_says_what_is_off(tmp_path: Path) -> None:
    """Extract, drain, recall, dream, publish, due list, forget and undo all do their work by rule (R-50, M-14)."""
    clock = FixedClock(NOON)
    opening = Opening(
        path=tmp_path / "agent",
        config_dir=tmp_path / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC", "model": "none"},
        clock=clock,
    )
    with Memory(make_workspace(opening)) as memory:
        for text in ("I work at Acme.", "I prefer tea without sugar.", "My dog is called Momo."):
            memory.capture("talk", Turn(role="user", content=text, at=NOON))
        assert memory.extract().entries == 3
        memory.remember("Send Dana the quote", Draft(due="2026-07-10"))
        assert memory.drain().stored >= 3
        assert memory.recall("which tea?").hits[0].text.endswith("tea without sugar")
        assert len(memory.due().lines) == 1
        clock.advance(days=1)
        run = memory.dream(now=True)
        assert run.result == "productive", run
        memory.publish()
        assert "tea without sugar" in (memory.root / "MEMORY.md").read_text("utf-8")
        memory.undo(run.run)
        dog = next(one.entry.id for one in memory.list() if "Momo" in one.entry.text)
        memory.forget([dog])
        assert not [hit for hit in memory.recall("what is the dog called?").hits if "Momo" in hit.text]
        assert memory.consolidate().problems == ()
        seen = memory.status()
        assert "no model: extraction and dreams go by rules (`model`)" in seen.off
        assert seen.problems == ()
