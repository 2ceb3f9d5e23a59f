"""A value that changed takes the place of the old one, whatever letters it has and whoever moved along."""

import unicodedata

import pytest

from reverie.core.days import Calendar, parse_instant
from reverie.core.guard.relation import relate
from reverie.core.records import Entry, Turn
from reverie.model.rules.turns import extract

BERLIN = Calendar("Europe/Berlin", "00:00")
CHANGES = [
    ("I work at Google.", "I now work at Müller.", "supersedes"),
    ("I work at Google.", unicodedata.normalize("NFD", "I now work at Müller."), "supersedes"),
    ("I work at Müller.", "I now work at Bosch.", "supersedes"),
    ("I work at Google.", "I now work at Charité.", "supersedes"),
    ("I work at Google.", "I now work at Érard.", "supersedes"),
    ("My manager is Dana.", "My manager is now Émile.", "supersedes"),
    ("I live in Hamburg.", "We moved to Berlin.", "supersedes"),
    ("I live in Hamburg.", "We live in Berlin now.", "supersedes"),
    ("I live in Hamburg and work as a nurse at UKE.", "I moved to Berlin.", "supersedes"),
    ("I live in Hamburg and work as a nurse at UKE.", "I now work at Bosch.", "supersedes"),
    ("我住在成都。", "我搬家了，现在住在北京。", "supersedes"),
    ("我在一家出版社做编辑", "我现在在字节跳动上班", "contradicts"),  # it may be one
    ("I'm allergic to nuts.", "I'm not allergic to nuts after all.", "corrects"),
]
SAME = [
    ("I work at Mueller.", "I now work at Müller."),
    ("I work at Citroen.", "I now work at Citroën."),
    ("I work at Müller.", unicodedata.normalize("NFD", "I now work at Müller.")),
]


def entries(said: str, day: str) -> list[Entry]:
    """What the extractor finds in one message of a day."""
    turn = Turn(role="user", content=said, at=parse_instant(f"{day}T10:00:00+01:00"), session="s", n=1)
    return [found.entry for found in extract([turn], BERLIN)]


@pytest.mark.parametrize(("before", "after", "kind"), CHANGES)
def test_a_new_value_meets_the_old_one(before: str, after: str, kind: str) -> None:
    """Exactly one statement of the older message is replaced by the later one, or asked about."""
    (new,) = entries(after, "2026-11-30")
    found = [relation.kind for old in entries(before, "2026-11-29") if (relation := relate(new, old))]
    assert found == [kind]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_one_name_in_two_spellings_is_no_change(before: str, after: str) -> None:
    """A name with its accents left out, written out or apart replaces nothing."""
    (new,), (old,) = entries(after, "2026-11-30"), entries(before, "2026-11-29")
    relation = relate(new, old)
    assert relation is None or relation.kind in {"repeats", "strengthens"}


def test_where_one_lives_and_where_one_works_are_two_statements() -> None:
    """Each has its own words as evidence, so that either may change alone."""
    home, work = entries("I live in Hamburg and work as a nurse at UKE.", "2026-11-30")
    assert (home.text, work.text) == ("User lives in Hamburg", "User works as a nurse at UKE")
    assert (home.evidence, work.evidence) == ("I live in Hamburg", "work as a nurse at UKE.")
