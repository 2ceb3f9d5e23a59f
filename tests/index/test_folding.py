"""The derived state is one thing, in however many steps the files are folded."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie import layout
from reverie.core.days import Calendar
from reverie.core.formats.daylog import render
from reverie.core.formats.framing import frame
from reverie.core.formats.stretches import STRETCH
from reverie.core.records import Entry, Event, Outcome, Remember
from reverie.index.entry_rows import events_of, said_at
from reverie.index.state import State
from reverie.store.filesystem.disk import Disk

DAY = "2026-07-01"
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
CALENDAR = Calendar("UTC", "00:00")
LOG = layout.log_file(DAY)
HAND_WRITTEN = """\
- [preference] User prefers compact dashboards `ui`
- [preference] User prefers compact dashboards `ui`

## 14:05 — abc12345

- [work] User now works at Microsoft
  > I started at Microsoft on Monday
  > and like it
this is no entry
- [fact] a half &#xD800; character (session:: abc)
"""


def nothing(_: Entry) -> bool:
    """Mask nothing."""
    return False


def state_at(root: Path) -> State:
    """Return the state of the folder, not caught up."""
    return State(root, Disk(root), calendar=CALENDAR, notebook=layout.NOTEBOOK)


def entry(number: int, **fields: object) -> Entry:
    """Return a numbered entry."""
    at = NOON + timedelta(minutes=number)
    return Entry(**{"id": f"{number:016x}", "text": f"Fact {number}.", "at": at, "day": DAY, **fields})


def logged(*entries: Entry) -> bytes:
    """Return the lines of entries in a log."""
    return render(entries, CALENDAR, first=False, day=DAY).encode()


def event(number: int, kind: str, on: Entry, **fields: object) -> Event:
    """Return a numbered event on an entry."""
    return Event(id=f"e{number}", at=NOON + timedelta(hours=number), kind=kind, entry=on.id, **fields)


def told(state: State) -> tuple[object, ...]:
    """Return what a state says that another fold of the same files must say too."""
    pending = list(state.pending(before="2027-01-01"))
    by_day = state.pending_days(before="2027-01-01")
    assert by_day == Counter(one.entry.day for one in pending)
    return state.digest(), state.counts(), sorted(one.entry.id for one in pending), by_day, state.unparsed()


def same_as_afresh(state: State) -> bool:
    """Tell whether the state says what one folded from nothing says."""
    with state.afresh() as fresh:
        return told(fresh) == told(state)


@pytest.mark.parametrize("seed", range(8))
def test_a_log_read_piece_by_piece_is_the_log_read_whole(tmp_path: Path, seed: int) -> None:
    """Wherever a log was cut between two folds, entries, ids and unread lines are those of the whole."""
    lot, data, at = (
        random.Random(seed),
        HAND_WRITTEN.encode() * 3 + logged(entry(1), entry(2, evidence="so")),
        0,
    )
    disk, state = Disk(tmp_path), state_at(tmp_path)
    while at < len(data):
        size = lot.randrange(1, 90)
        disk.append(LOG, data[at : at + size], heal=False)
        at += size
        state.catch_up(nothing)
    assert same_as_afresh(state)
    assert [one.entry.evidence for one in state.states() if "Microsoft" in one.entry.text] == [
        "I started at Microsoft on Monday\nand like it"
    ] * 3
    state.close()


def test_evidence_that_comes_later_belongs_to_the_line_above(tmp_path: Path) -> None:
    """A quote appended behind an entry that was folded already is not counted as a line that cannot be read."""
    disk, state = Disk(tmp_path), state_at(tmp_path)
    disk.append(LOG, b"- [fact] Tea is hot\n")
    state.catch_up(nothing)
    disk.append(LOG, b"  > ouch\n- [fact] Ice is cold\n")
    state.catch_up(nothing)
    assert ([one.entry.evidence for one in state.states()], state.unparsed()) == (["ouch", ""], [])
    state.close()


def test_an_edited_log_is_read_anew(tmp_path: Path) -> None:
    """When an older line of a log was changed, the entries are those it holds now, and a gone one has no line."""
    disk, state = Disk(tmp_path), state_at(tmp_path)
    disk.append(LOG, logged(entry(1), entry(2)) + b"nonsense\n")
    state.catch_up(nothing)
    disk.replace(LOG, b"more nonsense\n" + logged(entry(2), entry(3)))
    state.catch_up(nothing)
    lines = dict(state.db.execute("SELECT id, line FROM entry").fetchall())
    assert lines[entry(1).id] == -1
    assert lines[entry(3).id] > lines[entry(2).id] > 0
    assert [text for _, _, text in state.unparsed()] == ["more nonsense"]
    state.close()


def test_what_happened_counts_in_whatever_order_the_files_say_it(tmp_path: Path) -> None:
    """Events and outcomes fold the same before, after and together with the entries they name."""
    first, second, parts = entry(1), entry(2, category="commitment", due="2026-07-03"), entry(3)
    pin = event(1, "pin", first)
    writes = [
        (LOG, logged(first, second, parts)),
        (
            layout.EVENTS,
            frame(pin) + frame(event(2, "hide", second)) + frame(event(3, "undo", first, of=pin.id)),
        ),
        (layout.EVENTS, frame(event(4, "supersede", second, other=parts.id))),
        (
            layout.OUTCOMES,
            b"".join(
                frame(Outcome(run="r", entry=one, outcome="cited", at=NOON, part=part, parts=of))
                for one, part, of in ((first.id, 0, 1), (parts.id, 0, 2), (parts.id, 1, 2), (second.id, 0, 2))
            ),
        ),
    ]
    said = set()
    for seed in range(6):
        root = tmp_path / str(seed)
        root.mkdir()
        disk, state = Disk(root), state_at(root)
        order = random.Random(seed).sample([0, 1, 3], 3)
        for place in sorted(
            [*order, 2], key=lambda one: order.index(1) + 0.5 if one == 2 else order.index(one)
        ):
            disk.append(*writes[place])
            if seed % 2:
                state.catch_up(nothing)
        state.catch_up(nothing)
        assert same_as_afresh(state)
        assert [one.entry.id for one in state.pending(before="2027-01-01")] == [second.id]
        said.add(repr(told(state)))
        state.close()
    assert len(said) == 1


def test_counts_follow_masks_events_and_lost_streams(tmp_path: Path) -> None:
    """The counts kept along the way equal those of the rows, after tombstones, feedback, and a stream cut short."""
    entries = [entry(number, category="commitment" if number % 3 else "fact") for number in range(20)]
    disk, state = Disk(tmp_path), state_at(tmp_path)
    disk.append(LOG, logged(*entries))
    kinds = ("pin", "complete", "forget", "hide", "cancel")
    happened = [frame(event(n, kinds[n % 5], entries[n])) for n in range(15)]
    promise = entry(30, category="commitment")
    happened.append(frame(event(30, "commitment", promise, body=promise)))  # it stands in the events alone
    disk.append(layout.EVENTS, b"".join(happened))
    state.catch_up(lambda one: one.id == entries[16].id)
    state.remask([entries[8].id, entries[0].id], masked=True)
    state.remask([entries[16].id], masked=False)
    assert state.get(entries[16].id) in state.promises()
    disk.replace(layout.EVENTS, b"".join(happened[:4]))
    state.catch_up(nothing)
    counted = state.db.execute(
        "SELECT count(*), sum(current), sum(promised), sum(pinned), sum(forgotten OR masked) FROM entry"
    ).fetchone()
    assert same_as_afresh(state)
    counts = state.counts()
    assert counted == tuple(counts[name] for name in ("entries", "current", "promises", "pins", "forgotten"))
    state.close()


def test_the_events_of_an_entry_are_looked_up(tmp_path: Path) -> None:
    """Finding an entry's events reads no other entry's: with many events a fold would else take quadratic time."""
    state, asked = state_at(tmp_path), []
    state.catch_up(nothing)
    state.db.set_trace_callback(asked.append)
    events_of(state.db, entry(1).id)
    state.db.set_trace_callback(None)
    plan = [row[3] for row in state.db.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
    assert not [step for step in plan if step.startswith("SCAN event") or "AUTOMATIC" in step]
    state.close()


def test_what_stands_behind_turns_is_looked_up(tmp_path: Path) -> None:
    """Entries of a turn are found by session and instant together: a session of any length is not gone through."""
    state, asked = state_at(tmp_path), []
    state.catch_up(nothing)
    state.db.set_trace_callback(asked.append)
    said_at(state.db, [("s1", NOON), ("s2", NOON)])
    state.db.set_trace_callback(None)
    plan = [row[3] for row in state.db.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
    assert [step for step in plan if "entry_session (session=? AND at=?)" in step], plan
    state.close()


def test_states_are_found_in_the_order_asked_for(tmp_path: Path) -> None:
    """Any number of ids is looked up at once: stored, queued and unknown ones, each once and in the order given."""
    entries = [entry(number) for number in range(1_200)]
    disk, state = Disk(tmp_path), state_at(tmp_path)
    disk.append(LOG, logged(*entries[1:]))
    state.catch_up(lambda one: one.id == entries[5].id)
    state.overlay([Remember(id="f" * 16, at=NOON, entry=entries[0])], nothing)
    asked = [one.id for one in reversed(entries)]
    found = state.find([*asked, *asked, "no id", "0" * 15 + "z", entry(5_000).id])
    assert list(found) == [one for one in asked if one != entries[5].id]
    assert all(state.entry.id == one for one, state in found.items())
    state.close()


@pytest.mark.slow
def test_a_day_of_many_stretches_is_folded_as_in_small_steps(tmp_path: Path) -> None:
    """A log of many megabytes, with evidence under each line, gives the state that its pieces gave one by one."""
    said = [
        Entry(id=f"{n:016x}", text=f"{n} {'tea ' * 2_400}", at=NOON, day=DAY, evidence=f"words {n}")
        for n in range(470)
    ]
    text = render(said, CALENDAR, first=True, day=DAY).encode()
    assert len(text) > STRETCH
    disk, grown = Disk(tmp_path / "whole"), Disk(tmp_path / "grown")
    disk.make_folder("")
    grown.make_folder("")
    disk.append(LOG, text + b"no entry\n- [fact] By hand\n")
    whole = state_at(tmp_path / "whole")
    whole.catch_up(nothing)
    steps = state_at(tmp_path / "grown")
    for at in range(0, len(text), 1_234_567):
        grown.append(LOG, text[at : at + 1_234_567], heal=False)
        steps.catch_up(nothing)
    grown.append(LOG, b"no entry\n- [fact] By hand\n")
    steps.catch_up(nothing)
    assert whole.digest() == steps.digest()
    assert whole.unparsed() == steps.unparsed() == [(DAY, 945, "no entry")]
    assert [one.entry for one in whole.states() if one.entry.evidence] == said
    data = disk.read(LOG) or b""
    disk.replace(LOG, data.replace(b"300 tea", b"300 Tea", 1))
    whole.catch_up(nothing)
    assert whole.get(f"{300:016x}").entry.text.startswith("300 Tea")
