"""More vectors than LanceDB reads one by one: the index over them, measured against reading all of them."""

from __future__ import annotations

import numpy as np
import pytest
from july import row

from reverie.core.search.rows import Filter
from reverie.index.lance import Tables
from reverie.index.lance_vectors import LanceVectors

pytest.importorskip("lancedb", reason="the extra `lancedb` is not installed")
pytestmark = pytest.mark.slow

ROWS, WIDE, MANY, ASKED, BEST = 6_000, 64, 4_000, 60, 10
PARTS = 100  # as many as the engine makes of 800,000 vectors; a search looks into 32


def drawn(count, seed):
    """Return unit vectors that lie in heaps, as those of texts do."""
    chance = np.random.default_rng(seed)
    heaps = np.random.default_rng(1).normal(size=(80, WIDE))
    made = heaps[chance.integers(80, size=count)] + chance.normal(size=(count, WIDE))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """Six thousand vectors, indexed since there were four thousand, which are many here; every third row is of work."""
    vectors = LanceVectors(Tables(str(tmp_path_factory.mktemp("many")), "ws"), many=MANY, parts=PARTS)
    about, matrix = vectors.empty(fingerprint="x", dimension=WIDE), drawn(ROWS, 2)
    for start in range(0, ROWS, 2_000):
        rows = [
            (num, row(f"r{num}", "", category="personal" if num % 3 else "work"))
            for num in range(start, start + 2_000)
        ]
        about, _ = vectors.add(about, rows, matrix=matrix[start : start + 2_000])
        assert bool(table_of(vectors, about).list_indices()) == (start >= MANY)
        vectors.tidy(about, [])
    return vectors, about, matrix


def table_of(vectors, about):
    """Return the engine's table, opened anew."""
    return Tables(vectors.kind.partition(":")[2], "ws").open("vectors", about.generation)


def found(vectors, about, vector, *, where=Filter(), dead=(), depth=BEST):  # noqa: B008 - a frozen value
    """Return the numbers of the nearest, best first."""
    return [one.num for one in vectors.search(about, vector, where=where, depth=depth, dead=dead)]


def share(vectors, about, matrix, **more):
    """Return which share of the truly nearest is found, over many questions."""
    allowed = np.arange(len(matrix))
    if more:
        allowed = allowed[allowed % 3 == 0]
    shares = []
    for vector in drawn(ASKED, 3):
        truth = allowed[np.argsort(-(matrix[allowed] @ vector), kind="stable")[:BEST]]
        shares.append(len(set(found(vectors, about, vector, **more)) & set(truth.tolist())) / BEST)
    return sum(shares) / len(shares)


def test_the_index_finds_what_reading_all_finds(indexed):
    """Of the ten truly nearest the index finds at least 97 of 100, alone and under a filter one row in three passes."""
    vectors, about, matrix = indexed
    assert table_of(vectors, about).list_indices()
    plan = table_of(vectors, about).search(matrix[0]).distance_type("dot").limit(5).explain_plan()
    assert "ANN" in plan
    assert share(vectors, about, matrix) >= 0.97
    assert share(vectors, about, matrix, where=Filter(categories=("work",))) >= 0.97


def test_hits_are_scored_from_the_vectors_themselves(indexed):
    """Although the index holds eight bits a number, a hit's similarity is the cosine, and hits come best first."""
    vectors, about, matrix = indexed
    for vector in drawn(5, 4):
        near = vectors.search(about, vector, where=Filter(), depth=BEST, dead=())
        assert [one.similarity for one in near] == pytest.approx(
            [float(matrix[one.num] @ vector) for one in near], abs=1e-5
        )
        assert [one.similarity for one in near] == sorted((one.similarity for one in near), reverse=True)


def test_what_is_dead_is_not_found_and_what_is_new_is(indexed, tmp_path):
    """A dead place is never a hit, and a vector appended after the index was made is one before it is indexed."""
    vectors = LanceVectors(Tables(str(tmp_path), "ws"), many=500, parts=PARTS)
    matrix = drawn(1_000, 5)
    about = vectors.empty(fingerprint="x", dimension=WIDE)
    about, _ = vectors.add(about, [(num, row(f"r{num}", "")) for num in range(1_000)], matrix=matrix)
    vectors.tidy(about, [])
    best = found(vectors, about, matrix[7])
    assert best[0] == 7
    assert found(vectors, about, matrix[7], dead=[7])[0] == best[1]
    fresh = drawn(1, 6)
    about, _ = vectors.add(about, [(1_000, row("fresh", ""))], matrix=fresh)
    assert found(vectors, about, fresh[0])[0] == 1_000
    dead = list(range(100))
    assert vectors.tidy(about, dead) is not None
    assert not set(found(vectors, about, matrix[7], depth=900)) & set(dead)
    assert found(vectors, about, fresh[0])[0] == 1_000
    assert vectors.sound(about)


def test_few_vectors_are_read_one_by_one(tmp_path):
    """Below the threshold there is no index, and the search is exact."""
    vectors = LanceVectors(Tables(str(tmp_path), "ws"), many=2_001)
    matrix = drawn(2_000, 5)
    about, _ = vectors.add(
        vectors.empty(fingerprint="x", dimension=WIDE),
        [(num, row(f"r{num}", "")) for num in range(2_000)],
        matrix=matrix,
    )
    vectors.tidy(about, [])
    assert not table_of(vectors, about).list_indices()
    assert share(vectors, about, matrix) == 1.0
