"""Which statements resemble another: the rarest words first."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from reverie.core.guard.rare_words import DEPTH, RareWords

WORDS = "invoice server Lisbon tea coffee bike garden budget report meeting 合同 报告".split()


def named(texts: Iterable[str]) -> dict[str, str]:
    """Return texts by themselves."""
    return {text: text for text in texts}


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), max_size=60),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), max_size=60),
)
def test_what_waits_is_known_whatever_came_and_went(first: list[str], then: list[str]) -> None:
    """After entries came and went, the same are found as if only the last had ever been there."""
    lived, fresh = RareWords(), RareWords()
    lived.set(named(first))
    lived.set(named(then))
    fresh.set(named(then))
    for word in WORDS:
        asked = (word.lower(),)
        assert set(lived.alike(asked, 1_000)) == set(fresh.alike(asked, 1_000))


def test_the_rarest_words_decide() -> None:
    """Among hundreds that share a common word, the one that shares a rare one comes first, and not all are returned."""
    waiting = RareWords()
    common = [f"The budget of project {number}" for number in range(500)]
    rare = "The budget of the aquarium"
    waiting.set(named([*common, rare]))
    found = waiting.alike(("budget", "aquarium"))
    assert found[0] == rare
    assert len(found) <= DEPTH
