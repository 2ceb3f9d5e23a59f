"""What a host may hand to any verb by mistake or in malice: it is refused in words, and nothing else suffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, nan
from pathlib import Path

import pytest

import reverie
from reverie import ContextRequest, Memory, ReverieError, Where
from reverie.errors import UsageError

HALF = "a\ud800b"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory that holds one entry."""
    with reverie.init(
        tmp_path / "w", settings={"zone": "UTC", "embedder": "none", "durability": "os"}
    ) as opened:
        opened.remember("Likes tea")
        yield opened


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.get(HALF),
        lambda memory: memory.why(HALF),
        lambda memory: memory.forget([HALF]),
        lambda memory: memory.exclude(HALF),
        lambda memory: memory.exclude("a\0b"),
        lambda memory: memory.exclude("a\x1bb"),
        lambda memory: memory.context(ContextRequest(budget=nan)),  # type: ignore[arg-type]
        lambda memory: memory.context(ContextRequest(budget=inf)),  # type: ignore[arg-type]
    ],
)
def test_what_means_nothing_is_refused_in_words(memory: Memory, ask: Callable[[Memory], object]) -> None:
    """Half a character or what is no number is an error that says so, and the memory opens and works as before."""
    with pytest.raises(ReverieError):
        ask(memory)
    with reverie.open(memory.root) as again:
        assert [hit.text for hit in again.recall("tea").hits] == ["Likes tea"]


def test_a_filter_of_half_a_character_admits_nothing(memory: Memory) -> None:
    """A filter that no entry can meet finds none, and is no failure; a day of it is none."""
    filters = (Where(category=HALF), Where(tag=HALF), Where(session=HALF))
    with pytest.raises(UsageError, match="write a day"):
        Where(since=HALF)
    assert [memory.list(where) for where in filters] == [[]] * len(filters)
