"""Quarantine: what is refused stays readable, once, until a person settles it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger import NOON, account, clock, keep, opened, said
from queued import entry, queue

from reverie import layout
from reverie.core.formats import framing
from reverie.core.records import Remember
from reverie.drain import drain
from reverie.errors import NotFound
from reverie.store import journal, quarantine, stream
from reverie.store.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def refused(raw: bytes, *, path: str = "a", offset: int = 0) -> stream.Damaged:
    """Return a line to set aside."""
    return stream.Damaged(path, offset, raw, "because")


@pytest.mark.parametrize(
    "raw", [b"", b"plain", b"\xff\xfe\0", "汉字 \u2028".encode(), bytes(range(256)) * 40]
)
def test_bytes_are_kept_as_they_were(ws: Workspace, raw: bytes) -> None:
    """Whatever was refused comes back byte for byte, with its place and the reason."""
    assert quarantine.set_aside(ws, [refused(raw, path="sessions/x.jsonl", offset=7)]) == 1
    (kept,) = quarantine.listed(ws)
    assert (kept.raw, kept.source, kept.offset, kept.reason) == (raw, "sessions/x.jsonl", 7, "because")


def test_setting_aside_twice_keeps_once(ws: Workspace) -> None:
    """The same bytes at the same place are kept once; at another place they are another find."""
    assert quarantine.set_aside(ws, [refused(b"x"), refused(b"x")]) == 1
    assert quarantine.set_aside(ws, [refused(b"x"), refused(b"x", offset=9), refused(b"x", path="b")]) == 2
    assert len(quarantine.listed(ws)) == 3


def test_settled_records_are_no_longer_listed(ws: Workspace) -> None:
    """A retried or dropped record leaves the list, stays on disk, and does not come back when it is met again."""
    quarantine.set_aside(ws, [refused(b"x"), refused(b"y")])
    first, second = quarantine.listed(ws)
    quarantine.settle(ws, quarantine.find(ws, first.id[:6]), "dropped")
    assert quarantine.set_aside(ws, [refused(first.raw)]) == 0
    assert [one.id for one in quarantine.listed(ws)] == [second.id]
    with pytest.raises(NotFound):
        quarantine.find(ws, first.id)


def test_the_list_is_in_order_of_time(ws: Workspace) -> None:
    """What was set aside first is listed first, whatever file it came from."""
    for number, source in enumerate("cab"):
        clock(ws).advance(minutes=1)
        quarantine.set_aside(ws, [refused(b"x", path=source, offset=number)])
    assert [one.source for one in quarantine.listed(ws)] == ["c", "a", "b"]


def test_damage_in_quarantine_hides_nothing_else(ws: Workspace) -> None:
    """Junk in a quarantine file, and a folder in the place of one, leave the other records listed (P-03)."""
    quarantine.set_aside(ws, [refused(b"x")])
    (path,) = (ws.root / layout.QUARANTINE).iterdir()
    path.write_bytes(b"null\n" + path.read_bytes() + b'{"v":1,"torn')
    clock(ws).advance(minutes=1)
    quarantine.set_aside(ws, [refused(b"y")])
    (ws.root / layout.QUARANTINE / "folder.jsonl").mkdir()
    assert [one.raw for one in quarantine.listed(ws)] == [b"x", b"y"]


def test_a_mended_record_is_queued_again_once(ws: Workspace) -> None:
    """A refused record queued again and again by a person in doubt is stored once."""
    queue(ws, entry(1, "Taken"))
    queue(ws, entry(1, "Refused"))
    drain(ws)
    (kept,) = quarantine.listed(ws)
    assert b"Refused" in kept.raw
    mended = Remember(id=ws.new_id(), at=NOON, entry=entry(2, "Refused"))
    for _ in range(2):
        journal.append(ws, mended)
        drain(ws)
    quarantine.settle(ws, kept, "retried")
    assert quarantine.listed(ws) == []
    assert account(ws).lines == {f"{n:016x}": 1 for n in (1, 2)}


def test_any_record_can_be_shown(ws: Workspace) -> None:
    """A record that no JSONL file takes, with half a character in it, is kept in a form that can be read."""
    raw = quarantine.legible(said("half \ud800 of it"))
    quarantine.set_aside(ws, [refused(raw)])
    assert rb"half \ud800 of it" in quarantine.listed(ws)[0].raw
    assert keep(ws, "Fact").id
    assert framing.read(quarantine.listed(ws)[0].raw)[0] == []
