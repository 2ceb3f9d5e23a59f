"""Settings that are changed while a server keeps a memory open: they hold from the next call on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reverie.core.records import Draft
from reverie.memory import Memory
from reverie.opening import open_workspace, trust_workspace
from reverie.surface.mcp.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Place
    from http_world import World


@pytest.fixture
def bound(place: Place) -> Iterator[Bound]:
    """A server's hold on a workspace, which has had a call."""
    made = Bound(place.opening)
    made.call(lambda memory: memory.remember("User likes tea")).result()
    yield made
    made.close()


def kept(bound: Bound, text: str, **draft: Any) -> bool:
    """Remember a text through a server and return whether it was stored."""
    return bool(bound.call(lambda memory: memory.remember(text, Draft(**draft))).result().id)


def test_a_topic_excluded_by_a_command_is_not_stored_by_a_server(place: Place, bound: Bound) -> None:
    """What another process excludes is never stored again by a server that was there before."""
    assert kept(bound, "User has a cat")
    with place.memory() as beside:
        beside.exclude("cat")
    assert not kept(bound, "User has another cat")
    with place.memory() as beside:
        beside.exclude("cat", remove=True)
    assert kept(bound, "User has a third cat")


def test_a_memory_switched_off_stores_nothing(place: Place, bound: Bound) -> None:
    """Whoever edits `reverie.toml` to switch the memory off is obeyed by a server that runs."""
    settings = place.root / "reverie.toml"
    before = settings.read_text(encoding="utf-8")
    settings.write_text("enabled = false\n", encoding="utf-8")
    assert not kept(bound, "User likes coffee")
    settings.write_text(before, encoding="utf-8")
    assert kept(bound, "User likes cocoa")


def test_a_users_own_settings_hold_from_the_next_call(place: Place, bound: Bound) -> None:
    """The user's own configuration is read again when it came or changed."""
    config = place.home / "config" / "config.toml"
    config.write_text('exclusions = ["rent"]\n', encoding="utf-8")
    assert not kept(bound, "The rent is 900 euros")
    config.unlink()
    assert kept(bound, "The rent is 950 euros")


def test_settings_that_cannot_be_read_are_told_until_they_can(place: Place, bound: Bound) -> None:
    """A broken file of settings fails each call with its name, loses nothing, and mended it is as before."""
    settings = place.root / "reverie.toml"
    before = settings.read_text(encoding="utf-8")
    settings.write_text("zone = [\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(Exception, match=r"reverie\.toml"):
            kept(bound, "User likes coffee")
    settings.write_text(before, encoding="utf-8")
    assert kept(bound, "User likes cocoa")
    texts = bound.call(lambda memory: [one.entry.text for one in memory.list()]).result()
    assert sorted(texts) == ["User likes cocoa", "User likes tea"]


def test_a_memory_stays_open_while_nothing_changes(bound: Bound) -> None:
    """Calls one after another use one open memory."""
    first = bound.call(id).result()
    kept(bound, "User likes cocoa")
    bound.call(lambda memory: memory.drain()).result()
    bound.call(lambda memory: memory.publish()).result()
    assert bound.call(id).result() == first


def test_a_persons_settings_are_seen_too(place: Place) -> None:
    """A person's memory follows its own file and that of the agent above it."""
    opening = msgspec.structs.replace(place.opening, user="Dana")
    held = Bound(opening)
    try:
        assert kept(held, "Dana has a cat")
        own = held.call(lambda memory: memory.root).result() / "reverie.toml"
        own.write_text('exclusions = ["cat"]\n', encoding="utf-8")
        assert not kept(held, "Dana has another cat")
        (place.root / "reverie.toml").write_text('exclusions = ["dog"]\n', encoding="utf-8")
        assert not kept(held, "Dana has a dog")
    finally:
        held.close()


def test_a_workspace_trusted_by_a_command_is_trusted_by_a_server(place: Place) -> None:
    """A server that found a workspace untrusted works in it as soon as its user has trusted it."""
    stranger = msgspec.structs.replace(place.opening, config_dir=place.home / "another")
    held = Bound(stranger)
    try:
        with pytest.raises(Exception, match="trust"):
            kept(held, "User likes tea")
        Memory(trust_workspace(stranger)).close()
        assert kept(held, "User likes tea")
    finally:
        held.close()


def test_the_daemon_follows_settings_by_http(world: World) -> None:
    """A topic excluded beside the daemon is refused by its next answer, whichever address is asked."""

    def stored(text: str) -> bool:
        return bool(world.value("POST", "/entries", json={"text": text})["id"])

    assert stored("User has a cat")
    with world.memory() as beside:
        beside.exclude("cat")
    assert not stored("User has another cat")
    world.value("POST", "/turns", json={"session": "s", "role": "user", "content": "My cat is called Mira."})
    world.value("POST", "/consolidate", json={})
    with Memory(open_workspace(world.hosted.opening("support"))) as memory:
        assert not any("Mira" in one.entry.text for one in memory.list())
