"""The part of a session that is still in a prompt, and which of its turns leave it first.

Owns where a session may be cut and how turns read as text; promises that a cut stands at a user turn, never between a
tool call and its result, and that the newest exchange stays; never shortens a turn.

An exchange runs from a user turn up to the next one; exchanges that a call and its result tie together are one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.core.days import Calendar
from reverie.core.records import Turn
from reverie.core.text.tokens import estimate

_RANGE = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?", re.ASCII)
_HEAD = 8  # tokens that a host's own framing of a turn takes: role, separators


def unread(turn: Turn) -> str:
    """Return the turn's words without the spans that were memory put into the prompt."""
    pieces, at = [], 0
    for start, end in turn.injected:
        pieces.append(turn.content[at:start])
        at = end
    return "".join((*pieces, turn.content[at:]))


def tokens_of(turn: Turn) -> int:
    """Return about how many tokens the turn takes in a prompt, tool calls and injected memory included."""
    calls = sum(estimate(call.name) + estimate(call.arguments) for call in turn.calls)
    return estimate(turn.content) + calls + _HEAD


def exchanges(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Return the turns in order as pieces that may not be cut."""
    tied = _tied(turns)
    cuts = [place for place, turn in enumerate(turns) if place and turn.role == "user" and place not in tied]
    starts = [0, *cuts] if turns else []
    return [tuple(turns[start:stop]) for start, stop in zip(starts, [*cuts, len(turns)], strict=False)]


def oldest_slices(turns: Sequence[Turn], *, budget: int, ratio: float) -> list[tuple[Turn, ...]]:
    """Return the slices to archive, oldest first, each up to the first cut past `ratio` of the budget.

    None when the turns are within `budget` tokens; the newest exchange is in none of them.
    """
    left = sum(map(tokens_of, turns))
    slices: list[tuple[Turn, ...]] = []
    taken: list[Turn] = []
    size = 0
    for exchange in exchanges(turns)[:-1]:
        if left <= budget:
            break
        taken += exchange
        size += sum(map(tokens_of, exchange))
        if size >= ratio * budget:
            slices.append(tuple(taken))
            left, taken, size = left - size, [], 0
    if taken:
        slices.append(tuple(taken))
    return slices


def content_of(turns: Sequence[Turn], calendar: Calendar) -> str:
    """Return the turns as text a person reads, whole but for injected memory, a blank line between two."""
    return "\n\n".join(_text_of(turn, calendar) for turn in turns)


def range_of(turns: Sequence[Turn]) -> str:
    """Return the ordinals of the turns as `12-13`, or `12` for one."""
    first, last = turns[0].n, turns[-1].n
    return str(first) if first == last else f"{first}-{last}"


def parse_range(text: str) -> tuple[int, int] | None:
    """Return the first and the last ordinal that `12-13` or `12` names; None when it is neither."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first = int(match[1])
    last = int(match[2] or first)
    return (first, last) if first <= last else None


def _tied(turns: Sequence[Turn]) -> set[int]:
    """Return the places before which no cut may stand: behind a call, up to its result."""
    tied: set[int] = set()
    called: dict[str, int] = {}
    for place, turn in enumerate(turns):
        # Some providers use the same id in every exchange: a result answers the nearest call before it.
        if turn.call and (since := called.pop(turn.call, None)) is not None:
            tied.update(range(since + 1, place + 1))
        called.update((call.id, place) for call in turn.calls)
    return tied


def _text_of(turn: Turn, calendar: Calendar) -> str:
    said_by = f"{turn.role} ({turn.name})" if turn.name else turn.role
    lines = [f"[{turn.n}] {calendar.day(turn.at)} {calendar.hhmm(turn.at)} {said_by}: {unread(turn)}"]
    lines += [f"  calls {call.name}({call.arguments})" for call in turn.calls]
    lines += [
        f"  attached: {' '.join(filter(None, (file.name, file.media_type, file.ref)))}"
        for file in turn.attachments
    ]
    return "\n".join(lines)
