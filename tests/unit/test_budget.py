"""Tests of core.budget: presets, measuring, and which lines go when not all fit."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.glance.budget import (
    PRESETS,
    Budget,
    Claim,
    Fitted,
    Size,
    budget_of,
    fit,
    rank,
)
from reverie.core.glance.standing import CONTEXT, DUE, PIN, PLAIN, PROCEDURE, PROTECTED_FROM, SIGNIFICANT
from reverie.core.settings.value import PublishSettings
from reverie.core.text.tokens import estimate

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60).map(
    lambda text: text.replace("\r", "")
)


def claims_of(*rows: tuple[int, float]) -> list[Claim]:
    """Return one claim for each standing and weight, keyed by place."""
    return [
        Claim(key=f"{place:04d}", section="A", standing=standing, weight=weight)
        for place, (standing, weight) in enumerate(rows)
    ]


def choose(claims: list[Claim], budget: Budget, *, sizes: dict[str, int] | None = None) -> Fitted:
    """Fit claims whose lines are ten characters, or as long as `sizes` says, and whose headings are five."""
    return fit(
        claims,
        budget,
        line=lambda claim: "x" * ((sizes or {}).get(claim.key, 10) - 1) + "\n",
        heading=lambda _: "head\n",
    )


def keys(claims: tuple[Claim, ...]) -> list[str]:
    """Return the keys in order."""
    return [claim.key for claim in claims]


@pytest.mark.parametrize(
    ("preset", "budget"),
    [
        ("lean", Budget(characters=12_000)),
        ("balanced", Budget(characters=25_000)),
        ("rich", Budget(characters=40_000)),
        ("max-context", Budget(characters=60_000)),
        ("claude-code", Budget(lines=200, bytes=25_000)),
    ],
)
def test_presets_are_the_documented_sizes(preset: str, budget: Budget) -> None:
    """Each preset has its documented ceiling, and balanced is the default."""
    assert PRESETS[preset] == budget
    assert budget_of(PublishSettings()) == PRESETS["balanced"]


def test_the_tightest_ceiling_wins() -> None:
    """Lines and tokens come on top of a preset, and the lower number of lines counts."""
    assert budget_of(PublishSettings(budget_preset="claude-code", max_lines=300)).lines == 200
    assert budget_of(PublishSettings(budget_preset="claude-code", max_lines=50)).lines == 50
    assert budget_of(PublishSettings(max_lines=50, max_tokens=900)) == Budget(
        characters=25_000, lines=50, tokens=900
    )


@given(parts=st.lists(TEXTS, max_size=6), newline=st.sampled_from([1, 2]))
def test_the_sum_of_parts_is_never_less_than_the_whole(parts: list[str], newline: int) -> None:
    """Characters, bytes and lines of parts add up exactly, and tokens never come out too low."""
    budget = Budget(characters=1, bytes=1, lines=1, tokens=1, newline=newline)
    lines = [part + "\n" for part in parts]
    text = "".join(lines)
    total = sum((budget.measure(line) for line in lines), Size())
    written = text.replace("\n", "\r\n") if newline == 2 else text
    assert (total.characters, total.bytes) == (len(written), len(written.encode()))
    assert total.lines == text.count("\n")
    assert total.tokens >= estimate(text)


def test_the_least_significant_go_first() -> None:
    """When one line too many asks, it is the lightest that goes, wherever it stands (R-37)."""
    claims = claims_of((PLAIN, 0.3), (PLAIN, 0.9), (PLAIN, 0.2), (PLAIN, 0.5))
    fitted = choose(claims, Budget(characters=35))
    assert keys(fitted.kept) == ["0001", "0003", "0000"]
    assert keys(fitted.left_out) == ["0002"]


def test_the_order_of_sacrifice_is_fixed() -> None:
    """Plain entries go first, then pages, due promises, >= 0.90, procedures, and pins last, whatever their weights."""
    order = [PIN, PROCEDURE, SIGNIFICANT, DUE, CONTEXT, PLAIN]
    claims = claims_of(*((standing, 1.0 - standing / 10) for standing in reversed(order)))
    for room in range(len(order) + 1):
        fitted = choose(claims, Budget(characters=5 + 10 * room))
        assert [claim.standing for claim in fitted.kept] == order[:room]
        assert [claim.standing for claim in fitted.left_out] == order[room:]


def test_equal_claims_are_told_apart() -> None:
    """Equal weights are decided by observations, then by the later confirmation, then by the smaller key."""

    def plain(key: str, observations: int, confirmed: float) -> Claim:
        return Claim(key=key, section="A", weight=0.5, observations=observations, confirmed=confirmed)

    claims = [plain("d", 1, 5.0), plain("c", 1, 5.0), plain("b", 1, 9.0), plain("a", 2, 1.0)]
    assert [claim.key for claim in sorted(claims, key=rank)] == ["a", "b", "c", "d"]


def test_a_heading_counts_once_and_only_when_needed() -> None:
    """The first line of a section pays for its heading, the others do not."""
    claims = [Claim(key=str(n), section="AB"[n // 2], weight=1 - n / 10) for n in range(4)]
    assert keys(choose(claims, Budget(characters=50)).kept) == ["0", "1", "2", "3"]
    assert keys(choose(claims, Budget(characters=39)).kept) == ["0", "1"]


def test_a_long_line_goes_alone() -> None:
    """A line above a fifth of the budget that does not fit leaves its room to those behind it."""
    claims = claims_of((PIN, 0.9), (PLAIN, 0.8), (PLAIN, 0.7))
    fitted = choose(claims, Budget(characters=100), sizes={"0000": 200})
    assert keys(fitted.kept) == ["0001", "0002"]
    assert keys(fitted.left_out) == ["0000"]


def test_a_short_line_does_not_pass_a_heavier_one() -> None:
    """Behind an ordinary line that does not fit nothing is kept, however short."""
    claims = claims_of((PLAIN, 0.9), (PLAIN, 0.8), (PLAIN, 0.7))
    fitted = choose(claims, Budget(characters=100), sizes={"0000": 85, "0001": 15, "0002": 2})
    assert keys(fitted.kept) == ["0000"]


def test_a_budget_below_nothing_holds_nothing() -> None:
    """Where the hand-written part has used more than there is, every claim is left out unrendered."""
    fitted = fit(claims_of((PIN, 1.0)), Budget(characters=-1), line=lambda _: 1 / 0, heading=str)  # type: ignore[arg-type]
    assert keys(fitted.left_out) == ["0000"]


def test_only_considered_lines_are_rendered() -> None:
    """Of a hundred thousand claims, only as many are rendered as the budget can hold, and one."""
    claims = [Claim(key=f"{n:06d}", section="A", weight=n / 100_000) for n in range(100_000)]
    asked: list[str] = []

    def line(claim: Claim) -> str:
        asked.append(claim.key)
        return "x" * 99 + "\n"

    fitted = fit(claims, Budget(characters=25_000), line=line, heading=lambda _: "head\n")
    assert len(fitted.kept) == 249
    assert len(asked) == 250
    assert len(fitted.left_out) == 99_751


CLAIMS = st.lists(
    st.builds(
        Claim,
        key=st.uuids().map(str),
        section=st.sampled_from("ABC"),
        standing=st.integers(PLAIN, PIN),
        weight=st.sampled_from([0.1, 0.5, 0.9]),
        observations=st.integers(1, 3),
        confirmed=st.sampled_from([1.0, 2.0]),
    ),
    max_size=30,
    unique_by=lambda claim: claim.key,
)


@given(claims=CLAIMS, room=st.integers(0, 600), seed=st.integers(0, 9))
def test_the_choice_keeps_its_promises(claims: list[Claim], room: int, seed: int) -> None:
    """Never over budget, complete, the same for any order, and protected lines go only when they alone overflow."""
    lots = random.Random(seed)
    sizes = {claim.key: lots.randint(2, 60) for claim in claims}
    budget = Budget(characters=room)
    fitted = choose(claims, budget, sizes=sizes)
    shuffled = lots.sample(claims, len(claims))
    assert choose(shuffled, budget, sizes=sizes) == fitted
    assert sorted(keys(fitted.kept) + keys(fitted.left_out)) == sorted(keys(tuple(claims)))

    def room_of(some: list[Claim]) -> int:
        return sum(sizes[claim.key] for claim in some) + 5 * len({claim.section for claim in some})

    assert not fitted.kept or room_of(list(fitted.kept)) <= room
    if any(claim.standing >= PROTECTED_FROM for claim in fitted.left_out):
        assert room_of([claim for claim in claims if claim.standing >= PROTECTED_FROM]) > room
    ordinary = [claim for claim in fitted.left_out if sizes[claim.key] <= room // 5]
    if ordinary and fitted.kept:
        assert rank(ordinary[0]) > rank(fitted.kept[-1])
