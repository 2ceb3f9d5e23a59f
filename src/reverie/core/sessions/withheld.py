"""What of a turn no later step may read: memory that came back, what was forgotten, and topics never stored.

Owns marking these stretches; promises that what is marked keeps its place, so that every position in the turn stays
what it was; never changes the turn's words. What a person says again after it was forgotten is read: they are asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from reverie.core.forgetting.exclusions import excluded_by
from reverie.core.forgetting.mask import Mask
from reverie.core.records import Turn

_SENTENCE = re.compile(r"[^\n.!?。！？；;]*(?:[.!?。！？；;]+\s?|\n|\Z)")


def readable_turns(turns: Iterable[Turn], *, masked: Mask, topics: Sequence[str]) -> tuple[Turn, ...]:
    """Return turns with what was forgotten of them, and their sentences on excluded topics, among `injected`.

    The lines that say it are withheld, or all of a turn when none can be told to.
    """
    return tuple(_readable(turn, masked, topics) for turn in turns)


def _readable(turn: Turn, masked: Mask, topics: Sequence[str]) -> Turn:
    spans = [*_forgotten(turn, masked), *_excluded(turn.content, topics)]
    return replace(turn, injected=_merged([*turn.injected, *spans])) if spans else turn


def _forgotten(turn: Turn, masked: Mask) -> Iterator[tuple[int, int]]:
    if not masked.turn(turn.session, turn.id):
        return
    if masked.retracted(turn.session, turn.id):
        yield 0, len(turn.content)
        return
    said = [(start, end) for start, end in _lines(turn.content) if masked.text(turn.content[start:end])]
    yield from said or [(0, len(turn.content))]


def _excluded(content: str, topics: Sequence[str]) -> Iterator[tuple[int, int]]:
    if not excluded_by(content, topics):
        return
    for match in _SENTENCE.finditer(content):
        if match[0] and excluded_by(match[0], topics):
            yield match.start(), match.end()


def _lines(content: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in content.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
