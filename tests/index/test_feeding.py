"""What the search rows are fed from, and what it costs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.formats.framing import frame
from reverie.core.records import Event, Opened, Turn
from reverie.index import feeding
from reverie.index.feeding import Feeding
from reverie.index.rows import Rows
from reverie.index.state import State
from reverie.store.filesystem.disk import Disk

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
CALENDAR = Calendar("UTC", "00:00")
TALK = f"{layout.SESSIONS}/talk.jsonl"


class Counting(Disk):
    """A disk that counts the bytes read from each file's middle or end."""

    read_bytes = 0

    def read_from(self, path: str, offset: int) -> bytes:
        """Read, and count."""
        data = super().read_from(path, offset)
        self.read_bytes += len(data)
        return data


class Reading(Disk):
    """A disk that remembers what was read whole."""

    def __init__(self, root: Path) -> None:
        """Begin with nothing read."""
        super().__init__(root)
        self.paths: list[str] = []

    def read(self, path: str) -> bytes | None:
        """Read, and remember."""
        self.paths.append(path)
        return super().read(path)


def turn(n: int) -> bytes:
    """Return a turn's line."""
    return frame(Turn(role="user", content=f"Sentence {n}.", at=NOON, id=f"t{n}", n=n))


def feed(root: Path, disk: Disk, rows: Rows) -> int:
    """Bring the rows up to the files; return how many sources were left."""
    state = State(root, disk, calendar=CALENDAR, notebook=layout.NOTEBOOK)
    state.catch_up(lambda _: False)
    left = Feeding(disk, rows, state, CALENDAR, layout.NOTEBOOK).run()
    state.close()
    return left


def test_a_file_that_is_gone_leaves_no_rows(tmp_path: Path) -> None:
    """Rows of a removed core file, page or session go; those of the others stay."""
    disk, rows = Disk(tmp_path), Rows(tmp_path / layout.INDEX)
    page = f"{layout.NOTEBOOK}/3_Personal/Tea.md"
    disk.append(layout.USER, b"Likes tea.\n")
    disk.append(page, b"# Tea\n\nGreen.\n")
    disk.append(TALK, frame(Opened(session="talk", at=NOON)) + turn(0))
    assert (feed(tmp_path, disk, rows), rows.count()) == (0, 3)
    disk.remove(layout.USER)
    disk.remove(TALK)
    assert (feed(tmp_path, disk, rows), rows.count()) == (0, 1)
    assert list(rows.positions()) == [page]
    rows.close()


def test_a_session_that_grew_is_read_from_where_it_ended(tmp_path: Path) -> None:
    """Only what a session gained is read, and its turns carry the full name from the first line."""
    disk, rows = Counting(tmp_path), Rows(tmp_path / layout.INDEX)
    disk.append(TALK, frame(Opened(session="talk with Dana", at=NOON)) + b"".join(map(turn, range(200))))
    feed(tmp_path, disk, rows)
    disk.append(TALK, turn(200))
    disk.read_bytes = 0
    feed(tmp_path, disk, rows)
    assert disk.read_bytes <= len(turn(200)) + 1  # the byte before tells whether a line begins here
    found = [one.row for one in rows.stale(300)]
    assert ({row.session for row in found}, len(found)) == ({"talk with Dana"}, 201)
    rows.close()


def test_another_way_of_cutting_pages_reads_pages_again_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunker's version is in the stamp of each page: a change of it makes the rows of pages anew, no other's."""
    disk, rows = Reading(tmp_path), Rows(tmp_path / layout.INDEX)
    page = f"{layout.NOTEBOOK}/3_Personal/Tea.md"
    disk.append(page, b"# Tea\n\nGreen.\n")
    disk.append(TALK, frame(Opened(session="talk", at=NOON)) + turn(0))
    feed(tmp_path, disk, rows)
    disk.paths.clear()
    feed(tmp_path, disk, rows)
    assert TALK not in disk.paths
    again = disk.paths.count(page)
    monkeypatch.setattr(feeding, "VERSION", feeding.VERSION + 1)
    disk.paths.clear()
    feed(tmp_path, disk, rows)
    assert disk.paths.count(page) == again + 1
    assert TALK not in disk.paths
    assert rows.count() == 2
    rows.close()


def test_a_change_that_comes_while_rows_are_made_is_not_taken_for_made(tmp_path: Path) -> None:
    """What another process changes between the reading of a state and the end of its row's making stays to be done."""
    disk = Disk(tmp_path)
    log, events = layout.log_file("2026-07-01"), layout.EVENTS
    disk.append(log, b"# Daily Log - 2026-07-01\n\n## 12:00\n\n- [fact] Rex is a dog ^00000000000000aa\n")
    ours, theirs = (State(tmp_path, disk, calendar=CALENDAR, notebook=layout.NOTEBOOK) for _ in range(2))
    ours.catch_up(lambda _: False)
    given = ours.dirty(10)
    disk.append(events, frame(Event(id="e" * 16, at=NOON, kind="pin", entry="00000000000000aa")))
    theirs.catch_up(lambda _: False)
    ours.clean(given)
    again = ours.dirty(10)
    assert [state.pinned for state in again.values() if state is not None] == [True]
    ours.clean(again)
    assert ours.dirty(10) == {}
    ours.close()
    theirs.close()
