"""Real processes that would all dream in one scheduled slot: one does, across sleep, restarts and a clock set back."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from reverie.core.records import Draft
from reverie.memory import Memory
from reverie.opening import Opening, make_workspace
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from pathlib import Path

NIGHT = datetime(2026, 7, 2, 3, tzinfo=UTC)
SCHEDULER = """
import sys
from datetime import datetime
from pathlib import Path
from reverie.errors import Busy
from reverie.memory import Memory
from reverie.opening import Opening, open_workspace
from reverie.testing import FixedClock

home, at = Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2])
opening = Opening(
    path=home / "agent",
    config_dir=home / "config",
    environment={"REVERIE_EMBEDDER": "none"},
    flags={"zone": "UTC"},
    clock=FixedClock(at),
)
with Memory(open_workspace(opening)) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(memory.dream().result, flush=True)
    except Busy:
        print("busy", flush=True)
"""


def fire(home: Path, at: datetime, *, processes: int = 2) -> list[str]:
    """Let schedulers in processes of their own come to the same slot, and return what each did."""
    command = [sys.executable, "-c", SCHEDULER, str(home), at.isoformat()]
    going = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for one in going:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    return sorted(one.communicate("\n", timeout=120)[0].strip() for one in going)


def say(home: Path, at: datetime, topic: str) -> None:
    """Remember thirty things at an instant, and drain them."""
    opening = Opening(
        path=home / "agent",
        config_dir=home / "config",
        environment={"REVERIE_EMBEDDER": "none"},
        flags={"zone": "UTC"},
        clock=FixedClock(at),
    )
    with Memory(make_workspace(opening)) as memory:
        for number in range(30):
            memory.remember(f"User tried {topic} number {number}", Draft(category="preference"))
        memory.drain()


@pytest.mark.slow
def test_one_slot_fires_once_for_two_processes_after_sleep_restart_and_a_clock_set_back(
    tmp_path: Path,
) -> None:
    """Of two processes one dreams, and none again in the slot: not restarted, nor by a clock set back (R-14, P-06)."""
    say(tmp_path, NIGHT - timedelta(hours=12), "tea")
    assert fire(tmp_path, NIGHT).count("productive") == 1
    say(tmp_path, NIGHT - timedelta(hours=11), "soup")
    for hours in (0, 1, 23, -1, -20):
        assert fire(tmp_path, NIGHT + timedelta(hours=hours)) in (["nothing"] * 2, ["busy", "nothing"])
    # A machine that slept through forty slots dreams once, and not forty times.
    assert fire(tmp_path, NIGHT + timedelta(days=40)).count("productive") == 1
    assert "productive" not in fire(tmp_path, NIGHT + timedelta(days=40, hours=1))
    # That clock was wrong: what it left keeps nobody waiting, and the slot fires once all the same.
    say(tmp_path, NIGHT - timedelta(hours=10), "bread")
    assert fire(tmp_path, NIGHT + timedelta(days=2), processes=3).count("productive") == 1
