"""What recall and context do beside what fails, is not installed or is not asked for."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from desk import Desk

from reverie import layout
from reverie.context import ContextRequest
from reverie.core.search.query import parse
from reverie.core.search.rank import rank
from reverie.core.search.rows import Candidate, Row
from reverie.testing import ToyEmbedder

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)


def candidate(name: str, *, lexical: float, days: int = 0, **more: float | None) -> Candidate:
    """Return a candidate said so many days ago."""
    at = NOW - timedelta(days=days)
    row = Row(id=name, kind="entry", source="x", text=f"{name} of the lake", at=at, day=f"{at:%Y-%m-%d}")
    return Candidate(row=row, lexical=lexical, **more)  # type: ignore[arg-type]


def order(*candidates: Candidate) -> list[str]:
    """Return the ids in the order in which they are shown."""
    return [one.id for one in rank(parse("lake", NOW.date()), candidates, reference=NOW)]


def test_words_meaning_significance_and_freshness_each_count() -> None:
    """S-42: with the rest equal, each of the four decides, and words and meaning together win over either."""
    both = candidate("both", lexical=1.0, similarity=0.9, sig=0.5)
    words = candidate("words", lexical=1.0, similarity=0.1, sig=0.5)
    meaning = candidate("meaning", lexical=0.0, similarity=0.9, sig=0.5)
    neither = candidate("neither", lexical=0.0, similarity=0.1, sig=0.5)
    assert order(neither, meaning, words, both) == ["both", "words", "meaning", "neither"]
    plain = {"lexical": 1.0, "similarity": 0.5}
    assert order(candidate("low", **plain, sig=0.2), candidate("high", **plain, sig=0.9)) == ["high", "low"]
    old, new = candidate("old", **plain, sig=0.5, days=90), candidate("new", **plain, sig=0.5)
    assert order(old, new) == ["new", "old"]
    assert order() == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Dana runs a bakery", "Who was running bakeries?"),
        ("Dana moved to Lisbon", "where did Dana move to"),
        ("Она читает книги", "какую книгу читала"),
        ("The invoices were sent", "was the invoice sent?"),
    ],
)
def test_without_an_embedder_words_meet_by_their_stems(desk: Desk, text: str, query: str) -> None:
    """S-43: without an embedder forms of a word find each other, and question words find nothing of their own."""
    desk.remember("Who was it that did what, where and when?")
    kept = desk.remember(text)
    assert desk.hits(query)[0].id == kept


def test_headings_of_every_script_are_found(desk: Desk) -> None:
    """R-22: the title and headings of a page are found by words alone, whatever language they or the text are in."""
    desk.page(
        "2_Wiki/Concepts/京都旅行.md",
        "## 宿泊 plan",
        "",
        "A room near the river.",
        "",
        "## 여행 경비",
        "",
        "未定",
    )
    for query in ("京都", "宿泊", "宿", "plan", "여행", "경비"):
        assert [hit.source for hit in desk.hits(query)][:1] == ["notebook/2_Wiki/Concepts/京都旅行.md"], query


def test_a_context_for_each_turn_needs_no_network(desk: Desk) -> None:
    """S-44: with the embedder down a turn's context still brings at most ten dated hits, and nothing is raised."""
    embedder = ToyEmbedder(fail_at=1, forever=True)
    memory = desk.again(embedder=embedder)
    assert "## Relevant Memory" not in memory.context(ContextRequest(query="tea")).text
    for number in range(15):
        memory.remember(f"Tea number {number} is kept in the tin")
    memory.drain()
    memory.consolidate()
    made = memory.context(ContextRequest(query="which tea is in the tin?"))
    part = made.text.partition("## Relevant Memory")[2].partition("\n#")[0]
    bullets = [line for line in part.splitlines() if line.startswith("- ")]
    assert len(bullets) == 10
    assert all(re.fullmatch(r"- Tea .* \(2026-07-01\) `mem_id: [0-9a-f]{16}`", line) for line in bullets)
    assert (
        made.text.index("<reverie-memory") < made.text.index(bullets[0]) < made.text.index("</reverie-memory")
    )
    assert "## Relevant Memory" not in memory.context(ContextRequest(query="zebra")).text
    for query in ("?!", "", "\x00"):
        assert "<reverie-memory" in memory.context(ContextRequest(query=query)).text


def test_a_recall_writes_nothing_that_counts(desk: Desk) -> None:
    """S-45: recalling changes no canonical file and no count; what was shown is noted when the memory is closed."""
    desk.remember("Tea is served at four")
    desk.memory.drain()
    desk.hits("tea")
    before, states = desk.bytes(), desk.memory.list()
    for _ in range(20):
        desk.hits("tea")
    assert not (desk.root / layout.RECALL_LOG).exists()
    assert (desk.bytes(), desk.memory.list()) == (before, states)
    desk.memory.close()
    assert (desk.root / layout.RECALL_LOG).exists()
    assert desk.bytes() == before


def test_a_recall_log_that_cannot_be_written_fails_nothing(desk: Desk) -> None:
    """S-45: where the log cannot be written recalls are answered and the memory closes all the same."""
    desk.remember("Tea is served at four")
    (desk.root / layout.RECALL_LOG).mkdir(parents=True)
    memory = desk.again()
    assert desk.found("tea", memory) == ["Tea is served at four"]
    memory.close()
    assert desk.found("tea", desk.again()) == ["Tea is served at four"]


def test_large_models_in_the_settings_are_not_loaded_before_they_are_needed(tmp_path: Path) -> None:
    """P-20: with a large embedder and model configured, the import, first write, drain and recall load none of it."""
    code = f"""
import sys
from datetime import UTC, datetime
from pathlib import Path
import reverie
from reverie.opening import Opening
names = {{"REVERIE_EMBEDDER": "sentence-transformers:huge/model", "REVERIE_MODEL": "openai:gpt-huge"}}
opening = Opening(path=Path({str(tmp_path / "m")!r}), config_dir=Path({str(tmp_path / "c")!r}), environment=names)
with reverie.init(opening) as memory:
    memory.capture("s", reverie.Turn(role="user", content="My sister lives in Porto.", at=datetime.now(UTC)))
    memory.remember("The boat is green.")
    assert memory.drain().stored == 1
    assert [hit.text for hit in memory.recall("boat").hits] == ["The boat is green."]
heavy = "numpy torch sentence_transformers transformers fastembed onnxruntime lancedb pydantic_ai openai anthropic mcp"
print(sorted(set(heavy.split()) & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
