"""A person is a workspace: it reads the agent's own, writes nothing to it, and shares nothing with another person."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from desk import Desk, contents

from reverie import layout, trust
from reverie.context import ContextRequest
from reverie.errors import ReverieError, UnsafePath

if TYPE_CHECKING:
    from reverie.memory import Memory

NAMES = (
    "Dana",
    "dana",
    "DANA",
    "../Dana",
    "a/b",
    "a\\b",
    "..",
    ".",
    "名前",
    "名",
    "🙂",
    "🙃",
    "Zoë",
    "con",
    "nul.txt",
    "dana ",
    "x" * 300,
    "x" * 301,
)


def _person(desk: Desk, name: str) -> Memory:
    return desk.keep(desk.memory.person(name))


def test_a_person_recalls_the_agents_memories_and_never_writes_them(desk: Desk) -> None:
    """What a person's memory holds stays in it, and what the agent knows is recalled with it (R-34)."""
    shared = desk.remember("The office closes at six")
    before = _own(desk)
    dana = _person(desk, "Dana")
    own = desk.remember("Dana leaves the office at four", dana)
    desk.say("I take the office bike home.", memory=dana)
    dana.consolidate()
    assert {own, shared} <= {hit.id for hit in dana.recall("office").hits}
    assert "leaves" in dana.context(ContextRequest(query="office")).text
    assert "closes" in dana.context(ContextRequest(query="office")).text
    assert desk.found("office") == ["The office closes at six"]
    assert _own(desk) == before


def test_the_agent_never_sees_a_person(desk: Desk) -> None:
    """Neither recall, list, context, MEMORY.md, digest nor dream of the agent shows what a person said (R-34)."""
    dana = _person(desk, "Dana")
    desk.remember("Dana is allergic to quinoa", dana, sig=0.95, pin=True)
    desk.say("I am allergic to quinoa.", memory=dana)
    desk.remember("The canteen serves soup")
    desk.clock.advance(days=1)
    desk.memory.consolidate()
    desk.memory.dream(now=True)
    desk.memory.reindex()
    assert desk.found("quinoa") == []
    assert len(desk.memory.list()) == 1
    assert "quinoa" not in desk.memory.context(ContextRequest(query="quinoa allergic")).text
    for path, data in _own(desk).items():
        assert b"quinoa" not in data, path


def test_random_traffic_leaks_nowhere(desk: Desk) -> None:
    """However three people and the agent mix, each finds its own words and the agent's alone (R-34)."""
    lot = random.Random(7)
    names = ("Dana", "李雷", "dana")
    people: dict[str, Memory] = {name: _person(desk, name) for name in names} | {"": desk.memory}
    marks = {"Dana": "amaryllis", "李雷": "begonia", "dana": "camellia", "": "dahlia"}
    for number in range(60):
        name = lot.choice(list(people))
        memory, text = people[name], f"Flower number {number} is a {marks[name]}"
        match lot.randrange(6):
            case 0:
                memory.remember(text)
            case 1:
                desk.say(text, session="talk", memory=memory)
            case 2:
                memory.note(text)
            case 3:
                memory.drain()
            case 4:
                memory.extract()
            case _:
                memory.publish()
    desk.clock.advance(days=1)
    for memory in people.values():
        memory.consolidate()
    for name, memory in people.items():
        said = {hit.text for hit in memory.recall("flower number", k=200).hits}
        seen = {mark for mark in marks.values() if any(mark in text for text in said)}
        assert seen == {marks[name], marks[""]}
    roots = {name: memory.root for name, memory in people.items()}
    for name, root in roots.items():
        files = _own(desk) if not name else contents(root, derived=True)
        for other, mark in marks.items():
            if other != name:
                assert not [path for path, data in files.items() if mark.encode() in data], (name, other)


@pytest.mark.slow
def test_names_lead_to_folders_of_their_own(desk: Desk) -> None:
    """Names that differ only in case, hold path parts, emoji or other scripts are people of their own, inside."""
    roots = {}
    for name in NAMES:
        memory = _person(desk, name)
        memory.remember(f"Known as {name!r}")
        roots[name] = memory.root
        assert memory.root.parent == desk.root / layout.PEOPLE
        assert memory.status().person == name
    folded = [root.name.casefold() for root in roots.values()]
    assert len(set(folded)) == len(NAMES)
    for name in NAMES:
        assert [hit.text for hit in _person(desk, name).recall("known").hits] == [f"Known as {name!r}"]


def test_a_person_without_a_name_is_refused(desk: Desk) -> None:
    """A blank name is nobody, and makes no folder."""
    with pytest.raises(ReverieError, match="name"):
        desk.memory.person("  ")
    assert not (desk.root / layout.PEOPLE).exists()


def test_asking_about_a_person_makes_nothing(desk: Desk) -> None:
    """Reading the memory of somebody unknown answers as an empty one and makes no folder; the first write does."""
    shared = desk.remember("The office closes at six")
    for memory in (_person(desk, "Dana"), desk.again(user="Dana")):
        assert [hit.id for hit in memory.recall("office").hits] == [shared]
        assert memory.list() == []
        assert memory.due().lines == ()
        assert memory.review() == []
        assert memory.log() == []
        status = memory.status()
        assert (status.person, status.entries, status.problems) == ("Dana", 0, ())
        assert "six" in memory.context(ContextRequest(query="office")).text
        memory.close()
        assert not (desk.root / layout.PEOPLE).exists()
    dana = _person(desk, "Dana")
    assert dana.recall("office").hits
    dana.remember("Dana likes plums")
    assert desk.found("plums", dana) == ["Dana likes plums"]
    assert desk.found("plums", _person(desk, "Dana")) == ["Dana likes plums"]
    assert dana.root.parent == desk.root / layout.PEOPLE


def test_a_person_has_the_agents_exclusions(desk: Desk) -> None:
    """What the agent never stores is not stored for a person either."""
    desk.memory.exclude("health")
    dana = _person(desk, "Dana")
    assert dana.remember("Dana's health is nobody's business").refused
    assert dana.remember("Dana likes plums").queued


def test_a_person_is_opened_by_name_from_outside(desk: Desk) -> None:
    """Opening the agent's folder for a user gives that person's memory, the same each time."""
    _person(desk, "Dana").remember("Dana likes plums")
    again = desk.again(user="Dana")
    assert desk.found("plums", again) == ["Dana likes plums"]
    assert desk.found("plums", desk.again(user="dana")) == []


def test_what_the_agent_forgot_a_person_does_not_find(desk: Desk) -> None:
    """A person's recall passes the agent's own mask for the agent's memories."""
    gone = desk.remember("The safe's code is a birthday")
    dana = _person(desk, "Dana")
    assert desk.found("safe code", dana)
    desk.memory.forget([gone])
    assert desk.found("safe code", dana) == []


def _own(desk: Desk) -> dict[str, bytes]:
    """Return the agent's own files, derived ones included, without those of people."""
    files = contents(desk.root, derived=False) | contents(desk.root / "digests", derived=True)
    return {path: data for path, data in files.items() if not path.startswith(f"{layout.PEOPLE}/")}


@pytest.mark.parametrize("where", [layout.PEOPLE, "the person's folder"])
@pytest.mark.parametrize("how", ["a link", "a file"])
def test_a_person_who_is_reached_through_a_link_is_not_opened(desk: Desk, where: str, how: str) -> None:
    """A link, or a file, in the place of the people's folder or of one in it is named, and nothing beyond touched."""
    dana = desk.memory.person("Dana")
    dana.remember("Dana is allergic to pollen")
    dana.close()
    place = desk.root / layout.PEOPLE if where == layout.PEOPLE else dana.root
    outside = desk.home / "outside"
    place.rename(outside)
    if how == "a link":
        place.symlink_to(outside)
    else:
        place.write_text("no folder")
    before = contents(outside)
    memory = desk.again()
    with pytest.raises(UnsafePath, match="symbolic link" if how == "a link" else "is not a folder"):
        memory.person("Dana")
    with suppress(UnsafePath):
        trust(desk.root, config_dir=desk.home / "config").close()
    memory.check()
    assert contents(outside) == before
