"""Merging whole pages: a dream's lines and a person's, in any newline, encoding and length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.pages.merge import merged

BASE = """---
type: person
updated: 2026-06-30
---
# Dana

## Key Facts

- Prefers calls before noon [[archive/2026-06-01#^0000000000000001]]
- Lives in Lisbon [[archive/2026-06-02#^0000000000000002]]

## Notes

Written by hand.
"""
DREAMT = BASE.replace("2026-06-30", "2026-07-01").replace(
    "\n\n## Notes", "\n- Plays the cello [[archive/2026-06-30#^0000000000000003]]\n\n## Notes"
)
BY_HAND = BASE.replace("Written by hand.", "Written by hand, twice.") + "\nA last word.\n"


def test_a_dream_and_a_person_on_one_page_are_merged() -> None:
    """A dream's new fact and front matter, and a person's words below, both stand in the merged page."""
    both = merged(BASE, BY_HAND, theirs=DREAMT)
    assert both is not None
    for line in ("updated: 2026-07-01", "- Plays the cello", "Written by hand, twice.", "A last word."):
        assert line in both
    assert both.count("Lives in Lisbon") == 1


def test_undoing_a_dream_leaves_the_persons_words() -> None:
    """The dream's change taken back from the merged page leaves exactly what the person wrote (R-32)."""
    both = merged(BASE, BY_HAND, theirs=DREAMT)
    assert both is not None
    assert merged(DREAMT, both, theirs=BASE) == BY_HAND


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_newlines_stay_as_they_are(newline: str) -> None:
    """A page keeps its own newlines in every line that is not changed, and in those that are."""
    base, mine, theirs = (text.replace("\n", newline) for text in (BASE, BY_HAND, DREAMT))
    whole = merged(BASE, BY_HAND, theirs=DREAMT)
    assert whole is not None
    assert merged(base, mine, theirs=theirs) == whole.replace("\n", newline)


def test_a_missing_last_newline_is_a_change_of_the_last_line() -> None:
    """A page that lost its last newline merges with a change elsewhere, and keeps it lost."""
    both = merged(BASE, BASE.rstrip("\n"), theirs=DREAMT)
    assert both == DREAMT.rstrip("\n")


def test_a_person_who_rewrote_everything_is_not_overruled() -> None:
    """A page rewritten by hand and changed by a dream is refused, not guessed at."""
    assert merged(BASE, "# Mine\n", theirs=DREAMT) is None
    assert merged(BASE, "", theirs=DREAMT) is None


def test_bytes_that_are_no_text_survive() -> None:
    """Bytes kept as surrogates, separators and NUL pass through a merge."""
    odd = "x\udcff\x0b\x1c\u2028\u2029\x85\x00y\n"
    base = odd + BASE
    assert merged(base, odd + BY_HAND, theirs=odd + DREAMT) == odd + (
        merged(BASE, BY_HAND, theirs=DREAMT) or ""
    )


TEXT = st.text(st.sampled_from("ab\n\r\u2028é"), max_size=12)


@given(parts=st.lists(TEXT, min_size=3, max_size=3), mine=TEXT, theirs=TEXT)
def test_nothing_is_invented_and_nothing_of_one_side_lost(parts: list[str], mine: str, theirs: str) -> None:
    """Changes on either side of untouched lines are both in the merge, whatever they are."""
    top, middle, bottom = parts
    core = f"\n{middle}\n" + "fixed\n" * 3
    base = f"{top}{core}{bottom}"
    ours, others = f"{mine}{core}{bottom}", f"{top}{core}{theirs}"
    both = merged(base, ours, theirs=others)
    assert both is None or sorted(both) == sorted(f"{mine}{core}{theirs}")


def test_a_long_page_is_merged_in_time() -> None:
    """A page of ten thousand lines is merged."""
    lines = [f"- line {number}\n" for number in range(10_000)]
    base = "".join(lines)
    mine = "".join(["- mine\n", *lines])
    theirs = "".join([*lines, "- theirs\n"])
    assert merged(base, mine, theirs=theirs) == "".join(["- mine\n", *lines, "- theirs\n"])
