"""Turns that are let go of by themselves: by the id that recall shows, by session, or for a name that they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie import forget as forgetting
from reverie.core.forgetting.saying import Saying
from reverie.core.where import Where
from reverie.errors import NotFound, UsageError
from reverie.recall import Ask
from reverie.store import provenance, sessions
from reverie.store.forgotten import letting_go
from reverie.store.forgotten.letting_go import Forgetting

if TYPE_CHECKING:
    from desk import Desk

    from reverie.recall import Hit

GOSSIP = "Anja keeps gossiping about me."
ULM, NUTS = "My colleague Anja is from Ulm.", "I am allergic to walnuts."
ANJA = Where(about="Anja")


def told(desk: Desk) -> None:
    """Let somebody be spoken of in turns that entries come from, and in others."""
    desk.say(f"{GOSSIP} I hate it.", f"{ULM} {NUTS}", "Please forget everything about Anja.", session="s")
    desk.memory.end("s")
    desk.memory.consolidate()
    assert {state.entry.about for state in desk.memory.list()} >= {"Anja"}
    assert len(desk.memory.list()) == 2


def holders(desk: Desk, words: str) -> list[str]:
    """Return the files in which words stand."""
    files = (path for path in desk.root.rglob("*") if path.is_file())
    return [path.relative_to(desk.root).as_posix() for path in files if words.encode() in path.read_bytes()]


def turn_of(desk: Desk, words: str) -> str:
    """Return the id that recall gives the turn which says these words."""
    return next(hit.id for hit in turns_on(desk, words) if words in hit.text)


def turns_on(desk: Desk, words: str) -> tuple[Hit, ...]:
    """Return the turns that recall finds."""
    return desk.memory.ask(Ask(query=words, kinds=("turn",))).hits


def test_a_person_is_erased_from_turns_that_no_entry_was_read_from(desk: Desk) -> None:
    """`erase` by name takes the sentences that say it, counted before, proved gone after, and nothing beside them."""
    told(desk)
    plan = desk.memory.erase(where=ANJA, dry_run=True)
    assert (len(plan.ids), plan.turns, plan.said, plan.still) == (1, 0, 3, ())
    assert any(path.startswith("sessions/") for path in plan.places)
    assert holders(desk, "gossiping")
    done = desk.memory.erase(where=ANJA)
    assert (done.ids, done.said, done.leftovers, done.still) == (plan.ids, 3, (), ())
    assert holders(desk, "Anja") == []
    assert desk.found("Anja") == []
    said = [turn.content for turn in sessions.read(desk.memory.opened.ws, "s")]
    assert said == ["[erased]. I hate it.", f"[erased]. {NUTS}", "[erased]."]
    assert [state.entry.text for state in desk.memory.list()] == ["User is allergic to walnuts"]
    assert desk.memory.check() == ()
    again = desk.memory.erase(where=ANJA)
    assert (again.ids, again.said, again.places) == ((), 0, ())


def test_what_an_entry_that_stays_rests_on_is_kept_and_told(desk: Desk) -> None:
    """A sentence that another entry was read from stays with it; the answer names the entry, and it goes by its id."""
    told(desk)
    other = desk.remember("Tim is the brother of Anja", about="Tim")
    desk.say("Tim is the brother of Anja", session="t")
    for dry_run in (True, False):
        done = desk.memory.erase(where=ANJA, dry_run=dry_run)
        (still,) = done.still
        assert (still.name, still.entries, still.turns, done.said) == ("Anja", (other,), 1, 3)
    assert [state.entry.text for state in desk.memory.list(Where(about="Tim"))] == [
        "Tim is the brother of Anja"
    ]
    assert desk.memory.erase([other]).still == ()
    assert desk.memory.erase(where=ANJA).said == 0
    assert holders(desk, "Anja") == []


def test_a_filter_on_what_only_entries_have_takes_no_words_of_turns(desk: Desk) -> None:
    """With a category beside the name, or on days when nobody spoke, no turn is reached; the answer says what stays."""
    told(desk)
    for where in (Where(about="Anja", category="fact"), Where(about="Anja", until="2020-01-01")):
        plan = desk.memory.erase(where=where, dry_run=True)
        assert plan.said == 0
        assert plan.still[0].turns >= 2


def test_a_turn_is_forgotten_and_said_after_all_by_its_id(desk: Desk) -> None:
    """`forget` takes the id of a turn, hides it with the entries that rest on it alone, and takes that back."""
    told(desk)
    nuts = next(state.entry.id for state in desk.memory.list() if "walnuts" in state.entry.text)
    turn = turn_of(desk, NUTS)
    for dry_run in (True, False):
        done = desk.memory.forget([turn], dry_run=dry_run)
        assert (done.turns, len(done.ids), nuts in done.ids) == (1, 2, True)
        assert any(path.startswith("sessions/") for path in done.places)
        assert (desk.memory.list() == []) is not dry_run
    assert desk.memory.forget([turn]).turns == 0
    assert not any(NUTS in text for text in desk.found("walnuts"))
    back = desk.memory.forget([turn], restore=True)
    assert (back.turns, nuts in back.ids) == (1, True)
    assert any(NUTS in text for text in desk.found("walnuts"))


def test_a_turn_is_erased_by_its_id_with_an_entry_beside_it(desk: Desk) -> None:
    """`erase` takes ids of turns and entries together; of the turn nothing is left, whatever it was forgotten by."""
    told(desk)
    kept, hint = turn_of(desk, "Please forget"), desk.remember("The code of the shed is 4711")
    turn = turn_of(desk, GOSSIP)
    desk.memory.forget([turn])
    assert holders(desk, "gossiping")
    plan = desk.memory.erase([turn, hint], dry_run=True)
    done = desk.memory.erase([turn, hint])
    assert (plan.ids, plan.turns) == (done.ids, done.turns) == ((hint,), 1)
    assert done.leftovers == ()
    assert holders(desk, "gossiping") == holders(desk, "4711") == []
    assert turn_of(desk, "Please forget") == kept
    with pytest.raises(NotFound, match="no turn has the id"):
        desk.memory.erase([turn])


def test_an_id_of_a_turn_is_whole_and_no_entry(desk: Desk) -> None:
    """The beginning of a turn's id names nothing, one beside a filter is refused, and `hide` says what takes turns."""
    told(desk)
    turn = turn_of(desk, GOSSIP)
    for verb in (desk.memory.forget, desk.memory.erase):
        with pytest.raises(NotFound, match="no turn has the id"):
            verb([turn[:-1]])
        with pytest.raises(UsageError):
            verb([turn], where=ANJA)
    with pytest.raises(NotFound, match="`reverie erase` take turns"):
        desk.memory.hide([turn])
    assert desk.memory.list()
    assert turn_of(desk, GOSSIP) == turn


def test_words_that_another_turn_says_too_stay_there(desk: Desk) -> None:
    """Only the turn that was named is erased; the same words in a turn of another session are still known."""
    desk.say("The heating in the cellar hums at night", session="a")
    desk.say("The heating in the cellar hums at night, says Tim", session="b")
    first, second = sorted(turns_on(desk, "heating"), key=lambda hit: len(hit.text))
    assert desk.memory.erase([first.id]).turns == 1
    assert [hit.id for hit in turns_on(desk, "heating")] == [second.id]


def test_an_interrupted_hiding_of_words_is_finished(desk: Desk) -> None:
    """What an erase hides first, once begun, the next write hides, and no other words of the turn."""
    told(desk)
    ws = desk.memory.opened.writable
    turn = next(one for one in sessions.read(ws, "s") if GOSSIP in one.content)
    lines = provenance.tombstones_of_said(ws, [Saying("s", turn, (GOSSIP,))], by="user")
    letting_go.begin(ws, Forgetting(id=ws.new_id(), tombstones=lines, entries=(), by="user"))
    again = desk.again()
    assert letting_go.pending(again.opened.writable) is None
    assert forgetting.mask_of(again.opened.ws).text(GOSSIP)
    assert not forgetting.mask_of(again.opened.ws).text("I hate it.")
    assert not any("gossiping" in hit.text for hit in again.recall("gossiping").hits)
    assert again.erase(where=ANJA).said == 3
    assert holders(desk, "Anja") == []
