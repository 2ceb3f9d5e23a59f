"""The derived state: what it answers, and that it equals a fold of the files however it came about."""

from __future__ import annotations

import os
import sqlite3
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from ledger import NOON, caught_up, clock, from_nothing, keep, opened, rows, said, state_of, unmasked
from queued import TODAY, entry, queue

from reverie import layout
from reverie.core.records import Extraction, Outcome
from reverie.drain import drain
from reverie.errors import AmbiguousId, Busy, NotFound, UnsafePath
from reverie.extract import Reading, extract
from reverie.index import schema
from reverie.index.state import State
from reverie.remember import feedback, happen
from reverie.store import journal, sessions, stream
from reverie.store.workspace import Workspace

PAGE = "notebook/3_Personal/Dana.md"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


@pytest.fixture
def state(ws: Workspace) -> State:
    """Return its state."""
    found = state_of(ws)
    yield found
    found.close()


def equal(ws: Workspace, state: State) -> None:
    """Demand that the state, caught up, equals one folded from nothing."""
    state.catch_up(unmasked)
    assert rows(state) == from_nothing(ws)


def lived(ws: Workspace) -> list[str]:
    """Give the workspace a log of two days, a promise, judgements, an outcome, a page and a mark; return the ids."""
    kept = [
        keep(ws, f"Fact {n}", at=NOON - timedelta(days=n % 2), tags=("t",), conf=0.5).id for n in range(4)
    ]
    kept.append(keep(ws, "Send the quote", due="2026-07-10", sig=0.9).id)
    feedback(ws, kept[0], "more")
    journal.append(ws, Extraction(id=ws.new_id(), at=NOON, extractor="x", session="s1", start=0, stop=7))
    drain(ws)
    happen(ws, "pin", kept[1])
    outcome = Outcome(run="dream:1", entry=kept[2], outcome="cited", at=NOON, page="3_Personal/Dana.md")
    stream.append(ws, layout.OUTCOMES, outcome)
    ws.disk.replace(PAGE, f"# Dana\n\n- calls [[archive/2026-06-30#^{kept[1]}]]\n".encode())
    return kept


def test_answers_follow_the_files(ws: Workspace, state: State) -> None:
    """Entries, promises, pins, outcomes, citations, marks and counts are what the files say."""
    kept = lived(ws)
    caught_up(ws, state)
    assert {found.entry.id for found in state.states()} == set(kept)
    assert [one.entry.id for one in state.promises()] == [kept[4]]
    assert [one.entry.id for one in state.pins()] == [kept[1]]
    assert [one.outcome for one in state.outcomes(kept[2])] == ["cited"]
    assert state.cited_on(kept[1]) == [(PAGE, 3)]
    assert state.mark("s1") == 7
    assert {one.entry.id for one in state.pending("2026-07-02")} == {*kept} - {kept[2]}
    assert state.counts() == {
        "entries": 5, "current": 5, "promises": 1, "pins": 1, "forgotten": 0, "queued": 0, "outcome_cited": 1,
    }  # fmt: skip
    assert state.get(kept[0]).sig > 0.5
    equal(ws, state)


def test_a_write_is_seen_from_the_moment_it_is_acknowledged(ws: Workspace, state: State) -> None:
    """What waits for the drain is found, listed and promised like everything else, and once after the drain too."""
    kept = keep(ws, "Fact").id
    promised = keep(ws, "Send it", due="2026-07-10").id
    for _ in range(2):
        caught_up(ws, state)
        assert {one.entry.id for one in state.states()} == {kept, promised}
        assert [one.entry.id for one in state.promises()] == [promised]
        assert state.get(kept).entry.text == "Fact"
        drain(ws)


def test_the_same_record_met_twice_counts_once(ws: Workspace, state: State) -> None:
    """A queue read before a drain and a log read after it show each entry once, a forgotten one not at all."""
    kept, gone = keep(ws, "Fact").id, keep(ws, "Gone").id
    queued = journal.waiting(ws).records
    drain(ws)
    happen(ws, "forget", gone)
    state.catch_up(unmasked)
    state.overlay(queued, unmasked)
    assert [one.entry.id for one in state.states()] == [kept]
    assert state.known(gone).text == "Gone"


def test_a_record_folded_by_another_process_meanwhile_counts_once(ws: Workspace, state: State) -> None:
    """What a neighbour drains and folds right after it was found waiting is answered once, by every verb."""
    kept, promised = keep(ws, "Fact").id, keep(ws, "Send it", due="2026-07-10", pin=True).id
    caught_up(ws, state)
    drain(ws)
    neighbour = state_of(ws)
    neighbour.catch_up(unmasked)
    neighbour.close()
    assert state.get(kept).entry.id == kept
    assert sorted(one.entry.id for one in state.states()) == sorted([kept, promised])
    assert [one.entry.id for one in state.promises()] == [promised]
    assert [one.entry.id for one in state.pins()] == [promised]


def test_prefixes_find_one_or_say_why_not(ws: Workspace, state: State) -> None:
    """The beginning of an id finds its entry; a shared or unknown beginning is an error."""
    for number in (0x1234 << 48, 0x1235 << 48):
        queue(ws, entry(number))
    caught_up(ws, state)
    assert state.get("1234").entry.id.startswith("1234")
    with pytest.raises(AmbiguousId):
        state.get("123")
    for unknown in ("", "9", "zz", "%"):
        with pytest.raises(NotFound):
            state.get(unknown)


def test_folding_step_by_step_equals_folding_at_once(ws: Workspace, state: State) -> None:
    """Whatever is added between two folds, the state equals one built from nothing."""
    for step in (
        lambda: keep(ws, "Before", due="2026-07-10"),
        lambda: lived(ws),
        lambda: drain(ws),
        lambda: ws.disk.append(TODAY, b"\n- [hobby] By hand\n- [hobby] By hand\n"),
        lambda: ws.disk.append(TODAY, "  > 手写的证据\n".encode()),
        lambda: ws.disk.append(TODAY, b"not an entry\n"),
        lambda: ws.disk.append(TODAY, b"- [hobby] No end", heal=False),
        lambda: ws.disk.append(TODAY, b" yet\n", heal=False),
        lambda: ws.disk.replace(PAGE, b"# Dana\n"),
        lambda: ws.disk.remove(PAGE),
        lambda: happen(ws, "hide", state.states()[0].entry.id),
    ):
        step()
        equal(ws, state)


def test_a_line_edited_by_hand_is_what_it_says_now(ws: Workspace, state: State) -> None:
    """After a person changed the text, the category or the place of a logged line, the state says what the log says."""
    kept = lived(ws)
    equal(ws, state)
    path = ws.root / TODAY
    for old, new in ((b"Fact 0", b"Fact null"), (b"[fact]", b"[goal]"), (b"\n- ", b"\n\n- ")):
        path.write_bytes(path.read_bytes().replace(old, new, 1))
        equal(ws, state)
    assert "Fact null" in state.get(kept[0]).entry.text


def test_a_log_that_lost_lines_takes_no_memory_with_it(ws: Workspace, state: State) -> None:
    """Entries of a log that was cut or removed are still answered until the state is built anew."""
    kept = lived(ws)
    caught_up(ws, state)
    (ws.root / TODAY).write_bytes(b"# Daily Log - 2026-07-01\n")
    assert len(caught_up(ws, state).states()) == len(kept)
    (ws.root / TODAY).unlink()
    assert len(caught_up(ws, state).states()) == len(kept)


@pytest.mark.parametrize("longer", [0, 1, 400])
def test_a_promise_taken_back_is_on_no_list(ws: Workspace, state: State, longer: int) -> None:
    """A promise read while its write was about to fail leaves the due list, however long what follows is (R-36)."""
    first = keep(ws, "First", due="2026-07-09").id
    size = ws.disk.size(layout.EVENTS)
    keep(ws, "Taken back", due="2026-07-10")
    caught_up(ws, state)
    ws.disk.truncate(layout.EVENTS, size)
    later = keep(ws, "After it" + "!" * longer, due="2026-07-11").id
    assert [one.entry.id for one in caught_up(ws, state).promises()] == [first, later]
    equal(ws, state)


def test_a_stream_put_in_another_place_is_read_anew(ws: Workspace, state: State) -> None:
    """Events that were replaced by a longer file are read from their beginning."""
    for number in range(3):
        keep(ws, f"Promise {number}", due="2026-07-10")
    caught_up(ws, state)
    lines = (ws.disk.read(layout.EVENTS) or b"").splitlines(keepends=True)
    ws.disk.replace(layout.EVENTS, b"".join(reversed(lines[1:])) + lines[1] * 3)
    folded = state.catch_up(unmasked)
    assert any("compare it with a backup" in problem for problem in folded.problems)
    assert len(state.promises()) == 2
    equal(ws, state)


def test_the_latest_reading_of_a_note_counts(ws: Workspace, state: State) -> None:
    """Of readings of one note in segments of two processes the later one holds, in whatever order they are met."""
    for number, (minute, digest) in enumerate(((5, "new"), (1, "old"))):
        other = opened(ws.root, first=(number + 1) << 32)
        record = Extraction(
            id=f"x{number}", at=NOON + timedelta(minutes=minute), extractor="x", note="2026-07-01.md", digest=digest
        )  # fmt: skip
        journal.append(other, record)
        assert caught_up(ws, state).note_digest("2026-07-01.md") == "new"
    drain(ws)
    assert caught_up(ws, state).note_digest("2026-07-01.md") == "new"
    equal(ws, state)


def test_a_segment_archived_within_the_same_tick_is_not_overlooked(ws: Workspace, state: State) -> None:
    """A mark that arrives in an archive folder whose time did not change is still found."""
    stamp = 0
    for stop in (3, 8):
        journal.append(ws, Extraction(id=f"x{stop}", at=NOON, extractor="x", session="s1", stop=stop))
        drain(ws)
        folder = ws.root / layout.JOURNAL_ARCHIVE / "2026-07"
        stamp = stamp or folder.stat().st_mtime_ns
        os.utime(folder, ns=(stamp, stamp))
        state.catch_up(unmasked)
        assert state.mark("s1") == stop


def test_processes_extracting_at_once_read_a_span_once(ws: Workspace) -> None:
    """Of extractions of one span at the same time exactly one is stored, whoever wins (P-02)."""
    for text in ("I now work at Microsoft.", "My sister Ana lives in Lisbon.", "I prefer tea."):
        sessions.append(ws, "s1", said(text))
    done: list[int] = []

    def run(number: int) -> None:
        mine = opened(ws.root, first=(number + 1) << 32, lock_wait_seconds=60)
        view = state_of(mine)
        asks = Reading(
            mark=lambda session: caught_up(mine, view).mark(session),
            note=lambda path: caught_up(mine, view).note_digest(path),
            known=lambda one: caught_up(mine, view).known(one),
            alike=lambda _: (),
        )
        done.append(extract(mine, asks).spans)
        view.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0, 0, 0, 1]
    assert len(journal.waiting(ws).records) == 1


def test_another_process_that_keeps_the_state_makes_it_busy(
    ws: Workspace, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process folds for long, the state answers Busy and throws nothing away."""
    monkeypatch.setattr(schema, "BUSY_MS", 20)
    lived(ws)
    caught_up(ws, state)
    state.close()
    inode = (ws.root / layout.STATE_DB).stat().st_ino
    other = sqlite3.connect(ws.root / layout.STATE_DB, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy):
        state.catch_up(unmasked)
    other.execute("ROLLBACK")
    other.close()
    caught_up(ws, state)
    assert (ws.root / layout.STATE_DB).stat().st_ino == inode


def test_a_state_of_another_zone_or_version_is_made_anew(ws: Workspace, state: State) -> None:
    """A database built under another calendar or by another version is folded again, in the same file."""
    lived(ws)
    caught_up(ws, state)
    inode = (ws.root / layout.STATE_DB).stat().st_ino
    moved = opened(ws.root, zone="Asia/Tokyo")
    other = state_of(moved)
    equal(moved, other)
    other.close()
    equal(ws, state)
    state.db.execute("UPDATE identity SET version = 0")
    equal(ws, state)
    assert (ws.root / layout.STATE_DB).stat().st_ino == inode


def test_two_processes_may_make_the_state_at_once(ws: Workspace) -> None:
    """Several threads that open a workspace without a state all answer rightly."""
    kept = lived(ws)
    found: list[int] = []

    def run() -> None:
        mine = opened(ws.root)
        view = state_of(mine)
        found.append(len(caught_up(mine, view).states()))
        view.close()

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [len(kept)] * 6


def test_marks_are_not_guessed(ws: Workspace, state: State) -> None:
    """While part of the journal cannot be opened, everything else is answered and no session is read again."""
    kept = lived(ws)
    (ws.root / layout.JOURNAL_ARCHIVE / ".DS_Store").write_bytes(b"no month")
    (segment,) = (ws.root / layout.JOURNAL_ARCHIVE / "2026-07").iterdir()
    segment.rename(segment.with_name("aside"))
    segment.symlink_to("aside")
    caught_up(ws, state)
    assert len(state.states()) == len(kept)
    with pytest.raises(UnsafePath, match="how far"):
        state.mark("s1")
    segment.unlink()
    segment.with_name("aside").rename(segment)
    assert caught_up(ws, state).mark("s1") == 7


def test_a_clock_set_back_changes_no_mark(ws: Workspace, state: State) -> None:
    """Marks are the highest ordinals, whatever the clocks of the records say (R-40, R-14)."""
    for minutes, stop in ((0, 9), (-600, 4)):
        clock(ws).advance(minutes=minutes)
        journal.append(ws, Extraction(id=f"x{stop}", at=ws.clock(), extractor="x", session="s1", stop=stop))
        drain(ws)
    assert caught_up(ws, state).mark("s1") == 9
