"""What review and status read: the state for what it knows, and a clear word where a stream cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie import layout
from reverie.core.records import Outcome
from reverie.errors import UnsafePath
from reverie.store import stream
from reverie.store.filesystem.disk import Disk

if TYPE_CHECKING:
    from desk import Desk


def test_what_waits_is_listed_without_reading_the_ledger(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no dream could process is known to the state: listing it reads nothing of a ledger that was folded."""
    entry = desk.remember("User likes jasmine tea", category="preference")
    desk.memory.drain()
    told = Outcome(run="dream:20260702-030000", entry=entry, outcome="unprocessable", at=desk.clock())
    stream.append(desk.memory.opened.ws, layout.OUTCOMES, told)
    (item,) = desk.memory.review()
    read: list[str] = []
    kept = Disk.read_from

    def reading(disk: Disk, path: str, start: int) -> bytes:
        read.append(path)
        return kept(disk, path, start)

    monkeypatch.setattr(Disk, "read_from", reading)
    assert desk.memory.review() == [item]
    assert layout.OUTCOMES not in read


@pytest.mark.parametrize("path", [layout.OUTCOMES, layout.REVIEWS])
def test_a_folder_in_the_place_of_a_stream_is_named(desk: Desk, path: str) -> None:
    """Where a folder stands in the place of a stream, review says so in words with a remedy, and status goes on."""
    desk.remember("User likes jasmine tea", category="preference")
    (desk.root / path).unlink(missing_ok=True)
    (desk.root / path).mkdir(parents=True)
    memory = desk.again()
    found = memory.status()
    assert any(path in one.place or path in one.what for one in (*found.damaged, *found.problems))
    if path == layout.OUTCOMES:
        assert memory.review() == []
    else:
        with pytest.raises(UnsafePath, match=path):
            memory.review()
