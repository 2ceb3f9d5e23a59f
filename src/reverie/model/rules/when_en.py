"""Find the times an English text names, with what the words around them make of them.

Owns prepositions, times of day and what recurs; the words for days are in `dates_en`. Never reads a clock.
"""

from __future__ import annotations

import re
from datetime import time
from functools import lru_cache

from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules import when
from reverie.model.rules.dates_en import SHORT_DAYS, WEEKDAY, named, resolve
from reverie.model.rules.when import Anchor, Dated, DueRole

_TIME = (
    r"(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? ?(?P<half>[ap]\.?m\b\.?)"
    r"|(?P<hour24>\d{1,2})[:.](?P<minute24>\d\d)(?!\d|\.\d)|(?P<word>noon|midnight)\b)"
)
_AFTER = Words(rf"(?:,? (?:at|by|around|before|from))? {_TIME}", fold=True)
_BEFORE = Words(rf"(?:\bat )?\b{_TIME},?(?: on)? $", fold=True)
_RECURS = Words(
    rf"""\b(?:every|each|most|any|other|per|usually|always)(?: \w+)? $|\b{WEEKDAY}\s?(?:-|–|to|through|and
    |or|/)\s?$""",
    fold=True,
)
_RANGE_OF_DAYS = Words(rf"s\b|\s?(?:-|–|to|through|/)\s?{WEEKDAY}", fold=True)
_YEARLY = Words(
    r"\b(?:(?:birthday|anniversary|name day) is|born|annual|yearly|every year|each year)\b", fold=True
)
_PREPOSITION = Words(
    r"""\b(on|by|before|until|till|til|since|from|after|for|at|through|to|of|around|starting|due|in
    |between|and|is|was|as of|than|later|about|dated|:)(?: the)?[ (]*$""",
    fold=True,
)
_LEADS = {"day": "on", "days": "in", "month": "in", "year": "in"}
_TO = Words(r"\bto (?:the )?$", fold=True)
_ROLES: dict[str, DueRole] = {
    "by": "by",
    "before": "by",
    "due": "due",
    "until": "until",
    "till": "until",
    "til": "until",
    "through": "until",
    "to": "until",
    "since": "since",
    "from": "since",
    "starting": "since",
    "as of": "since",
}


@lru_cache(maxsize=16)  # a clause is asked for its dates by each judgement that needs them
def find(text: str, anchor: Anchor) -> tuple[Dated, ...]:
    """Return the times an English text names, in their order, without overlaps."""
    yearly = _YEARLY.search(text) is not None
    found: list[Dated] = []
    for match in named(text):
        if _recurs(text, match) or (
            yearly and match["mday" if match["mday"] else "daym"] and not _full(match)
        ):
            continue
        if found and (
            match.start() < found[-1].end
            or (match["weekday"] and when.named(found[-1], text[found[-1].end : match.start()]))
        ):
            continue
        one = resolve(match, anchor)
        if one is not None:
            one = _timed(text, _worded(text, one, match), found[-1].end if found else 0)
            if (
                one.role == "until"
                and _TO.search(text[: one.start][-8:])
                and (not found or found[-1].role != "since")
            ):
                one = replace(one, role="")  # "moved to Friday" is no end
            found.append(one)
    return tuple(found)


def _full(match: re.Match[str]) -> bool:
    return bool(match["myear"] or match["yearm"])


def _recurs(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 24) : match.start()]
    if _RECURS.search(before) and not match["daystep"]:
        return True
    if match["weekday"] is None:
        return False
    if match["weekday"].lower() in SHORT_DAYS and not match["weekday"][0].isupper():
        return True  # "sat" and "sun" are words
    if (
        match["weekday"] in {"Sat", "Sun", "Wed"}
        and not match["daystep"]
        and not before.rstrip().endswith("on")
    ):
        return True
    return not match["daystep"] and _RANGE_OF_DAYS.match(text, match.end("weekday")) is not None


def _worded(text: str, one: Dated, match: re.Match[str]) -> Dated:
    """Give the date its preposition and role: "yesterday" stands alone, "on 2026-06-28" does not."""
    own = match["beforemonth"] or match["beforeday"] or match["beforeyear"]
    if own and own.lower() in {"on", "by", "until", "till", "before", "due", "from", "in", "since"}:
        return replace(one, words=f"{own} {one.words}", role=_ROLES.get(own.lower(), ""))
    lead = _PREPOSITION.search(text[max(0, one.start - 16) : one.start])
    if text[one.end : one.end + 2] in {"'s", "’s"}:
        the = "" if re.search(r"\b(?:the|our|my|a) $", text[: one.start][-5:]) else "the "
        return replace(one, end=one.end + 2, words=the + one.words)
    if match["within"] and match["within"] and not match["inn"]:
        return replace(one, words=f"by {one.words}", role="by")
    if lead is not None:
        role = _ROLES.get(lead[1].lower(), "")
        words = one.last.isoformat() if one.unit == "days" and role in {"by", "until", "due"} else one.words
        return replace(one, role=role, words=words)
    before = text[max(0, one.start - 6) : one.start]
    if one.start == 0 or before.endswith(("(", "the ", "my ", "our ", "a ")) or not one.relative:
        plain = one.start != 0 or not one.relative
        return one if plain else replace(one, words=f"{_LEADS[one.unit].capitalize()} {one.words}")
    lead_word = "on" if "weekend" in one.words else _LEADS[one.unit]
    return replace(one, words=f"{lead_word} {one.words}")


def _timed(text: str, one: Dated, floor: int) -> Dated:
    """Take in the time of day that stands beside the date."""
    if one.first != one.last:
        return one
    after = _AFTER.match(text, one.end)
    if after is not None and (clock := _clock(after)) is not None:
        role: DueRole = "by" if " by " in after[0].lower() or " before " in after[0].lower() else one.role
        return replace(one, end=after.end(), words=f"{one.words} {clock:%H:%M}", clock=clock, role=role)
    start = max(floor, one.start - 18)
    before = _BEFORE.search(text[start : one.start])
    if before is not None and (clock := _clock(before)) is not None:
        at = start + before.start()
        role = "by" if re.search(r"\b(?:by|before) $", text[:at][-8:]) else one.role
        words = one.words if one.words[:3].lower() != "on " else one.words[3:]
        lead = "" if _PREPOSITION.search(text[max(0, at - 16) : at]) else "on "
        return replace(one, start=at, words=f"{lead}{words} {clock:%H:%M}", clock=clock, role=role)
    return one


def _clock(match: re.Match[str]) -> time | None:
    if match["word"]:
        return time(12) if match["word"].lower() == "noon" else None
    if match["hour24"]:
        return when.at_time(int(match["hour24"]), int(match["minute24"]), half="")
    return when.at_time(int(match["hour"]), int(match["minute"] or 0), half=match["half"][0].lower() + "m")
