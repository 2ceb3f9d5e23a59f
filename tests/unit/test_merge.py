"""Three-way merges: both sides' changes, or a refusal."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from reverie.core.pages.merge import merged, reconciled

PAGE = "".join(f"line {n}\n" for n in range(9))
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8).map("".join)


def test_changes_apart_are_both_kept() -> None:
    """Two sides that change lines far from each other are merged."""
    mine, theirs = PAGE.replace("line 1", "mine"), PAGE.replace("line 7", "theirs")
    assert merged(PAGE, mine, theirs=theirs) == PAGE.replace("line 1", "mine").replace("line 7", "theirs")


def test_the_same_line_is_refused() -> None:
    """Two sides that change one line differently are not merged."""
    assert merged(PAGE, PAGE.replace("line 4", "mine"), theirs=PAGE.replace("line 4", "theirs")) is None


def test_adjoining_lines_are_refused() -> None:
    """Changes of neighbouring lines by two sides are not merged, for one may have been made with the other in view."""
    assert merged(PAGE, PAGE.replace("line 4", "mine"), theirs=PAGE.replace("line 5", "theirs")) is None


def test_the_same_change_by_both_is_made_once() -> None:
    """A change that both sides made alike is no conflict."""
    changed = PAGE.replace("line 4", "both")
    assert merged(PAGE, changed + "mine\n", theirs=changed) == changed + "mine\n"


def test_undoing_leaves_later_lines() -> None:
    """Reverting a change keeps what was written after it elsewhere in the page."""
    before, after = PAGE, PAGE.replace("line 2", "dreamt")
    now = after + "a person's line\n"
    assert merged(after, now, theirs=before) == PAGE + "a person's line\n"


@given(base=LINES, other=LINES)
def test_one_sided_changes_always_merge(base: str, other: str) -> None:
    """When only one side changed the text, the merge is that side's text."""
    assert merged(base, other, theirs=base) == other
    assert merged(base, base, theirs=other) == other


@given(base=LINES, mine=LINES, theirs=LINES)
def test_merging_is_symmetric(base: str, mine: str, theirs: str) -> None:
    """Which side is called ours does not matter."""
    assert merged(base, mine, theirs=theirs) == merged(base, theirs, theirs=mine)


@given(base=LINES, mine=LINES, theirs=LINES)
def test_no_line_of_a_person_is_lost(base: str, mine: str, theirs: str) -> None:
    """What a person added to a text is in every merge of it, and what they took out does not come back."""
    both = reconciled(base, mine, theirs=theirs)
    if both is not None:
        had, has, now, dreamt = map(Counter, map(str.splitlines, (base, mine, both, theirs)))
        assert not (has - had) - now
        assert not now - (has + (dreamt - had))


def test_a_day_that_both_sides_changed_is_the_later_one() -> None:
    """The day under `updated` collides with nothing."""
    base = "---\ntitle: A\nupdated: 2026-07-01\n---\n\nfirst\n\nlast\n"
    mine = base.replace("07-01", "07-09").replace("first", "mine")
    theirs = base.replace("07-01", "07-02").replace("last", "dreamt")
    assert reconciled(base, mine, theirs=theirs) == mine.replace("last", "dreamt")
    assert reconciled(base, theirs, theirs=mine) == mine.replace("last", "dreamt")


def test_a_rewrite_is_one_change() -> None:
    """A page of many thousand changed or alike lines is refused beside another change, without being compared."""
    alike = "\n" * 20_000
    assert merged(f"a\n{alike}z\n", f"b\n{alike}y\n", theirs=f"a\n{alike}middle\n{alike}z\n") is None
    many = "".join(f"{number}\n" for number in range(20_000))
    assert merged(many, many.replace("9", "nine"), theirs=many.replace("8", "eight")) is None
