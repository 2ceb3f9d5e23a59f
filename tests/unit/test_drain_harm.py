"""The drain among damage, failures, forged intents and people who edit the logs meanwhile."""

from __future__ import annotations

import errno
import gzip
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ledger import NOON, account, clock, journal_bytes, keep, opened, segments
from queued import TODAY, copied, interrupted, log

from reverie import layout
from reverie.core.formats import drain_plan, framing
from reverie.core.records import Entry, Remember
from reverie.drain import drain
from reverie.errors import DrainFailed
from reverie.remember import feedback
from reverie.store import intents, journal, quarantine
from reverie.store.filesystem.disk import Disk
from reverie.store.intents import DrainIntent
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path / "w")


@pytest.mark.parametrize(
    "junk",
    [b"null\n", b"\n", b'{"v":1,"type":"remember"}\n', bytes(300) + b"\n", b"<html>\n", b"\xff\xfe\n"],
)
def test_a_damaged_line_costs_itself_alone(ws: Workspace, junk: bytes) -> None:
    """Junk between two records is set aside with its place, and both records are stored (P-03)."""
    first = keep(ws, "Before").id
    (segment,) = segments(ws)
    with segment.open("ab") as file:
        file.write(junk)
    second = keep(ws, "After").id
    drain(ws)
    found = account(ws)
    assert found.lines == {first: 1, second: 1}
    assert [one.raw for one in quarantine.listed(ws)] == [junk.rstrip(b"\n")]


def test_glued_records_are_both_stored(ws: Workspace) -> None:
    """Two records on one line are two entries (P-03)."""
    kept = [keep(ws, "One").id, keep(ws, "Two").id]
    (segment,) = segments(ws)
    segment.write_bytes(segment.read_bytes().replace(b"}\n{", b"}{"))
    drain(ws)
    assert account(ws).lines == dict.fromkeys(kept, 1)


@pytest.mark.parametrize("day", ["0001-01-01", "1969-12-31", "2028-01-01", "2200-01-01", "9999-12-31"])
def test_a_day_that_cannot_be_is_set_aside(ws: Workspace, day: str) -> None:
    """A record forged for the year 1 or 9999, or years after it was said, makes no log, and says why (R-13, R-47)."""
    kept = keep(ws, "True").id
    forged = Entry(id="f" * 16, text="Forged", at=NOON, day=day)
    journal.append(ws, Remember(id="e" * 16, at=NOON, entry=forged))
    assert drain(ws).refused == 1
    assert account(ws).lines == {kept: 1}
    (aside,) = quarantine.listed(ws)
    assert day in aside.reason
    assert "Forged" in aside.text


@pytest.mark.parametrize("now", [NOON - timedelta(days=9_000), NOON + timedelta(days=9_000)])
def test_the_clock_of_the_drain_sets_no_true_day_aside(ws: Workspace, now: datetime) -> None:
    """A clock that stands at its factory's date, or far ahead, changes nothing about what was said before (R-40)."""
    kept = keep(ws, "Said before the battery died").id
    later = opened(ws.root, now=now, first=1 << 40)
    assert drain(later).refused == 0
    assert account(ws).lines == {kept: 1}


@pytest.mark.parametrize("tail", [b'{"v":1,"type":"rem', bytes(120), b"\0"])
def test_a_torn_tail_is_set_aside(ws: Workspace, tail: bytes) -> None:
    """What a power cut left of an unacknowledged record is set aside, and the record before it is stored (P-03)."""
    kept = keep(ws, "Whole").id
    (segment,) = segments(ws)
    with segment.open("ab") as file:
        file.write(tail)
    drain(ws)
    assert account(ws).lines == {kept: 1}
    assert [one.raw for one in quarantine.listed(ws)] == [tail]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS])
def test_an_unwritable_store_fails_the_drain_and_keeps_the_queue(ws: Workspace, error: int) -> None:
    """Whichever call fails for good, the drain fails with exit code 2 and not one queued byte is gone (R-06)."""
    kept = [keep(ws, f"Fact {n}", at=NOON - timedelta(days=n)).id for n in range(2)]
    promised = keep(ws, "Send the quote", due="2026-07-10").id
    before = journal_bytes(ws)
    for at in range(1, 200):
        disk = CrashDisk(ws.root, fail_at=at, error=error, forever=True)
        failing = opened(ws.root, disk=disk, first=at << 32)
        try:
            drain(failing)
        except DrainFailed:
            pass
        else:
            break
        archived = b"".join(sorted(ws.disk.read(path) or b"" for path in journal.archive_files(ws)))
        assert journal_bytes(ws) + archived == before, disk.log
    else:
        pytest.fail("the drain never ended")
    assert at > 10
    assert DrainFailed.exit_code == 2
    assert account(opened(ws.root)).lines == dict.fromkeys([*kept, promised], 1)


def test_a_failing_compression_does_not_fail_the_drain(ws: Workspace) -> None:
    """When a closed month cannot be compressed the drain still succeeds, says so, and the next one compresses."""
    kept = keep(ws, "Fact").id
    drain(ws)
    clock(ws).advance(days=40)
    packed = ws.root / f"{layout.JOURNAL_ARCHIVE}/2026-07.jsonl.gz"
    packed.mkdir()
    later = keep(ws, "Another").id
    done = drain(ws)
    assert done.stored == 1
    assert "not compressed" in done.problems[0]
    packed.rmdir()
    assert drain(ws).problems == ()
    assert gzip.decompress(packed.read_bytes())
    assert account(ws).lines == {kept: 1, later: 1}


def test_a_damaged_intent_stops_every_write(ws: Workspace) -> None:
    """While the intent cannot be read nothing is guessed: the drain fails, and the queue stays (R-06)."""
    keep(ws, "Fact")
    for text in (
        b"",
        b"junk",
        framing.frame({"type": "install"}),
        framing.frame({"type": "drain", "id": "x"}),
    ):
        (ws.root / layout.DRAIN_INTENT).write_bytes(text)
        before = journal_bytes(ws)
        with pytest.raises(DrainFailed, match="check --repair"):
            drain(ws)
        assert journal_bytes(ws) == before
        assert log(ws) == ""


def forged(ws: Workspace, **fields: object) -> None:
    """Write an intent nobody's drain made."""
    whole = {
        "id": "f" * 16,
        "at": NOON,
        "segments": (),
        "days": {},
        "events": 0,
        "stored_from": 0,
        "stored_to": 0,
    }
    intents.write(ws, layout.DRAIN_INTENT, DrainIntent(**{**whole, **fields}))


def test_a_forged_intent_drops_no_segment(ws: Workspace) -> None:
    """An intent that names segments which are nowhere makes the drain drop the intent, not what is queued (R-13)."""
    kept = [keep(ws, "One").id]
    claimed = journal.claim(ws)
    forged(ws, segments=(*claimed, "20260701T000000-gone.jsonl"))
    drain(ws)
    assert account(ws).lines == dict.fromkeys(kept, 1)
    kept.append(keep(ws, "Two").id)
    forged(ws, segments=("../../sessions/x.jsonl",))
    with pytest.raises(DrainFailed):
        drain(ws)
    assert account(ws).times("entry", kept[1]) == 1


def test_a_forged_length_cuts_no_log(ws: Workspace) -> None:
    """An intent with wrong lengths takes no line from a log, and each entry stands once (R-13)."""
    kept = [keep(ws, f"Old {n}").id for n in range(3)]
    drain(ws)
    old = log(ws)
    for length in (0, 10, len(old) - 5, len(old) + 50):
        kept.append(keep(ws, f"With {length}").id)
        forged(ws, segments=tuple(journal.claim(ws)), days={"2026-07-01": length})
        drain(ws)
        assert log(ws).startswith(old)
        assert account(ws).lines == dict.fromkeys(kept, 1)


def test_an_intent_deleted_by_hand_doubles_nothing(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the intent of an interrupted drain is gone, what stands in the log already is not written again (R-04)."""
    monkeypatch.setattr(drain_plan, "CHUNK", 2)
    kept = [keep(ws, f"Fact {n}").id for n in range(6)]
    judged = feedback(ws, kept[0], "less")
    for at in range(10, 34, 4):
        copy = copied(ws, f"copy{at}")
        interrupted(copy, at, seed=1)
        copy.disk.remove(layout.DRAIN_INTENT)
        drain(opened(copy.root))
        found = account(copy)
        assert (found.lines, found.judged) == (dict.fromkeys(kept, 1), {judged: 1}), at


class Meddled(Disk):
    """A disk on which a person changes a log right after a drain appended to one for the n-th time."""

    def __init__(self, root: Path, *, after: int, meddle: object) -> None:
        super().__init__(root)
        self.left, self.meddle = after, meddle

    def append(self, path: str, data: bytes, *, heal: bool = True, mode: int = 0o600) -> int:
        """Append, then let the person at the file."""
        at = super().append(path, data, heal=heal, mode=mode)
        if path.startswith(layout.ARCHIVE):
            self.left -= 1
            if self.left == 0:
                self.meddle(self.root / path)
        return at


def typed(path: Path) -> None:
    """Add a line without an end, as a hurried person does."""
    with path.open("ab") as file:
        file.write("- [preference] Typed by hand, 手写".encode())


def inserted(path: Path) -> None:
    """Make an older line longer."""
    path.write_bytes(path.read_bytes().replace(b"Mine", "Mine and 我的".encode()))


def shortened(path: Path) -> None:
    """Make an older line shorter."""
    path.write_bytes(path.read_bytes().replace(b"older", b"old"))


def saved_stale(path: Path) -> None:
    """Save what an editor read before the drain began."""
    path.write_bytes(b"# Daily Log - 2026-07-01\n\n- [fact] Mine, an older line\n- [fact] Typed by hand\n")


@pytest.mark.parametrize("meddle", [typed, inserted, shortened, saved_stale])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_person_may_edit_the_log_between_chunks(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, meddle: object, after: int
) -> None:
    """What a person writes into a log while it is drained stays, and each entry still stands once (P-08)."""
    monkeypatch.setattr(drain_plan, "CHUNK", 2)
    (ws.root / TODAY).write_bytes(b"# Daily Log - 2026-07-01\n\n- [fact] Mine, an older line\n")
    kept = [keep(ws, f"Fact {n}").id for n in range(6)]
    drain(opened(ws.root, disk=Meddled(ws.root, after=after, meddle=meddle), first=1 << 30))
    found = account(ws)
    assert {name: found.lines[name] for name in kept} == dict.fromkeys(kept, 1)
    assert any(text.startswith("Mine") for text in found.texts.values())
    if meddle in {typed, saved_stale}:
        assert any(text.startswith("Typed by hand") for text in found.texts.values())
    assert quarantine.listed(ws) == []


@pytest.mark.parametrize("mine", [b"- [fact] No line end", b"- [fact] Line end\n", b"\xe6\x89\n", b"\0\0"])
def test_a_torn_append_after_a_persons_line_leaves_that_line_alone(ws: Workspace, mine: bytes) -> None:
    """Whatever the crash made of the drain's append, the line a person wrote before it keeps its bytes (R-04, P-08)."""
    kept = [keep(ws, f"Fact {n}, 事实").id for n in range(2)]
    (ws.root / TODAY).write_bytes(mine)
    dry = CrashDisk(copied(ws, "dry").root)
    drain(opened(dry.root, disk=dry))
    written = next(at for at, call in enumerate(dry.log, 1) if call.startswith(f"write {TODAY}"))
    for seed in range(40):
        copy = copied(ws, f"copy{seed}")
        interrupted(copy, written + 1, seed=seed)
        drain(opened(copy.root, first=1 << 40))
        assert (copy.root / TODAY).read_bytes().startswith(mine.rstrip(b"\n") + b"\n"), seed
        found = account(copy)
        assert {name: found.lines[name] for name in kept} == dict.fromkeys(kept, 1), seed
        assert set(found.texts.values()) <= {"Fact 0, 事实", "Fact 1, 事实", "No line end", "Line end"}
