"""Who may give to a shared workspace and read it, and what a member that fails costs the others."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from desk import contents
from team import Team

from reverie import layout
from reverie.core.records import Draft, Entry, Remember
from reverie.errors import NotFound, UsageError
from reverie.memory import Memory
from reverie.opening import open_workspace
from reverie.store import journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Ann and Bob, who belong to a team."""
    with Team(tmp_path) as made:
        yield made


def test_only_members_give_and_read(team: Team) -> None:
    """One who is no member sees nothing, gives nothing, and is told what to do; a removed one neither."""
    team["team"].members(remove=str(team.root("bob")))
    team.tell("ann", "The budget is doubled")
    team.tell("bob", "The budget is halved")
    team["ann"].drain()
    problems = team["bob"].drain().problems
    assert len(problems) == 1
    assert "members --add" in problems[0]
    assert team.found("bob", "budget") == ["The budget is halved"]
    assert team.found("ann", "budget") == ["The budget is doubled"]
    assert any("no member" in problem.what for problem in team["bob"].status().problems)
    team["team"].members(add=team["bob"].opened.identity.id)
    assert team["bob"].drain().problems == ()
    assert set(team.found("ann", "budget")) == {"The budget is doubled", "The budget is halved"}
    assert team["bob"].status().problems == ()


def test_a_strangers_copy_is_set_aside(team: Team) -> None:
    """What no member owns, or what holds a conversation, is refused by the shared workspace's drain and kept."""
    ws, ann = team["team"].opened.ws, team["ann"].opened.identity
    base = Entry(
        id="a" * 16, text="Planted", at=team.clock(), day="2026-07-01", scope="team", owner=f"{'e' * 16} eve"
    )
    spoken = Entry(
        id="b" * 16,
        text="Overheard",
        at=team.clock(),
        day="2026-07-01",
        scope="team",
        owner=ann.id,
        evidence="words",
    )
    for entry in (base, spoken):
        journal.append(ws, Remember(id=entry.id, at=team.clock(), entry=entry))
    done = team["team"].drain()
    assert (done.stored, done.refused) == (0, 2)
    reasons = [one.reason for one in team["team"].status().quarantine]
    assert any("no member" in reason for reason in reasons)
    assert any("private" in reason for reason in reasons)


def test_a_subscription_is_the_users_to_make(team: Team) -> None:
    """A name without a folder, and a folder that is no workspace, are told, and harm nothing."""
    mine = team.tell("ann", "The lamp is broken")
    for told, said in (
        ("[shared]", "does not say where"),
        (f'[shared]\nteam = "{team.home / "nowhere"}"', "reverie init"),
    ):
        text = f'{told}\n[workspace."{team.root("ann")}"]\nsubscriptions = ["team"]\n'
        (team.home / "config" / "config.toml").write_text(text)
        ann = team.again("ann")
        assert any(said in problem.what for problem in ann.status().problems)
        assert [hit.id for hit in ann.recall("lamp broken").hits] == [mine]
        assert len(ann.drain().problems) == 1


def test_an_untrusted_shared_workspace_is_neither_read_nor_given_to(team: Team) -> None:
    """A shared workspace that carries another's seal stays out until it is trusted."""
    team.tell("bob", "The stairs are slippery")
    team["bob"].drain()
    team.tell("ann", "The lift is out of order")
    before = contents(team.root("team"))
    (team.home / "config" / "key").write_text("0" * 64 + "\n")
    team["ann"].close()
    opened = open_workspace(team.opening("ann"))
    opened.trusted = True
    ann = team.keep(Memory(opened))
    assert any("reverie trust" in problem for problem in ann.drain().problems)
    assert [hit.text for hit in ann.recall("stairs lift").hits] == ["The lift is out of order"]
    assert contents(team.root("team")) == before


def test_two_who_subscribe_to_each_other_neither_wait_nor_loop(tmp_path: Path) -> None:
    """With a subscription both ways, drains side by side end, each copy is given once, and none is copied back."""
    with Team(tmp_path, mutual=True) as team:
        for number in range(10):
            team.tell("ann", f"Ann says {number}")
            team.tell("bob", f"Bob says {number}")
        failed: list[BaseException] = []

        def drain(name: str) -> None:
            try:
                with Memory(open_workspace(team.opening(name))) as memory:
                    for _ in range(4):
                        memory.drain()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=drain, args=(name,)) for name in ("ann", "bob")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert failed == []
        for name in ("ann", "bob", "ann"):
            team[name].drain()
        for name in ("ann", "bob"):
            texts = [state.entry.text for state in team[name].list()]
            assert sorted(texts) == sorted({f"{who} says {n}" for who in ("Ann", "Bob") for n in range(10)})


def test_a_person_gives_under_the_agents_name(team: Team) -> None:
    """A person's team entry is given, owned by the agent, and nothing tells whose it was."""
    dana = team.keep(team["ann"].person("Dana Quillfeather"))
    dana.remember("The plants want water", Draft(scope="team", origin="user"))
    assert dana.drain().problems == ()
    team["team"].drain()
    (copy,) = team["team"].list()
    assert copy.entry.owner == f"{team['ann'].opened.identity.id} ann"
    assert team.found("bob", "plants water") == ["The plants want water"]
    assert team.holding("team", "quillfeather") == []
    assert team.holding("team", dana.opened.identity.id) == []


def test_an_excluded_topic_is_not_given(team: Team) -> None:
    """What names a topic that the shared workspace excludes stays where it is."""
    team["team"].exclude("salary")
    team.tell("ann", "The salary round is in June")
    team["ann"].drain()
    assert team.holding("team", "round is in june") == []


def test_members_are_named_by_id_or_folder(team: Team) -> None:
    """What is neither, the workspace itself, and one that is no member, are refused with a sentence."""
    shared = team["team"]
    assert [one.agent for one in shared.members()] == ["ann", "bob"]
    with pytest.raises(UsageError, match="neither"):
        shared.members(add=str(team.home / "nobody"))
    with pytest.raises(UsageError, match="itself"):
        shared.members(add=str(team.root("team")))
    with pytest.raises(NotFound, match="no member"):
        shared.members(remove="f" * 16)
    before = len(shared.members())
    assert len(shared.members(add=str(team.root("ann")))) == before


def test_a_shared_workspace_that_fails_leaves_recall_whole(team: Team) -> None:
    """When the shared workspace is gone, one's own memory answers, and says that it is behind."""
    team.tell("ann", "The roof was mended")
    team["ann"].drain()
    team["ann"].recall("roof")
    (team.root("team") / layout.MEMBERS).write_bytes(b'{"v":9,"id":"x","crc":"00000000"}\n')
    found = team["ann"].recall("roof")
    assert [hit.text for hit in found.hits] == ["The roof was mended"]
