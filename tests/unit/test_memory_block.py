"""Tests of core.memory_file.merge_block: the block in a file that people also write in."""

from __future__ import annotations

import pytest
from memory_states import (
    CALENDAR,
    DAY,
    MINE,
    compile_all,
    compiled,
    publishing,
    state_of,
)

from reverie.core.glance.memory_file import merge_block
from reverie.core.glance.memory_pages import Sources

# The markers


def test_the_block_is_appended_to_a_file_without_one() -> None:
    """A hand-written file keeps its bytes and gets the block behind them; a second time nothing moves."""
    inner = compiled([state_of(1)], existing=MINE)
    first = merge_block(MINE, inner)
    assert first.text.startswith(f"{MINE}\n<!-- reverie:begin sha256=")
    assert first.text.endswith("<!-- reverie:end -->\n")
    assert first.edited is None
    assert merge_block(first.text, compiled([state_of(1)], existing=first.text)) == first


def test_a_new_file_is_the_block_alone() -> None:
    """Without a file the block is all of it."""
    assert merge_block(None, "# Memory\n").text.startswith("<!-- reverie:begin sha256=")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_text_outside_keeps_its_bytes(newline: str, bom: str) -> None:
    """Byte order mark and line breaks stay, and the block takes the file's own without counting as edited (P-19)."""
    before, after = f"{bom}mine{newline}", f"{newline}also mine, without an end"
    first = merge_block(before, "# Memory\n").text + after
    found = merge_block(first, "# Memory\n\nnew\n")
    assert found.edited is None
    assert found.text.startswith(before)
    assert found.text.endswith(after)
    assert found.text.count("\n") == found.text.count(newline)


def test_an_edit_inside_is_handed_back() -> None:
    """What a person wrote between the markers comes back whole when the block is replaced (R-39, P-08)."""
    file = merge_block(MINE, "# Memory\n\n- a\n").text.replace("- a\n", "- a, by me\n")
    found = merge_block(file, "# Memory\n\n- b\n")
    assert found.edited == "# Memory\n\n- a, by me\n"
    assert "by me" not in found.text
    assert "- b\n" in found.text


def test_an_edit_that_says_the_same_is_none() -> None:
    """An edit to exactly what would be written asks nobody."""
    file = merge_block(MINE, "# Memory\n\n- a\n").text.replace("- a\n", "- b\n")
    assert merge_block(file, "# Memory\n\n- b\n").edited is None


def test_broken_markers_change_nothing() -> None:
    """With a marker lost, doubled or altered the file stays as it is and the reason is said."""
    whole = merge_block(MINE, "# Memory\n").text
    for broken in (
        whole.replace("<!-- reverie:end -->\n", ""),
        whole + whole,
        whole.replace("sha256=", "sha256=x"),
        whole.replace("<!-- reverie:begin", "text <!-- reverie:begin"),
    ):
        found = merge_block(broken, "# Memory\n\nnew\n")
        assert found.text == broken
        assert found.problem.startswith("MEMORY.md was not written: ")


def test_a_hand_written_part_over_the_budget_is_reported() -> None:
    """When the person's part alone is too large, no line is shown, all are reported, and no bare markers are added."""
    mine = "m" * 12_000
    found = compile_all(
        [state_of(1)],
        Sources(),
        day=DAY,
        calendar=CALENDAR,
        settings=publishing(budget_preset="lean"),
        existing=mine,
    )
    assert found.inner == ""
    assert found.left_out == (f"{1:016x}",)
    assert "hand-written part" in found.problem
    assert merge_block(mine, found.inner).text == mine


def test_a_block_of_yesterday_is_emptied_when_no_room_is_left() -> None:
    """A person's part that grew over the budget empties the block, so that nothing forgotten stays in it."""
    file = "m" * 12_000 + "\n" + merge_block(None, "# Memory\n\n- old\n").text
    found = compile_all(
        [state_of(1)],
        Sources(),
        day=DAY,
        calendar=CALENDAR,
        settings=publishing(budget_preset="lean"),
        existing=file,
    )
    assert "old" not in merge_block(file, found.inner).text
