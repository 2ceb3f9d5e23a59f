"""Step 3: spans read once, notes read when they change, and what is never read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from ledger import NOON, account, opened, reading, said

from reverie import layout
from reverie.capture import capture, pause, resume
from reverie.core.fold import EntryState
from reverie.core.formats import framing
from reverie.core.records import Event, Extraction
from reverie.drain import drain
from reverie.errors import UnsafePath
from reverie.extract import Extracted, Reading, extract
from reverie.remember import note
from reverie.store import journal, sessions, stream
from reverie.store.workspace import Workspace
from reverie.testing import CrashDisk, Crashed

JOB, CITY, TEA = "I now work at Microsoft.", "I moved to Lisbon.", "I prefer tea over coffee."


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    return opened(tmp_path)


def told(ws: Workspace, *texts: str, session: str = "s1") -> None:
    """Capture what a user said."""
    for text in texts:
        capture(ws, session, said(text))


def records(ws: Workspace) -> list[Extraction]:
    """Return the extractions that wait."""
    return [record for record in journal.waiting(ws).records if isinstance(record, Extraction)]


def texts(ws: Workspace) -> list[str]:
    """Return the texts in the logs."""
    return sorted(account(ws).texts.values())


def test_a_span_is_one_record_under_its_mark(ws: Workspace) -> None:
    """What is unread becomes one record of the span, and the next reading begins where it ended."""
    told(ws, JOB, CITY)
    done = extract(ws, reading(ws))
    assert (done.spans, done.entries, done.due.drain) == (1, 2, True)
    assert extract(ws, reading(ws)) == Extracted()
    drain(ws)
    assert extract(ws, reading(ws)) == Extracted()
    told(ws, TEA)
    assert extract(ws, reading(ws)).entries == 1
    assert [(one.start, one.stop) for one in records(ws)] == [(2, 3)]
    drain(ws)
    assert len(texts(ws)) == 3


def test_a_span_with_nothing_in_it_is_read_once_too(ws: Workspace) -> None:
    """Small talk moves the mark and makes no drain due."""
    told(ws, "Hello!", "Thanks.")
    done = extract(ws, reading(ws))
    assert (done.spans, done.entries, done.due.drain) == (1, 0, False)
    assert extract(ws, reading(ws)) == Extracted()


def test_entries_carry_where_they_come_from(ws: Workspace) -> None:
    """Each entry names its session and turn, quotes words of it, and lies on the day of the turn."""
    capture(ws, "s1", said("Hello!"))
    capture(ws, "s1", said(JOB, at=NOON - timedelta(days=1)))
    extract(ws, reading(ws))
    (entry,) = records(ws)[0].entries
    assert (entry.session, entry.turns, entry.day) == ("s1", "1", "2026-06-30")
    assert entry.evidence in JOB


def test_what_was_rendered_or_paused_is_not_read(ws: Workspace) -> None:
    """Memory that came back in a turn, and what was said off the record, become no entries (P-09)."""
    capture(ws, "s1", said(f"{CITY} {JOB}"), rendered=[JOB])
    pause(ws, "s1")
    told(ws, TEA)
    resume(ws, "s1")
    extract(ws, reading(ws))
    assert [entry.evidence for entry in records(ws)[0].entries] == [CITY]


def test_a_turn_sent_twice_is_read_once(ws: Workspace) -> None:
    """A turn captured again under its id, after it was read, gives no second entry (P-09)."""
    for _ in range(2):
        capture(ws, "s1", said(JOB, id="t1"))
        extract(ws, reading(ws))
    drain(ws)
    assert len(texts(ws)) == 1


def test_a_session_nobody_closed_is_read_days_later(ws: Workspace) -> None:
    """Turns left by a crash are extracted by whoever comes next, on the day they were said (R-43)."""
    told(ws, JOB)
    later = opened(ws.root, now=NOON + timedelta(days=3), first=1 << 32)
    assert extract(later, reading(later)).entries == 1
    assert records(ws)[0].entries[0].day == "2026-07-01"


def test_the_loser_of_a_race_stores_nothing(ws: Workspace) -> None:
    """Of two readings of a span the second finds the mark moved, under the lock, and drops what it read (P-02)."""
    told(ws, JOB)
    asks = reading(ws)
    raced = iter([True])

    def mark(session: str) -> int:
        found = asks.mark(session)
        if next(raced, False):
            extract(opened(ws.root, first=1 << 32), asks)
        return found

    assert extract(ws, Reading(mark=mark, note=asks.note, known=asks.known, alike=asks.alike)) == Extracted()
    assert len(records(ws)) == 1


def test_sessions_read_together_are_a_record_each_and_one_look_at_the_files(ws: Workspace) -> None:
    """By rule, what was read of many sessions is stored at once: a record each, and the marks are looked at once."""
    names = ["s1", "s2", "s3"]
    for session in names:
        told(ws, JOB, session=session)
    asks, looks = reading(ws), []

    def mark(session: str) -> int:
        looks.append(session)
        return asks.mark(session)

    done = extract(ws, replace(asks, mark=mark, glance=asks.mark), names=[*names, "s1", "s0"])
    assert (done.spans, done.entries) == (3, 3)
    assert [record.session for record in records(ws)] == names
    assert (
        len(looks) == 3
    )  # once before anything is stored, and before what follows is linked, for it was not `told`
    assert extract(ws, reading(ws)) == Extracted()


def test_of_sessions_read_together_the_raced_one_is_dropped(ws: Workspace) -> None:
    """Where a neighbour read one of several sessions meanwhile, the others are stored all the same (P-02)."""
    told(ws, JOB, session="s1")
    told(ws, CITY, session="s2")
    asks = reading(ws)
    raced = iter([True])

    def glance(session: str) -> int:
        found = asks.mark(session)
        if session == "s2" and next(raced, False):
            extract(opened(ws.root, first=1 << 32), asks, names=["s2"])
        return found

    done = extract(ws, replace(asks, glance=glance), names=["s1", "s2"])
    assert done.spans == 1
    assert sorted(record.session for record in records(ws)) == ["s1", "s2"]


def test_a_session_that_cannot_be_opened_leaves_those_before_it_stored(ws: Workspace, tmp_path: Path) -> None:
    """What stops the reading of one session does not take with it what was read of those before (P-08)."""
    told(ws, JOB, session="s1")
    path = ws.root / sessions.path_of("s2")
    (tmp_path / "elsewhere").write_bytes(b"")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        extract(ws, reading(ws), names=["s1", "s2"])
    assert [record.session for record in records(ws)] == ["s1"]


@pytest.mark.parametrize("how", ["deleted", "cut"])
def test_a_mark_beyond_the_session_hides_nothing(ws: Workspace, how: str) -> None:
    """After a session's file was lost or cut back, what is said in it next is extracted all the same, once (R-47)."""
    told(ws, "Hello!", "Thanks.", JOB, TEA)
    extract(ws, reading(ws))
    path = ws.root / sessions.path_of("s1")
    if how == "deleted":
        path.unlink()
    else:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    told(ws, CITY)
    extract(ws, reading(ws))
    told(ws, "I prefer trains.")
    for _ in range(3):
        extract(ws, reading(ws))
    drain(ws)
    evidence = [entry.evidence for record in journal.archived(ws) for entry in record.entries]
    assert sorted(evidence) == sorted([JOB, TEA, CITY, "I prefer trains."])
    assert sessions.load(ws, "s1").state.turns > 4


@pytest.mark.parametrize("rest", ["", "They fixed the boiler."], ids=["lower", "higher"])
@pytest.mark.parametrize("around", [("", ""), ("<<<<<<< HEAD\n=======\n", ">>>>>>> theirs\n")])
def test_two_copies_of_a_session_that_were_merged_as_text_hide_nothing(
    ws: Workspace, around: tuple[str, str], rest: str
) -> None:
    """What either copy holds, and what is said next under ordinals used before, is extracted once (R-47, P-03)."""
    told(ws, "Hello!", JOB, TEA, "Thanks.")
    path = ws.root / sessions.path_of("s1")
    extract(ws, reading(ws))
    theirs = [
        said("My dog is called Rex.", id="theirs", n=1),
        *(said(one, id="more", n=4) for one in [rest] if one),
    ]
    before, after = (mark.encode() for mark in around)
    path.write_bytes(path.read_bytes() + before + b"".join(map(framing.frame, theirs)) + after)
    told(ws, CITY)
    for _ in range(2):
        extract(ws, reading(ws))
    told(ws, "I prefer trains.")
    for _ in range(2):
        extract(ws, reading(ws))
    drain(ws)
    evidence = [entry.evidence for record in journal.archived(ws) for entry in record.entries]
    assert sorted(evidence) == sorted([JOB, TEA, CITY, "My dog is called Rex.", "I prefer trains."])
    assert sessions.load(ws, "s1").turns[-1].content == "I prefer trains."
    assert [talk.unread for talk in sessions.talks(ws, reading(ws).mark)] == [0]


def test_damage_in_a_session_costs_no_other_turn(ws: Workspace) -> None:
    """A damaged turn is skipped, its neighbours and every other session are extracted (P-03)."""
    told(ws, JOB, CITY)
    path = ws.root / sessions.path_of("s1")
    path.write_bytes(path.read_bytes().replace(b"Microsoft", b"Macrosoft"))
    told(ws, TEA, session="s2")
    (ws.root / layout.SESSIONS / "folder.jsonl").mkdir()
    extract(ws, reading(ws))
    assert sorted(entry.evidence for one in records(ws) for entry in one.entries) == [CITY, TEA]


def test_notes_are_read_when_they_change(ws: Workspace) -> None:
    """A note is read once for each state of its bytes, and a paragraph read before is not stored again."""
    note(ws, "We decided to use PostgreSQL.")
    assert extract(ws, reading(ws)).entries == 1
    assert extract(ws, reading(ws)) == Extracted()
    note(ws, "We decided to deploy on Fridays.")
    assert extract(ws, reading(ws)).entries == 1
    drain(ws)
    assert len(texts(ws)) == 2


def test_a_note_that_came_back_to_what_it_was_is_read_once(ws: Workspace) -> None:
    """A note changed and changed back is not read again and again while the queue waits."""
    path = ws.root / "notes/2026-07-01.md"
    path.parent.mkdir()
    for number, text in enumerate(
        ("We decided to use PostgreSQL.", "Never mind.", "We decided to use PostgreSQL.")
    ):
        path.write_text(f"{text}\n")
        later = opened(ws.root, now=NOON + timedelta(minutes=number), first=(number + 1) << 32)
        assert extract(later, reading(later)).spans == 1
        assert extract(later, reading(later)) == Extracted()
    drain(ws)
    assert len(texts(ws)) == 1


def test_notes_that_cannot_be_read_are_named(ws: Workspace) -> None:
    """A note that is a link, too long or of no day is named in the problems, and the others are read."""
    folder = ws.root / "notes"
    folder.mkdir()
    (folder / "2026-07-01.md").write_text("We decided to use PostgreSQL.\n")
    (folder / "2026-07-02.md").symlink_to("2026-07-01.md")
    (folder / "2026-07-03.md").write_text("x" * 1_000_001)
    (folder / "2026-13-99.md").write_text("We decided to use MySQL.\n")
    done = extract(ws, reading(ws))
    assert done.entries == 1
    assert [problem.split()[0] for problem in done.problems] == [
        "notes/2026-07-02.md", "notes/2026-07-03.md", "notes/2026-13-99.md",
    ]  # fmt: skip


def test_excluded_topics_are_not_stored(tmp_path: Path) -> None:
    """What mentions an excluded topic is read and dropped (R-28)."""
    ws = opened(tmp_path, exclusions=("Lisbon",))
    told(ws, CITY, JOB)
    extract(ws, reading(ws))
    assert [entry.evidence for entry in records(ws)[0].entries] == [JOB]


def test_a_switched_off_memory_reads_nothing(ws: Workspace) -> None:
    """With `enabled = false` no turn is read."""
    told(ws, JOB)
    off = opened(ws.root, enabled=False)
    assert extract(off, reading(off)) == Extracted()
    assert records(ws) == []


def test_links_are_made_once(ws: Workspace) -> None:
    """An entry that replaces one known before is linked to it by an event whose id is the same each time (P-10)."""
    told(ws, "I work at Google.")
    extract(ws, reading(ws))
    (before,) = records(ws)[0].entries
    drain(ws)
    capture(ws, "s1", said("I now work at Microsoft.", at=NOON + timedelta(hours=1)))
    asks = reading(ws)
    old = EntryState(entry=before, sig=0.6, confirmed=NOON)
    done = extract(ws, Reading(mark=asks.mark, note=asks.note, known=asks.known, alike=lambda _: [old]))
    assert done.links == 1
    (event,) = stream.read(ws, layout.EVENTS, Event).records
    assert (event.kind, event.other) == ("supersede", before.id)


def test_a_crash_before_the_record_is_synced_reads_the_span_again(ws: Workspace) -> None:
    """Cut off at any call of an extraction, the span is read by the next one, and each entry is there once (R-04)."""
    told(ws, JOB, CITY)
    files = {path: ws.disk.read(path) or b"" for path in ws.disk.walk("")}
    for at in range(1, 60):
        copy = opened(ws.root / f"copy{at}")
        for path, data in files.items():
            copy.disk.replace(path, data)
        disk = CrashDisk(copy.root, crash_at=at, seed=at)
        failing = opened(copy.root, disk=disk, first=1 << 32)
        try:
            extract(failing, reading(failing))
        except Crashed:
            ended = False
        else:
            ended = True
        disk.cut_power()
        extract(copy, reading(copy))
        drain(copy)
        assert len(texts(copy)) == 2, disk.log
        if ended:
            break
    assert at > 8
