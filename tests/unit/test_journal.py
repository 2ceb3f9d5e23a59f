"""The journal: appending, reading what waits, claiming, retiring, compressing."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger import NOON, clock, fresh_folders, keep, opened, segments
from queued import entry, queue

from reverie import layout
from reverie.core.formats import framing
from reverie.core.formats.gzipped import unpack
from reverie.core.records import Remember
from reverie.drain import drain
from reverie.errors import StoreUnwritable
from reverie.store import journal
from reverie.store.filesystem.disk import Disk
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, crash_loop


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def waiting(ws: Workspace) -> list[str]:
    """Return the ids of the queued entries."""
    return [record.entry.id for record in journal.waiting(ws).records]


def test_what_was_appended_waits(ws: Workspace) -> None:
    """Each record is readable as soon as the call returns, in the order of writing."""
    kept = [keep(ws, f"Fact {n}").id for n in range(3)]
    assert waiting(ws) == kept
    assert len(list(segments(ws))) == 1


def test_each_process_has_its_segment(ws: Workspace) -> None:
    """Two openings of a workspace write two files, and what waits is in both."""
    kept = [keep(ws, "One").id, keep(opened(ws.root, first=1 << 32), "Two").id]
    assert sorted(waiting(ws)) == sorted(kept)
    assert len(list(segments(ws))) == 2


def test_a_full_segment_is_followed_by_another(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a segment has grown to its limit the next record begins another."""
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 300)
    kept = [keep(ws, f"Fact {n}").id for n in range(5)]
    assert len(list(segments(ws))) > 1
    assert sorted(waiting(ws)) == sorted(kept)


def test_a_failing_segment_is_abandoned(ws: Workspace) -> None:
    """When one call fails the record goes to a new segment, whole and readable once."""
    plain = CrashDisk(fresh_folders(ws.root.with_name("dry"))())
    queue(opened(plain.root, disk=plain), entry(1))
    for at in range(1, plain.calls + 1):
        root = ws.root / str(at)
        opened(root)
        failing = opened(root, disk=CrashDisk(root, fail_at=at))
        queue(failing, entry(1))
        assert waiting(failing) == [f"{1:016x}"], at


def test_a_store_that_stays_unwritable_refuses(ws: Workspace) -> None:
    """When the new segment fails too the caller is told, and nothing waits."""
    failing = opened(ws.root, disk=CrashDisk(ws.root, fail_at=1, forever=True))
    with pytest.raises(StoreUnwritable):
        queue(failing, entry(1))
    assert waiting(ws) == []


class Rotating(Disk):
    """A disk on which a drain claims everything right after the segments were listed for reading."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.armed = False

    def read_from(self, path: str, offset: int) -> bytes:
        """Claim, then read."""
        if self.armed and path.startswith(layout.SEGMENTS):
            self.armed = False
            journal.claim(opened(self.root, first=1 << 40))
        return super().read_from(path, offset)

    def walk(self, path: str) -> Iterator[str]:
        """List."""
        return iter(list(super().walk(path)))


def test_a_record_claimed_while_one_reads_is_not_missed(tmp_path: Path) -> None:
    """A reader that listed the segments before a drain claimed them still sees every record (R-15)."""
    disk = Rotating(tmp_path)
    ws = opened(tmp_path, disk=disk)
    ws.make_folders()
    kept = [keep(ws, "One").id, keep(opened(tmp_path, first=1 << 32), "Two").id]
    disk.armed = True
    assert sorted(waiting(ws)) == sorted(kept)
    assert not disk.armed


def test_a_record_that_stands_twice_is_read_once(ws: Workspace) -> None:
    """A record written to two segments, because the first one's fate was unknown, counts once."""
    queue(ws, entry(1), record="r" * 16)
    queue(opened(ws.root, first=1 << 32), entry(1), record="r" * 16)
    assert waiting(ws) == [f"{1:016x}"]


def test_claims_come_in_order_and_unfinished_ones_first(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim takes no more than its share; what an interrupted drain claimed is taken up before anything else."""
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 1)
    monkeypatch.setattr(journal, "CLAIM_BYTES", 300)
    for number in range(5):
        clock(ws).advance(seconds=1)
        queue(ws, entry(number))
    first = journal.claim(ws)
    assert 0 < len(first) < 5
    assert first == sorted(first)
    assert journal.claim(ws) == first
    journal.retire(ws, first)
    assert journal.claim(ws) != first


def test_what_is_no_segment_is_left_alone(ws: Workspace) -> None:
    """Folders, links and other files beside the segments stop neither readers nor the drain."""
    kept = keep(ws, "Fact").id
    outside = ws.root.with_name("outside.jsonl")
    outside.write_bytes(b"")
    for folder in (layout.SEGMENTS, layout.DRAINING):
        (ws.root / folder / "folder.jsonl").mkdir()
        (ws.root / folder / "link.jsonl").symlink_to(outside)
        (ws.root / folder / ".DS_Store").write_bytes(b"junk")
    assert waiting(ws) == [kept]
    assert drain(ws).stored == 1
    assert waiting(ws) == []
    assert (ws.root / layout.DRAINING / "folder.jsonl").is_dir()


def months(ws: Workspace) -> list[str]:
    """Return what the archive of the journal holds."""
    return ws.disk.list(layout.JOURNAL_ARCHIVE)


def test_closed_months_are_compressed_and_still_read(ws: Workspace) -> None:
    """A drain in a later month compresses the months before, late segments join theirs, and every record is kept."""
    kept = []
    for days in (0, 20, 20, 20):
        clock(ws).advance(days=days)
        kept.append(keep(ws, f"On {ws.today}").id)
        drain(ws)
    assert months(ws) == ["2026-07.jsonl.gz", "2026-08"]
    (ws.root / layout.JOURNAL_ARCHIVE / "2026-07").mkdir()
    late = next((ws.root / layout.JOURNAL_ARCHIVE / "2026-08").iterdir())
    late.rename(ws.root / layout.JOURNAL_ARCHIVE / "2026-07" / late.name)
    drain(ws)
    assert sorted(record.entry.id for record in journal.archived(ws)) == sorted(kept)
    assert "2026-07" not in months(ws)


def test_a_month_of_a_large_import_stays_in_plain_files(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed month of more bytes than are held at once is not compressed, and its records are read all the same."""
    kept = keep(ws, "In a large month").id
    drain(ws)
    monkeypatch.setattr(journal, "COMPRESSED_BYTES", 10)
    clock(ws).advance(days=40)
    drain(ws)
    assert months(ws) == ["2026-07"]
    assert [record.entry.id for record in journal.archived(ws)] == [kept]


@pytest.mark.slow
def test_a_crash_while_compressing_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Wherever compressing a month is interrupted, each record is read, and running it again keeps each once (R-04)."""
    folders = fresh_folders(tmp_path)

    def make() -> Path:
        ws = opened(folders())
        for number in range(3):
            queue(ws, entry(number))
            drain(ws)
        return ws.root

    def scenario(disk: CrashDisk, tell: object) -> None:
        ws = opened(disk.root, disk=disk, first=1 << 32)
        clock(ws).advance(days=40)
        journal.compress_closed_months(ws)

    wrecks = 0
    for wreck in crash_loop(make, scenario):
        wrecks += 1
        ws = opened(wreck.root, first=1 << 40)
        assert {record.entry.id for record in journal.archived(ws)} == {f"{n:016x}" for n in range(3)}, wreck
        clock(ws).advance(days=40)
        journal.compress_closed_months(ws)
        assert months(ws) == ["2026-07.jsonl.gz"], wreck
        assert len(list(journal.archived(ws))) == 3, wreck
    assert wrecks > 20


@pytest.mark.parametrize("harm", ["cut", "flip", "junk", "header"])
def test_a_damaged_month_is_read_as_far_as_it_goes(ws: Workspace, harm: str) -> None:
    """Damage in one part of a compressed month costs that part's rest, is reported, and the other parts are read."""
    packed = ws.root / layout.JOURNAL_ARCHIVE / "2026-06.jsonl.gz"
    members = []
    for number in range(2):
        entries = [entry(number * 1_000 + n, f"Fact {n} " + "xyz" * n) for n in range(200)]
        lines = [framing.frame(Remember(id=one.id, at=NOON, entry=one)) for one in entries]
        members.append(gzip.compress(b"".join(lines), mtime=0))
    data, second = b"".join(members), len(members[0])
    harmed = {
        "cut": data[: second + 100],
        "flip": data[: second // 2] + bytes([data[second // 2] ^ 255]) + data[second // 2 + 1 :],
        "junk": data + b"junk",
        "header": b"\0" * 12 + data[12:],
    }[harm]
    packed.write_bytes(harmed)
    read = journal.read_archive(ws, f"{layout.JOURNAL_ARCHIVE}/2026-06.jsonl.gz")
    found = {record.entry.id for record in read.records}
    first, last = {f"{n:016x}" for n in range(200)}, {f"{1_000 + n:016x}" for n in range(200)}
    assert any("cannot be read" in piece.reason for piece in read.damaged)
    assert found >= (first if harm in {"cut", "junk"} else set())
    assert found >= (last if harm in {"flip", "junk", "header"} else set())


def test_unpacking_gives_what_was_packed() -> None:
    """Members of every size come back whole, one after another, and nothing is lost."""
    pieces = [b"", b"a" * 100_000, bytes(range(256)) * 300, b"end"]
    assert unpack(b"".join(gzip.compress(piece, mtime=0) for piece in pieces)) == (b"".join(pieces), 0)
    assert unpack(b"") == (b"", 0)


def test_a_queue_reads_only_what_grew(ws: Workspace) -> None:
    """While nothing changes the same records are given; what any process appends is seen, and what is drained goes."""
    queue_of = journal.Queue(ws)
    kept = [keep(ws, "One").id]
    first = queue_of.records()
    assert queue_of.records() is first
    kept.append(keep(opened(ws.root, first=1 << 32), "Two").id)
    kept.append(keep(ws, "Three").id)
    grown = queue_of.records()
    assert sorted(record.id for record in grown) == sorted(
        record.id for record in journal.waiting(ws).records
    )
    assert len(grown) == len(kept)
    assert first[0] in grown
    drain(ws)
    assert queue_of.records() == ()


def test_a_queue_waits_for_the_end_of_a_line(ws: Workspace) -> None:
    """P-03: a line whose end is not written yet is read when it is, and what was read before is not read twice."""
    keep(ws, "One")
    queue_of = journal.Queue(ws)
    assert len(queue_of.records()) == 1
    (path,) = segments(ws)
    line = framing.frame(journal.waiting(ws).records[0]).replace(b"\n", b"")
    file = ws.root / path
    whole = file.read_bytes()
    file.write_bytes(whole + line[:20])
    assert len(queue_of.records()) == 1
    keep(ws, "Two")
    assert len(queue_of.records()) == 2
    assert [record.id for record in queue_of.records()] == [
        record.id for record in journal.waiting(ws).records
    ]


def test_a_queue_reads_a_replaced_file_anew(ws: Workspace) -> None:
    """A segment that was written anew, as an erase does, is read whole: nothing of the old one is given."""
    keep(ws, "A secret")
    keep(ws, "Another")
    queue_of = journal.Queue(ws)
    assert len(queue_of.records()) == 2
    (path,) = segments(ws)
    kept = path.read_bytes().splitlines(keepends=True)[1]
    ws.disk.replace(path.relative_to(ws.root).as_posix(), kept + b" " * 4_000 + b"\n")
    assert [record.entry.text for record in queue_of.records() if isinstance(record, Remember)] == ["Another"]
