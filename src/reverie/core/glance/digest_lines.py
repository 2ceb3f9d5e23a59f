"""The digests: what of a period is worth a glance, as a pure selection.

Owns the periods, which entries and requests of one are shown, and in which order; promises that the same store and
day give the same bytes, that a digest stays within its tokens, and that each line names what it stands on: an entry's
id, or the summary a request is from; never shows what is hidden, superseded, ended, faded, done or merely discussed.

The periods do not overlap, so no digest repeats another:

    today     the present logical day
    week      the days of this calendar week before it, and the week before
    longterm  everything older; entries alone, for what was asked weeks ago is over

So a week lies between two changes of the long term's days: it is judged as of its Monday, and changes in between only
where an entry of it does, hidden say. An entry belongs to the day it was written for, whenever its session was last
touched. Pins, procedures and significance >= 0.90 go first, then the significance less its decay; requests take what is
left, the newest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from heapq import nsmallest
from itertools import chain

import msgspec

from reverie.core.categories import CATEGORIES, category
from reverie.core.days import Calendar, day_after, parse_instant
from reverie.core.fold import PROTECTED, EntryState
from reverie.core.glance.budget import Budget, Claim, fit, rank
from reverie.core.glance.memory_lines import cited_line
from reverie.core.glance.standing import PIN, PLAIN, PROCEDURE, SIGNIFICANT
from reverie.core.settings.value import FactSettings, SummarySettings
from reverie.core.significance import decayed, ended, faded, is_procedure

REQUESTS = "Requests"
EMPTY = "Nothing yet.\n"
_ASKED = PLAIN - 1
_WEEK = 7


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """One digest's days, both included (empty: since ever), its file's name, title, and ceiling in tokens.

    At the beginning of the day `judged` decay is worked out.
    """

    name: str
    title: str
    since: str
    until: str
    tokens: int
    judged: str

    def holds(self, day: str) -> bool:
        """Whether the day belongs to it."""
        return self.since <= day <= self.until


class Request(msgspec.Struct, frozen=True):
    """Something a user asked for: when (RFC 3339), the line as the summary has it, and the summary's path."""

    at: str
    text: str
    source: str


_Claimed = tuple[Claim, EntryState | Request]


def periods(today: str, settings: SummarySettings) -> tuple[Period, Period, Period]:
    """Return today, the week and the long term as of the logical day `today`."""
    monday = day_after(today, -date.fromisoformat(today).weekday())
    first, last, before = day_after(monday, -_WEEK), day_after(today, -1), day_after(monday, -_WEEK - 1)
    return (
        Period(
            name="today", title=f"Today - {today}", since=today, until=today, tokens=settings.max_today_tokens,
            judged=today,
        ),
        Period(
            name="week", title=f"Week - {first} to {last}", since=first, until=last, tokens=settings.max_week_tokens,
            judged=today,
        ),
        Period(
            name="longterm", title=f"Long-term - up to {before}", since="", until=before,
            tokens=settings.max_longterm_tokens, judged=monday,
        ),
    )  # fmt: skip


def compile_digest(
    period: Period,
    states: Iterable[EntryState],
    *,
    requests: Iterable[Request] = (),
    now: datetime,
    facts: FactSettings,
    calendar: Calendar,
) -> str:
    """Return the digest of `period` from states and requests of any days; `now` is the first instant of today.

    Both are read once, and no more of them is held than can be shown.
    """
    title = f"# {period.title}\n"
    as_of = calendar.start(period.judged)
    entries: Iterator[_Claimed] = (
        (claim_of(state, as_of, facts=facts), state)
        for state in states
        if period.holds(state.entry.day)
        and holds(state, as_of, facts=facts)
        and not ended(state, now, calendar=calendar)
    )
    asked: Iterator[_Claimed] = ((_asking(request, place), request) for place, request in enumerate(requests))
    whole = Budget(tokens=period.tokens)
    budget = whole.less(whole.measure(title))
    # Of a day of a million entries, too, only those are kept that `fit` can ask about.
    first = nsmallest(budget.most_lines(1), chain(entries, asked), key=lambda one: rank(one[0]))
    subjects = {claim.key: subject for claim, subject in first}
    claims = {
        claim.key: claim for claim, _ in first
    }.values()  # one that is being drained may have come twice
    fitted = fit(claims, budget, line=lambda claim: _line(claim.key, subjects[claim.key]), heading=_heading)
    if not fitted.kept:
        return f"{title}\n{EMPTY}"
    sections: dict[str, list[Claim]] = {}
    for claim in sorted(fitted.kept, key=lambda claim: _order(claim, subjects[claim.key])):
        sections.setdefault(claim.section, []).append(claim)
    parts = [
        _heading(name) + "".join(_line(claim.key, subjects[claim.key]) for claim in sections[name])
        for name in sorted(sections, key=_place)
    ]
    return title + "".join(parts)


def _line(key: str, subject: EntryState | Request) -> str:
    if isinstance(subject, Request):
        return f"- {subject.text} [[{subject.source.removesuffix('.md')}]]\n"
    return f"{cited_line(subject.entry.text, [key])}\n"


def _order(claim: Claim, subject: EntryState | Request) -> tuple[str, float, str]:
    """Return the sort key of a line within its section: entries by day and time, requests by time."""
    if isinstance(subject, Request):
        return ("", claim.confirmed, claim.key)
    return (subject.entry.day, subject.entry.at.timestamp(), claim.key)


def _asking(request: Request, place: int) -> Claim:
    """Return the claim of a request, the `place`th of its period."""
    confirmed = parse_instant(request.at).timestamp()
    return Claim(key=f"request {place:06d}", section=REQUESTS, standing=_ASKED, confirmed=confirmed)


def holds(state: EntryState, now: datetime, *, facts: FactSettings) -> bool:
    """Whether an entry is shown in a prompt: true now, not done, not merely discussed, not faded."""
    entry = state.entry
    if not state.current or state.done or state.cancelled or entry.status == "discussed":
        return False
    if category(entry.category).name == "procedure" and not is_procedure(state):
        return False  # text of outside origin is nothing to act on, whatever it calls itself
    return not faded(state, now, facts=facts)


def claim_of(state: EntryState, now: datetime, *, facts: FactSettings) -> Claim:
    """Return an entry's claim to room: pins, procedures and the most significant first, then by decayed weight."""
    if state.pinned:
        standing = PIN
    elif is_procedure(state):
        standing = PROCEDURE
    else:
        standing = SIGNIFICANT if state.sig >= PROTECTED else PLAIN
    return Claim(
        key=state.entry.id,
        section=_section(state.entry.category),
        standing=standing,
        weight=decayed(state, now, facts=facts),
        observations=state.observations,
        confirmed=state.confirmed.timestamp(),
    )


def _heading(section: str) -> str:
    return f"\n## {section}\n\n"


def _section(slug: str) -> str:
    """Return the heading of a category; that of promises says nothing of when they are due, for here nobody asks."""
    found = category(slug)
    return "Commitments" if found.name == "commitment" else found.section


_PLACES = {_section(slug): place for place, slug in enumerate(CATEGORIES)}


def _place(section: str) -> tuple[int, str]:
    """Return the sort key of a heading: known categories, further ones by name, requests last."""
    return (_PLACES.get(section, len(_PLACES) + (section == REQUESTS)), section)
