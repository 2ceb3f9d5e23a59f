"""What every index does, whatever serves it: rows, words and filters, on each backend."""

from __future__ import annotations

import pytest
from backends import ids, spoken, toy
from july import FACTS, row, turn

from reverie.core.search.rows import Filter


def test_rows_are_put_replaced_and_deleted(place):
    """What was put is found, what replaced it instead of it, and nothing after it is deleted."""
    index = place.open()
    index.rows.upsert([row("a", "a lake"), row("b", "a hill")])
    for _ in range(2):
        assert spoken(index, "lake") == ["a"]
        index.commit()
    index.rows.upsert([row("a", "a desert")])
    for _ in range(2):
        assert spoken(index, "lake") == []
        assert spoken(index, "desert") == ["a"]
        index.commit()
    index.rows.delete(["a"])
    for _ in range(2):
        assert spoken(index, "desert") == []
        assert spoken(index, "hill") == ["b"]
        index.commit()
    assert index.rows.count() == 1


@pytest.mark.parametrize("committed", [True, False])
def test_words_of_every_script_are_found(place, committed):
    """P-13, R-22: without an embedder, in every script, committed or not."""
    index = place.open()
    index.rows.upsert(FACTS)
    if committed:
        index.commit()
    asked_for = {
        "lakes": "en",
        "上海": "zh",
        "茶": "zh",
        "コーヒー": "ja",
        "한국": "ko",
        "กาแฟ": "th",
        "مدرسة": "ar",
    }
    asked_for |= {"max_retries": "id", "config.yaml": "id", "v2.3.1": "id"}
    assert {question: spoken(index, question)[0] for question in asked_for} == asked_for


def test_any_query_at_all_is_answered(place):
    """P-14: empty, 50 kB, operators, quotes, control characters and half characters are plain text."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    for question in (
        "",
        "' OR 1=1 --",
        "OR NEAR NOT (",
        "a\"b'c:d*e^f~g",
        "own:lake",
        "\x00",
        "\ud800",
        "?!…",
        "😀",
        "lake " * 10_000,
    ):
        found = ids(index, question)
        assert ("en" in spoken(index, question)) == ("lake" in question), question
        assert len(found) == len(set(found))


def test_a_turn_is_found_by_the_words_around_it(place):
    """The windows of turns are searched, and renewed when a neighbour comes."""
    index = place.open()
    index.rows.upsert([turn(0, "Where shall we have the anniversary dinner?"), turn(1, "Luigi's")])
    for _ in range(2):
        assert set(spoken(index, "anniversary")) == {"s#0", "s#1"}
        index.commit()
    index.rows.upsert([turn(2, "zebra")])
    index.commit()
    assert set(spoken(index, "zebra")) == {"s#0", "s#1", "s#2"}
    assert [one.text for one in index.rows.turns("s", range(1, 3))] == ["Luigi's", "zebra"]


def test_a_period_finds_what_happened_then(place):
    """A query of nothing but days finds that day's rows, whatever they say."""
    index = place.open()
    index.rows.upsert([row("a", "swimming", day="2026-07-09"), row("b", "skating", day="2026-06-09")])
    for _ in range(2):
        assert spoken(index, "yesterday") == ["a"]
        index.commit()


ODD = 'it\'s a "scope" / with: 记号' + "long" * 60
FILTERED = [
    (Filter(categories=("work", "none")), {"a"}),
    (Filter(tags=("x", "two words")), {"a"}),
    (Filter(tags=("x", "three")), set()),
    (Filter(persons=("Ann B",), scopes=(ODD,)), {"a"}),
    (Filter(sessions=(ODD,)), {f"{ODD}#0"}),
    (Filter(kinds=("turn", "page")), {f"{ODD}#0"}),
    (Filter(since="2026-07-02", until="2026-07-04"), {"a"}),
    (Filter(since="2026-07-04"), set()),
    (Filter(until="2026-06-30"), {"old"}),
    (Filter(categories=("'; DROP TABLE row",)), set()),
]


@pytest.mark.parametrize("embedder", [None, "toy"])
def test_filters_hold_for_words_and_vectors(place, embedder):
    """Every field filters before the best are taken, so that three hundred better matches hide nothing."""
    index = place.open(toy() if embedder else None)
    noise = [row(f"n{n}", "lake lake lake", category="noise") for n in range(300)]
    special = row(
        "a",
        "a lake",
        category="work",
        tags=("x", "two words"),
        person="Ann B",
        scope=ODD,
        day="2026-07-03",
    )
    index.rows.upsert(
        [*noise, special, row("old", "lake", day="2026-06-01"), turn(0, "the lake", session=ODD)]
    )
    for _ in range(2):
        index.embed()
        for where, expected in FILTERED:
            assert set(spoken(index, "lake", where=where)) == expected, where
            assert set(ids(index, "lake", where=where)) == expected, where
        index.commit()
