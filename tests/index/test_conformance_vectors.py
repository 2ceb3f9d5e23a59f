"""What every index does with vectors, on each backend: found by meaning, never by the meaning of old words."""

from __future__ import annotations

import pytest
from backends import LAKES, asked, ids, nearest, spoken, toy
from july import FACTS, row, turn

from reverie.core.search.rows import Filter
from reverie.index.placing import Placing


def test_meaning_finds_what_no_word_does(place):
    """A row that shares no word with the question is a candidate by its vector, with its similarity."""
    index = place.open(toy())
    index.rows.upsert([row("car", "a red car"), row("tea", "green tea"), row("hill", "a hill")])
    index.commit()
    assert index.meaning("automobile") is None
    assert index.vectorless() == 3
    index.embed()
    assert index.vectorless() == 0
    assert nearest(index, "automobile") == "car"
    assert nearest(index, "茶") == "tea"
    found = {one.row.id: one for one in asked(index, "automobile")}
    assert found["car"].lexical == 0.0
    assert found["car"].similarity == pytest.approx(
        float(toy().embed(["a red car"])[0] @ toy().embed(["automobile"])[0]), abs=0.002
    )
    by_words = {one.row.id: one for one in asked(index, "red hill")}
    assert by_words["car"].lexical > 0
    assert by_words["car"].similarity is not None


def test_a_changed_row_is_not_found_by_the_vector_of_its_old_words(place):
    """Vectors follow the words: replaced, deleted and overruled rows lose theirs at once."""
    index = place.open(toy())
    index.rows.upsert([row("a", "car"), row("b", "car park"), row("c", "car"), row("d", "hill")])
    index.embed()
    index.rows.upsert([row("a", "moonlight")])
    index.rows.delete(["b"])
    extra = [row("c", "sunrise")]
    for _ in range(2):
        found = {one.row.id: one for one in asked(index, "automobile", extra=extra)}
        assert "b" not in found
        assert "c" not in found or found["c"].similarity is None
        assert "a" not in found or (found["a"].similarity or 0) < 0.5
        index.embed()
    assert nearest(index, "moonlight") == "a"


def test_a_vector_is_filtered_by_what_its_row_says_now(place):
    """A row whose category changed is found under the new one and no longer under the old."""
    index = place.open(toy())
    index.rows.upsert([row("a", "car", category="work"), row("b", "tea", category="work")])
    index.embed()
    index.rows.upsert([row("a", "car", category="personal")])
    index.embed()
    assert ids(index, "automobile", where=Filter(categories=("personal",))) == ["a"]
    assert "a" not in ids(index, "automobile", where=Filter(categories=("work",)))


def test_significance_alone_costs_no_new_vector(place):
    """What a vector neither says nor is filtered by may change without embedding anything."""
    embedder = toy()
    index = place.open(embedder)
    index.rows.upsert([row("a", "car", sig=0.2)])
    index.embed()
    calls = embedder.calls
    index.rows.upsert([row("a", "car", sig=0.9, status="discussed")])
    assert index.vectorless() == 0
    index.embed()
    assert embedder.calls == calls
    assert asked(index, "automobile")[0].row.sig == 0.9


def test_an_embedder_that_fails_costs_no_word(place):
    """R-24, P-01, S-50: old vectors go on serving, new rows by words, and the next run makes up for it."""
    index = place.open(toy(fail_at=3))
    index.rows.upsert([row("car", "car")])
    index.embed()
    assert index.meaning("automobile") is not None
    index.rows.upsert([row("tea", "green tea"), row("hill", "hill")])
    index.embed()
    assert index.vectorless() == 2
    assert "toy" in index.trouble()
    assert spoken(index, "green") == ["tea"]
    assert nearest(index, "automobile") == "car"
    index.embed()
    assert index.vectorless() == 0
    assert index.trouble() == ""


def test_one_text_that_cannot_be_embedded_costs_the_others_nothing(place):
    """P-01: the item at fault is counted and named, every other one has its vector."""
    index = place.open(toy(refuses="poison"))
    index.rows.upsert([row(f"n{n}", f"car {n}") for n in range(100)] + [row("bad", "poison car")])
    index.embed()
    assert index.vectorless() == 1
    assert index.trouble()
    assert "bad" in spoken(index, "poison")


def test_another_embedder_makes_only_the_vectors_anew(place):
    """P-15: vectors of two embedders never mix, of one dimension or two; words serve meanwhile."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.commit()
    index.embed()
    index.close()
    for other in (toy(model="other"), toy(dimension=48)):
        index = place.open(other)
        assert index.meaning("lakes") is None
        assert spoken(index, "lakes") == ["en"]
        assert index.rows.behind() == 0
        index.embed(deadline=0.0)
        assert index.meaning("lakes") is None
        index.embed()
        assert nearest(index, LAKES) == "en"
        index.close()


def test_without_an_embedder_vectors_stay_and_rest(place):
    """Switched off, vectors are neither asked nor lost; switched on again, nothing is embedded anew."""
    index = place.open(toy())
    index.rows.upsert(FACTS)
    index.embed()
    index.close()
    index = place.open()
    assert index.meaning("lakes") is None
    assert index.vectorless() == 0
    index.close()
    embedder = toy()
    index = place.open(embedder)
    index.embed()
    assert embedder.calls == 0
    assert nearest(index, LAKES) == "en"


def test_dead_vectors_are_let_go_of(place):
    """After most rows were replaced, the living ones are found as before and the dead take no place."""
    index = place.open(toy())
    index.rows.upsert([row(f"n{n}", f"word{n}") for n in range(1_500)])
    index.embed()
    index.rows.upsert([row(f"n{n}", f"other{n}") for n in range(1_400)])
    index.embed()
    assert nearest(index, "other77") == "n77"
    assert nearest(index, "word1444") == "n1444"
    assert Placing(index.rows).look(0).dead == []
    again = place.open(toy())
    assert nearest(again, "other77") == "n77"


def test_masked_rows_are_never_returned(place):
    """What was forgotten is deleted from the rows, and found by neither words nor vectors from that moment."""
    index = place.open(toy())
    index.rows.upsert([turn(0, "car"), turn(1, "secret automobile"), turn(2, "car")])
    index.commit()
    index.embed()
    index.rows.delete(["s#1"])
    for _ in range(2):
        assert "s#1" not in ids(index, "secret automobile")
        assert set(spoken(index, "secret")) == set()
        index.commit()
        index.embed()
