"""File names, slugs and categories made from any text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.text.names import is_day, safe_name, slug, valid_category

ANY = st.text(st.characters(), max_size=120)
NASTY = ["", ".", "..", "../../etc/passwd", "a/b\\c", "CON", "com1", "COM¹", "nul.txt", "-rf", "a" * 300, "日" * 90,
         "🎉", "❤️", "\0", "\ud800", "~", "name.", " name ", "%2e%2e%2f", "ﬁle", "İ", "ẞ", "$(rm)", "a\nb",
         "\u202egpj"]  # fmt: skip


def assert_safe(name: str, limit: int) -> None:
    """Check that `name` can be a file's name on every system we run on."""
    assert_slug(name, limit)
    assert name.upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT1", "COM¹"}


def assert_slug(name: str, limit: int) -> None:
    """Check that `name` has no part of a path or of our grammar, and is within `limit` bytes."""
    assert 0 < len(name.encode()) <= limit
    assert not set(name) & set('[]() /\\:*?"<>|.~$%\0\n\r ')
    assert name[0] not in "-._"
    assert name[-1] not in "-._"
    assert unicodedata.normalize("NFC", name) == name


@given(ANY | st.sampled_from(NASTY))
def test_any_name_gives_a_safe_file_name(name: str) -> None:
    """No path part, device, dot, blank or control survives, and the limit in bytes holds (P-18)."""
    assert_safe(safe_name(name), 89)
    assert_safe(slug(name), 80)


@given(st.lists(ANY | st.sampled_from(NASTY), unique=True, max_size=20))
def test_different_names_have_different_files(names: list[str]) -> None:
    """Names stay apart even where case and Unicode form are ignored."""
    folded = {unicodedata.normalize("NFKD", safe_name(name)).casefold() for name in names}
    assert len(folded) == len(names)


@pytest.mark.parametrize(
    ("one", "two"), [("Anna", "anna"), ("caf\u00e9", "cafe\u0301"), ("a b", "a-b"), ("a" * 90, "a" * 91)]
)
def test_near_names_have_different_files(one: str, two: str) -> None:
    """Case, Unicode form, blanks and what lies behind the cut all count."""
    assert safe_name(one) != safe_name(two)


def test_names_stay_readable() -> None:
    """Letters of every script stay, with the signs that belong to them."""
    assert safe_name("Support Bot/7").startswith("support-bot-7-")
    assert slug("日记 2026") == "日记-2026"
    assert slug("हिन्दी ที่นี่") == "हिन्दी-ที่นี่"
    assert slug("Zephyr Logistics: contract?") == "zephyr-logistics-contract"
    assert safe_name("abc12345-77d0") == "abc12345-77d0-" + safe_name("abc12345-77d0")[-8:]


@pytest.mark.parametrize(
    "pair", [("C", "C++"), ("C++", "C#"), ("🎉", "🎊"), ("", "🎉"), ("日" * 40, "日" * 41), ("R", "R&D")]
)
def test_titles_that_differ_in_more_than_punctuation_have_different_slugs(pair: tuple[str, str]) -> None:
    """A lost symbol, emoji or tail is kept as a hash (P-19)."""
    assert slug(pair[0]) != slug(pair[1])


@given(ANY)
def test_a_slug_is_its_own_slug(title: str) -> None:
    """Making a slug of a slug changes nothing."""
    assert slug(slug(title)) == slug(title)


@given(ANY | st.sampled_from(NASTY))
def test_every_text_gives_a_valid_category(text: str) -> None:
    """A category is a slug, and stays what it is (R-45)."""
    found = valid_category(text)
    assert_slug(found, 48)
    assert valid_category(found) == found
    assert found != "x"


@pytest.mark.parametrize(
    ("text", "category"),
    [("preference", "preference"), ("User Preference", "user-preference"), ("user_preference", "user_preference"),
     ("../../work", "work"), ("x", "fact"), (" X ", "fact"), ("", "fact"), ("]", "fact"), ("偏好", "偏好")],
)  # fmt: skip
def test_categories_are_sanitised(text: str, category: str) -> None:
    """Path parts and brackets go, case is lowered, and what is left of nothing is a fact (R-45)."""
    assert valid_category(text) == category


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2026-07-01", True), ("2028-02-29", True), ("2026-02-29", False), ("2026-7-1", False), ("20260701", False),
     ("2026-07-01\n", False), ("٢٠٢٦-07-01", False), ("", False), ("2026-W01-1", False)],
)  # fmt: skip
def test_a_day_is_a_real_date(text: str, expected: object) -> None:
    """Only `YYYY-MM-DD` that exists is a day."""
    assert is_day(text) is expected
