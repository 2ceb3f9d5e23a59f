"""Step 4: what the drain stores, how often, where, and what it leaves when it cannot."""

from __future__ import annotations

import errno
import gzip
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ledger import NOON, account, clock, journal_bytes, keep, opened, segments

from reverie import layout
from reverie.core import drain_plan, framing
from reverie.core.entries import derived_id
from reverie.core.records import Draft, Entry, Event, Feedback, Remember
from reverie.drain import Drained, drain, finish
from reverie.errors import DrainFailed
from reverie.remember import feedback, happen, remember
from reverie.store import counters, daylog, intents, journal, quarantine, stream
from reverie.store.counters import DrainCounters
from reverie.store.disk import Disk
from reverie.store.intents import DrainIntent
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed

TODAY = layout.log_file("2026-07-01")
DRAINER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
import secrets
from reverie.core.settings import Settings
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


def log(ws: Workspace, day: str = "2026-07-01") -> str:
    """Return the log of a day."""
    return (ws.disk.read(layout.log_file(day)) or b"").decode()


def queue(ws: Workspace, entry: Entry, *, record: str = "") -> None:
    """Queue an entry as it is, past every check."""
    journal.append(ws, Remember(id=record or ws.new_id(), at=ws.clock(), entry=entry))


def entry(number: int, text: str = "", **fields: object) -> Entry:
    """Return an entry with a numbered id."""
    whole = {"id": f"{number:016x}", "text": text or f"Fact {number}", "at": NOON, "day": "2026-07-01"}
    return Entry(**{**whole, **fields})


def interrupted(ws: Workspace, at: int, *, seed: int = 0) -> CrashDisk:
    """Drain the workspace on a disk that crashes at call `at`, and return the disk."""
    disk = CrashDisk(ws.root, crash_at=at, seed=seed)
    with pytest.raises(Crashed):
        drain(opened(ws.root, disk=disk, first=1 << 30))
    disk.cut_power()
    return disk


def copied(ws: Workspace, name: str) -> Workspace:
    """Return a copy of the workspace beside it."""
    copy = opened(ws.root.with_name(name))
    for path in ws.disk.walk(""):
        copy.disk.replace(path, ws.disk.read(path) or b"")
    return copy


def test_an_empty_queue_changes_nothing(ws: Workspace) -> None:
    """A drain of nothing answers that it stored nothing and makes no file."""
    before = sorted(ws.root.rglob("*"))
    assert drain(ws) == Drained()
    assert [path for path in sorted(ws.root.rglob("*")) if path not in before] == [
        ws.root / layout.WRITE_LOCK
    ]


def test_everything_queued_is_stored_once_and_archived(ws: Workspace) -> None:
    """Entries get their lines, feedback its event, and the segment moves to the archive, all of it once (R-04)."""
    kept = [keep(ws, f"Fact {n}").id for n in range(3)]
    judged = feedback(ws, kept[0], "helpful")
    waiting = journal_bytes(ws)
    done = drain(ws)
    assert (done.stored, done.feedback, done.refused, done.due.digest) == (3, 1, 0, True)
    assert drain(ws) == drain(ws) == Drained()
    found = account(ws)
    assert found.lines == dict.fromkeys(kept, 1)
    assert found.judged == {judged: 1}
    assert journal_bytes(ws) == b""
    assert b"".join(ws.disk.read(path) or b"" for path in journal.archive_files(ws)) == waiting


def test_an_entry_goes_to_the_log_of_its_own_day_however_late(ws: Workspace) -> None:
    """A record that arrives after its day was closed is appended to that day's log (R-12)."""
    keep(ws, "Said today")
    drain(ws)
    late = keep(ws, "Said last month", at=NOON - timedelta(days=30)).id
    drain(ws)
    assert f"^{late}" in log(ws, "2026-06-01")
    assert "Said last month" not in log(ws)


@pytest.mark.parametrize(
    ("zone", "starts", "instant", "day"),
    [
        ("Asia/Shanghai", "00:00", datetime(2026, 7, 1, 15, 59, tzinfo=UTC), "2026-07-01"),
        ("Asia/Shanghai", "00:00", datetime(2026, 7, 1, 16, 0, tzinfo=UTC), "2026-07-02"),
        ("Asia/Shanghai", "04:00", datetime(2026, 7, 1, 19, 59, tzinfo=UTC), "2026-07-01"),
        ("Etc/GMT+8", "00:00", datetime(2026, 7, 1, 7, 59, tzinfo=UTC), "2026-06-30"),
        ("Etc/GMT+8", "04:00", datetime(2026, 7, 1, 12, 0, tzinfo=UTC), "2026-07-01"),
        ("Etc/GMT+8", "04:00", datetime(2026, 7, 1, 11, 59, tzinfo=UTC), "2026-06-30"),
        ("Europe/Berlin", "00:00", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "2026-10-25"),
        ("Europe/Berlin", "02:30", datetime(2026, 10, 25, 1, 15, tzinfo=UTC), "2026-10-25"),
        ("Europe/Berlin", "02:30", datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "2026-03-28"),
        ("Europe/Berlin", "02:30", datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "2026-03-29"),
    ],
)
def test_midnight_is_where_the_person_lives(
    tmp_path: Path, zone: str, starts: str, instant: datetime, day: str
) -> None:
    """The day of an entry is that of the workspace's zone and beginning, in summer, winter and between (R-40, P-12)."""
    ws = opened(tmp_path, zone=zone, day_starts_at=starts, now=instant)
    kept = keep(ws, "Closing the shop now").id
    drain(ws)
    assert daylog.days(ws) == [day]
    assert f"^{kept}" in log(ws, day)


def test_a_clock_set_back_loses_and_reorders_nothing(ws: Workspace) -> None:
    """With the clock set back between writes and drains, each entry stands once, on the day it was said (R-40)."""
    kept = []
    for hours in (0, -30, 5, -30):
        clock(ws).advance(hours=hours)
        kept.append(keep(ws, f"At {ws.clock():%d %H:%M}").id)
        drain(ws)
    assert account(ws).lines == dict.fromkeys(kept, 1)
    assert daylog.days(ws) == ["2026-06-29", "2026-06-30", "2026-07-01"]


def test_a_later_zone_does_not_move_what_was_queued(tmp_path: Path) -> None:
    """An entry queued under one zone and drained under another stays on the day it was queued for (R-40)."""
    kept = keep(opened(tmp_path, zone="Asia/Tokyo", now=datetime(2026, 7, 1, 20, tzinfo=UTC)), "Fact").id
    moved = opened(tmp_path, zone="America/Los_Angeles")
    drain(moved)
    assert daylog.days(moved) == ["2026-07-02"]
    assert account(moved).lines == {kept: 1}


def test_one_invalid_record_among_a_hundred_is_set_aside(ws: Workspace) -> None:
    """Of 100 records 99 are stored, and the one that is refused is listed with its reason and bytes (R-05)."""
    for number in range(100):
        queue(ws, entry(number, sig=7.0 if number == 41 else None))
    done = drain(ws)
    assert (done.stored, done.refused) == (99, 1)
    (refused,) = quarantine.listed(ws)
    assert "sig is 7.0" in refused.reason
    assert "Fact 41" in refused.text
    assert account(ws).lines == {f"{number:016x}": 1 for number in range(100) if number != 41}


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "  "},
        {"day": "../../etc/2026"},
        {"day": "2026-02-30"},
        {"id": "no id"},
        {"category": "../x"},
        {"due": "someday"},
        {"conf": -1.0},
        {"text": "x" * 100_001},
    ],
)
def test_each_kind_of_invalid_entry_is_refused(ws: Workspace, wrong: dict[str, object]) -> None:
    """Whatever is wrong with a record, it is set aside, and its neighbours are stored (R-05, R-45)."""
    queue(ws, entry(1))
    queue(ws, entry(2, **wrong))
    queue(ws, entry(3))
    assert drain(ws).refused == 1
    assert set(account(ws).lines) == {f"{1:016x}", f"{3:016x}"}
    assert len(quarantine.listed(ws)) == 1


def test_an_invalid_promise_does_not_stop_the_drain(ws: Workspace) -> None:
    """A stored promise that no log can hold is set aside, once, and everything else is stored (R-05)."""
    bad = entry(1, day="2026-13-01", category="commitment")
    stream.append(
        ws, layout.EVENTS, Event(id=ws.new_id(), at=NOON, kind="commitment", entry=bad.id, body=bad)
    )
    kept = keep(ws, "Fact").id
    assert drain(ws).refused == 1
    assert drain(ws) == Drained()
    assert account(ws).lines == {kept: 1}


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


def test_promises_stand_in_the_log_of_their_day_too(ws: Workspace) -> None:
    """What was stored as an event at once gets its line with the next drain, once."""
    due, pin = keep(ws, "Send the quote", due="2026-07-10").id, keep(ws, "Likes tea", pin=True).id
    assert drain(ws).stored == 2
    assert drain(ws) == Drained()
    assert account(ws).lines == {due: 1, pin: 1}


def test_promises_keep_their_single_line_when_the_position_is_lost(ws: Workspace) -> None:
    """A position that is lost, damaged, negative or beyond the end doubles no promise and misses none (R-47)."""
    kept = [keep(ws, "Send the quote", due="2026-07-10").id]
    drain(ws)
    position = ws.root / f"{layout.COUNTERS}/drain.json"
    size = ws.disk.size(layout.EVENTS) or 0
    for number, wrong in enumerate(
        (b"", b"junk", framing.frame({"type": "drain", "events": "seven"}), *(
            framing.frame(DrainCounters(events=at)) for at in (-5, 3, size + 10_000, 1 << 60)
        ))
    ):  # fmt: skip
        position.write_bytes(wrong)
        kept.append(keep(ws, f"Promise {number}", due="2026-07-10").id)
        drain(ws)
        assert account(ws).lines == dict.fromkeys(kept, 1), wrong


def test_a_promise_a_writer_took_back_or_tore_hides_no_later_one(ws: Workspace) -> None:
    """A promise stored behind a torn one gets its line, whatever was torn when the drain before looked (R-36)."""
    first = keep(ws, "First", due="2026-07-10").id
    with (ws.root / layout.EVENTS).open("ab") as file:
        file.write(b'{"v":1,"id":"' + b"x" * 400)
    drain(ws)
    second = keep(ws, "Second", due="2026-07-11").id
    drain(ws)
    assert account(ws).lines == {first: 1, second: 1}


@pytest.mark.parametrize("text", ["see ^{id}", "[[archive/2026-07-01#^{id}]] holds"])
def test_a_mention_of_an_id_is_not_its_line(ws: Workspace, text: str) -> None:
    """A log line that only mentions a promise's id, at its end too, does not stand for the promise (R-13)."""
    promised = keep(ws, "Send the quote", due="2026-07-10").id
    mention = text.format(id=promised)
    (ws.root / TODAY).write_text(
        f"# Daily Log - 2026-07-01\n\n- [fact] Note\n  > {mention}\n- {mention} again\n"
    )
    drain(ws)
    assert account(ws).lines[promised] == 1


def test_a_record_queued_again_after_its_drain_adds_nothing(ws: Workspace) -> None:
    """A segment that comes back from a backup or a synchronising program stores no entry or feedback twice."""
    kept = keep(ws, "Fact").id
    judged = feedback(ws, kept, "more")
    (segment,) = segments(ws)
    copy = segment.read_bytes()
    drain(ws)
    segment.with_name("conflicted copy.jsonl").write_bytes(copy)
    done = drain(ws)
    assert (done.stored, done.feedback, done.repeated) == (0, 0, 1)
    found = account(ws)
    assert (found.lines, found.judged) == ({kept: 1}, {judged: 1})


def test_an_id_that_comes_again_with_another_text_is_refused(ws: Workspace) -> None:
    """A second text under an id is set aside, whether the first waits beside it or was drained before."""
    queue(ws, entry(1, "One"))
    queue(ws, entry(1, "Two"))
    assert (drain(ws).stored, len(quarantine.listed(ws))) == (1, 1)
    queue(ws, entry(1, "Three"))
    done = drain(ws)
    assert (done.stored, done.refused) == (0, 1)
    assert account(ws).texts == {f"{1:016x}": "One"}


def test_feedback_for_nothing_or_of_no_meaning_is_refused(ws: Workspace) -> None:
    """Feedback that names no id or says no known word is set aside."""
    journal.append(ws, Feedback(id="f1", at=NOON, entry="nothing", value="more"))
    journal.append(ws, Feedback(id="f2", at=NOON, entry="1" * 16, value="great"))
    journal.append(ws, Feedback(id="f3", at=NOON, entry="1" * 16, value="2"))
    journal.append(ws, Feedback(id="f4", at=NOON, entry="1" * 16, value="0.5"))
    done = drain(ws)
    assert (done.feedback, done.refused) == (1, 3)
    assert account(ws).judged == {"f4": 1}


def test_entries_by_the_thousand_are_written_in_chunks(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More entries than a chunk holds, over several days, each stand once in their day's log, in the order queued."""
    monkeypatch.setattr(drain_plan, "CHUNK", 7)
    for number in range(40):
        day = NOON - timedelta(days=number % 3)
        queue(ws, entry(number, at=day, day=f"{day:%Y-%m-%d}"))
    assert drain(ws).stored == 40
    assert account(ws).lines == {f"{number:016x}": 1 for number in range(40)}
    assert [one.entry.text for one in daylog.read(ws, "2026-06-30").entries] == [
        f"Fact {n}" for n in range(1, 40, 3)
    ]
    assert log(ws).count("# Daily Log") == 1


def test_a_long_queue_is_claimed_in_pieces(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue larger than one claim is drained claim by claim within one call."""
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 400)
    monkeypatch.setattr(journal, "CLAIM_BYTES", 700)
    kept = [keep(ws, f"Fact {n}").id for n in range(12)]
    assert len(list(segments(ws))) > 3
    assert drain(ws).stored == 12
    assert account(ws).lines == dict.fromkeys(kept, 1)


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


def test_finish_continues_an_interrupted_drain_and_nothing_else(ws: Workspace) -> None:
    """Finishing stores what an interrupted drain had begun, and leaves alone what was queued with none begun."""
    kept = keep(ws, "Fact").id
    assert finish(ws) == Drained()
    assert journal_bytes(ws)
    interrupted(ws, 12, seed=1)
    assert ws.disk.size(layout.DRAIN_INTENT)
    finish(ws)
    assert account(ws).lines == {kept: 1}


def test_events_of_other_kinds_make_no_lines(ws: Workspace) -> None:
    """Pins, hides and completions of an entry leave the logs alone."""
    kept = keep(ws, "Fact").id
    drain(ws)
    before = log(ws)
    for kind in ("pin", "hide", "complete"):
        happen(ws, kind, kept)
    drain(ws)
    assert log(ws) == before
    assert counters.read(ws, DrainCounters).events == ws.disk.size(layout.EVENTS)


def test_a_key_is_taken_for_good(ws: Workspace) -> None:
    """A keyed text sent again after a lost answer is stored once, before and after the drain."""
    draft = Draft(key="order-7")
    known: dict[str, Entry] = {}
    first = remember(ws, "Order 7 was paid", draft, known=known.get)
    assert first.id == derived_id("key", "order-7")
    journal.append(ws, journal.waiting(ws).records[0])
    drain(ws)
    remember(ws, "Order 7 was paid", draft, known=known.get)
    drain(ws)
    assert account(ws).lines == {first.id: 1}
