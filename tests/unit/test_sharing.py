"""Scopes: what is of scope team reaches the shared workspace once, follows forgetting, and nothing else ever does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import NOON
from team import Team

from reverie import layout
from reverie.context import ContextRequest
from reverie.core.records import Draft, Entry, Turn
from reverie.core.scopes import copy_id, copy_of, flaw_of_copy, owner_id
from reverie.core.where import Where
from reverie.store import journal, subscriptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Ann and Bob, who belong to a team."""
    with Team(tmp_path) as made:
        yield made


def test_a_team_entry_is_seen_by_subscribers_before_and_after_the_drain(team: Team) -> None:
    """Ann's drain queues a copy; Bob finds it before the team's own drain has stored it, and afterwards (R-35)."""
    team.tell("ann", "The office door code changes every Friday", category="procedure")
    assert team.found("bob", "door code") == []
    assert team["ann"].drain().problems == ()
    assert team.found("bob", "door code") == ["The office door code changes every Friday"]
    assert "door code" in team["bob"].context(ContextRequest(query="door code")).text
    assert team["team"].drain().stored == 1
    assert team.found("bob", "door code") == ["The office door code changes every Friday"]
    assert [hit.why[-1] for hit in team["bob"].recall("door code").hits] == ["from team"]
    assert not team["bob"].list()


def test_the_giver_finds_what_it_gave_once(team: Team) -> None:
    """The copy of one's own entry is not shown beside the entry."""
    team.tell("ann", "The printer needs blue paper")
    team["ann"].drain()
    team["team"].drain()
    assert team.found("ann", "printer paper") == ["The printer needs blue paper"]


def test_a_copy_keeps_owner_and_origin_and_leaves_the_conversation(team: Team) -> None:
    """The id follows from workspace and entry; owner, origin, tags and times are kept, the evidence stays behind."""
    gave = team.tell(
        "ann",
        "Lena likes amber tea",
        origin="web",
        tags=("tea",),
        sig=0.8,
        about="Lena",
        evidence="amber secretly",
    )
    team["ann"].drain()
    team["team"].drain()
    ann = team["ann"].opened.identity
    copy = team["team"].get(copy_id(ann.id, gave)).entry
    mine = team["ann"].get(gave).entry
    assert owner_id(copy) == ann.id
    assert copy.owner.endswith(" ann")
    assert (copy.origin, copy.tags, copy.sig, copy.about) == ("web", ("tea",), 0.8, "Lena")
    assert (copy.at, copy.day, copy.scope) == (mine.at, mine.day, "team")
    assert (copy.evidence, copy.session, copy.turns) == ("", "", "")
    assert "(owner:: " in (team.root("team") / layout.log_file(copy.day)).read_text()
    assert not team.holding("team", "secretly")


def test_what_is_private_never_reaches_a_shared_workspace(team: Team) -> None:
    """No byte of a private entry, its turns or notes stands in the shared workspace or what another finds (R-35)."""
    ann = team["ann"]
    team.tell("ann", "Ann collects xylophones", scope="private")
    ann.remember("Ann owes a marimba", Draft(due="2026-07-09", origin="user"))
    ann.capture("s1", Turn(role="user", content="I keep a glockenspiel at home.", at=team.clock()))
    ann.note("The vibraphone was sold.")
    team.tell("ann", "The team meets on Mondays")
    ann.consolidate()
    team["team"].consolidate()
    team.clock.advance(days=1)
    for memory in (ann, team["team"], team["bob"]):
        memory.consolidate()
        memory.dream(now=True)
    assert any("meets on Mondays" in text for text in team.found("bob", "team meets mondays"))
    for word in ("xylophone", "marimba", "glockenspiel", "vibraphone"):
        assert team.holding("team", word) == []
        assert team.holding("bob", word) == []
        assert team.found("bob", word) == []
        assert team.holding("ann", word)


def test_forgetting_follows_the_copy(team: Team) -> None:
    """A forgotten entry's copy is hidden in the shared workspace at once, drained or not, and for its subscribers."""
    early = team.tell("ann", "The launch is on the sixth of May")
    team["ann"].drain()
    team["team"].drain()
    late = team.tell("ann", "The venue is the old brewery")
    team["ann"].drain()
    assert team.found("bob", "launch may")
    assert team.found("bob", "venue brewery")
    done = team["ann"].forget([early, late])
    assert done.problems == ()
    assert team.found("bob", "launch may") == []
    assert team.found("bob", "venue brewery") == []
    team["team"].drain()
    team["team"].reindex()
    assert team["team"].list() == []
    assert team.found("bob", "venue brewery") == []


def test_a_withdrawn_copy_leaves_the_shared_pages(team: Team) -> None:
    """What the shared workspace's dream and files made of a copy goes with it, before anything is compiled anew."""
    gone = team.tell("ann", "The mascot is a purple walrus", sig=0.9)
    team.tell("bob", "The mascot wears a green hat", sig=0.9)
    for name in ("ann", "bob", "team"):
        team[name].drain()
    team.clock.advance(days=1)
    team["team"].dream(now=True)
    team["team"].digest()
    team["team"].publish()
    shown = [team.root("team") / layout.MEMORY, *(team.root("team") / layout.DIGESTS).iterdir()]
    assert "walrus" in shown[0].read_text()
    assert any("walrus" in file.read_text() for file in shown[1:])
    team["ann"].forget([gone])
    assert all("walrus" not in file.read_text() for file in shown)
    assert "green hat" in shown[0].read_text()
    assert team["team"].publish().edited is None
    assert "walrus" not in shown[0].read_text()
    assert "walrus" not in team["team"].context(ContextRequest(query="mascot")).text
    assert all("walrus" not in text for text in team.found("bob", "mascot walrus"))
    assert any("green hat" in text for text in team.found("ann", "mascot hat"))


def test_restoring_gives_the_copy_back(team: Team) -> None:
    """What is remembered again is shown to the team again."""
    gave = team.tell("ann", "The kitchen closes at nine")
    team["ann"].drain()
    team["team"].drain()
    team["ann"].forget([gave])
    team["team"].reindex()
    assert team.found("bob", "kitchen closes") == []
    team["ann"].forget([gave], restore=True)
    assert team.found("bob", "kitchen closes") == ["The kitchen closes at nine"]


def test_sharing_again_gives_nothing_new(team: Team) -> None:
    """However often both drain, the shared workspace holds one line of each entry."""
    team.tell("ann", "Standup is at ten")
    for _ in range(3):
        team["ann"].drain()
        team["team"].drain()
    log = (team.root("team") / layout.log_file("2026-07-01")).read_text()
    assert log.count("Standup is at ten") == 1
    assert len(journal.waiting(team["team"].opened.ws).records) == 0


def test_a_correction_is_given_with_what_it_replaces(team: Team) -> None:
    """A corrected team entry is given too, naming the copy of what it replaces."""
    old = team.tell("ann", "The demo is on Tuesday")
    team["ann"].drain()
    new = team["ann"].correct(old, "The demo is on Thursday", why="change").id
    team["ann"].drain()
    team["team"].drain()
    own = team["ann"].opened.identity.id
    assert team["team"].get(copy_id(own, new)).entry.supersedes == (copy_id(own, old),)


def test_a_copy_holds_its_entrys_words_and_no_more() -> None:
    """Making a copy is a pure function: the same entry gives the same copy, and a copy passes its own check."""
    entry = Entry(
        id="1" * 16,
        text="T",
        at=NOON,
        day="2026-07-01",
        scope="team",
        session="s",
        turns="1",
        evidence="e",
        supersedes=("2" * 16, "3" * 16),
    )
    made = copy_of(entry, source="4" * 16, owner=f"{'4' * 16} ann", given={"2" * 16})
    assert made == copy_of(entry, source="4" * 16, owner=f"{'4' * 16} ann", given={"2" * 16})
    assert made.supersedes == (copy_id("4" * 16, "2" * 16),)
    assert flaw_of_copy(made, {"4" * 16}) == ""
    assert "no member" in flaw_of_copy(made, ())
    assert flaw_of_copy(entry, ()) == ""


def test_what_is_given_is_noted(team: Team) -> None:
    """`.state/shared.jsonl` says which entry went where, and when it was withdrawn."""
    gave = team.tell("ann", "The bus is late")
    team["ann"].drain()
    ws, to = team["ann"].opened.ws, team["team"].opened.identity.id
    assert subscriptions.copies(ws)[to, gave].copy == copy_id(team["ann"].opened.identity.id, gave)
    team["ann"].forget([gave])
    assert subscriptions.copies(ws)[to, gave].withdrawn
    assert team["team"].list(Where(include_hidden=True)) == []
