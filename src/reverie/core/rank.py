"""The order of what a search found, and why.

Owns every weight of recall; promises that the same candidates and query give the same order, that nothing is
dropped except a text equal to one ranked above it (which is named there), and that what was superseded never
ranks above an equally matching current fact; never looks at a clock, a file or use counts.

A score is the keyword score over the best one of the search (0 to 1), plus the nearness of the vectors and the boni
below, times the factor of the candidate's standing. The weights are one set for all data;
`benchmarks.recall_quality` measures them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

import msgspec

from reverie.core import tokens
from reverie.core.query import Period, Query, mentions_time
from reverie.core.rows import Candidate, Row

# How the two lexical views are added; `index.text` asks for them in one search.
OWN: Final = 1.0
WINDOW: Final = 1.5
REACH: Final = 2  # turns before and after that a window takes in

DENSE: Final = 0.30  # nearest by meaning, against farthest of those found
SESSION: Final = 0.12  # the session that holds most of what matches
SPEAKER: Final = 0.50  # said by someone the query names
NAMED: Final = 0.10  # about someone the query names
PREVIOUS: Final = 0.10  # the turn before matches too: an answer seldom repeats its question's words
LENGTH: Final = 0.06  # a turn of several sentences against an interjection
QUESTION: Final = -0.07  # a short question holds no fact
WHEN: Final = 0.20  # the query asks when, and the text says when
PERIOD: Final = 0.60  # happened or was said in the days the query names
PHRASE: Final = 0.40  # holds a quoted part word for word
SIGNIFICANCE: Final = 0.10  # from significance 0 to 1
PROTECTED: Final = 0.7  # significance worth telling as a reason
TOLD: Final = 0.05  # a smaller bonus is no reason worth telling
FRESH: Final = 0.02  # said now, against said long ago
HALF_LIFE_DAYS: Final = 120.0

_VOICE = {"user": 0.50, "assistant": 0.0, "tool": -0.1, "system": -0.1}  # facts come from people
_KIND = {"entry": 0.50, "page": 0.50, "core": 0.50, "history": 0.25}
_STANDING = {"current": 1.0, "discussed": 0.85, "done": 0.9, "faded": 0.75, "superseded": 0.5}

_LOOKED_AT = 60  # candidates whose text is read when the query asks when
_SHORT = 240  # characters of a turn that can be a mere question
_AFTER_DAYS = 10  # what happened on a day is told within about this many days
_READ = 2_000  # characters of a long text that are looked at for dates and times
_ISO_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)")
_SPACES = re.compile(r"[\W_]+")


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate in its place.

    `why` are short reasons, strongest first; `alike`, the ids of equal texts that came after it.
    """

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
    people = {
        name for candidate in candidates for name in (candidate.row.person, candidate.row.about) if name
    }
    near = _nearness(candidates)
    asked = _Asked(query, frozenset(name for name in people if names(query, name)), _voices(query))
    now = reference.timestamp()
    scored = []
    for candidate, score, nearness in zip(candidates, lexical, near, strict=True):
        row = candidate.row
        boni = [(DENSE * nearness, "meaning"), *_boni(asked, candidate)]
        if row.session:
            boni.append((SESSION * priors[row.session], "session"))
            boni.append((PREVIOUS * places.get((row.session, row.n - 1), 0.0), "context"))
        total = score + _weight(row, now)
        for bonus, _ in boni:
            total += bonus
        scored.append(_Scored(total, candidate, score, boni))
    scored.sort(key=_place)
    if query.asks_when:
        scored = _with_times(scored, max(4 * k, _LOOKED_AT))
    return _distinct(scored, k)


class _Scored(NamedTuple):
    """A candidate while it is ranked: its sum, and what the sum is made of."""

    total: float
    candidate: Candidate
    lexical: float
    boni: list[tuple[float, str]]


def _place(scored: _Scored) -> tuple[float, float, str]:
    """Return what candidates are sorted by: the weighed sum, then the later, then the id."""
    row = scored.candidate.row
    return (-_weighed(scored), -row.at.timestamp(), row.id)


def _weighed(scored: _Scored) -> float:
    return max(scored.total, 0.0) * _STANDING.get(scored.candidate.standing, 1.0)


def _with_times(scored: list[_Scored], depth: int) -> list[_Scored]:
    """Return `scored` in the order that counts who says when; only the first `depth` are read, for speed."""
    looked = [
        _Scored(one.total + WHEN, one.candidate, one.lexical, [*one.boni, (WHEN, "says when")])
        if mentions_time(one.candidate.row.text[:_READ])
        else one
        for one in scored[:depth]
    ]
    return sorted([*looked, *scored[depth:]], key=_place)


def _nearness(candidates: Sequence[Candidate]) -> list[float]:
    """Return how near each candidate's vector is, from 0 for the farthest to 1 for the nearest; 0 without one."""
    known = [one.similarity for one in candidates if one.similarity is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if high <= low:
        return [0.0 if one.similarity is None else 1.0 for one in candidates]
    return [0.0 if one.similarity is None else (one.similarity - low) / (high - low) for one in candidates]


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


class _Asked(NamedTuple):
    """The query, whom it names among the candidates, and the prior of each kind and role."""

    query: Query
    named: frozenset[str]
    voices: dict[str, float]


def _weight(row: Row, now: float) -> float:
    """Return what a row weighs whatever is asked: its length and age, and the loss of a mere question."""
    length = min(max(math.log1p(len(row.text)) - 3.0, 0.0) / 3.0, 1.0)
    days = max(now - row.at.timestamp(), 0.0) / 86_400.0
    weight = LENGTH * length + FRESH * math.exp2(-days / HALF_LIFE_DAYS)
    if row.kind == "turn" and len(row.text) < _SHORT and row.text.rstrip().endswith(("?", "？")):
        weight += QUESTION
    return weight


def _boni(asked: _Asked, candidate: Candidate) -> list[tuple[float, str]]:
    """Return what a candidate gains by what is asked and by what it is, each with its reason."""
    row, query = candidate.row, asked.query
    voice = asked.voices.get(row.role if row.kind == "turn" else row.kind, 0.0)
    boni = [(voice, "by the user" if row.role == "user" else "")]
    if row.person in asked.named:
        boni.append((SPEAKER, f"said by {row.person}"))
    if row.about in asked.named:
        boni.append((NAMED, f"about {row.about}"))
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


def _voices(query: Query) -> dict[str, float]:
    """Return the prior of each kind and role; a query about the assistant's own words turns two of them round."""
    if query.of_assistant:
        return _KIND | _VOICE | {"user": _VOICE["assistant"], "assistant": _VOICE["user"]}
    return _KIND | _VOICE


def _within(row: Row, period: Period) -> float:
    """Return 1 when a day of the row lies in `period`, less for what was said within days after it, else 0."""
    first, last = period.first.isoformat(), period.last.isoformat()
    if first <= row.day <= last:
        return 1.0
    dates = f"{row.since} {row.until} {row.text[:_READ]}"
    if "-" in dates and any(first <= day <= last for day in _ISO_DAY.findall(dates)):
        return 1.0
    if row.day <= last or len(row.day) != len(last):
        return 0.0
    late = (date.fromisoformat(row.day) - period.last).days
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


def _distinct(scored: Sequence[_Scored], k: int) -> list[Ranked]:
    """Return the first `k` different texts; one that differs in any word, number or negation stays apart."""
    ranked: list[_Scored] = []
    places: dict[str, int] = {}
    alike: dict[int, list[str]] = {}
    for one in scored:
        if len(ranked) == k:
            break
        text = one.candidate.row.text
        key = (_SPACES.sub(" ", tokens.normalise(text)).strip() if len(text) <= _READ else "") or text
        if key in places:
            alike.setdefault(places[key], []).append(one.candidate.row.id)
        else:
            places[key] = len(ranked)
            ranked.append(one)
    return [
        Ranked(
            id=one.candidate.row.id,
            score=_weighed(one),
            why=_reasons(one.lexical, one.boni, one.candidate.standing),
            alike=tuple(alike.get(place, ())),
        )
        for place, one in enumerate(ranked)
    ]
