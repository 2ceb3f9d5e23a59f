"""Lines that cite entries, read back from pages and digests."""

from __future__ import annotations

import pytest

from reverie.core.glance.memory_lines import cited_lines

ID = "83f33219d7033862"


@pytest.mark.parametrize("unit", [" ", "\t", " ^", " (", "[[", " ,", ") ", "` `"])
def test_a_line_of_many_thousand_blanks_is_read(unit: str) -> None:
    """A line in which blanks and the beginnings of citations come by the thousand is read, words and id (R-17)."""
    between = unit * (300_000 // len(unit))
    (line,) = cited_lines(f"- tea{between}cake `mem_id: {ID}`\n")
    assert line.ids == (ID,)
    assert line.text.startswith("tea")
    assert line.text.endswith("cake")


@pytest.mark.parametrize("text", ["·", ",", ";"])
def test_words_that_look_like_a_separator_are_words(text: str) -> None:
    """A line that says nothing but a sign between words and citations is read as that sign."""
    assert [line.text for line in cited_lines(f"- {text} `mem_id: {ID}`\n")] == [text]
