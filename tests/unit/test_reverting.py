"""Taking one change of a page back: only its lines go, later ones stay, and a later change of the same is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.pages.citations import cite
from reverie.core.pages.reverting import reverted, without_citing

HEAD = "---\ntitle: Tea\nupdated: 2026-07-{:02d}\n---\n\n# Tea\n\n## Key Facts\n\n"
LINES = [f"- Fact {name}\n" for name in "abcdefgh"]


def _page(day: int, *lines: str) -> str:
    return HEAD.format(day) + "".join(lines)


def test_the_day_of_a_page_is_no_change() -> None:
    """Two runs that both changed a page's day and nothing near each other can be taken back apart."""
    old, new, now = _page(1, LINES[0]), _page(2, *LINES[:2]), _page(3, *LINES[:3])
    assert reverted(old, new, now=now) == _page(3, LINES[0], LINES[2])


def test_a_line_that_was_changed_again_is_refused() -> None:
    """Where a later run changed the line that the run wrote, nothing can be taken back."""
    old, new = _page(1, LINES[0]), _page(1, "- Fact z\n")
    assert reverted(old, new, now=_page(1, "- Fact y\n")) is None


def test_a_line_that_stands_twice_by_now_is_not_guessed_at() -> None:
    """When an added line stands in two places neither is taken away."""
    old, new = _page(1, LINES[0]), _page(1, *LINES[:2])
    assert reverted(old, new, now=_page(1, *LINES[:2], "\n", LINES[1])) in (
        None,
        _page(1, LINES[0], "\n", LINES[1]),
    )


@pytest.mark.slow
@given(st.lists(st.sampled_from(LINES), unique=True), st.data())
def test_no_later_line_is_ever_lost(kept: list[str], data: st.DataObject) -> None:
    """Whatever was added to a page in two steps, taking the first back leaves the lines of the second."""
    first = [f"- First {n}\n" for n in range(data.draw(st.integers(1, 3)))]
    second = [f"- Second {n}\n" for n in range(data.draw(st.integers(0, 3)))]
    places = st.integers(0, len(kept))
    at, then = data.draw(places), data.draw(st.integers(0, len(kept) + len(first)))
    middle = [*kept[:at], *first, *kept[at:]]
    last = [*middle[:then], *second, *middle[then:]]
    back = reverted(_page(1, *kept), _page(2, *middle), now=_page(3, *last))
    if back is not None:
        assert sorted(back.splitlines(keepends=True)) == sorted(
            _page(3, *kept, *second).splitlines(keepends=True)
        )


def test_lines_that_cite_others_too_stay() -> None:
    """Of lines that cite, those that cite nothing but the entries go."""
    one, two = "1" * 16, "2" * 16
    mine, both = (
        f"- A {cite('2026-07-01', one)}\n",
        f"- B {cite('2026-07-01', one)} {cite('2026-07-01', two)}\n",
    )
    assert without_citing(_page(1, mine, both), {one}) == _page(1, both)
