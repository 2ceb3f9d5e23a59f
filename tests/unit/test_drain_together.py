"""Drains and writers at once, in threads and in processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from ledger import NOON, account, journal_bytes, keep, opened

from reverie.drain import drain
from reverie.store import journal
from reverie.store.workspace import Workspace

DRAINER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
import secrets
from reverie.core.settings.value import Settings
from reverie.drain import drain
from reverie.store.workspace import Workspace
now = datetime(2026, 7, 1, 12, tzinfo=UTC)
settings = Settings(zone="UTC", lock_wait_seconds=60)
ws = Workspace(Path(sys.argv[1]), settings, clock=lambda: now, new_id=lambda: secrets.token_hex(8))
print(drain(ws).stored)
"""


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path / "w")


def test_two_processes_draining_at_once_store_everything_once(tmp_path: Path) -> None:
    """Drains in three processes, started together, store each entry once and all of them succeed (P-02)."""
    ws = opened(tmp_path)
    kept = [keep(ws, f"Fact {n}", at=NOON - timedelta(days=n % 3)).id for n in range(2_500)]
    started = [
        subprocess.Popen([sys.executable, "-c", DRAINER, str(tmp_path)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [process.wait(120) for process in started] == [0, 0, 0]
    for process in started:
        process.stdout.close()
    assert account(ws).lines == dict.fromkeys(kept, 1)
    assert journal_bytes(ws) == b""


def test_threads_may_write_and_drain_at_once(tmp_path: Path) -> None:
    """While writers go on and segments are claimed under them, no record is lost or doubled (R-15, P-02)."""
    kept: list[str] = []
    failed: list[BaseException] = []

    def write(number: int) -> None:
        mine = opened(tmp_path, first=(number + 1) << 40, lock_wait_seconds=60)
        kept.extend(keep(mine, f"Writer {number} says {n}").id for n in range(60))

    def empty(number: int) -> None:
        mine = opened(tmp_path, first=(number + 9) << 40, lock_wait_seconds=60)
        for _ in range(25):
            drain(mine)

    def run(work: object, number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work, n)) for work in (write, empty) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    drain(opened(tmp_path, first=1 << 50))
    assert account(opened(tmp_path)).lines == dict.fromkeys(kept, 1)


def test_a_record_appended_while_its_segment_is_claimed_is_kept(ws: Workspace) -> None:
    """A writer whose segment is renamed under it goes on in a new file, and both are drained (R-15)."""
    first = keep(ws, "Before").id
    journal.claim(ws)
    second = keep(ws, "After").id
    drain(ws)
    assert account(ws).lines == {first: 1, second: 1}
