"""What dreams and compaction did in an export, when it meets other memories, and a dry run of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk
from exported import another, live

from reverie import layout
from reverie.core.where import Where
from reverie.importing import Wish
from reverie.store import history

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERYTHING = Where(include_hidden=True, include_previous=True)


@pytest.fixture
def lived(desk: Desk) -> Desk:
    """A workspace with two sessions, explicit writes, a promise, a page, and something forgotten."""
    return live(desk)


@pytest.fixture
def other(lived: Desk) -> Iterator[Desk]:
    """Another home of the same user, with memories of its own."""
    with another(lived) as made:
        yield made


def test_a_dry_run_of_a_merge_counts_what_the_merge_then_does(lived: Desk, other: Desk) -> None:
    """Among other memories, too, a dry run writes nothing and answers what the import answers afterwards."""
    other.remember("Mine", key="shared key")
    lived.remember("Theirs", key="shared key")
    tea = next(state.entry.id for state in lived.memory.list() if "tea" in state.entry.text)
    other.memory.import_(lived.memory.export(lived.home / "early").folder)
    lived.say("I bought a kayak.", session="one")
    lived.memory.consolidate()
    lived.memory.forget([tea])
    copy = lived.memory.export(lived.home / "copy").folder
    before = other.bytes()
    planned = other.memory.import_(copy, wish=Wish(dry_run=True))
    assert other.bytes() == before
    assert planned.dry_run
    assert planned.passed["forgotten there, and then here too"] == 1
    done = other.memory.import_(copy)
    assert (planned.turns, planned.facts, planned.repeated, planned.files, planned.unread) == (
        done.turns,
        done.facts,
        done.repeated,
        done.files,
        done.unread,
    )
    assert done.turns == 1
    assert planned.passed.items() >= done.passed.items()
    assert not [one for one in other.memory.list(EVERYTHING) if "tea" in one.entry.text]


def test_what_a_dream_did_there_is_not_done_again_here(lived: Desk, other: Desk) -> None:
    """Outcomes come in with the pages they name, once, and their entries are not dreamt of again."""
    there = {one: lived.memory.opened.state_now().outcomes(one) for one in _ids(lived)}
    cited = {one for one, found in there.items() if found and found[0].outcome == "cited"}
    assert len(cited) > 1
    copy = lived.memory.export(lived.home / "copy").folder
    done = other.memory.import_(copy)
    other.memory.drain()
    assert "an entry that is dreamt of here anew" not in done.passed
    assert done.passed["a run of dreams, whose history stays in the export"] == len(lived.memory.log())
    state = other.memory.opened.state_now()
    for one, found in there.items():
        told = [(each.outcome, each.page, each.into, each.part) for each in state.outcomes(one)]
        assert told == [(each.outcome, each.page, each.into, each.part) for each in found]
    assert [run.kind for run in other.memory.log()] == ["merge"]
    assert not {one.entry.id for one in state.pending("9999-12-31")} & cited
    assert other.memory.check() == ()
    kept = other.bytes()[layout.OUTCOMES]
    other.memory.import_(copy)
    assert other.bytes()[layout.OUTCOMES] == kept


def test_an_entry_whose_page_stays_out_is_dreamt_of_here(lived: Desk, other: Desk) -> None:
    """Where a page of that name is another one here, the entries it cites there wait for a dream here."""
    state = lived.memory.opened.state_now()
    page, named = "", set[str]()
    for one in _ids(lived):
        for outcome in state.outcomes(one):
            if outcome.outcome == "cited" and page in ("", outcome.page):
                page, named = outcome.page, named | {one}
    other.page(page, "Mine.")
    done = other.memory.import_(lived.memory.export(lived.home / "copy").folder)
    other.memory.drain()
    assert done.passed["an entry that is dreamt of here anew"] >= len(named)
    waiting = {one.entry.id for one in other.memory.opened.state_now().pending("9999-12-31")}
    assert named <= waiting
    assert other.memory.check() == ()


def test_condensed_turns_come_with_their_session(lived: Desk, other: Desk) -> None:
    """What a session was compacted to is in the history here once, under cursors that go on from those here."""
    for number in range(40):
        lived.say(f"Number {number} of the long story about the harbour and its boats.", session="long")
    assert lived.memory.compact("long", budget=200).archived
    before = history.read(other.memory.opened.ws)
    copy = lived.memory.export(lived.home / "copy").folder
    for _ in range(2):
        other.memory.import_(copy)
    after = history.read(other.memory.opened.ws)
    assert after[: len(before)] == before
    assert [one.cursor for one in after] == list(range(1, len(after) + 1))
    theirs = history.read(lived.memory.opened.ws)
    assert [(one.session, one.turns, one.content) for one in after[len(before) :]] == [
        (one.session, one.turns, one.content) for one in theirs
    ]
    other.memory.drain()
    assert other.memory.check() == ()


def _ids(desk: Desk) -> list[str]:
    return [state.entry.id for state in desk.memory.list(EVERYTHING)]
