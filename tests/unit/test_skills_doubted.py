"""Skills whose procedure no longer holds: a person is asked, once, what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk

from reverie import layout
from reverie.core.dreams.skilled import stands_on
from reverie.core.records import Event
from reverie.errors import Conflict
from reverie.skills import learn
from reverie.store import stream
from reverie.store.dreams import reviews
from reverie.store.versions.git import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEPLOY = "To deploy the shop, run the migrations first, then restart the worker."
BETTER = "To deploy the shop, push the button on the release page."
PATH = "skills/deploy-the-shop/SKILL.md"


@pytest.fixture
def skilled(tmp_path: Path) -> Iterator[tuple[Desk, str]]:
    """Return a desk with one accepted skill, and the entry it stands on."""
    with Desk(tmp_path) as desk:
        ids = []
        for _ in range(3):
            ids.append(desk.remember(DEPLOY, category="procedure"))
            desk.memory.drain()
            desk.clock.advance(days=1)
        for one in ids[1:]:
            happened(desk, "repeat", one, ids[0])
        assert _learn(desk).proposed == (PATH,)
        (item,) = desk.memory.review()
        desk.memory.review(item.id, accept=True)
        assert stands_on(desk.text(PATH)) == ids[0]
        assert _learn(desk).doubted == ()
        yield desk, ids[0]


def happened(desk: Desk, kind: str, entry: str, other: str = "", value: str = "") -> None:
    """Append an event."""
    one = Event(
        id=desk.memory.opened.ws.new_id(), at=desk.clock(), kind=kind, entry=entry, other=other, value=value
    )
    stream.append(desk.memory.opened.ws, layout.EVENTS, one)


def replaced(desk: Desk, old: str, text: str = BETTER, **draft: Any) -> str:
    """Let another statement replace the procedure, and return its id."""
    new = desk.remember(text, **{"category": "procedure", **draft})
    desk.memory.drain()
    happened(desk, "supersede", new, old)
    return new


def _learn(desk: Desk) -> Any:
    opened = desk.memory.opened
    return learn(opened.ws, opened.state_now(), masked=opened.mask.text)


def test_a_skill_is_revised_when_its_procedure_was_replaced(skilled: tuple[Desk, str]) -> None:
    """What replaced it is proposed for the same file with the occasions of both; a person decides (L-38)."""
    desk, old = skilled
    before = desk.text(PATH)
    new = replaced(desk, old)
    assert _learn(desk).doubted == (PATH,)
    assert desk.text(PATH) == before
    (item,) = desk.memory.review()
    assert (item.topic, item.place, item.stale) == ("skill", PATH, False)
    assert "push the button" in item.text
    assert "run the migrations" not in item.text
    assert f"#^{old}]]" in item.text
    assert f"#^{new}]]" in item.text
    desk.memory.review(item.id, accept=True)
    assert desk.text(PATH) == item.text
    assert _learn(desk).doubted == ()
    assert desk.memory.review() == []


def test_a_skill_without_a_successor_may_be_removed(skilled: tuple[Desk, str]) -> None:
    """Where the procedure was outdated, a person is asked whether the skill goes; accepted, the history keeps it."""
    desk, old = skilled
    text = desk.text(PATH)
    happened(desk, "feedback", old, value="outdated")
    assert _learn(desk).doubted == (PATH,)
    (item,) = desk.memory.review()
    assert (item.topic, item.place) == ("skill-removal", PATH)
    assert desk.memory.status().reviews == 1
    desk.memory.review(item.id, accept=True)
    assert not (desk.root / PATH).exists()
    past = History(desk.memory.opened.ws)
    assert past.log()[0].author == "person"
    (gone,) = [one for one in past.diff(past.log(2)[1].id, past.head()) if one.path == PATH]
    assert (gone.old or b"").decode() == text
    assert _learn(desk).doubted == ()


@pytest.mark.parametrize("by", ["hide", "forget", "stranger"])
def test_what_it_rests_on_may_go_in_any_way(skilled: tuple[Desk, str], by: str) -> None:
    """Hidden, forgotten, or replaced by a stranger's words: removal is asked, and no such word is in the question."""
    desk, old = skilled
    if by == "stranger":
        replaced(desk, old, origin="web")
    elif by == "hide":
        happened(desk, "hide", old)
    else:
        desk.memory.forget([old])
    assert _learn(desk).doubted == (PATH,)
    (item,) = [one for one in desk.memory.review() if one.topic != "contradiction"]
    assert item.topic == "skill-removal"
    assert "migrations" not in item.text
    assert "button" not in item.text


def test_it_is_asked_once(skilled: tuple[Desk, str]) -> None:
    """Rejected, the skill stays, and is not asked about again."""
    desk, old = skilled
    happened(desk, "feedback", old, value="outdated")
    _learn(desk)
    _learn(desk)
    (item,) = desk.memory.review()
    desk.memory.review(item.id, accept=False)
    _learn(desk)
    assert desk.memory.review() == []
    assert "run the migrations" in desk.text(PATH)


def test_a_file_that_a_person_changed_is_never_removed(skilled: tuple[Desk, str]) -> None:
    """A skill edited after the question cannot be removed by it; one edited before is asked about as such (P-08)."""
    desk, old = skilled
    desk.write(PATH, desk.text(PATH) + "\nMine.\n")
    happened(desk, "feedback", old, value="outdated")
    _learn(desk)
    (item,) = desk.memory.review()
    assert "edited" in item.why
    desk.write(PATH, desk.text(PATH) + "\nMine, too.\n")
    with pytest.raises(Conflict, match="was changed"):
        desk.memory.review(item.id, accept=True)
    assert desk.text(PATH).endswith("Mine, too.\n")


def test_a_skill_that_is_gone_asks_nothing(skilled: tuple[Desk, str]) -> None:
    """Where a person removed the file first, nothing waits."""
    desk, old = skilled
    happened(desk, "feedback", old, value="outdated")
    _learn(desk)
    (desk.root / PATH).unlink()
    assert desk.memory.review() == []
    assert desk.memory.status().reviews == 0


def test_a_persons_own_skill_is_never_asked_about(skilled: tuple[Desk, str]) -> None:
    """A skill that nobody put forward is its writer's, whatever it cites."""
    desk, old = skilled
    text = desk.text(PATH)
    desk.write("skills/mine/SKILL.md", text.replace("deploy-the-shop", "mine"))
    happened(desk, "feedback", old, value="outdated")
    assert _learn(desk).doubted == (PATH,)


def test_a_skill_in_a_dreams_own_words_rests_on_what_it_cites(skilled: tuple[Desk, str]) -> None:
    """One that cites several entries is doubted once none of them holds."""
    desk, old = skilled
    other = desk.remember("To bake rye bread, wait a day.", category="procedure")
    desk.memory.drain()
    day = desk.clock().date()
    text = (
        "---\nname: bake\ndescription: Bake.\n---\n\n# Bake\n\n1. Wait.\n\n## Seen\n\n"
        f"- [[archive/{day}#^{other}]]\n- [[archive/2026-07-01#^{old}]]\n"
    )
    reviews.propose(desk.memory.opened.ws, "skill", "skills/bake/SKILL.md", text=text)
    (item,) = desk.memory.review()
    desk.memory.review(item.id, accept=True)
    happened(desk, "hide", old)
    assert _learn(desk).doubted == (PATH,)
    happened(desk, "hide", other)
    assert _learn(desk).doubted == ("skills/bake/SKILL.md", PATH)
