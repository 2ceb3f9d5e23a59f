"""Many workspaces beneath one root: which names reach one, how many are open, and how they close."""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING

import pytest
from http_world import world_at

from reverie.core.text.names import safe_name
from reverie.errors import Busy, Conflict, NotAWorkspace, NotFound, UsageError
from reverie.surface.http.hosted import Hosted

if TYPE_CHECKING:
    from pathlib import Path

    from http_world import World

    from reverie.memory import Memory

TRICKS = [
    "", ".", "..", "../root", "./support", "support/", "/", "/etc", "support/..", "..\\root", "a\x00b", "\x00",
    "C:\\x", "con", ".transit", "a" * 5_000, "\ud800", "support\n", "%2e%2e", "~", "*",
]  # fmt: skip


def test_a_workspace_is_named_by_its_agent_or_its_folder(world: World) -> None:
    """The agent's name and the folder's reach the same workspace, and the list has the folder's."""
    assert world.hosted.names() == [world.name] == [safe_name("support")]
    assert world.hosted.name("support") == world.hosted.name(world.name) == world.name


@pytest.mark.parametrize("name", TRICKS)
def test_no_other_name_reaches_anything(world: World, name: str) -> None:
    """A name that is a path, a device, a pattern, too long or malformed reaches no workspace."""
    with pytest.raises(NotAWorkspace):
        world.hosted.name(name)


def test_a_link_is_no_workspace(world: World, tmp_path: Path) -> None:
    """A link beneath the root that leads to a workspace elsewhere is not followed."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(world.root / world.name, elsewhere)
    (world.root / "planted").symlink_to(elsewhere)
    assert world.hosted.names() == [world.name]
    with pytest.raises(NotAWorkspace):
        world.hosted.name("planted")


def test_a_workspace_is_made_once(world: World) -> None:
    """Making a workspace for an agent who has one is a conflict, and an agent without a name is refused."""
    with pytest.raises(Conflict):
        world.hosted.make("support")
    with pytest.raises(Conflict):
        world.hosted.make(world.name)
    with pytest.raises(UsageError):
        world.hosted.make("  ")


def test_hostile_agents_get_plain_folders(world: World) -> None:
    """Whatever an agent is called, its workspace is a folder directly beneath the root."""
    for agent in ("../../etc", "a/b", "..", "\x00", "con", "x" * 5_000):
        name = world.hosted.make(agent)
        assert (world.root / name).parent == world.root
        assert world.hosted.name(agent) == name


def test_only_so_many_are_open(tmp_path: Path) -> None:
    """More workspaces than are kept open are served, and those that rested longest are closed."""
    with world_at(tmp_path, most=2) as world:
        for agent in "abcd":
            world.hosted.make(agent)
            world.hosted.call(agent, lambda memory: memory.remember("Tea at four")).result()
        found = [world.hosted.call(one, lambda memory: len(memory.list())).result() for one in "abcd"]
        assert found == [1, 1, 1, 1]
        assert world.hosted.open <= 3  # two, and the one whose call was just begun


def test_what_is_busy_is_not_closed(tmp_path: Path) -> None:
    """A memory that somebody waits for stays open, however many others are asked for."""
    go, begun = threading.Event(), threading.Event()
    with world_at(tmp_path, most=1) as world:
        for agent in "ab":
            world.hosted.make(agent)

        def slow(_: object) -> str:
            begun.set()
            go.wait(60)
            return "done"

        waiting = world.hosted.call("support", slow)
        assert begun.wait(60)
        for agent in "abab":
            world.hosted.call(agent, lambda memory: memory.list()).result()
        go.set()
        assert waiting.result() == "done"


def test_what_is_long_does_not_hold_up_what_is_quick(world: World) -> None:
    """A recall is answered while a consolidation of the same workspace runs."""
    go, begun = threading.Event(), threading.Event()

    def slow(_: object) -> None:
        begun.set()
        go.wait(60)

    running = world.hosted.call("support", slow, long=True)
    assert begun.wait(60)
    assert world.hosted.call("support", lambda memory: memory.recall("tea").hits).result(60)
    assert not running.done()
    go.set()
    running.result(60)


def test_what_rests_is_closed(tmp_path: Path) -> None:
    """A memory nobody asked for in ten minutes is closed at the next call of another."""
    now = [0.0]
    with world_at(tmp_path) as world:
        hosted = Hosted(world.root, opening=world.hosted.opening("support"), monotonic=lambda: now[0])
        world.hosted.make("other")
        hosted.call("support", lambda memory: memory.list()).result()
        assert hosted.open == 1
        now[0] = 601.0
        hosted.call("other", lambda memory: memory.list()).result()
        assert hosted.open == 1
        hosted.close()


def test_a_closed_one_answers_busy(world: World) -> None:
    """A server that is stopping lets what was begun end and refuses what comes, which may be tried again."""
    begun = threading.Event()

    def last(memory: Memory) -> str:
        begun.set()
        return memory.remember("The last word").id

    done = world.hosted.call("support", last)
    assert begun.wait(60)
    world.hosted.close()
    assert len(done.result()) == 16
    with pytest.raises(Busy):
        world.hosted.call("support", lambda memory: memory.list())
    with world.memory() as memory:
        assert any(one.entry.text == "The last word" for one in memory.list())


def test_dropping_lets_what_waits_be_done(world: World) -> None:
    """Closing a workspace for new settings loses no call that was already taken."""
    futures = [
        world.hosted.call("support", lambda memory, n=n: memory.remember(f"Fact number {n}").id)
        for n in range(20)
    ]
    world.hosted.drop(world.name)
    assert len({future.result(60) for future in futures}) == 20


def test_an_error_of_a_verb_reaches_who_asked(world: World) -> None:
    """What a verb raises is raised from its call."""
    with pytest.raises(NotFound):
        world.hosted.call("support", lambda memory: memory.get("ffff")).result()


def test_a_root_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    """A root that does not exist lists no workspace, and the first one makes it."""
    hosted = Hosted(tmp_path / "new" / "root")
    assert hosted.names() == []
    hosted.close()
