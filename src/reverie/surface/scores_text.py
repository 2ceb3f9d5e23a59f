"""Five scores as people and models write them, on one line.

Owns that form; promises that an error shows how it is written; never looks anything up.
"""

from __future__ import annotations

from reverie.core.records import Stare
from reverie.errors import UsageError

_SCORES = 5


def stare_of(text: str, named: str) -> Stare | None:
    """Return five scores written with commas, empty ones not scored, None for no text; raises UsageError."""
    if not text:
        return None
    message = f"{named} {text[:80]}: write five scores from 0 to 1 with commas between, such as 0.8,,0.3,,"
    try:
        scores = [float(one) if one.strip(" -—") else None for one in text.split(",")]
    except ValueError as error:
        raise UsageError(message) from error
    if len(scores) != _SCORES:
        raise UsageError(message)
    one, two, three, four, five = scores
    return one, two, three, four, five
