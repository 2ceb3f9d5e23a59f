"""What recalls add to the choice of the overview: a tie is decided by the days on which an entry was wanted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from dream_world import NIGHT, entry, log, open_world, page, run

from reverie import layout
from reverie.core.dreams.overview import CHARACTERS
from reverie.core.records import Recalled
from reverie.core.search.asked import FIRST, days_wanted
from reverie.store import stream

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store.workspace import Workspace

HIVES = [
    entry(n, f"User keeps bee hive number {n} well", category=f"bees-{chr(97 + n % 26)}", sig=0.6)
    for n in range(1, 400)
]


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return a workspace with more to promote than the overview holds."""
    opened = open_world(tmp_path)
    log(opened, HIVES)
    return opened


def _recalled(ws: Workspace, *ids: str, days: int = 1, times: int = 1) -> None:
    lines = [Recalled(at=NIGHT - timedelta(days=day), shown=ids) for day in range(days) for _ in range(times)]
    stream.append_all(ws, layout.RECALL_LOG, lines)


def test_what_is_asked_for_comes_before_its_equals(ws: Workspace) -> None:
    """Of many lines of equal weight those that recalls showed on several days stand in the overview (R-48, S-36)."""
    assert sum(len(one.text) for one in HIVES) > CHARACTERS
    asked = [HIVES[17].id, HIVES[150].id, HIVES[398].id]
    _recalled(ws, *asked, days=4)
    run(ws)
    text = page(ws, layout.OVERVIEW)
    assert [one for one in asked if f"#^{one}]]" not in text] == []


def test_what_is_asked_for_passes_nothing_that_weighs_more(tmp_path: Path) -> None:
    """However often it is recalled, an entry takes no place from one that matters more (R-31)."""
    ws = open_world(tmp_path)
    weighty = [
        entry(n, f"User keeps bee hive number {n} well", category=f"bees-{chr(97 + n % 26)}", sig=0.7)
        for n in range(1, 400)
    ]
    light = entry(900, "User once saw a heron by the lake", category="zz", sig=0.6)
    log(ws, [*weighty, light])
    _recalled(ws, light.id, days=30, times=30)
    run(ws)
    assert light.id not in page(ws, layout.OVERVIEW)


def test_a_day_counts_once_and_what_stands_far_down_not_at_all() -> None:
    """A thousand recalls of one day are one day; only the first few of a recall count, and what a host used."""
    ids = [f"{n:016x}" for n in range(FIRST + 1)]
    lines = [Recalled(at=NIGHT, shown=tuple(ids))] * 1_000
    lines += [Recalled(at=NIGHT + timedelta(days=1), used=(ids[0],))]
    assert dict(days_wanted(lines)) == {ids[0]: 2, ids[1]: 1, ids[2]: 1}


def test_a_damaged_recall_log_keeps_no_dream_from_its_overview(ws: Workspace) -> None:
    """Lines that cannot be read are passed over, and the overview is written all the same."""
    (ws.root / layout.RECALL_LOG).parent.mkdir(exist_ok=True)
    (ws.root / layout.RECALL_LOG).write_bytes(b"\0\0\n{torn\n")
    _recalled(ws, HIVES[398].id, days=2)
    run(ws)
    assert HIVES[398].id in page(ws, layout.OVERVIEW)
