"""An erase follows what was copied: into shared workspaces and those of people, and takes nobody's own words."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from desk import Desk, contents
from team import Team

from reverie import layout
from reverie.context import ContextRequest
from reverie.core.records import Draft, Turn
from reverie.core.scopes import copy_id
from reverie.store import subscriptions
from reverie.store.dreams import lease
from reverie.store.forgotten import orders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.memory import Memory

OCELOT = "The wifi is named ocelot lounge"


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Ann and Bob, who belong to a team."""
    with Team(tmp_path) as made:
        yield made


def _holders(root: Path, word: str) -> list[str]:
    """Return the files below a folder in whose bytes a word stands, derived ones too."""
    return [path for path, data in contents(root, derived=True).items() if word.encode() in data.lower()]


@contextmanager
def _dreaming(memory: Memory) -> Iterator[None]:
    """Have somebody drive a dream of this memory meanwhile."""
    ws = memory.opened.ws
    lease.take(ws, "dream:1", holder="test", until=ws.clock() + timedelta(minutes=5))
    yield
    lease.release(ws, "dream:1")


def _troubles(memory: Memory) -> str:
    return " ".join(one.what for one in memory.status().problems)


def _gave(team: Team, text: str = OCELOT, *, stored: bool = True) -> str:
    gave = team.tell("ann", text)
    team["ann"].drain()
    if stored:
        team["team"].drain()
    return gave


# Copies


@pytest.mark.parametrize("stored", [True, False])
def test_an_erase_takes_the_copy_too(team: Team, *, stored: bool) -> None:
    """A dry run names each file there and changes none; the erase leaves the words in neither workspace."""
    gave = _gave(team, stored=stored)
    before = contents(team.root("team"))
    planned = team["ann"].erase([gave], dry_run=True)
    there = [path for path in planned.places if path.startswith(str(team.root("team")))]
    assert any(layout.JOURNAL in path or layout.ARCHIVE in path for path in there)
    assert contents(team.root("team")) == before
    done = team["ann"].erase([gave])
    assert done.leftovers == ()
    assert set(there) <= set(done.places)
    assert _holders(team.home, "ocelot") == []
    assert team.found("bob", "wifi ocelot") == []
    assert team["team"].check() == ()
    assert team["ann"].status().problems == ()


def test_what_the_team_made_of_a_copy_goes_with_it(team: Team) -> None:
    """Its page, MEMORY.md, index and history lose the words; the neighbour's stay everywhere."""
    gave = team.tell("ann", OCELOT, sig=0.9)
    team.tell("bob", "The wifi reaches the garden shed", sig=0.9)
    for name in ("ann", "bob", "team"):
        team[name].drain()
    team.clock.advance(days=1)
    team["team"].dream(now=True)
    team["team"].publish()
    assert any(path.startswith(layout.NOTEBOOK) for path in team.holding("team", "ocelot"))
    assert team["ann"].erase([gave]).leftovers == ()
    assert _holders(team.home, "ocelot") == []
    assert any("garden shed" in text for text in team.found("ann", "garden shed wifi"))
    assert layout.MEMORY in team.holding("team", "garden shed")


def test_an_erase_takes_no_other_members_words(team: Team) -> None:
    """What Bob told the team himself in the same words stays, and the answer names his entry there."""
    gave = _gave(team)
    team.tell("bob", OCELOT)
    team["bob"].drain()
    team["team"].drain()
    his = copy_id(team["bob"].opened.identity.id, team["bob"].list()[0].entry.id)
    done = team["ann"].erase([gave])
    assert any(his in place for place in done.leftovers)
    assert team.found("bob", "wifi ocelot") == [OCELOT]
    assert [one.entry.id for one in team["team"].list()] == [his]


def test_a_refused_copy_is_erased_from_what_was_set_aside(team: Team) -> None:
    """A copy that the team's drain refused, as Ann was no member any more, goes from the quarantine."""
    gave = _gave(team, stored=False)
    team["team"].members(remove=team["ann"].opened.identity.id)
    assert team["team"].drain().refused == 1
    team["team"].members(add=str(team.root("ann")))
    assert team.holding("team", "ocelot")
    assert team["ann"].erase([gave]).leftovers == ()
    assert _holders(team.home, "ocelot") == []


def test_what_cannot_be_reached_is_told_and_done_later(team: Team) -> None:
    """While the shared folder is away, or its dream runs, the erase waits in the queue; the next drain does it."""
    gave = _gave(team)
    away = team.home / "away"
    team.root("team").rename(away)
    with team.again("ann") as ann:
        done = ann.erase([gave])
        assert any("cannot be reached" in place for place in done.leftovers)
        assert "still to be erased" in _troubles(ann)
        assert any("cannot be reached" in problem for problem in ann.drain().problems)
    away.rename(team.root("team"))
    assert team.holding("team", "ocelot")
    with team.again("ann") as ann:
        with _dreaming(team["team"]):
            assert any("next drain" in problem for problem in ann.drain().problems)
            assert "still to be erased" in _troubles(ann)
        assert ann.drain().problems == ()
        assert "still to be erased" not in _troubles(ann)
    assert _holders(team.home, "ocelot") == []
    assert {one.erase for one in subscriptions.copies(team["ann"].opened.ws).values()} == {"done"}


def test_an_erase_reaches_the_people_of_the_shared_workspace(team: Team) -> None:
    """What a person beneath the team was shown of the copy goes as well."""
    gave = _gave(team)
    dana = team.keep(team["team"].person("Dana"))
    dana.remember("Dana likes the lounge")
    dana.context(ContextRequest(query="wifi ocelot", session="s1"))
    assert _holders(dana.root, "ocelot")
    assert team["ann"].erase([gave]).leftovers == ()
    assert _holders(team.home, "ocelot") == []


# People


def _shown(desk: Desk, name: str = "Dana") -> tuple[str, Memory]:
    """Return the agent's entry and the memory of a person whom it was shown and told."""
    known = desk.remember(OCELOT, sig=0.95)
    desk.memory.drain()
    dana = desk.keep(desk.memory.person(name))
    dana.remember("Dana prefers the red sofa", Draft(origin="user"))
    told = dana.context(ContextRequest(query="wifi ocelot", session="s1"))
    assert "ocelot" in told.text
    at = desk.clock()
    dana.capture("s1", Turn(role="user", content="What is the wifi called? I prefer the red sofa.", at=at))
    dana.capture("s1", Turn(role="assistant", content=f"{OCELOT}. Enjoy the sofa!", at=at))
    dana.consolidate()
    return known, dana


def test_an_erase_of_the_agents_reaches_people(desk: Desk) -> None:
    """What a person was shown and answered goes from their workspace; what they said themselves stays."""
    known, dana = _shown(desk)
    planned = desk.memory.erase([known], dry_run=True)
    there = [path for path in planned.places if path.startswith(f"{layout.PEOPLE}/")]
    assert there
    assert _holders(dana.root, "ocelot")
    done = desk.memory.erase([known])
    assert done.leftovers == ()
    assert set(there) <= set(done.places)
    assert _holders(desk.root, "ocelot") == []
    assert any("red sofa" in hit.text for hit in dana.recall("sofa").hits)
    assert not any("ocelot" in hit.text for hit in dana.recall("wifi ocelot").hits)
    assert dana.check() == ()
    assert desk.memory.status().problems == ()


def test_what_a_person_said_themselves_stays_with_them(desk: Desk) -> None:
    """The same words of a person's own stay, as entry and as turn, and the answer says where; others lose them."""
    known, dana = _shown(desk)
    eve = desk.keep(desk.memory.person("Eve"))
    own = desk.remember(OCELOT, eve)
    eve.drain()
    desk.say(f"I think {OCELOT.lower()}.", memory=eve)
    done = desk.memory.erase([known])
    assert len(done.leftovers) == 2
    assert own in done.leftovers[0]
    assert "turn 0" in done.leftovers[1]
    assert all(place.startswith(f"{layout.PEOPLE}/eve") for place in done.leftovers)
    assert eve.get(own).entry.text == OCELOT
    assert _holders(dana.root, "ocelot") == []
    assert all(path.startswith(f"{layout.PEOPLE}/") for path in _holders(desk.root, "ocelot"))
    assert eve.erase([own]).leftovers == ()
    assert _holders(desk.root, "ocelot") == []


@pytest.mark.parametrize("who", ["agent", "person"])
def test_a_busy_person_is_reached_by_a_later_drain(desk: Desk, who: str) -> None:
    """While a person's dream runs the order waits and is told; the agent's next drain does it, or the person's own."""
    known, dana = _shown(desk)
    with _dreaming(dana):
        done = desk.memory.erase([known])
        assert any(layout.PEOPLE in place and "next drain" in place for place in done.leftovers)
    assert _holders(dana.root, "ocelot")
    assert "still to reach people/" in _troubles(desk.memory)
    assert (desk.memory if who == "agent" else dana).drain().problems == ()
    assert _holders(desk.root, "ocelot") == []
    assert "still to reach" not in _troubles(desk.memory)
    assert not orders.waiting(desk.memory.opened.ws)


def test_a_person_who_is_gone_keeps_no_order_alive(desk: Desk) -> None:
    """An order for a folder that was removed meanwhile is settled; one that cannot be read is told."""
    known, dana = _shown(desk)
    with _dreaming(dana):
        desk.memory.erase([known])
    dana.close()
    shutil.rmtree(dana.root)
    assert desk.memory.drain().problems == ()
    assert not orders.waiting(desk.memory.opened.ws)
    desk.write(f"{layout.ERASING}/{'0' * 16}.json", "{")
    assert "is damaged" in _troubles(desk.memory)
