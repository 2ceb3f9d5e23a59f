"""Which of a host's own messages are turns that a session has stored already.

Owns telling a message that was captured from one that was not; promises that what might be new counts as new, for a
turn stored twice can be seen and a turn that is never stored cannot; never stores anything.

A message with an id is the turn with that id and those words. Messages without one are laid beside the stored turns in
order: a host's list ends with what was said last, so it is taken for captured up to where the stored turns end. A run
that stops short of that end counts when it is too long to be a repetition, or begins where both begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import msgspec

from reverie.core.entries import derived_id
from reverie.core.records import Turn

LONG_RUN = 4  # messages in a row; fewer may be said again


def told(turn: Turn) -> tuple[object, ...]:
    """Return what makes two messages without ids the same: who said it, the words, the calls."""
    calls = tuple((call.id, call.name, call.arguments) for call in turn.calls)
    return (turn.role, turn.call, turn.content, calls)


def matched(given: Sequence[Turn], stored: Sequence[Turn]) -> list[Turn]:
    """Return each given turn as it is stored, or, with the ordinal -1, as it is to be stored: with an id.

    The id of a new one follows from the session, its words and how often they were said before, so that two processes
    that are handed the same list store it once.
    """
    by_id = {(turn.id, *told(turn)): turn for turn in stored}
    nameless = [place for place, turn in enumerate(given) if not turn.id]
    found: dict[int, Turn] = {}
    for place, turn in enumerate(given):
        if turn.id and (known := by_id.get((turn.id, *told(turn)))):
            found[place] = known
    for at, of, size in _runs([told(given[place]) for place in nameless], [told(turn) for turn in stored]):
        found.update({nameless[at + n]: stored[of + n] for n in range(size)})
    times: dict[tuple[object, ...], int] = {}
    for turn in stored:
        times[told(turn)] = times.get(told(turn), 0) + 1
    turns: list[Turn] = []
    for place, turn in enumerate(given):
        if place in found:
            turns.append(found[place])
            continue
        times[told(turn)] = times.get(told(turn), 0) + 1
        named = derived_id("message", turn.session, repr(told(turn)), str(times[told(turn)]))
        turns.append(msgspec.structs.replace(turn, id=turn.id or named, n=-1))
    return turns


def _runs(
    given: Sequence[tuple[object, ...]], stored: Sequence[tuple[object, ...]]
) -> list[tuple[int, int, int]]:
    """Return the runs that both have in the same order, of those that count: place in each, and length."""
    blocks = SequenceMatcher(None, given, stored, autojunk=False).get_matching_blocks()
    runs = [(at, of, size) for at, of, size in blocks if size]
    reaches = any(of + size == len(stored) for _, of, size in runs)
    return [run for run in runs if reaches or run[2] >= LONG_RUN or run[:2] == (0, 0)]
