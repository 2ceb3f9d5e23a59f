"""Lines of pages that rest on nothing which holds: lint names them, and a dream takes off what never was true."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OLD = "User works at Google"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a memory whose user's work stands on a page."""
    with Desk(tmp_path, now=datetime(2026, 6, 24, 9, tzinfo=UTC)) as made:
        for text in ("I work at Google.", "I prefer short answers."):
            made.say(text, session="a")
        made.memory.consolidate()
        made.clock.advance(days=2)
        assert made.memory.dream(now=True).runs
        yield made


def old(desk: Desk) -> str:
    """Return the id of the entry about the work."""
    (found,) = (state.entry.id for state in desk.memory.list() if OLD in state.entry.text)
    return found


def pages(desk: Desk, words: str) -> list[str]:
    """Return the pages in which words stand."""
    every = (path for path in (desk.root / "notebook").rglob("*.md") if words in path.read_text())
    return sorted(path.name for path in every)


def kinds(desk: Desk) -> dict[str, set[str]]:
    """Return what lint complains of about lines that do not hold, by kind."""
    found = desk.memory.lint().findings
    return {
        kind: {one.page for one in found if one.kind == kind}
        for kind in ("wrong", "outlived", "lost citation")
    }


def test_a_dream_takes_off_what_never_was_true(desk: Desk) -> None:
    """After `correct(why="mistake")` lint names the lines, and the next dream takes them off, on the same day."""
    assert pages(desk, OLD) == ["Overview.md", "Work.md"]
    desk.memory.correct(old(desk), "User works at Apple", why="mistake")
    assert {name.rpartition("/")[2] for name in kinds(desk)["wrong"]} == {"Overview.md", "Work.md"}
    desk.memory.dream(now=True, dry_run=True)
    assert pages(desk, OLD) == ["Overview.md", "Work.md"]
    done = desk.memory.dream(now=True)
    assert pages(desk, OLD) == []
    assert str(done) == "2 lines that never held taken off 2 pages"
    assert done.runs
    assert kinds(desk) == {"wrong": set(), "outlived": set(), "lost citation": set()}
    assert desk.memory.dream(now=True).runs == ()
    assert pages(desk, "short answers")
    desk.memory.undo(done.runs[-1])
    assert pages(desk, OLD) == ["Overview.md", "Work.md"]


def test_what_took_its_place_gets_a_line_the_day_after(desk: Desk) -> None:
    """The correction itself waits for its day to close, and then stands on the page alone."""
    desk.memory.correct(old(desk), "User works at Apple", why="mistake")
    desk.memory.dream(now=True)
    desk.memory.drain()
    desk.clock.advance(days=1)
    desk.memory.dream(now=True)
    assert "Work.md" in pages(desk, "Apple")
    assert pages(desk, OLD) == []


def test_what_changed_is_named_and_left_to_the_dream_of_what_took_its_place(desk: Desk) -> None:
    """A line whose entry was superseded is complained of as outlived until a dream writes it as what held before."""
    desk.memory.correct(old(desk), "User now works at Microsoft", why="change")
    assert {name.rpartition("/")[2] for name in kinds(desk)["outlived"]} == {"Overview.md", "Work.md"}
    assert desk.memory.dream(now=True).runs == ()
    assert pages(desk, OLD)
    desk.memory.drain()
    desk.clock.advance(days=1)
    desk.memory.dream(now=True)
    assert kinds(desk)["outlived"] == set()
    assert "Work.md" in pages(desk, "Previously: User works at Google")


def test_words_of_people_around_a_citation_stay(desk: Desk) -> None:
    """P-08: a line that a person wrote in words of their own is named, and stays, though its entry never was true."""
    page = desk.root / "notebook" / "3_Personal" / "Work.md"
    mine = page.read_text().replace(f"- {OLD}", "- At Google, she says,")
    page.write_text(mine)
    desk.memory.correct(old(desk), "User works at Apple", why="mistake")
    assert {name.rpartition("/")[2] for name in kinds(desk)["outlived"]} == {"Work.md"}
    desk.memory.dream(now=True)
    assert page.read_text() == mine
