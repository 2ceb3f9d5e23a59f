"""A dream by a real small model: what it does is judged like any model's work, and nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from dream_agent import Standing

import reverie
from reverie import layout
from reverie.core.records import Draft
from reverie.opening import Opening
from reverie.store.dreams import runs
from reverie.store.versions.git import History
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.model.local import LocalServer

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
SAID = ("User likes green tea", "User moved to Lisbon in March 2026", "Dana from Zephyr calls before noon")


@pytest.mark.slow
def test_a_dream_end_to_end(tmp_path: Path, llama_server: LocalServer) -> None:
    """The run ends in one commit or in none, each entry has an outcome or is pending, and what stands was judged."""
    clock = FixedClock(NOW)
    opening = Opening(
        path=tmp_path / "agent",
        config_dir=tmp_path / "config",
        environment={},
        flags={
            "zone": "UTC",
            "dream.model": "smollm2",
            "models.base_url": llama_server.base_url,
            "models.timeout_seconds": "45",
            "dream.timeout_seconds": "60",
            "dream.max_steps": "4",
        },
        clock=clock,
    )
    with reverie.init(opening) as memory:
        ids = {memory.remember(text, Draft(category="fact", key=text)).id for text in SAID}
        memory.drain()
        clock.advance(days=1)
        ws = memory.opened.ws
        before, commits = Standing(ws), len(History(ws).log(100))
        done = memory.dream(now=True)
        after = Standing(ws)
        assert len(History(ws).log(100)) - commits in ({1, 2} if done.runs else {0})
        settled = {id_ for id_, kind in after.outcomes.items() if kind != "pending"}
        pending = {part.entry.id for part in memory.opened.state_now().pending(before=ws.today)}
        assert settled | pending == ids
        assert not settled & pending
        assert done.runs or after == before
        assert memory.status().models["dream"].calls >= 1
        assert [one.dreamer for one in runs.read(ws)] == ["smollm2 dream/1"] * len(runs.read(ws))
        assert after.files["archive/2026-07-01.md"] == before.files["archive/2026-07-01.md"]
        assert ws.disk.size(layout.INSTALL_INTENT) is None
