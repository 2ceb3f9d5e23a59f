"""The table of categories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.categories import ALIASES, CATEGORIES, category, hint, names_of
from reverie.core.text.names import valid_category


def test_the_known_categories_are_the_documented_ones() -> None:
    """Twelve categories, each under its own slug."""
    assert set(CATEGORIES) == {
        "fact", "decision", "episode", "procedure", "commitment", "preference", "personal", "work", "project",
        "technical", "goal", "lesson",
    }  # fmt: skip
    assert all(name == row.name == valid_category(name) for name, row in CATEGORIES.items())


def test_sections_are_those_of_the_memory_file() -> None:
    """The sections of MEMORY.md have their published names, and no two categories share one."""
    sections = {name: row.section for name, row in CATEGORIES.items()}
    assert sections["procedure"] == "Capabilities"
    assert sections["fact"] == "Core Facts"
    assert sections["decision"] == "Key Decisions"
    assert sections["episode"] == "Key Episodes"
    assert sections["commitment"] == "Commitments (due / overdue)"
    assert len(set(sections.values())) == len(sections)


def test_procedures_decisions_and_personal_entries_do_not_decay() -> None:
    """Time takes nothing from how to do things, what was decided, and who people are."""
    assert {name for name, row in CATEGORIES.items() if not row.decays} == {
        "procedure",
        "decision",
        "personal",
    }


def test_no_category_is_protected_by_default() -> None:
    """Every default significance lies below the level at which an entry cannot be declined."""
    assert all(0.2 < row.sig < 0.7 for row in CATEGORIES.values())


@pytest.mark.parametrize("name", ["event", "Event", "episode"])
def test_a_category_is_found_by_any_of_its_names(name: str) -> None:
    """A name stands for every slug that people write for its category; one of one's own for itself."""
    assert names_of(name) == ("episode", "event")
    assert names_of("User Preference") == ("preference", "user_preference", "user-preference")
    assert names_of("hobby") == ("hobby",)


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_an_alias_is_its_category(alias: str) -> None:
    """The names that other designs use lead to ours, with `_` or `-`, in any case (L-09)."""
    expected = CATEGORIES[ALIASES[alias]]
    assert category(alias) == category(alias.replace("_", "-")) == category(alias.upper()) == expected


def test_an_unknown_category_has_a_section_of_its_own() -> None:
    """A free slug is titled, decays and starts in the middle."""
    row = category("model_benchmark")
    assert (row.name, row.section, row.decays, row.sig) == ("model_benchmark", "Model Benchmark", True, 0.5)
    assert category("偏好").section == "偏好"


@given(st.text())
def test_every_text_has_a_category(text: str) -> None:
    """No text is without section, and no section is empty."""
    assert category(text).section


def test_a_category_of_ones_own_is_told_with_what_it_resembles() -> None:
    """A known category under any of its names is passed over; another is named, with the one it is likely a slip of."""
    assert [hint(name) for name in ("", "fact", "user_preference", "Decision")] == [""] * 4
    assert hint("preferences") == "preferences is a category of your own; did you mean preference?"
    assert hint("events").endswith("did you mean episode?")
    assert "known are procedure, commitment, fact" in hint("zebra")
