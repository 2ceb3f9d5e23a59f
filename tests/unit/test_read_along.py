"""What is read along can be looked at: entries, their history, what stands behind a hit; and not be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk
from team import Team

from reverie.core.records import Turn
from reverie.errors import AmbiguousId, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Ann and Bob, who belong to a team."""
    with Team(tmp_path) as made:
        yield made


def _told(team: Team) -> str:
    """Return the entry that the team itself read from a talk of its own."""
    shared, at = team["team"], team.clock()
    shared.capture("s1", Turn(role="user", content="The standup is at ten, I prefer the blue room.", at=at))
    shared.end("s1")
    shared.extract()
    shared.drain()
    return team.found("ann", "blue room")[0] and shared.list()[0].entry.id


def test_a_shared_hit_can_be_looked_at(team: Team) -> None:
    """`get`, `history` and `why` resolve the id of a shared hit, or its beginning, and name the workspace."""
    told = _told(team)
    team["team"].pin(told)
    seen = team["ann"].get(told[:12])
    assert (seen.entry.id, seen.along, seen.pinned) == (told, "team", True)
    assert [event.kind for event in team["ann"].history(told)] == ["pin"]
    found = team["ann"].why(told)
    assert found.state.along == "team"
    assert [turn.n for turn in found.turns] == [0]
    assert team["team"].get(told).along == ""


def test_a_shared_turn_and_page_can_be_looked_at(team: Team) -> None:
    """A hit that is no entry is resolved in the workspace it is from; what nobody has is not found."""
    _told(team)
    team.clock.advance(days=1)
    team["team"].dream(now=True)
    others = [hit for hit in team["ann"].recall("blue room standup", k=50).hits if hit.kind != "entry"]
    assert {hit.kind for hit in others} >= {"turn"}
    for hit in others:
        found = team["ann"].behind(hit.id)
        assert found.along == "team"
        assert "blue" in found.row.text
    with pytest.raises(NotFound):
        team["ann"].behind("page:0000000000000000")


def test_what_is_read_along_is_not_changed_from_here(team: Team) -> None:
    """Every verb that would change it says whose it is and where to do that, and nothing is written there."""
    told = _told(team)
    ann = team["ann"]
    before = (team.root("team") / ".state" / "events.jsonl").exists()
    for change in (
        lambda: ann.pin(told),
        lambda: ann.correct(told, "The standup is at nine", why="change"),
        lambda: ann.feedback(told, "wrong"),
        lambda: ann.hide([told]),
        lambda: ann.forget([told]),
        lambda: ann.erase([told]),
        lambda: ann.judge(told, 0.5),
        lambda: ann.done(told),
    ):
        with pytest.raises(NotFound, match=r"is of team, and only read from here: use `reverie -w"):
            change()
    assert (team.root("team") / ".state" / "events.jsonl").exists() == before
    assert team["team"].get(told).current


def test_what_is_forgotten_there_is_not_seen_from_here(team: Team) -> None:
    """An entry that the team forgot, or that is not a member's to see any more, is not found."""
    told = _told(team)
    team["team"].members(remove=team["bob"].opened.identity.id)
    with team.again("bob") as bob, pytest.raises(NotFound):
        bob.get(told)
    team["team"].forget([told])
    with pytest.raises(NotFound):
        team["ann"].get(told)


def test_a_beginning_of_two_ids_is_ambiguous(team: Team) -> None:
    """A prefix that several entries of the team have is refused; one's own entry comes before them."""
    for text in ("The canteen serves soup", "The stairs creak"):
        known = team.tell("team", text)
    start = known[:8]
    with pytest.raises(AmbiguousId):
        team["ann"].get(start)
    mine = team.tell("ann", "The lift is slow", scope="private")
    assert team["ann"].get(mine).along == ""
    assert team["ann"].get(known).along == "team"


def test_a_person_looks_at_the_agents(desk: Desk) -> None:
    """A person's memory shows the agent's entry as the agent's, and cannot change it."""
    known = desk.remember("The office closes at six")
    desk.memory.drain()
    dana = desk.keep(desk.memory.person("Dana"))
    assert dana.get(known).along == desk.memory.opened.identity.agent
    assert dana.why(known).state.entry.text == "The office closes at six"
    with pytest.raises(NotFound, match="only read from here"):
        dana.pin(known)
    with pytest.raises(NotFound):
        desk.memory.get(desk.remember("Dana's own", dana))
