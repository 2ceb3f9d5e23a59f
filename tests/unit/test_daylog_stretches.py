"""A daily log read in stretches is the log read whole."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger import opened
from queued import entry

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.formats import daylog
from reverie.core.formats.daylog_stretches import parsed
from reverie.core.formats.stretches import stretches
from reverie.store import daylog as logs
from reverie.store.filesystem.disk import Disk

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.core.formats.daylog import Located

DAY = "2026-07-01"
CALENDAR = Calendar("UTC", "00:00")
LINES = st.sampled_from(
    [
        "# Daily Log - 2026-07-01",
        "## 14:05 — abc12345",
        "## 09:00 — remember (at:: 2026-07-01T09:00:00Z)",
        "- [fact] Tea is hot ^00000000000000aa",
        "- [fact] Tea is hot",
        "- Likes `tea`",
        "  > words that were said",
        "  > и ещё слова",
        "What a person jotted down",
        "## Another chapter",
        "",
    ]
)


def _read(data: bytes, *, size: int, piece: int) -> tuple[dict[int, Located], dict[int, str]]:
    """Return the entries and the unparsed lines by the number of their line, later readings over earlier ones."""
    pieces = (data[at : at + piece] for at in range(0, len(data), piece))
    entries: dict[int, Located] = {}
    unparsed: dict[int, str] = {}
    after = 0
    for log in parsed(stretches(pieces, size=size), DAY, calendar=CALENDAR):
        entries = {line: one for line, one in entries.items() if line <= after}
        unparsed = {line: text for line, text in unparsed.items() if line <= after}
        entries |= {one.line: one for one in log.entries}
        unparsed |= dict(log.unparsed)
        after = log.context.line
    return entries, unparsed


@given(st.lists(LINES, max_size=30), st.integers(1, 200), st.integers(1, 90))
def test_stretches_read_as_the_whole_does(lines: list[str], size: int, piece: int) -> None:
    """Wherever a log is cut, its lines are the same entries, with the same ids, times and evidence (hypothesis)."""
    data = "".join(f"{line}\n" for line in lines).encode()
    whole = daylog.parse(data.decode(), DAY, calendar=CALENDAR)
    entries, unparsed = _read(data, size=size, piece=piece)
    assert {one.line: one.entry for one in whole.entries} == {n: one.entry for n, one in entries.items()}
    assert dict(whole.unparsed) == unparsed


@given(st.binary(max_size=300), st.integers(1, 50), st.integers(1, 40))
def test_stretches_are_whole_lines(data: bytes, size: int, piece: int) -> None:
    """Stretches end at line ends and leave out a torn end, which comes too when it is asked for (hypothesis)."""
    pieces = [data[at : at + piece] for at in range(0, len(data), piece)]
    found = list(stretches(pieces, size=size))
    assert all(one.endswith(b"\n") for one in found)
    assert b"".join(found) == data[: data.rfind(b"\n") + 1]
    assert b"".join(stretches(pieces, size=size, torn=True)) == data


def test_a_log_without_a_whole_line_is_one_empty_stretch() -> None:
    """Of an empty log, and of one that is torn in its first line, one log without entries is read."""
    for data in (b"", b"- [fact] Tea"):
        assert [log.entries for log in parsed(stretches([data]), DAY, calendar=CALENDAR)] == [()]


def test_a_file_is_read_in_pieces_from_anywhere(tmp_path: Path) -> None:
    """The pieces of a file are its bytes from the offset on, and an absent file has none."""
    disk, data = Disk(tmp_path), bytes(range(256)) * 10_000
    disk.append("a/b", data)
    with closing(disk.pieces("a/b", 1_000_001)) as pieces:
        found = list(pieces)
    assert b"".join(found) == data[1_000_001:]
    assert max(map(len, found)) < len(data) - 1_000_001
    assert list(disk.pieces("a/c")) == list(disk.pieces("a/b", len(data))) == []


@pytest.mark.slow
def test_what_stands_is_found_in_any_stretch(tmp_path: Path) -> None:
    """An id is found at both ends of a log of several stretches, and not in the line that the reach cuts."""
    ws = opened(tmp_path)
    ws.make_folders()
    said = [entry(n, text=f"{n} {'tea ' * 2_500}") for n in range(1_000)]
    ws.disk.append(layout.log_file(DAY), daylog.render(said, ws.calendar, first=True, day=DAY).encode())
    ids = {one.id: one.text for one in (said[0], said[500], said[-1])}
    size = ws.disk.size(layout.log_file(DAY)) or 0
    assert size > 9_000_000
    assert logs.standing(ws, DAY, ids=set(ids)) == ids
    assert logs.standing(ws, DAY, ids=set(ids), length=1_000_000) == {said[0].id: said[0].text}
    assert logs.standing(ws, DAY, ids=set(ids), reach=1_000_000) == {said[-1].id: said[-1].text}
    assert logs.standing(ws, DAY, ids={said[0].id}, reach=size - 200) == {}
