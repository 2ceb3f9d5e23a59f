"""Procedures that became a habit: proposed or installed as skills, once, with their occasions, never a stranger's."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from desk import Desk
from hypothesis import given
from hypothesis import strategies as st

from reverie import layout
from reverie.core.dreams.skilled import NAME_CHARACTERS, name_of, problem
from reverie.core.pages.front_matter import read, split
from reverie.core.records import Entry, Event
from reverie.errors import Conflict
from reverie.skills import learn
from reverie.store import stream
from reverie.store.dreams import reviews
from reverie.store.versions.git import History

if TYPE_CHECKING:
    from pathlib import Path

DEPLOY = "To deploy the shop, run the migrations first, then restart the worker."
PATH = "skills/deploy-the-shop/SKILL.md"


def _said(desk: Desk, times: int, *, text: str = DEPLOY, days: int = 1, **draft: Any) -> list[str]:
    """Say a procedure on several days, linked as repeats of the first, and return the ids."""
    told = {"category": "procedure", **draft}
    ids = []
    for _ in range(times):
        ids.append(desk.remember(text, **told))
        desk.memory.drain()
        desk.clock.advance(days=days)
    for one in ids[1:]:
        link = Event(id=f"{one}r", at=desk.clock(), kind="repeat", entry=one, other=ids[0], by="test")
        stream.append(desk.memory.opened.ws, layout.EVENTS, link)
    return ids


def _learn(desk: Desk) -> Any:
    opened = desk.memory.opened
    return learn(opened.ws, opened.state_now(), masked=opened.mask.text)


def test_a_procedure_said_three_times_is_proposed(desk: Desk) -> None:
    """Said on three days it waits for a person's word, citing each occasion; twice is not enough (N-38)."""
    _said(desk, 2, text="To water the garden, open the left tap.")
    ids = _said(desk, 3)
    assert _learn(desk).proposed == (PATH,)
    (item,) = desk.memory.review()
    assert (item.topic, item.place, item.stale) == ("skill", PATH, False)
    assert all(f"#^{one}]]" in item.text for one in ids)
    assert "restart the worker" in item.text
    assert not (desk.root / PATH).exists()


def test_a_dream_puts_skills_forward(desk: Desk) -> None:
    """After a productive dream what is ripe is proposed, with no one asking for it and no model."""
    for _ in range(3):
        desk.remember(DEPLOY, category="procedure")
        desk.memory.drain()
        desk.clock.advance(days=1)
    assert desk.memory.dream(now=True).result == "productive"
    assert [(one.topic, one.place) for one in desk.memory.review()] == [("skill", PATH)]


def test_an_accepted_skill_stands_and_is_in_the_history(desk: Desk) -> None:
    """Accepted, the file is the proposed text, in the history as the person's, and is not proposed again."""
    _said(desk, 3)
    _learn(desk)
    (item,) = desk.memory.review()
    desk.memory.review(item.id, accept=True)
    assert desk.text(PATH) == item.text
    assert History(desk.memory.opened.ws).log()[0].author == "person"
    assert _learn(desk).proposed == ()
    assert desk.memory.review() == []


def test_a_rejected_skill_is_not_proposed_again(desk: Desk) -> None:
    """Rejected, nothing is written, and a fourth occasion does not bring it back."""
    ids = _said(desk, 3)
    _learn(desk)
    (item,) = desk.memory.review()
    desk.memory.review(item.id, accept=False)
    more = desk.remember(DEPLOY, category="procedure")
    desk.memory.drain()
    link = Event(id="r" * 16, at=desk.clock(), kind="repeat", entry=more, other=ids[0], by="test")
    stream.append(desk.memory.opened.ws, layout.EVENTS, link)
    assert _learn(desk).proposed == ()
    assert desk.memory.review() == []
    assert not (desk.root / PATH).exists()


def test_occasions_of_one_session_and_day_count_once(desk: Desk) -> None:
    """The same thing said five times on one day is one occasion."""
    _said(desk, 5, days=0)
    assert _learn(desk).proposed == ()


@pytest.mark.parametrize(
    "strange",
    [
        {"origin": "web"},
        {"origin": "file"},
        {"origin": "tool"},
        {"origin": "import"},
        {"status": "discussed"},
    ],
)
def test_a_strangers_procedure_is_never_a_skill(desk: Desk, strange: dict[str, str]) -> None:
    """What a document, a tool or a page said, or what was only discussed, is no occasion and becomes no skill."""
    _said(desk, 4, **strange)
    assert (_learn(desk).proposed, _learn(desk).refused) == ((), ())
    _said(desk, 2, text="To water the garden, open the left tap.")
    assert desk.memory.review() == []


def test_a_strangers_repeat_is_no_occasion(desk: Desk) -> None:
    """Two occasions of the user's and one of a web page are two."""
    ids = _said(desk, 2)
    more = desk.remember(DEPLOY, category="procedure", origin="web")
    desk.memory.drain()
    link = Event(id="r" * 16, at=desk.clock(), kind="repeat", entry=more, other=ids[0], by="test")
    stream.append(desk.memory.opened.ws, layout.EVENTS, link)
    assert _learn(desk).proposed == ()


def test_nothing_is_learnt_when_switched_off(tmp_path: Path) -> None:
    """Switched off, nothing is proposed and nothing written."""
    with Desk(tmp_path, skills="off") as desk:
        _said(desk, 3)
        before = desk.bytes()
        assert _learn(desk).proposed == ()
        assert desk.bytes() == before


def test_switched_on_a_skill_is_installed_in_a_run(tmp_path: Path) -> None:
    """With `on` it is written in one commit of a run that can be undone, and comes back neither then nor later."""
    with Desk(tmp_path, skills="on") as desk:
        _said(desk, 3)
        done = _learn(desk)
        assert done.installed == (PATH,)
        assert desk.memory.log()[0].kind == "skill"
        assert f"+++ b/{PATH}" in desk.memory.diff(done.run)
        assert _learn(desk).installed == ()
        desk.memory.undo(done.run)
        assert not (desk.root / PATH).exists()
        assert _learn(desk).installed == ()


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    """A person's skill of the same name keeps its bytes; ours gets a name of its own."""
    with Desk(tmp_path, skills="on") as desk:
        mine = "---\nname: deploy-the-shop\ndescription: mine\n---\n\nMine.\n"
        desk.write(PATH, mine)
        ids = _said(desk, 3)
        (path,) = _learn(desk).installed
        assert path == f"skills/deploy-the-shop-{ids[0][:8]}/SKILL.md"
        assert desk.text(PATH) == mine


def test_active_content_becomes_no_skill(desk: Desk) -> None:
    """A procedure that holds a script is refused with a reason, and nothing waits."""
    _said(desk, 3, text="To deploy, open [this](javascript:alert(1)) first.")
    done = _learn(desk)
    assert done.proposed == ()
    assert "active content" in done.refused[0]
    assert desk.memory.review() == []


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("skills/../x/SKILL.md", "", "skills/<name>/SKILL.md"),
        ("skills/Upper/SKILL.md", "", "no name"),
        ("skills/a--b/SKILL.md", "", "no name"),
        (f"skills/{'a' * 65}/SKILL.md", "", "no name"),
        ("skills/a/SKILL.md", "---\nname: a\n---\n", "says nothing"),
        ("skills/a/SKILL.md", "---\nname: b\ndescription: x\n---\n\nDo.\n", "name: a"),
        ("skills/a/SKILL.md", f"---\nname: a\ndescription: {'x' * 1025}\n---\n\nDo.\n", "description"),
        ("skills/a/SKILL.md", "---\nname: a\ndescription: x\n---\n\n<script>x</script>\n", "active content"),
        (
            "skills/a/SKILL.md",
            "---\nname: a\ndescription: x\n---\n\nUse AKIAIOSFODNN7EXAMPLE now.\n",
            "secret",
        ),
        ("skills/a/SKILL.md", "---\nname: a\ndescription: x\n---\n\nEat walnuts.\n", "forgotten"),
    ],
)
def test_what_is_no_skill_is_refused(path: str, text: str, reason: str) -> None:
    """Names, front matter, size, secrets, active content and forgotten words are judged, each with its reason."""
    assert reason in problem(path, text, masked=lambda line: "walnuts" in line)


@given(st.text(max_size=300))
def test_any_procedure_has_a_name_the_format_allows(text: str) -> None:
    """Whatever the text, the name is of a-z, 0-9 and single hyphens, and within 64 characters."""
    entry = Entry(id="0123456789abcdef", text=text, at=datetime(2026, 7, 1, tzinfo=UTC), day="2026-07-01")
    name = name_of(entry)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(name) <= NAME_CHARACTERS


@pytest.mark.parametrize(
    "text", ['Say: "no" to \\ and #tags', "部署商店：先迁移，再重启。", "x" * 3_000, "a\n1. b\n2. c"]
)
def test_any_text_gives_a_file_that_reads(desk: Desk, text: str) -> None:
    """Quotes, other scripts, very long texts and steps give front matter that reads and a description in bounds."""
    _said(desk, 3, text=text)
    (item,) = desk.memory.review() if _learn(desk).proposed else ()
    front = read(split(item.text).front)
    assert not front.problems
    assert 0 < len(front.description) <= 1024
    assert problem(item.place, item.text, masked=lambda _: False) == ""


# Proposals for files that changed


def test_a_stale_proposal_is_not_carried_out(desk: Desk) -> None:
    """When the file was changed since, the item says so, accepting raises, and the person's words stay (P-08)."""
    ws = desk.memory.opened.ws
    reviews.propose(ws, "core-edit", "USER.md", text="# User\n\nDana.\n")
    desk.write("USER.md", "# User\n\nMy own words.\n")
    (item,) = desk.memory.review()
    assert (item.stale, "changed since" in item.accepting) == (True, True)
    with pytest.raises(Conflict):
        desk.memory.review(item.id, accept=True)
    assert desk.text("USER.md") == "# User\n\nMy own words.\n"
    desk.memory.review(item.id, accept=False)
    assert desk.memory.review() == []


def test_a_proposal_that_stands_already_is_not_stale(desk: Desk) -> None:
    """A file that holds the proposed text, as a crash between effect and verdict leaves it, can be accepted again."""
    ws = desk.memory.opened.ws
    reviews.propose(ws, "core-edit", "USER.md", text="# User\n\nDana.\n")
    desk.write("USER.md", "# User\n\nDana.\n")
    (item,) = desk.memory.review()
    assert not item.stale
    desk.memory.review(item.id, accept=True)
    assert desk.memory.review() == []
