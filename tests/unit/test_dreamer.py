"""Tests of the dreamer by rule: where entries go, how lines read, and how little of a page changes."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from dream_pages import TODAY, World, at
from dream_world import entry
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.pages.front_matter import read
from reverie.core.pages.source import split
from reverie.model.rule_dreamer.desk import MOST_LINES


@pytest.mark.parametrize(
    ("fields", "page"),
    [
        ({"text": "User prefers tea", "category": "preference"}, "3_Personal/Preferences.md"),
        ({"text": "User likes tea", "category": "user_preference"}, "3_Personal/Preferences.md"),
        ({"text": "User works at Google", "category": "work"}, "3_Personal/Work.md"),
        ({"text": "User wants to run far", "category": "goal"}, "3_Personal/Goals.md"),
        ({"text": "User has a cat"}, "3_Personal/Facts.md"),
        ({"text": "Dana prefers calls", "about": "Dana"}, "3_Personal/People/Others.md"),
        ({"text": "Dana prefers calls", "about": "Dana", "session": ""}, "3_Personal/People/Dana.md"),
        (
            {"text": "Zephyr Logistics pays late", "about": "Zephyr Logistics", "session": ""},
            "2_Wiki/Entities/Zephyr Logistics.md",
        ),
        (
            {"text": "Tidewatch uses Go", "about": "tidewatch", "category": "project", "session": ""},
            "1_Projects/Tidewatch.md",
        ),
        ({"text": "The pump hums", "category": "technical"}, "2_Wiki/Concepts/Technical.md"),
        ({"text": "User ran 5 km", "category": "episode"}, "3_Personal/Episodes/2026-07.md"),
        ({"text": "We chose Go", "category": "decision"}, "3_Personal/Decisions.md"),
        ({"text": "To deploy run it", "category": "procedure"}, "3_Personal/Procedures.md"),
        ({"text": "User keeps bees", "category": "bee-keeping"}, "3_Personal/Bee Keeping.md"),
        ({"text": "Buy gold", "status": "discussed", "origin": "web"}, "2_Wiki/Literature/Mentioned.md"),
        ({"text": "果果对花生过敏", "about": "果果", "session": ""}, "3_Personal/People/果果.md"),
    ],
)
def test_each_entry_has_its_place(fields: dict[str, Any], page: str) -> None:
    """User memory goes to 3_Personal by category, subjects get pages, the world's knowledge goes to 2_Wiki (S-15)."""
    world = World()
    text = fields.pop("text")
    proposal = world.dream(entry(1, f"{text} every day", **fields))
    assert list(proposal.pages) == [page]


def test_a_subject_gets_a_page_at_its_second_entry() -> None:
    """Two entries about somebody make a page; from then on each further one finds it."""
    world = World()
    world.dream(entry(1, "Dana prefers calls", about="Dana"), entry(2, "Dana reads email", about="Dana"))
    world.dream(entry(3, "Dana lives in Spandau", about="Dana"))
    assert len(world.lines("3_Personal/People/Dana.md")) == 3


def test_a_new_page_is_complete() -> None:
    """A new page has front matter that reads, its title, and a line for each entry with its citation."""
    world, one = World(), entry(1, "User prefers short answers", category="preference")
    world.dream(one)
    text = world.pages["3_Personal/Preferences.md"]
    front = read(split(text).front)
    assert (front.type, front.title, front.status, front.review) == (
        "personal",
        "Preferences",
        "draft",
        "current",
    )
    assert (front.confidence, front.updated, front.problems) == ("high", TODAY, ())
    assert f"# Preferences\n\n## Key Facts\n\n- User prefers short answers {at(one)}\n" in text


def test_a_second_dream_adds_one_line() -> None:
    """What is added to a page is its line and the day of the change; nothing else moves."""
    world = World()
    world.dream(entry(1, "User prefers short answers", category="preference"))
    before = world.pages["3_Personal/Preferences.md"].replace("updated: 2026-07-02", "updated: 2026-06-01")
    world.pages["3_Personal/Preferences.md"] = before
    world.dream(entry(2, "User likes tea", category="preference"))
    changed = [
        one
        for one in difflib.ndiff(before.splitlines(), world.pages["3_Personal/Preferences.md"].splitlines())
        if one[0] in "+-"
    ]
    assert [one[:9] for one in changed] == ["- updated", "+ updated", "+ - User "]


def test_hand_written_text_stays() -> None:
    """On a page that people write in, everything that was there is there afterwards, byte for byte."""
    mine = (
        "\ufeff---\r\ntitle: Preferences\r\n# mine\r\ncssclass: wide\r\n---\r\n\r\nMy intro, by hand.\r\n\r\n"
        "## Key Facts\r\n\r\n* my own line\r\n\r\n> [!note] mine\r\n\r\n## Later\r\n\r\n<b>bold</b>\r\n"
    )
    world, one = World({"3_Personal/Preferences.md": mine}), entry(1, "User likes tea", category="preference")
    world.dream(one)
    text = world.pages["3_Personal/Preferences.md"]
    rest = iter(text.split("\r\n"))
    assert all(line in rest for line in mine.split("\r\n") if line)
    assert "\n" not in text.replace("\r\n", "")
    assert f"- User likes tea {at(one)}" in text


def test_dates_are_shown_where_the_text_has_none() -> None:
    """Decisions and episodes open with their day; bounds and due dates follow in brackets."""
    world = World()
    world.dream(
        entry(1, "The team goes with Postgres", category="decision"),
        entry(2, "User sold the boat", category="episode", since="2026-06-20"),
        entry(3, "User rents a garden", since="2026-05", until="2026-10"),
        entry(4, "User sends Dana the quote", category="commitment", due="2026-07-10T12:00:00+02:00"),
    )
    said = "\n".join(world.pages.values())
    assert "- 2026-07-01: The team goes with Postgres [[" in said
    assert "- 2026-06-20: User sold the boat [[" in said
    assert "- User rents a garden (since 2026-05) (until 2026-10) [[" in said
    assert "- User sends Dana the quote (due 2026-07-10 12:00) [[" in said


def test_a_procedure_keeps_its_steps() -> None:
    """Steps on lines of their own become steps beneath the line, numbered as they were."""
    world = World()
    one = entry(1, "Release:\n1. `make lint`\n2. tag v2.3.1\n- tell Dana", category="procedure")
    world.dream(one)
    text = world.pages["3_Personal/Procedures.md"]
    assert f"- Release: {at(one)}\n  1. `make lint`\n  2. tag v2.3.1\n  - tell Dana\n" in text


def test_only_what_says_nothing_is_declined() -> None:
    """An entry without a word of content is declined with a reason, unless it may not be."""
    world = World()
    proposal = world.dream(
        entry(1, "it is"),
        entry(2, "it is", session=""),
        entry(3, "it is", sig=0.8),
        entry(4, "User likes tea"),
    )
    assert [one.outcome for one in proposal.settlements] == ["declined", "cited", "merged", "cited"]
    assert proposal.settlements[0].reason


def test_a_page_that_grew_long_is_continued() -> None:
    """Past its size a page is continued on the next of its series, linked to; what stood stays where it was."""
    world = World()
    batch = [entry(n, f"User likes dish number {n} best", category="preference") for n in range(1, 401)]
    world.dream(*batch[:250])
    first = world.lines("3_Personal/Preferences.md")
    world.dream(*batch[250:])
    assert world.lines("3_Personal/Preferences.md")[:250] == first
    assert world.pages["3_Personal/Preferences.md"].count("\n") <= MOST_LINES + 10
    assert "- [[3_Personal/Preferences]]" in world.pages["3_Personal/Preferences 2.md"]
    assert sum(len(world.lines(path)) for path in world.pages) == 400


@pytest.mark.parametrize("tail", ["```\nopen code\n", "<div>\nopen html\n"])
def test_a_page_that_would_swallow_lines_is_left_to_its_author(tail: str) -> None:
    """Where code or HTML is left open, lines go to the next page of the series."""
    mine = f"---\ntitle: Preferences\n---\n\n## Key Facts\n{tail}"
    world = World({"3_Personal/Preferences.md": mine})
    world.dream(entry(1, "User likes tea", category="preference"))
    assert len([line for path in world.pages for line in world.lines(path)]) == 1


def test_pages_link_to_what_they_name() -> None:
    """A page is linked to the page of somebody its new lines name, once."""
    world = World()
    dana = [entry(n, f"Dana reads {what}", about="Dana") for n, what in ((1, "email"), (2, "letters"))]
    world.dream(*dana, entry(3, "User promised Dana a quote", category="commitment"))
    world.dream(entry(4, "User promised Dana a cake", category="commitment"))
    assert world.pages["3_Personal/Commitments.md"].count("[[3_Personal/People/Dana]]") == 1


def test_a_long_entry_is_written_in_all_its_parts() -> None:
    """Each part of a long entry gets a line and an outcome of its own (R-18)."""
    text = "".join(f"Chapter {n} tells of the harbour and its many boats. " for n in range(400))
    proposal = World().dream(entry(1, text, category="technical"))
    assert [(one.part, one.outcome) for one in proposal.settlements] == [
        (0, "cited"),
        (1, "cited"),
        (2, "cited"),
    ]


def test_what_a_person_cited_already_is_not_written_again() -> None:
    """A pending entry that a page cites counts as cited there."""
    one = entry(1, "User likes tea", category="preference")
    page = f"---\ntitle: Mine\n---\n\nTea, as User likes tea {at(one)} daily.\n"
    world = World({"3_Personal/Mine.md": page})
    assert world.dream(one).pages == {}


def test_the_same_material_gives_the_same_proposal() -> None:
    """Two dreams of one batch over one notebook propose the same."""
    batch = [
        entry(n, f"User likes dish {n % 7}", category="preference", about="Dana" * (n % 2))
        for n in range(1, 40)
    ]
    one, two = World(), World()
    assert one.dream(*batch) == two.dream(*batch)


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_any_text_is_settled_and_judged_sound(texts: list[str]) -> None:
    """Whatever entries say, each gets an outcome that the policy lets through, and no text becomes markup."""
    world = World()
    world.dream(*(entry(n, text, category="preference") for n, text in enumerate(texts, 1)))
