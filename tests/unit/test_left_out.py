"""What a list leaves out is told: what has faded, is hidden, or held before; and repeats by their session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie.core.records import Draft
from reverie.core.where import Where
from reverie.surface.mcp.fields import read
from reverie.surface.mcp.finding import FINDING
from reverie.surface.results import LeftOut, listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a memory with one entry of each kind that a list leaves out, and one that it shows."""
    with Desk(tmp_path) as made:
        made.memory.remember("The kettle is blue", Draft(sig=0.3, tags=("kitchen",)))
        hidden = made.memory.remember("The oven is old", Draft(category="decision", tags=("kitchen",))).id
        old = made.memory.remember("Lunch is at noon", Draft(category="decision")).id
        made.memory.drain()
        made.memory.correct(old, "Lunch is at one", why="change")
        made.memory.hide([hidden])
        made.memory.drain()
        made.clock.advance(days=40)
        yield made


def test_a_list_counts_what_it_leaves_out(desk: Desk) -> None:
    """What a filter admits and a list does not show is counted by the flag that would show it."""
    assert [state.entry.text for state in desk.memory.list()] == ["Lunch is at one"]
    assert listed(desk.memory, Where())[1] == LeftOut(faded=1, hidden=1, previous=1)
    assert listed(desk.memory, Where(tag="kitchen"))[1] == LeftOut(faded=1, hidden=1)
    assert listed(desk.memory, Where(include_faded=True, limit=1))[1] == LeftOut(hidden=1, previous=1)
    assert listed(desk.memory, Where().everything)[1] == LeftOut()


def test_the_tool_tells_what_has_faded_and_not_what_is_hidden(desk: Desk) -> None:
    """`memory_list` says how many it leaves out and by which argument they are shown, but for what is hidden."""
    tool = next(one for one in FINDING if one.name == "memory_list")
    answer = tool.run(desk.memory, read(tool.fields, {"tag": "kitchen"}))
    assert answer.value["left_out"] == {"faded": 1, "previous": 0}
    assert answer.text == "No entries.\n(Left out: 1 faded; the arguments so called show them.)"


def test_a_session_lists_what_it_only_repeated(tmp_path: Path) -> None:
    """`list --session` has the entry of that session though another session's says the same and stands for both."""
    with Desk(tmp_path) as made:
        for session in ("s1", "s5"):
            made.say("I prefer short answers.", session=session)
            made.memory.consolidate()
            made.clock.advance(days=1)
        (one,) = made.memory.list()
        listed = {name: made.memory.list(Where(session=name)) for name in ("s1", "s5")}
        assert [state.entry.session for state in listed["s5"]] == ["s5"]
        assert listed["s5"][0].merged_into == one.entry.id
        made.memory.hide([listed["s5"][0].entry.id])
        assert made.memory.list(Where(session="s5")) == []


def test_what_has_faded_leaves_the_pages_part_of_memory_md(tmp_path: Path) -> None:
    """A line of the overview that rests on faded entries alone is not in MEMORY.md; one that rests on more stays."""
    with Desk(tmp_path) as made:
        made.memory.remember("The user owns a blue kettle", Draft(sig=0.3))
        made.memory.remember("The user owns a red bicycle", Draft(sig=0.95))
        made.memory.drain()
        page = made.root / "notebook" / "3_Personal" / "Overview.md"
        kettle, bicycle = (state.entry for state in made.memory.list())
        cited = {one.id: f"[[archive/{one.day}#^{one.id}]]" for one in (kettle, bicycle)}
        said = [
            f"- Owns a kettle {cited[kettle.id]}",
            f"- Owns things {cited[kettle.id]} {cited[bicycle.id]}",
        ]
        page.write_text("# Overview\n\n## About the User\n\n" + "\n".join(said) + "\n")
        memory_md = made.root / "MEMORY.md"
        made.memory.publish()
        assert "Owns a kettle" in memory_md.read_text()
        made.clock.advance(days=40)
        made.memory.publish()
        assert "Owns a kettle" not in memory_md.read_text()
        assert "Owns things" in memory_md.read_text()
