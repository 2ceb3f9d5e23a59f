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
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from reverie.core.search.query import Period, Query
from reverie.core.search.rows import Candidate, Row
from reverie.core.text import tokens
from reverie.core.text.cues import mentions_time, states_a_wish

# How the two lexical views are added; `index.text` asks for them in one search.
OWN: Final = 1.0
WINDOW: Final = 1.5
REACH: Final = 2  # turns before and after that a window takes in

DENSE: Final = 0.20  # nearest by meaning, against farthest of those found; squared, for only the nearest tell
SESSION: Final = 0.12  # the session that holds most of what matches
SPEAKER: Final = 0.50  # said by someone the query names
NAMED: Final = 0.10  # about someone the query names
PREVIOUS: Final = 0.10  # the turn before matches too: an answer seldom repeats its question's words
HELD: Final = 0.20  # holds every word itself: a window lends a turn the words of its neighbours
WISH: Final = 0.30  # the user says how things are to be from now on
LENGTH: Final = 0.06  # a turn of several sentences against an interjection
QUESTION: Final = -0.12  # a short question holds no fact
WHEN: Final = 0.20  # the query asks when, and the text says when
PERIOD: Final = 0.60  # happened or was said in the days the query names
PHRASE: Final = 0.40  # holds a quoted part word for word
SIGNIFICANCE: Final = 0.10  # from significance 0 to 1
PROTECTED: Final = 0.7  # significance worth telling as a reason
TOLD: Final = 0.05  # a smaller bonus is no reason worth telling
FRESH: Final = 0.02  # said now, against said long ago
HALF_LIFE_DAYS: Final = 120.0

_VOICE = {"user": 0.65, "assistant": 0.0, "tool": -0.1, "system": -0.1}  # facts come from people
_ASSISTANT = {"user": 0.5, "assistant": 0.65}  # asked about its words: the user's turn before says what about
_BOTH = {"assistant": 0.65}  # a summary is of what both said
_KIND = {"entry": 0.65, "page": 0.65, "core": 0.65, "value": 0.65, "history": 0.4}
_ORIGIN = {"user": 0.0, "agent": -0.05}  # what an entry loses by where its words came from
_STRANGE = -0.12  # a tool, a file, a page of the web, another memory: nobody here vouches for it
_STANDING = {"current": 1.0, "discussed": 0.85, "done": 0.9, "faded": 0.75, "superseded": 0.5, "wrong": 0.4}

_LOOKED_AT = 40  # candidates whose text is read when the query asks when
_JUDGED = 8  # candidates judged at once, beyond those asked for
_SHORT = 240  # characters of a turn that can be a mere question
_AFTER_DAYS = 10  # what happened on a day is told within about this many days
_READ = 2_000  # characters of a long text that are looked at for dates
_BEGINNING = 600  # characters that are looked at for words: a long text holds any of them by chance
_ISO_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)")
_SPACES = re.compile(r"[\W_]+")

Judge = Callable[[Sequence[Candidate]], Iterable[Candidate]]


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate in its place.

    `why` are short reasons, strongest first; `alike`, the ids of equal texts that came after it. `candidate` is the
    candidate as it was judged.
    """

    id: str
    score: float
    why: tuple[str, ...]
    alike: tuple[str, ...] = ()
    candidate: Candidate


class _Asked(NamedTuple):
    """The query, whom it names among the candidates, the prior of each kind and role, and the instant of now."""

    query: Query
    named: frozenset[str]
    voices: dict[str, float]
    now: float


class _Around(NamedTuple):
    """Of all candidates: the prior of each session, how well each turn matches, and the best keyword score."""

    priors: dict[str, float]
    matches: dict[tuple[str, int], float]
    best: float


class _Scored(NamedTuple):
    """A candidate while it is ranked, sorted as it stands: the weighed sum, then the later, then the id."""

    minus: float
    instant: float
    id: str
    total: float
    match: float
    candidate: Candidate


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    *,
    reference: datetime,
    k: int = 10,
    judge: Judge | None = None,
) -> list[Ranked]:
    """Return the best `k` of `candidates`, best first; `reference` is the instant freshness counts from.

    `judge` gives those that may be shown their significance and standing, and leaves out the others. It raises no
    significance that a candidate came with. It is asked for the best first, and for no more than the order of the
    first `k` can depend on.
    """
    near = _nearness(candidates)
    best = max((candidate.lexical for candidate in candidates), default=0.0) or 1.0
    matches = [
        one.lexical / best + DENSE * nearness**2 for one, nearness in zip(candidates, near, strict=True)
    ]
    around = _Around(_session_priors(candidates, matches), _places(candidates, matches), best)
    asked = _asked(query, candidates, reference)
    scored = []
    for candidate, match in zip(candidates, matches, strict=True):
        total = match + sum([bonus for bonus, _ in _boni(asked, candidate, around)])
        scored.append(_score(candidate, match, total))
    scored.sort()
    if query.asks_when:
        scored = _with_times(scored, max(4 * k, _LOOKED_AT))
    first = _distinct(scored, k) if judge is None else _judged(scored, judge, k)
    return [_ranked(one, alike, asked, around) for one, alike in first]


def _score(candidate: Candidate, match: float, total: float) -> _Scored:
    """Return a candidate with its sum weighed by its significance and standing."""
    total += SIGNIFICANCE * (candidate.sig or 0.0)
    row = candidate.row
    weighed = max(total, 0.0) * _STANDING.get(candidate.standing, 1.0)
    return _Scored(-weighed, -row.at.timestamp(), row.id, total, match, candidate)


def _judged(scored: Sequence[_Scored], judge: Judge, k: int) -> list[tuple[_Scored, list[str]]]:
    """Return the first `k` different ones once judged.

    Whoever stands farther below the k-th than judging can raise it stays below.
    """
    unknown = any(one.candidate.sig is None and one.candidate.row.kind == "entry" for one in scored)
    gain = SIGNIFICANCE if unknown else 0.0
    kept: list[_Scored] = []
    first: list[tuple[_Scored, list[str]]] = []
    size = k + _JUDGED
    for start in range(0, len(scored), size):
        if len(first) == k and first[-1][0].minus < scored[start].minus - gain:
            break
        part = {one.id: one for one in scored[start : start + size]}
        asked = judge([one.candidate for one in part.values()])
        kept += [_again(part[found.row.id], found, 0.0) for found in asked]
        kept.sort()
        first = _distinct(kept, k)
    return first


def _again(before: _Scored, candidate: Candidate, bonus: float) -> _Scored:
    """Return what was scored with what is known now and another bonus."""
    known = SIGNIFICANCE * ((candidate.sig or 0.0) - (before.candidate.sig or 0.0))
    total = before.total + known + bonus
    weighed = max(total, 0.0) * _STANDING.get(candidate.standing, 1.0)
    return _Scored(-weighed, before.instant, before.id, total, before.match, candidate)


def _with_times(scored: list[_Scored], depth: int) -> list[_Scored]:
    """Return `scored` in the order that counts who says when; only the first `depth` are read, for speed."""
    looked = [
        _again(one, one.candidate, WHEN) if mentions_time(one.candidate.row.text[:_READ]) else one
        for one in scored[:depth]
    ]
    return sorted([*looked, *scored[depth:]])


def _nearness(candidates: Sequence[Candidate]) -> list[float]:
    """Return how near each candidate's vector is, from 0 for the farthest to 1 for the nearest; 0 without one."""
    known = [one.similarity for one in candidates if one.similarity is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if high <= low:
        return [0.0 if one.similarity is None else 1.0 for one in candidates]
    return [0.0 if one.similarity is None else (one.similarity - low) / (high - low) for one in candidates]


def _session_priors(candidates: Sequence[Candidate], matches: Sequence[float]) -> dict[str, float]:
    """Return for each session the sum of its candidates' cubed matches, over that of the best session.

    Cubed, a session with one strong match outweighs a long one with many weak matches.
    """
    sums: dict[str, float] = {}
    for candidate, match in zip(candidates, matches, strict=True):
        session = candidate.row.session
        if session:
            sums[session] = sums.get(session, 0.0) + max(match, 0.0) ** 3
    most = max(sums.values(), default=0.0) or 1.0
    return {session: total / most for session, total in sums.items()}


def _places(candidates: Sequence[Candidate], matches: Sequence[float]) -> dict[tuple[str, int], float]:
    """Return how well each turn among the candidates matches, by its session and ordinal."""
    return {
        (one.row.session, one.row.n): match
        for one, match in zip(candidates, matches, strict=True)
        if one.row.n >= 0
    }


def _asked(query: Query, candidates: Sequence[Candidate], reference: datetime) -> _Asked:
    people = {one.row.person for one in candidates} | {one.row.about for one in candidates}
    named = frozenset(name for name in people if name and names(query, name))
    return _Asked(query, named, _voices(query), reference.timestamp())


def _boni(asked: _Asked, candidate: Candidate, around: _Around) -> list[tuple[float, str]]:
    """Return what a candidate gains by what is asked, by what it is and by the others, each with its reason."""
    row, query = candidate.row, asked.query
    by_user = row.role == "user"
    voice = asked.voices.get(row.role if row.kind == "turn" else row.kind, 0.0)
    if row.kind == "entry" and not (query.of_assistant and row.origin == "agent"):
        voice += _ORIGIN.get(row.origin, _STRANGE)
    boni = [(voice, "by the user" if by_user else ""), (_weight(row, asked.now), "")]
    if row.session:
        boni.append((SESSION * around.priors[row.session], "session"))
        boni.append((PREVIOUS * around.matches.get((row.session, row.n - 1), 0.0), "context"))
    if row.person in asked.named:
        boni.append((SPEAKER, f"said by {row.person}"))
    if row.about in asked.named:
        boni.append((NAMED, f"about {row.about}"))
    text = row.text[:_BEGINNING].casefold()
    boni.append((HELD * _held(query, row, text) ** 3, "every word"))
    if by_user and not query.overall and states_a_wish(text):
        boni.append((WISH, "standing wish"))
    if query.periods:
        boni.append((PERIOD * max(_within(row, period) for period in query.periods), "date"))
    if query.phrases:
        plain = tokens.normalise(row.text)
        share = sum(phrase in plain for phrase in query.phrases) / len(query.phrases)
        boni.append((PHRASE * share, "quoted words"))
    return boni


def _weight(row: Row, now: float) -> float:
    """Return what a row weighs whatever is asked: its length and age, and the loss of a mere question."""
    letters = len(row.text)
    length = min(max(math.log1p(letters) - 3.0, 0.0) / 3.0, 1.0)
    days = max(now - row.at.timestamp(), 0.0) / 86_400.0
    weight = LENGTH * length + FRESH * math.exp2(-days / HALF_LIFE_DAYS)
    if letters < _SHORT and row.kind == "turn" and row.text.rstrip().endswith(("?", "？")):
        return weight + QUESTION
    return weight


def _held(query: Query, row: Row, text: str) -> float:
    """Return the share of the query's stems that begin or are part of a word of the row itself."""
    if not query.stems:
        return 0.0
    text = f"{row.person.casefold()} {text}" if row.person else text
    return sum([stem in text for stem in query.stems]) / len(query.stems)


def names(query: Query, person: str) -> bool:
    """Return whether the query names `person`, by the first word of the name or, without blanks, the whole of it."""
    plain = tokens.normalise(person)
    first = plain.split(" ")[0]
    return first in query.words or (not first.isascii() and first in tokens.normalise(query.text[:_READ]))


def _voices(query: Query) -> dict[str, float]:
    """Return the prior of each kind and role for what the query is about."""
    turned = _ASSISTANT if query.of_assistant else _BOTH if query.overall else {}
    return _KIND | _VOICE | turned


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


def _distinct(scored: Iterable[_Scored], k: int) -> list[tuple[_Scored, list[str]]]:
    """Return the first `k` different texts, each with the ids of equal ones before the last of them.

    A text that differs in any word, number or negation stays apart.
    """
    first: dict[str, tuple[_Scored, list[str]]] = {}
    for one in scored:
        if len(first) == k:
            break
        key = _likeness(one.candidate.row.text)
        if key in first:
            first[key][1].append(one.id)
        else:
            first[key] = (one, [])
    return list(first.values())


@lru_cache(maxsize=1_024)
def _likeness(text: str) -> str:
    """Return what two texts share that are shown once: their words, or all of a long text or one without words."""
    if len(text) > _READ:
        return text
    return _SPACES.sub(" ", tokens.normalise(text)).strip() or text


def _ranked(one: _Scored, alike: Sequence[str], asked: _Asked, around: _Around) -> Ranked:
    """Return a candidate in its place, with the reasons that moved it noticeably; its standing leads."""
    candidate = one.candidate
    words = candidate.lexical / around.best
    boni = [*_boni(asked, candidate, around), (one.match - words, "meaning")]
    if asked.query.asks_when and mentions_time(candidate.row.text[:_READ]):
        boni.append((WHEN, "says when"))
    if candidate.sig is not None and candidate.sig >= PROTECTED:
        boni.append((SIGNIFICANCE * candidate.sig, "significance"))
    told = sorted(((bonus, reason) for bonus, reason in boni if reason and bonus >= TOLD), reverse=True)
    lead = [candidate.standing] * (candidate.standing != "current") + ["words"] * (words > 0.0)
    return Ranked(
        id=one.id,
        score=-one.minus,
        why=(*lead, *(reason for _, reason in told)),
        alike=tuple(alike),
        candidate=candidate,
    )
