"""What recall shows: pages in place of their entries, what filters admit, nothing that was let go."""

from __future__ import annotations

import json

import pytest
from desk import NOON, Desk, days_ago

from reverie import layout
from reverie.core.where import Where
from reverie.recall import Ask, keep_log

# Pages and their entries


def test_an_entry_yields_to_the_page_that_cites_it(desk: Desk) -> None:
    """Once a page cites an entry, the page's line is the hit and names the entry, which a filter still finds."""
    kept = desk.remember("Dana prefers calls before noon", category="preference")
    desk.night()
    hits = desk.hits("calls before noon")
    assert kept not in {hit.id for hit in hits}
    assert any(hit.kind == "page" and hit.entries == (kept,) for hit in hits)
    assert [hit.id for hit in desk.hits("calls before noon", where=Where(category="preference"))] == [kept]
    assert desk.memory.get(kept).entry.id == kept


def test_an_entry_whose_line_vanished_is_back(desk: Desk) -> None:
    """When a person takes the citing lines out of the pages, the entry is a hit of its own again."""
    kept = desk.remember("Dana prefers calls before noon", category="preference")
    desk.night()
    for page in desk.root.glob("notebook/3_Personal/*.md"):
        lines = page.read_text(encoding="utf-8").splitlines()
        page.write_text("\n".join(line for line in lines if kept not in line) + "\n", encoding="utf-8")
    assert [hit.id for hit in desk.hits("calls before noon")] == [kept]


def test_a_paragraph_shows_the_lines_that_answer(desk: Desk) -> None:
    """Of a long list on a page only the lines that answer are shown, with the entries that those lines cite."""
    ids = [desk.remember(f"Colleague {name} works on {what}") for name, what in _COLLEAGUES]
    cites = [desk.cited(one) for one in ids]
    desk.page(
        "1_Projects/Team.md",
        *(f"- {name} works on {what} {cite}" for (name, what), cite in zip(_COLLEAGUES, cites, strict=True)),
    )
    hit = next(hit for hit in desk.hits("who works on turbines") if hit.kind == "page")
    shown = hit.text.splitlines()
    assert "- Noor works on turbines" in shown
    assert len(shown) <= 3
    assert hit.entries == tuple(
        one for one, (name, _) in zip(ids, _COLLEAGUES, strict=True) if name in hit.text
    )
    assert (hit.source, hit.heading) == ("notebook/1_Projects/Team.md", "Team")


_COLLEAGUES = (
    ("Ana", "contracts"),
    ("Ben", "pumps"),
    ("Noor", "turbines"),
    ("Ida", "payroll"),
    ("Lev", "safety"),
    ("Mei", "hiring"),
)


@pytest.mark.parametrize("name", ["Straße", "50%_off", "it's", "日本語", 'say "hi"', "a_b"])
def test_a_page_leaves_no_stale_row(desk: Desk, name: str) -> None:
    """A page with any name that is renamed, emptied or deleted leaves no row behind, and no second one (R-23)."""
    page = desk.root / desk.page(f"2_Wiki/Concepts/{name}.md", "Heliotrope is a mineral.")
    found = [hit.source for hit in desk.hits("heliotrope")]
    assert found == [f"notebook/2_Wiki/Concepts/{name}.md"]
    moved = page.with_name(f"{name}-new.md")
    page.rename(moved)
    assert [hit.source for hit in desk.hits("heliotrope")] == [f"notebook/2_Wiki/Concepts/{name}-new.md"]
    moved.write_text("", encoding="utf-8")
    assert desk.hits("heliotrope") == []
    desk.page(f"2_Wiki/Concepts/{name}-new.md", "Heliotrope is green.")
    assert len(desk.hits("heliotrope")) == 1
    moved.unlink()
    assert desk.hits("heliotrope") == []
    desk.memory.reindex()
    assert desk.hits("heliotrope") == []


# Filters


def test_filters_narrow_by_what_entries_carry(desk: Desk) -> None:
    """Category, tag, session, person concerned, scope and days each admit exactly the entries that carry them."""
    desk.clock.set(days_ago(9))
    wanted = desk.remember(
        "Tea with Dana", category="decision", tags=("food",), session="s9", about="Dana", scope="team"
    )
    desk.clock.set(NOON)
    other = desk.remember("Tea alone", category="fact", tags=("drink",), session="s1", about="Lev")
    for where in (
        Where(category="decision"),
        Where(tag="food"),
        Where(session="s9"),
        Where(about="Dana"),
        Where(scope="team"),
        Where(until="2026-06-25"),
        Where(since="2026-06-20", until="2026-06-25"),
    ):
        assert [hit.id for hit in desk.hits("tea", where=where)] == [wanted], where
    assert [hit.id for hit in desk.hits("tea", where=Where(since="2026-07-01"))] == [other]
    assert desk.hits("tea", where=Where(since="2026-07-02")) == []
    desk.memory.drain()
    assert [hit.id for hit in desk.hits("tea", where=Where(about="Dana"))] == [wanted]


def test_kinds_choose_what_is_searched(desk: Desk) -> None:
    """Asked for turns alone, recall gives turns alone."""
    desk.remember("Tea is served at four")
    desk.say("Tea again, please")
    for kind in ("entry", "turn"):
        found = desk.memory.ask(Ask(query="tea", kinds=(kind,))).hits
        assert [hit.kind for hit in found] == [kind]


# Let go


def test_hidden_and_forgotten_are_never_found(desk: Desk) -> None:
    """What was hidden is found only when asked for, what was forgotten not even then, nor after a rebuild."""
    hidden, gone = desk.remember("Tea with sugar"), desk.remember("Tea with cyanide in the novel")
    desk.say("They said: tea with cyanide in the novel.")
    desk.memory.hide([hidden])
    desk.memory.forget([gone])
    for where in (Where(), Where(include_hidden=True), Where(as_of=desk.clock()), Where(category="fact")):
        found = [hit.id for hit in desk.hits("tea", where=where)]
        assert found == ([hidden] if where.include_hidden else []), where
    desk.memory.drain()
    desk.memory.reindex()
    assert desk.hits("cyanide") == []
    desk.memory.hide([hidden], unhide=True)
    assert [hit.id for hit in desk.hits("tea")] == [hidden]


# Use


def test_being_recalled_changes_nobodys_rank(desk: Desk) -> None:
    """A memory that was retrieved a thousand times ranks where it ranked, and so do all others (R-31)."""
    for text in (
        "Tea is served at four",
        "Tea is kept in the blue tin",
        "Green tea from Uji",
        "Dana likes tea",
    ):
        desk.remember(text)
    desk.memory.drain()
    before = [(hit.id, hit.score) for hit in desk.hits("tea")]
    keep_log(desk.memory.opened.ws, [(before[-1][0],)] * 1_000)
    assert [(hit.id, hit.score) for hit in desk.hits("tea")] == before
    desk.memory.reindex()
    assert [hit.id for hit in desk.hits("tea")] == [name for name, _ in before]
    assert [hit.score for hit in desk.hits("tea")] == pytest.approx([score for _, score in before], abs=1e-3)


def test_the_recall_log_is_bounded_and_says_what_was_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What recalls showed is kept when the memory closes, in whole lines, and the older half goes when it is long."""
    monkeypatch.setattr("reverie.recall.LOG_BYTES", 2_000)
    kept = desk.remember("Tea is served at four")
    other = desk.again()
    desk.hits("tea", other)
    other.close()
    line = json.loads(desk.text(layout.RECALL_LOG))
    assert line["shown"] == [kept]
    for number in range(200):
        keep_log(desk.memory.opened.ws, [(f"{number:016x}",)])
    lines = [json.loads(line) for line in desk.text(layout.RECALL_LOG).splitlines()]
    assert len(desk.text(layout.RECALL_LOG)) < 2_500
    assert lines[-1]["shown"] == [f"{199:016x}"]
    assert [kept] not in [line["shown"] for line in lines]


def test_more_hits_are_given_than_the_ranking_looks_at_by_default(desk: Desk) -> None:
    """Asked for many hits, recall gives as many as there are."""
    for number in range(150):
        desk.remember(f"Tea number {number} is served")
    desk.memory.drain()
    assert len(desk.hits("tea", k=120)) == 120


def test_a_fact_said_often_does_not_fill_the_page(desk: Desk) -> None:
    """R-03: the same words said twenty times are one hit, and leave room for the rest."""
    for number in range(20):
        desk.say("Tea is served at four.", session=f"s{number}")
    desk.remember("Tea is kept in the blue tin")
    assert sorted(desk.found("tea", k=5)) == ["Tea is kept in the blue tin", "Tea is served at four."]
