"""Tests of core.memory_file: MEMORY.md within its budget, and the golden files."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as property_settings
from hypothesis import strategies as st
from memory_states import (
    CALENDAR,
    DAY,
    MINE,
    NO_SOURCES,
    SOURCES,
    STORE,
    UNSHOWN,
    compile_all,
    compiled,
    publishing,
    state_of,
)

from reverie.core.fold import EntryState
from reverie.core.glance.budget import PRESETS
from reverie.core.glance.memory_file import merge_block
from reverie.core.glance.memory_pages import Sources
from reverie.core.settings.value import Settings
from reverie.core.significance import faded, protected
from reverie.core.text.tokens import estimate

GOLDEN = Path(__file__).parents[1] / "golden" / "memory"
REFRESH = "REFRESH_GOLDEN"  # set it to anything to write the golden files anew


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_golden_files(preset: str) -> None:
    """The file of a store of 2,000 entries is, at each preset, byte for byte the one kept beside the tests."""
    settings = publishing(budget_preset=preset, commitments=True)
    inner = compiled(STORE, sources=SOURCES, settings=settings, existing=MINE)
    text = merge_block(MINE, inner).text
    golden = GOLDEN / f"{preset}.md"
    if REFRESH in os.environ:
        golden.write_bytes(text.encode())
    assert text.encode() == golden.read_bytes()
    budget = PRESETS[preset]
    assert len(text) <= (budget.characters or len(text))
    assert len(text.encode()) <= (budget.bytes or len(text.encode()))
    assert text.count("\n") <= (budget.lines or text.count("\n"))


def test_the_order_of_the_states_does_not_matter() -> None:
    """Any order of the same states gives the same bytes and the same report."""
    shuffled = random.Random(7).sample(STORE, len(STORE))
    arguments = {"day": DAY, "calendar": CALENDAR, "settings": publishing(commitments=True)}
    assert compile_all(shuffled, SOURCES, **arguments) == compile_all(STORE, SOURCES, **arguments)


def test_what_is_shown_and_what_is_left_out_is_the_whole() -> None:
    """Each entry that may be shown is either in the file or reported as left out."""
    found = compile_all(STORE, Sources(), day=DAY, calendar=CALENDAR, settings=Settings())
    shown = {line[-17:-1] for line in found.inner.splitlines() if line.startswith("- ")}
    now = CALENDAR.start(DAY)
    may = {
        state.entry.id
        for state in STORE
        if state.current and not state.done and not faded(state, now, facts=Settings().facts)
    } - UNSHOWN
    assert shown.isdisjoint(found.left_out)
    assert shown | set(found.left_out) == may


def test_the_same_day_gives_the_same_bytes_and_another_day_moves_on() -> None:
    """The file follows the store and the day alone; after a year what decays has faded and the rest is there."""
    first = compile_all(STORE, Sources(), day=DAY, calendar=CALENDAR, settings=Settings())
    later = compile_all(STORE, Sources(), day="2027-07-02", calendar=CALENDAR, settings=Settings())
    assert first == compile_all(STORE, Sources(), day=DAY, calendar=CALENDAR, settings=Settings())
    ids = {line[-17:-1] for line in later.inner.splitlines() if line.startswith("- ")} | set(later.left_out)
    kept = [state for state in STORE if state.entry.id in ids]
    assert kept
    assert all(state.entry.category != "fact" or state.pinned or state.sig >= 0.9 for state in kept)


@given(
    picked=st.lists(st.sampled_from(STORE), max_size=60, unique_by=lambda state: state.entry.id),
    mine=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400).filter(
        lambda text: "reverie" not in text
    ),
    preset=st.sampled_from(sorted(PRESETS)),
    ceilings=st.tuples(st.sampled_from([0, 15, 40]), st.sampled_from([0, 300, 900])),
    pages=st.booleans(),
)
@property_settings(max_examples=60)
def test_the_whole_file_stays_within_every_ceiling(
    picked: list[EntryState], mine: str, preset: str, ceilings: tuple[int, int], *, pages: bool
) -> None:
    """With any hand-written part and any ceilings the file fits, or the hand-written part alone is too large."""
    settings = publishing(
        budget_preset=preset, max_lines=ceilings[0], max_tokens=ceilings[1], commitments=True
    )
    found = compile_all(
        picked, SOURCES if pages else NO_SOURCES, day=DAY, calendar=CALENDAR, settings=settings, existing=mine
    )
    if not found.inner:
        assert "hand-written" in found.problem
        return
    text = merge_block(mine, found.inner).text
    budget = PRESETS[preset]
    assert len(text) <= (budget.characters or len(text))
    assert len(text.encode()) <= (budget.bytes or len(text.encode()))
    assert text.count("\n") <= (min(filter(None, [budget.lines, ceilings[0]]), default=text.count("\n")))
    assert estimate(text) <= (ceilings[1] or estimate(text))
    if set(found.protected_out):
        assert all(protected(state) for state in picked if state.entry.id in found.protected_out)
        assert "choose a larger" in found.problem


def test_protected_lines_survive_a_flood() -> None:
    """Among thousands of heavy facts every pin, procedure and 0.90 stays (R-37)."""
    flood = [state_of(n, "f" * 150, sig=0.89) for n in range(5_000)]
    kept = [
        state_of(9_001, "a pin", happened="pin", sig=0.3),
        state_of(9_002, "a procedure", category="procedure", sig=0.3),
        state_of(9_003, "a level", sig=0.9),
    ]
    found = compile_all(
        [*flood, *kept], Sources(), day=DAY, calendar=CALENDAR, settings=publishing(budget_preset="lean")
    )
    assert all(text in found.inner for text in ("a pin", "a procedure", "a level"))
    assert found.protected_out == ()
    assert found.problem == ""
    assert found.left_out


def test_protected_lines_go_in_their_order_when_they_alone_overflow() -> None:
    """Of pins, procedures and 0.90 entries that overflow, the last kind goes first, and it is reported (R-37)."""
    pins = [state_of(n, "p" * 150, happened="pin") for n in range(40)]
    hows = [state_of(100 + n, "h" * 150, category="procedure") for n in range(40)]
    levels = [state_of(200 + n, "l" * 150, sig=0.9 + n / 1_000) for n in range(40)]
    found = compile_all(
        [*levels, *hows, *pins],
        Sources(),
        day=DAY,
        calendar=CALENDAR,
        settings=publishing(budget_preset="lean"),
    )
    assert found.inner.count("ppp" * 50) == 40
    assert 0 < found.inner.count("hhh" * 50) < 40
    assert "lll" not in found.inner
    assert found.protected_out[-1] == f"{200:016x}"
    assert "do not fit" in found.problem


def test_small_facts_fill_the_file() -> None:
    """Five hundred small facts below 0.70 are shown as far as they fit (R-38)."""
    found = compile_all(
        [state_of(n, f"small {n}", sig=0.4) for n in range(500)],
        Sources(),
        day=DAY,
        calendar=CALENDAR,
        settings=Settings(),
    )
    assert found.inner.count("small") == 500 - len(found.left_out) > 400
