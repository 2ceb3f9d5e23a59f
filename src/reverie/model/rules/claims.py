"""What a rule may claim of a sentence, and the words that both languages' rules share.

Owns the value between rules and entries, and the choice of tags. Never reads a turn.
"""

from __future__ import annotations

from datetime import date, datetime
from functools import cached_property

import msgspec
from msgspec.structs import replace

from reverie.core.days import Calendar
from reverie.core.records import Origin
from reverie.model.rules.when import Anchor, Dated

RAISED = 0.85  # what the speaker asked to be remembered: published at once, below the protected level
STRONG = 0.75  # health, standing orders, decisions with a marker of finality
HEDGED = 0.6  # the confidence of what was said with "I think"


class Scene(msgspec.Struct, frozen=True, dict=True):
    """Who speaks to whom, and when: `me` and `you` as names in stored text, `role` and instant of the turn."""

    role: str
    me: str
    you: str
    at: datetime
    calendar: Calendar

    @cached_property
    def anchor(self) -> Anchor:
        """Where dates count from, worked out where one is named: most turns name none."""
        day = date.fromisoformat(self.calendar.day(self.at))
        return Anchor(day, self.calendar.local(self.at))


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What one statement says: the text to store, and the stretch `[start, end)` of the turn it stands on."""

    category: str
    text: str
    start: int
    end: int
    sig: float | None = None
    conf: float | None = None
    about: str = ""
    since: str = ""
    until: str = ""
    due: str = ""
    origin: Origin | None = None  # None: the speaker's own


def bounded(claim: Claim, dates: tuple[Dated, ...], *, anchor: Anchor, due: bool) -> Claim:
    """Set since, until and due of a claim from the dates it names and the words around them."""
    if not dates:
        return claim
    if due:
        first = min(
            dates,
            key=lambda one: (
                one.role not in {"by", "due"},
                one.role == "since",
                one.last <= anchor.day,
                one.start,
            ),
        )
        return replace(claim, due=anchor.when(first, last=True))
    until = next((one for one in dates if one.role == "until"), None)
    since = next((one for one in dates if one is not until), None)
    if since is not None and since.unit == "days" and until is None:
        until = since
    first_day = anchor.when(since) if since is not None else ""
    return replace(
        claim,
        since=first_day,
        until=anchor.when(until, last=until.unit == "days") if until is not None else "",
    )
