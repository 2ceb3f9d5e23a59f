"""Memory that came back in a turn.

Owns finding text that Reverie itself rendered into a prompt; promises that a marked span equals the rendered text
byte for byte; never guesses.
"""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST = 20  # characters; shorter lines ("# Memory", "- ok") also occur in what people write


def spans_of(content: str, rendered: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the `[start, end)` spans of `content` that equal a rendered text, or a whole line of one, merged."""
    lines = {line.strip() for text in rendered for line in text.splitlines()}
    found: list[tuple[int, int]] = []
    for piece in sorted({*rendered, *lines}, key=len, reverse=True):
        if len(piece) < SHORTEST:
            break
        start = content.find(piece)
        while start >= 0:
            found.append((start, start + len(piece)))
            start = content.find(piece, start + len(piece))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
