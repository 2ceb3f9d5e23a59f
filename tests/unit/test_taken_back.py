"""Turns that a host took back: restored by naming their session, and erased with the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie.core.where import Where
from reverie.errors import NotFound, UsageError
from reverie.retract import retract
from reverie.unforget import retracted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.core.records import Turn

PIN = "The vault code of the zeppelin is fourty seven"
MOVED = "I moved to Lisbon."
TALK = Where(session="talk")


def take_back(desk: Desk, *, last: int = 0) -> None:
    """Take back the last turns of the talk, or all of them."""

    def choose(turns: list[Turn]) -> Sequence[Turn]:
        return turns[-last:] if last else turns

    retract(desk.memory.opened.writable, desk.memory.opened.state_now(), "talk", choose=choose)


def said(desk: Desk) -> None:
    """Let two things be said: one from which an entry comes, and one from which none does."""
    desk.say(MOVED, session="talk")
    desk.say(PIN, session="talk", role="assistant")
    desk.say("Is it cold?", session="other")
    desk.memory.end("talk")
    desk.memory.consolidate()
    assert len(desk.memory.list()) == 1


def holders(desk: Desk, words: str) -> list[str]:
    """Return the files in which words stand."""
    files = (path for path in desk.root.rglob("*") if path.is_file())
    return [path.relative_to(desk.root).as_posix() for path in files if words.encode() in path.read_bytes()]


def test_turns_without_an_entry_are_said_after_all(desk: Desk) -> None:
    """`forget(restore=True)` with the session brings back its turns and their entries; a dry run says how many."""
    said(desk)
    take_back(desk)
    ws = desk.memory.opened.ws
    assert [turn.n for _, turn in retracted(ws, TALK)] == [0, 1]
    assert desk.found("zeppelin") == []
    assert desk.memory.list() == []
    plan = desk.memory.forget(where=TALK, restore=True, dry_run=True)
    assert (plan.turns, len(plan.ids)) == (2, 1)
    assert retracted(ws, TALK)
    done = desk.memory.forget(where=TALK, restore=True)
    assert (done.turns, done.ids) == (2, plan.ids)
    assert retracted(ws, TALK) == []
    assert desk.found("zeppelin")[0] == PIN
    assert [state.entry.id for state in desk.memory.list()] == list(plan.ids)
    with pytest.raises(NotFound, match="nothing is forgotten there"):
        desk.memory.forget(where=TALK, restore=True)


def test_turns_without_an_entry_are_erased(desk: Desk) -> None:
    """`erase` with the session leaves nothing of its turns, taken back or not, nor of its entries, hidden or not."""
    said(desk)
    take_back(desk, last=1)
    assert "sessions" in str(holders(desk, "zeppelin"))
    plan = desk.memory.erase(where=Where(session="talk", until="2026-06-30"), dry_run=True)
    assert plan.turns == 0
    plan = desk.memory.erase(where=Where(session="talk", since="2026-07-02"), dry_run=True)
    assert plan.turns == 0
    (kept,) = desk.memory.list()
    desk.memory.hide([kept.entry.id])
    plan = desk.memory.erase(where=TALK, dry_run=True)
    assert (plan.ids, plan.turns) == ((kept.entry.id,), 2)
    assert any(path.startswith("sessions/") for path in plan.places)
    assert holders(desk, "zeppelin")
    done = desk.memory.erase(where=TALK)
    assert (done.turns, done.leftovers) == (2, ())
    assert holders(desk, "zeppelin") == holders(desk, MOVED) == []
    assert holders(desk, "Is it cold?")
    assert desk.memory.list() == []
    desk.memory.reindex()
    assert desk.found("zeppelin") == []
    assert desk.memory.check() == ()
    assert desk.memory.erase(where=TALK, dry_run=True).turns == 0


def test_an_erase_takes_the_entries_that_went_with_the_turns(desk: Desk) -> None:
    """What was retracted whole is erased whole: its turns, the entry that rested on them, their history."""
    said(desk)
    for number in range(40):
        desk.say(f"Step {number}: another cup of flour. " * 10, session="talk")
    desk.memory.compact("talk", budget=1_000)
    assert "history.jsonl" in holders(desk, "zeppelin")
    take_back(desk)
    done = desk.memory.erase(where=TALK)
    assert (len(done.ids), done.turns) == (1, 42)
    assert [path for words in ("zeppelin", "Lisbon", "cup of flour") for path in holders(desk, words)] == []
    assert desk.memory.list() == []


def test_words_said_again_elsewhere_stay(desk: Desk) -> None:
    """Only the place was taken back: the same words in another session are still known after the erase."""
    said(desk)
    desk.say(PIN, session="other")
    take_back(desk, last=1)
    desk.memory.erase(where=TALK)
    assert desk.found("zeppelin")[0] == PIN
    assert all("talk" not in path for path in holders(desk, "zeppelin"))


def test_other_filters_mean_entries(desk: Desk) -> None:
    """A filter on what only entries have reaches no turn, and one that narrows nothing is refused."""
    said(desk)
    take_back(desk)
    with pytest.raises(NotFound):
        desk.memory.forget(where=Where(session="talk", category="fact"), restore=True)
    with pytest.raises(UsageError):
        desk.memory.forget(where=Where(), restore=True)
    with pytest.raises(UsageError):
        desk.memory.erase(where=Where())
    assert desk.memory.erase(where=Where(session="talk", category="fact"), dry_run=True).turns == 0
