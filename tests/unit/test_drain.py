"""Step 4: what the drain stores, how often and where."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ledger import NOON, account, clock, journal_bytes, keep, opened, segments
from queued import TODAY, entry, interrupted, log, queue

from reverie import layout
from reverie.core.entries import derived_id
from reverie.core.formats import drain_plan, framing
from reverie.core.records import Draft, Entry, Event, Feedback
from reverie.drain import Drained, drain, finish
from reverie.remember import feedback, happen, remember
from reverie.store import counters, daylog, journal, quarantine, stream
from reverie.store.counters import DrainCounters
from reverie.store.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path / "w")


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
