"""The order of what a search found, and why.

Owns every weight of recall; promises that the same candidates and query give the same order, that nothing is
dropped except a text equal to one ranked above it (which is named there), and that what was superseded never
ranks above an equally matching current fact; never looks at a clock, a file or use counts.

A score is the keyword score over the best one of the search (0 to 1) plus the boni below, times the factor of
the candidate's standing. The weights are one set for all data; `benchmarks.recall_quality` measures them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

import msgspec

from reverie.core import tokens
from reverie.core.query import Period, Query, mentions_time
from reverie.core.rows import Candidate, Row

# How the two lexical views are added; `index.text` asks for them in one search.
OWN: Final = 1.0
WINDOW: Final = 1.2
REACH: Final = 2  # turns before and after that a window takes in

SESSION: Final = 0.20  # the session that holds most of what matches
SPEAKER: Final = 0.40  # said by someone the query names
NAMED: Final = 0.10  # about someone the query names
PREVIOUS: Final = 0.12  # the turn before matches too: an answer seldom repeats its question's words
LENGTH: Final = 0.12  # a turn of several sentences against an interjection
QUESTION: Final = -0.07  # a short question holds no fact
WHEN: Final = 0.20  # the query asks when, and the text says when
PERIOD: Final = 0.50  # happened or was said in the days the query names
PHRASE: Final = 0.40  # holds a quoted part word for word
SIGNIFICANCE: Final = 0.10  # from significance 0 to 1
PROTECTED: Final = 0.7  # significance worth telling as a reason
TOLD: Final = 0.05  # a smaller bonus is no reason worth telling
FRESH: Final = 0.02  # said now, against said long ago
HALF_LIFE_DAYS: Final = 120.0

_VOICE = {"user": 0.36, "assistant": 0.0, "tool": -0.1, "system": -0.1}  # facts come from people
_KIND = {"entry": 0.36, "page": 0.36, "core": 0.36, "history": 0.18}
_STANDING = {"current": 1.0, "discussed": 0.85, "done": 0.9, "faded": 0.75, "superseded": 0.5}

_SHORT = 240  # characters of a turn that can be a mere question
_AFTER_DAYS = 10  # what happened on a day is told within about this many days
_READ = 2_000  # characters of a long text that are looked at for dates and times
_ISO_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)")
_SPACES = re.compile(r"[\W_]+")


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate in its place. `why` are short reasons, strongest first; `alike`, ids of equal texts below it."""

    id: str
    score: float
    why: tuple[str, ...]
    alike: tuple[str, ...] = ()


def rank(query: Query, candidates: Sequence[Candidate], *, reference: datetime, k: int = 10) -> list[Ranked]:
    """Return the best `k` of `candidates`, best first; `reference` is the instant freshness counts from."""
    best = max((candidate.lexical for candidate in candidates), default=0.0) or 1.0
    lexical = [candidate.lexical / best for candidate in candidates]
    priors = _session_priors(candidates, lexical)
    places = {
        (c.row.session, c.row.n): score for c, score in zip(candidates, lexical, strict=True) if c.row.n >= 0
    }
    scored = []
    for candidate, score in zip(candidates, lexical, strict=True):
        boni = _boni(query, candidate, reference)
        row = candidate.row
        if row.session:
            boni.append((SESSION * priors[row.session], "session"))
        boni.append((PREVIOUS * places.get((row.session, row.n - 1), 0.0), "context"))
        total = (score + sum(bonus for bonus, _ in boni)) * _STANDING.get(candidate.standing, 1.0)
        scored.append((total, candidate, _reasons(score, boni, candidate.standing)))
    scored.sort(key=lambda item: (-item[0], -item[1].row.at.timestamp(), item[1].row.id))
    return _distinct(scored, k)


def _session_priors(candidates: Sequence[Candidate], lexical: Sequence[float]) -> dict[str, float]:
    """Return for each session the sum of its candidates' cubed scores, over that of the best session.

    Cubed, a session with one strong match outweighs a long one with many weak matches.
    """
    sums: dict[str, float] = {}
    for candidate, score in zip(candidates, lexical, strict=True):
        session = candidate.row.session
        sums[session] = sums.get(session, 0.0) + max(score, 0.0) ** 3
    most = max((total for session, total in sums.items() if session), default=0.0) or 1.0
    return {session: total / most for session, total in sums.items()}


def _boni(query: Query, candidate: Candidate, reference: datetime) -> list[tuple[float, str]]:
    """Return what a candidate gains or loses besides its words, each with its reason."""
    row = candidate.row
    boni = [
        (_voice(query, row), "by the user" if row.role == "user" else ""),
        (FRESH * _freshness(row.at, reference), ""),
        (LENGTH * min(max(math.log1p(len(row.text)) - 3.0, 0.0) / 3.0, 1.0), ""),
    ]
    if row.person and names(query, row.person):
        boni.append((SPEAKER, f"said by {row.person}"))
    if row.about and names(query, row.about):
        boni.append((NAMED, f"about {row.about}"))
    if row.kind == "turn" and len(row.text) < _SHORT and row.text.rstrip().endswith(("?", "？")):
        boni.append((QUESTION, ""))
    if query.asks_when and mentions_time(row.text[:_READ]):
        boni.append((WHEN, "says when"))
    if query.periods:
        boni.append((PERIOD * max(_within(row, period) for period in query.periods), "date"))
    if query.phrases:
        plain = tokens.normalise(row.text)
        boni.append(
            (PHRASE * sum(phrase in plain for phrase in query.phrases) / len(query.phrases), "quoted words")
        )
    if candidate.sig is not None:
        boni.append((SIGNIFICANCE * candidate.sig, "significance" if candidate.sig >= PROTECTED else ""))
    return boni


def names(query: Query, person: str) -> bool:
    """Return whether the query names `person`, by the first word of the name or, without blanks, the whole of it."""
    plain = tokens.normalise(person)
    first = plain.split(" ")[0]
    return first in query.words or (not first.isascii() and first in tokens.normalise(query.text[:_READ]))


def _voice(query: Query, row: Row) -> float:
    """Return the prior of who speaks; a query about the assistant's own words turns it round."""
    if row.kind != "turn":
        return _KIND.get(row.kind, 0.0)
    if query.of_assistant and row.role in {"user", "assistant"}:
        return _VOICE["assistant" if row.role == "user" else "user"]
    return _VOICE.get(row.role, 0.0)


def _freshness(at: datetime, reference: datetime) -> float:
    """Return 1 for what was said at `reference`, half of it for each half-life before."""
    days = max((reference - at).total_seconds() / 86_400.0, 0.0)
    return math.exp2(-days / HALF_LIFE_DAYS)


def _within(row: Row, period: Period) -> float:
    """Return 1 when a day of the row lies in `period`, less for what was said within days after it, else 0."""
    days = _ISO_DAY.findall(f"{row.since} {row.until} {row.text[:_READ]}")
    if any(period.first.isoformat() <= day <= period.last.isoformat() for day in days):
        return 1.0
    late = (date.fromisoformat(row.day) - period.last).days
    if late <= 0:
        return 1.0 if row.day >= period.first.isoformat() else 0.0
    return max(0.0, 0.8 * (1.0 - late / _AFTER_DAYS))


def _reasons(lexical: float, boni: Sequence[tuple[float, str]], standing: str) -> tuple[str, ...]:
    """Return the reasons that moved a candidate noticeably, strongest first; its standing leads."""
    told = sorted(((bonus, reason) for bonus, reason in boni if reason and bonus >= TOLD), reverse=True)
    why = [reason for _, reason in told]
    if lexical > 0.0:
        why.insert(0, "words")
    if standing != "current":
        why.insert(0, standing)
    return tuple(why)


def _distinct(scored: Sequence[tuple[float, Candidate, tuple[str, ...]]], k: int) -> list[Ranked]:
    """Return the first `k` different texts; one that differs in any word, number or negation stays apart."""
    ranked: list[tuple[float, Candidate, tuple[str, ...]]] = []
    places: dict[str, int] = {}
    alike: dict[int, list[str]] = {}
    for item in scored:
        text = (
            _SPACES.sub(" ", tokens.normalise(item[1].row.text))
            if len(item[1].row.text) <= _READ
            else item[1].row.text
        )
        place = places.get(text.strip() or item[1].row.text)
        if place is not None:
            alike.setdefault(place, []).append(item[1].row.id)
        elif len(ranked) < k:
            places[text.strip() or item[1].row.text] = len(ranked)
            ranked.append(item)
    return [
        Ranked(id=candidate.row.id, score=score, why=why, alike=tuple(alike.get(place, ())))
        for place, (score, candidate, why) in enumerate(ranked)
    ]
