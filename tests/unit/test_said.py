"""What a text states, told from its words."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reverie.core.text.said import said

# Every form of code, tried at each letter: what is read by words must find the same.
CODE = re.compile(
    r"[~.]?/[\w.@-]+(?:/[\w.@-]+)*|\w+(?:/[\w.@-]+){2,}|\w*[^\W_]_[^\W_]\w*|\w+\(\)|[a-z]\w*\.(?:[a-z]{1,4})\b(?!\s)"
)


@given(st.text(st.sampled_from("aAb_1./~@-() é中\n"), max_size=24))
@example("Readme.md and src/a/b.py call run_it() in ~/x")
def test_code_is_told_wherever_it_stands(text: str) -> None:
    """Paths, calls, names with underscores and file names are found as if they were looked for at every letter."""
    assert said(text).codes == {match.group() for match in CODE.finditer(text)}


@pytest.mark.slow
def test_a_word_of_many_thousand_letters_is_read() -> None:
    """A blob without a blank, in any script or of backticks, is read in a time that grows with its length (R-17)."""
    for letter in ("x", "中", "x_", "a/", "`", "\\`", "`x", "x``"):
        assert said(letter * 100_000).numbers == frozenset()


# Every form of a span of code, tried at each backtick: what is read by runs must find the same.
SPAN = re.compile(r"`+([^`\n]+)`+")


@given(st.text(st.sampled_from("``x \n"), max_size=24))
@example("``a` `b``c`")
def test_spans_of_code_are_told_wherever_they_stand(text: str) -> None:
    """What stands between backticks is found as if it were looked for at every one of them."""
    assert said(text).codes == {match.group(1).strip() for match in SPAN.finditer(text)}
