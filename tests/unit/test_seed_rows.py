"""What the seeds promise of an entry's life, each row by its id, through the whole memory."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout
from reverie.core.records import Turn
from reverie.core.settings.value import Settings
from reverie.core.where import Where
from reverie.errors import DrainFailed, NotFound, UsageError
from reverie.recall import Ask

if TYPE_CHECKING:
    from pathlib import Path

EVERYTHING = Where(include_hidden=True, include_previous=True, include_faded=True)


def memory_md(desk: Desk) -> str:
    """Return MEMORY.md, compiled now."""
    desk.memory.publish()
    return desk.text(layout.MEMORY)


def test_a_promise_is_due_though_journal_and_index_are_broken(desk: Desk) -> None:
    """M-05: a promise is on the due list when the call returns, whatever became of queue, drain and index."""
    desk.remember("The office closes at six")
    (segment,) = (desk.root / layout.SEGMENTS).iterdir()
    segment.write_bytes(segment.read_bytes()[:-9] + b"\0\0torn")
    (desk.root / layout.DRAIN_INTENT).write_text("{")
    shutil.rmtree(desk.root / layout.INDEX)
    (desk.root / layout.INDEX).write_text("no folder")
    desk.remember("Send Dana the quote", desk.again(), due="2026-07-10")
    assert [line.shown for line in desk.again().due().lines] == ["2026-07-10"]


@pytest.mark.parametrize(
    "broken", [".journal", layout.SEGMENTS, layout.DRAINING, layout.JOURNAL_ARCHIVE, layout.INDEX]
)
def test_a_promise_is_due_though_a_folder_is_none(desk: Desk, broken: str) -> None:
    """M-05, R-36: with a file in the place of a folder a promise is stored, due, kept and put off; and that is told."""
    kept, pinned = desk.remember("Pay the rent", due="2026-07-08"), desk.remember("User likes tea")
    desk.memory.drain()
    shutil.rmtree(desk.root / broken)
    (desk.root / broken).write_text("no folder")
    memory = desk.again()
    told = desk.remember("Send Dana the quote", memory, due="2026-07-10", key="a quote")
    desk.remember("Never call at night", memory, pin=True)
    memory.done(kept)
    memory.pin(pinned)
    memory.done(told, until="2026-07-12")
    again = desk.again()
    assert [line.state.entry.text for line in again.due().lines] == ["Send Dana the quote"]
    assert [line.shown for line in again.due().lines] == ["2026-07-12"]
    assert again.get(pinned).pinned
    assert desk.found("tea", again) == ["User likes tea"]
    if broken != layout.INDEX:
        assert any("is not a folder" in problem.what for problem in again.status().problems)
        assert "is not a folder" in again.check()[0].what
    if broken in {".journal", layout.SEGMENTS, layout.DRAINING}:
        with pytest.raises(DrainFailed, match="queue is intact"):
            again.drain()


def test_feedback_waits_for_the_drain(desk: Desk) -> None:
    """M-06: feedback is queued, moves nothing before the drain, and is applied by it once."""
    tea = desk.remember("User likes tea")
    desk.memory.drain()
    before = desk.memory.get(tea).sig
    desk.memory.feedback(tea, "more")
    assert desk.memory.get(tea).sig == before
    desk.memory.drain()
    desk.memory.drain()
    assert desk.memory.get(tea).sig == pytest.approx(before + 0.1)


def test_the_file_has_marks_ids_and_sections_in_order(desk: Desk) -> None:
    """M-16, M-17, M-18, M-27: five marks, text, an id that every verb takes; Capabilities first, new sections last."""
    ids = {
        kind: desk.remember(f"Something of kind {kind}", category=kind, stare=(0.9, 0.2, None, None, 0.7))
        for kind in ("zoology", "episode", "decision", "fact", "procedure")
    }
    text = memory_md(desk)
    for entry in ids.values():
        assert f"`mem_id: {entry}`" in text
        assert desk.memory.get(entry).entry.id == entry
    assert text.count("- ●○——● Something") == len(ids)
    order = [
        text.index(head)
        for head in ("## Capabilities", "## Core Facts", "## Key Decisions", "## Key Episodes")
    ]
    assert [*order, text.index("Something of kind zoology")] == sorted(
        [*order, text.index("Something of kind zoology")]
    )


def test_what_does_not_hold_is_left_out_and_kept(desk: Desk) -> None:
    """M-19, M-25, M-32: hidden, superseded and discussed entries leave the file, and stay with their history."""
    old = desk.remember("User works at Google", sig=0.8)
    hidden = desk.remember("User owns a yacht", sig=0.8)
    talk = desk.remember("User might move to Mars", sig=0.8, status="discussed")
    new = desk.memory.correct(old, "User works at Acme", why="change").id
    desk.memory.hide([hidden])
    text = memory_md(desk)
    assert "Acme" in text
    assert not any(word in text for word in ("Google", "yacht", "Mars"))
    assert {state.entry.id for state in desk.memory.list(EVERYTHING)} == {old, hidden, talk, new}
    assert "supersede" in [event.kind for event in desk.memory.history(old)]
    assert old in [state.entry.id for state in desk.memory.why(new).others]


def test_only_what_matters_has_it_rebuilt(desk: Desk) -> None:
    """M-22, M-31: a drain of what matters rebuilds the file, at most once a minute; the same store, the same bytes."""
    desk.remember("Dull", sig=0.2)
    desk.memory.drain()
    first = memory_md(desk)
    desk.remember("The launch is in May", sig=0.9)
    desk.memory.drain()
    assert desk.text(layout.MEMORY) == first  # within the minute
    desk.clock.advance(minutes=2)
    desk.remember("The venue is booked", sig=0.9)
    desk.memory.drain()
    assert "The venue is booked" in desk.text(layout.MEMORY)
    assert memory_md(desk) == desk.text(layout.MEMORY) == memory_md(desk)


def test_a_hand_edit_is_a_question_and_not_lost(desk: Desk) -> None:
    """M-23: what somebody wrote into the compiled part is put up for review, and the file is compiled again."""
    desk.remember("User likes tea", sig=0.8)
    text = memory_md(desk)
    desk.write(layout.MEMORY, text.replace("User likes tea", "User likes rum"))
    assert "User likes tea" in memory_md(desk)
    assert any("User likes rum" in item.text for item in desk.memory.review())


def test_time_moves_no_stored_value(desk: Desk) -> None:
    """M-24, L-12: a year later the significance is what it was; a low one left the file by 0.01 a day, and is found."""
    low, pinned = desk.remember("User owns a red kite", sig=0.4), desk.remember("Be kind", sig=0.4, pin=True)
    assert "red kite" in memory_md(desk)
    desk.clock.advance(days=19)
    assert "red kite" in memory_md(desk)
    desk.clock.advance(days=300)
    assert "red kite" not in (text := memory_md(desk))
    assert pinned in text
    assert desk.memory.get(low).sig == 0.4
    assert desk.memory.recall("red kite").hits[0].id == low


def test_a_drain_stores_its_own_queue_alone(desk: Desk) -> None:
    """M-26: the agent's drain leaves what waits in a person's workspace to theirs."""
    dana = desk.keep(desk.memory.person("Dana"))
    desk.remember("Dana likes tea", dana)
    desk.remember("The office closes at six")
    assert desk.memory.drain().stored == 1
    assert dana.status().queued == 1
    assert dana.drain().stored == 1


def test_two_significances_stand_side_by_side(desk: Desk) -> None:
    """M-28: an outside judge's stands beside the writer's; one that differs needs its reason."""
    tea = desk.remember("User likes tea", sig=0.9)
    with pytest.raises(UsageError, match="say why"):
        desk.memory.judge(tea, 0.2)
    desk.memory.judge(tea, 0.2, why="said in passing")
    state = desk.memory.get(tea)
    assert (state.entry.sig, state.judged, state.judged_why) == (0.9, 0.2, "said in passing")
    assert tea in memory_md(desk)  # the writer's own decides


def test_three_times_are_kept_apart(desk: Desk) -> None:
    """M-29: when it was said, from when it holds and until when; after that it is no longer shown as true."""
    pass_id = desk.remember("User has a parking permit", since="2026-06-01", until="2026-07-31", sig=0.8)
    entry = desk.memory.get(pass_id).entry
    assert (entry.day, entry.since, entry.until) == ("2026-07-01", "2026-06-01", "2026-07-31")
    assert "permit" in memory_md(desk)
    desk.clock.advance(days=40)
    assert "permit" not in memory_md(desk)


def test_who_said_it_weighs_at_recall(desk: Desk) -> None:
    """M-30: of turns and of entries of nearly the same words, the user's come before the agent's and a stranger's."""
    for role, text in (
        ("assistant", "The ferry leaves the north pier."),
        ("user", "The ferry left the north pier."),
    ):
        desk.memory.capture("s1", Turn(role=role, content=text, at=desk.clock()))
    hits = desk.memory.ask(Ask(query="ferry north pier", kinds=("turn",))).hits
    assert [hit.role for hit in hits] == ["user", "assistant"]
    for origin in ("web", "file", "user"):
        desk.remember(f"The museum has a {origin} garden", origin=origin)
    assert desk.found("museum garden")[0] == "The museum has a user garden"


def test_private_is_the_default(desk: Desk) -> None:
    """M-33: an entry is private unless its writer says that it is for the team."""
    assert desk.memory.get(desk.remember("User likes tea")).entry.scope == "private"
    assert desk.memory.get(desk.remember("We meet at ten", scope="team")).entry.scope == "team"


def test_of_a_day_one_fact_goes(desk: Desk) -> None:
    """S-47: one entry of a log is forgotten, its day's others are found; an unknown id is an error."""
    gone, stays = desk.remember("User likes amber tea"), desk.remember("User rides a bicycle")
    desk.memory.drain()
    desk.memory.forget([gone])
    desk.memory.reindex()
    assert desk.found("amber tea") == []
    assert [state.entry.id for state in desk.memory.list()] == [stays]
    with pytest.raises(NotFound) as told:
        desk.memory.forget(["f" * 16])
    assert told.value.http_status == 404


def test_turns_are_searched_too(desk: Desk) -> None:
    """S-48: what was said is found in the transcript itself, alone where that is asked for."""
    desk.memory.capture("s1", Turn(role="user", content="What a peculiar zeppelin.", at=desk.clock()))
    hits = desk.memory.ask(Ask(query="peculiar zeppelin", kinds=("turn",))).hits
    assert [hit.kind for hit in hits] == ["turn"]


def test_silence_and_the_day_end_no_session(tmp_path: Path) -> None:
    """S-49: after a silence a session is read and goes on, for it is its host's; a day begins at the hour set."""
    late = datetime(2026, 7, 2, 1, tzinfo=UTC)
    with Desk(tmp_path, now=late, **{"day_starts_at": "04:00", "extraction.idle_minutes": "30"}) as desk:
        desk.memory.context()
        desk.say("I moved to Lisbon.", session="talk")
        desk.clock.advance(minutes=20)
        desk.memory.context()
        assert desk.memory.list() == []  # not yet silent for long
        desk.clock.advance(minutes=11)
        desk.memory.context()
        assert [state.entry.day for state in desk.memory.list()] == [
            "2026-07-01"
        ]  # before four it is yesterday
        desk.clock.advance(hours=4)
        desk.say("I work at Acme.", session="talk")
        desk.clock.advance(minutes=31)
        desk.memory.context()
        found = {state.entry.day: state.entry.turns for state in desk.memory.list()}
        assert found == {"2026-07-01": "0", "2026-07-02": "1"}  # one session, whose ordinals go on
    assert (Settings().day_starts_at, Settings().extraction.idle_minutes) == ("00:00", 15)


def test_no_file_that_goes_missing_takes_entries_with_it_silently(desk: Desk) -> None:
    """S-51: a daily log that vanished is an error of `check`, and the journal's archive still has its entries."""
    tea = desk.remember("User likes tea")
    desk.memory.drain()
    (desk.root / layout.ARCHIVE / "2026-07-01.md").unlink()
    told = [one for one in desk.again().check() if one.severity == "error"]
    assert any("2026-07-01" in f"{one.place} {one.what}" for one in told)
    kept = b"".join(file.read_bytes() for file in (desk.root / layout.JOURNAL_ARCHIVE).rglob("*.jsonl"))
    assert tea.encode() in kept


def test_use_breaks_ties_alone(desk: Desk) -> None:
    """L-26: however often it is retrieved, no significance moves; of two equals the used one comes first."""
    one, two = desk.remember("User likes amber tea"), desk.remember("User likes amber jam")
    before = {entry: desk.memory.get(entry).sig for entry in (one, two)}
    desk.memory.used([one])
    for _ in range(50):
        desk.memory.recall("amber")
    assert {entry: desk.memory.get(entry).sig for entry in (one, two)} == before
    assert desk.memory.recall("User likes amber").hits[0].id == one


def test_a_pin_goes_by_its_id(desk: Desk) -> None:
    """L-31: pinning twice is pinning once, and unpinning `tea` leaves the pin that has the word in it."""
    tea, steak = desk.remember("tea", pin=True), desk.remember("steak with tea", pin=True)
    desk.memory.pin(tea)
    text = memory_md(desk)
    assert text.count(f"`mem_id: {tea}`") == 1
    desk.memory.pin(tea, unpin=True)
    assert not desk.memory.get(tea).pinned
    assert desk.memory.get(steak).pinned
