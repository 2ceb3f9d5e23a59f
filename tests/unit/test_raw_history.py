"""Raw history records: pending like entries, settled by outcomes, held back while their turns are unread."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from dream_world import NIGHT, PREFERENCES, TEA, entry, log, look_at, open_world, outcomes, page, run
from hypothesis import given
from hypothesis import strategies as st

from reverie import layout
from reverie.check import check
from reverie.core.days import Calendar
from reverie.core.dreams.batch import PART_CHARACTERS, Part
from reverie.core.dreams.policy import Case, judge, may_decline
from reverie.core.dreams.proposal import Proposal, Settlement
from reverie.core.dreams.raw_history import Known, by_day, raw_history, record_id
from reverie.core.fold import EntryState
from reverie.core.formats import framing
from reverie.core.records import Extraction, History, Outcome
from reverie.store import history, stream
from reverie.undo import undo

if TYPE_CHECKING:
    from pathlib import Path

    from desk import Desk

    from reverie.store.workspace import Workspace

NOON = NIGHT - timedelta(hours=15)  # of the day before
UTC = Calendar("UTC", "00:00")


def record(cursor: int = 0, turns: str = "0-3", **fields: object) -> History:
    """Return a raw record of the closed day."""
    whole = {"timestamp": NOON, "session": "s1", "content": "[0] I like tea", "raw": True, **fields}
    return History(cursor=cursor, turns=turns, **whole)


def archived(ws: Workspace, *records: History) -> list[History]:
    """Append records to the history and return them as stored."""
    stored = [history.append(ws, one, history.reached(ws, one.session)) for one in records]
    return [one for one in stored if one is not None]


def read_up_to(ws: Workspace, stop: int, session: str = "s1") -> None:
    """Archive an extraction that read the session's turns up to `stop`."""
    told = Extraction(id=f"{stop:016x}", at=NOON, extractor="test", session=session, stop=stop)
    ws.disk.replace(f".journal/archive/2026-07/read-{stop}.jsonl", framing.frame(told))


def waiting(ws: Workspace) -> list[Part]:
    """Return the parts of raw records that wait."""
    state = look_at(ws)
    try:
        return raw_history(
            history.read(ws), Known(state.outcomes, state.mark), calendar=ws.calendar, before=ws.today
        ).parts
    finally:
        state.close()


def test_raw_records_get_outcomes(tmp_path: Path) -> None:
    """A dream settles the raw records of closed days beside the entries, with a reason, and once."""
    ws = open_world(tmp_path)
    log(ws, [TEA])
    (stored,) = archived(ws, record())
    read_up_to(ws, 4)
    assert [part.id for part in waiting(ws)] == [record_id(stored)]
    done = run(ws)
    assert done.counts == {"cited": 1, "declined": 1}
    assert "extracted" in outcomes(ws)[record_id(stored)].reason
    assert done.watermark == "2026-07-01"
    assert "I like tea" not in page(ws, PREFERENCES)
    assert (waiting(ws), run(ws).result) == ([], "nothing")


def test_a_record_alone_is_a_dream(tmp_path: Path) -> None:
    """A closed day that left nothing but raw records is settled too, without a page."""
    ws = open_world(tmp_path)
    archived(ws, record())
    read_up_to(ws, 4)
    assert run(ws).counts == {"declined": 1}


def test_unread_turns_hold_their_record_and_the_watermark(tmp_path: Path) -> None:
    """A record whose turns nobody extracted yet is left alone, and the notebook is not said to have passed its day."""
    ws = open_world(tmp_path)
    log(ws, [TEA])
    (stored,) = archived(ws, record())
    read_up_to(ws, 3)
    done = run(ws)
    assert (done.counts, done.watermark) == ({"cited": 1}, "")
    read_up_to(ws, 4)
    later = run(ws)
    assert (later.counts, later.watermark) == ({"declined": 1}, "2026-07-01")
    assert outcomes(ws)[record_id(stored)].outcome == "declined"


def test_summaries_and_todays_records_are_no_work(tmp_path: Path) -> None:
    """Summaries are read and never settled, and what left the window today waits for tomorrow."""
    ws = open_world(tmp_path)
    archived(ws, record(raw=False), record(turns="4-5", timestamp=NIGHT))
    read_up_to(ws, 6)
    assert waiting(ws) == []
    assert run(ws).result == "nothing"


def test_a_long_record_is_settled_part_by_part(tmp_path: Path) -> None:
    """A record longer than a batch's view comes up in parts, each with an outcome of its own (R-18)."""
    ws = open_world(tmp_path, batch_tokens=3_000)
    (stored,) = archived(ws, record(content="words of the day " * 3_000))
    read_up_to(ws, 4)
    parts = waiting(ws)
    assert len(parts) == -(-len(stored.content) // PART_CHARACTERS)
    assert "".join(part.text for part in parts) == stored.content
    done = run(ws)
    assert len(done.runs) > 1
    assert waiting(ws) == []


def test_what_nothing_could_read_is_not_declined(tmp_path: Path) -> None:
    """Turns set aside unread stay pending until they are found unprocessable, and nothing waits for that."""
    ws = open_world(tmp_path, max_retries=2)
    log(ws, [TEA])
    stored = history.set_aside(ws, record(content="[0] ???"))
    assert stored is not None
    assert run(ws).counts == {"cited": 1}
    for _ in range(3):
        run(ws)
    assert outcomes(ws)[record_id(stored)].outcome == "unprocessable"


def test_what_nothing_could_read_waits_for_a_word(desk: Desk) -> None:
    """An unprocessable record is counted and listed with its text; accepted it is pending again, rejected left."""
    ws = desk.memory.opened.ws
    stored = history.set_aside(ws, record(content="[0] ???", timestamp=desk.clock()))
    assert stored is not None

    def found_unprocessable() -> str:
        told = Outcome(run="dream:1", entry=record_id(stored), outcome="unprocessable", at=desk.clock())
        stream.append(ws, layout.OUTCOMES, told)
        assert desk.memory.status().reviews == 1
        (item,) = desk.memory.review()
        assert (item.topic, item.place, item.text) == ("unprocessable", record_id(stored), "[0] ???")
        return item.id

    desk.memory.review(found_unprocessable(), accept=True)
    desk.clock.advance(days=1)
    assert desk.memory.review() == []
    assert sum(desk.memory.status().pending.values()) == 1
    desk.memory.review(found_unprocessable(), accept=False)
    assert desk.memory.review() == []
    assert (desk.memory.status().reviews, desk.memory.status().pending) == (0, {})


def test_undoing_a_run_brings_a_record_back_when_asked(tmp_path: Path) -> None:
    """Undone with a retry, a record is pending again; without one it stays declined."""
    ws = open_world(tmp_path)
    log(ws, [TEA])
    archived(ws, record())
    read_up_to(ws, 4)
    name = run(ws).run
    undo(ws, name, retry=True, masked=lambda _: False)
    assert len(waiting(ws)) == 1


def test_the_outcome_of_a_record_is_no_damage(tmp_path: Path) -> None:
    """`check` knows the records that outcomes name, and finds nothing wrong with them."""
    ws = open_world(tmp_path)
    log(ws, [TEA])
    archived(ws, record())
    read_up_to(ws, 4)
    run(ws)
    state = look_at(ws)
    assert [one for one in check(ws, lambda: state) if "outcome" in one.what] == []
    state.close()


# In themselves


def _parts(raw: int, own: int) -> list[Part]:
    states = [EntryState(entry=entry(n, f"Fact {n}"), sig=0.1, confirmed=NOON) for n in range(raw + own)]
    return [Part(state, state.entry.text, raw="read" if n < raw else "") for n, state in enumerate(states)]


@given(st.integers(0, 30), st.integers(0, 30))
def test_declining_raw_records_uses_up_nothing(raw: int, own: int) -> None:
    """However many raw records a batch has, they may all be declined, and of ten entries not more than half."""
    parts = _parts(raw, own)
    told = [Settlement(entry=part.id, outcome="declined", reason="known") for part in parts]
    case = Case(
        parts=parts,
        old={},
        existing=frozenset(),
        find=lambda _: None,
        page_of=lambda _: "",
        masked=lambda _: False,
    )
    judged = judge(case, Proposal(pages={}, settlements=tuple(told)))
    assert len(judged.settlements) == (raw if own >= 10 else raw + own)


def test_a_pin_or_a_promise_in_a_raw_record_is_an_entry_of_its_own() -> None:
    """A raw record may be declined whatever its words weigh, and one that nothing could read may not."""
    state = EntryState(entry=entry(1, "x", category="commitment"), sig=1.0, confirmed=NOON, pinned=True)
    assert may_decline(Part(state, "x", raw="read")) == ""
    assert may_decline(Part(state, "x", raw="aside"))
    assert may_decline(Part(state, "x"))


def test_entries_of_a_day_come_before_its_records() -> None:
    """Days stay in order, and within one the entries come first."""
    late, early = record(2), record(1, turns="4", timestamp=NOON - timedelta(days=1))
    found = raw_history([early, late], Known(lambda _: [], lambda _: 9), calendar=UTC, before="2026-07-02")
    own = [Part(EntryState(entry=TEA, sig=0.1, confirmed=NOON), "x")]
    assert [part.id for part in by_day(own, found.parts)] == [record_id(early), TEA.id, record_id(late)]


@pytest.mark.parametrize("outcome", ["declined", "pending"])
def test_an_outcome_decides(outcome: str) -> None:
    """A record waits while it has no outcome, or one that was taken back."""
    told = [Outcome(run="dream:1", entry="x", outcome=outcome, at=NOON)]
    found = raw_history([record(1)], Known(lambda _: told, lambda _: 9), calendar=UTC, before="2026-07-02")
    assert len(found.parts) == (outcome == "pending")


def test_what_is_forgotten_is_left_out_of_a_part() -> None:
    """A part shows no paragraph that says something forgotten, and keeps its number."""
    known = Known(lambda _: [], lambda _: 9, lambda text: "walnuts" in text)
    told = record(1, content="[0] I like walnuts\n\n[1] I like plums")
    (part,) = raw_history([told], known, calendar=UTC, before="2026-07-02").parts
    assert (part.text, part.number, part.of) == ("[1] I like plums", 0, 1)
