"""How much an entry matters, now and to whom: decay, protection and the five STARE scores.

Owns the formulas; promises that time never changes a stored significance, only what is computed from it, and that
each score is a number from 0 to 1 or None for "not scored"; never looks at the clock.

The STARE scores. One the writer gave (`Entry.stare`) stands; the others are computed where the store holds what they
measure, and are None where it does not:

    S  Significance  0..1  the significance the writer, feedback or repeats set; None while it is only the category's
                           default, which is no judgement of this entry
    T  Temporal      0..1  how near the day is on which it falls due, begins or ends: 0.5 ** (days / 14), 1 from the
                           day itself on for an open commitment, 0 once it has ended; None without such a day
    A  Asymmetry     0..1  how much worse it would be to lack it than to keep it for nothing; given only
    R  Relational    0..1  how many others than the user and the agent `who` and `about` name: 1 - 0.5 ** n; None when
                           both are empty
    E  Episodic      0..1  for an episode, how much of the occasion is on record: the share of when (`from`), who
                           (`who` or `about`), where it was said (`session` and `turns`) and in which words
                           (`evidence`); None for other categories, and when nothing is
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from reverie.core.categories import category
from reverie.core.days import Calendar, is_when, when_bounds
from reverie.core.fold import PROTECTED, EntryState
from reverie.core.records import Entry, Score, Stare
from reverie.core.settings.value import FactSettings

SCORED = "●"  # at least SHOWN
LOW = "○"  # scored, below SHOWN
UNSCORED = "—"
SHOWN = 0.5

TEMPORAL_HALF_LIFE = 14  # days
UNTRUSTED = frozenset({"tool", "file", "web", "import"})  # such text may not become a procedure

_DAY_SECONDS = 86_400.0
_TICK = timedelta(microseconds=1)
_SEPARATOR = re.compile(r"[,;、，；&]|\band\b|和")
_SELF = frozenset(
    {"", "user", "the user", "agent", "the agent", "assistant", "me", "i", "用户", "我", "助手"}
)


def is_procedure(state: EntryState) -> bool:
    """Whether it is a procedure to act on; text of tool, file, web or import origin never is."""
    return category(state.entry.category).name == "procedure" and state.entry.origin not in UNTRUSTED


def protected(state: EntryState) -> bool:
    """Whether it neither decays nor leaves MEMORY.md before what is not protected: a pin, a procedure, or >= 0.90."""
    return state.pinned or state.sig >= PROTECTED or is_procedure(state)


def decays(state: EntryState) -> bool:
    """Whether time takes weight from it; protected entries, open commitments and some categories keep theirs."""
    if state.pinned or state.sig >= PROTECTED or not category(state.entry.category).decays:
        return False
    return not state.open_commitment


def decayed(state: EntryState, now: datetime, *, facts: FactSettings) -> float:
    """Return the significance less `max_importance_decay` a day since it was last written, repeated or confirmed."""
    if not decays(state):
        return state.sig
    days = (now - state.confirmed).total_seconds() / _DAY_SECONDS
    if days <= 0.0:
        return state.sig
    # Rounded, because 0.5 - 30 * 0.01 would else lie a hair below a floor of 0.2 that it has just reached.
    return max(0.0, min(state.sig, round(state.sig - days * facts.max_importance_decay, 9)))


def faded(state: EntryState, now: datetime, *, facts: FactSettings) -> bool:
    """Whether it lies below the floor: gone from MEMORY.md and `context`, ranked lower by recall, never deleted.

    What is protected or still owed never fades, however low its significance.
    """
    return sunk(state, decayed(state, now, facts=facts), facts=facts)


def sunk(state: EntryState, value: float, *, facts: FactSettings) -> bool:
    """Whether it lies below the floor when `value` is what time has left of its significance."""
    return value < facts.min_importance and not protected(state) and not state.open_commitment


def weight(state: EntryState, now: datetime, *, facts: FactSettings) -> float:
    """Return the one number that ranks entries now, 0 to 1: the decayed significance, a protected one at least 0.90."""
    value = decayed(state, now, facts=facts)
    return max(value, PROTECTED) if protected(state) else value


def stare(state: EntryState, now: datetime, *, calendar: Calendar) -> Stare:
    """Return the five scores; the module's docstring gives the formula of each."""
    entry = state.entry
    given = entry.stare or (None, None, None, None, None)
    moved = entry.sig is not None or state.sig != category(entry.category).sig
    return (
        # A given S is where the significance began; feedback since then is the later word.
        state.sig if moved else given[0],
        given[1] if given[1] is not None else _temporal(state, now, calendar),
        given[2],
        given[3] if given[3] is not None else _relational(entry),
        given[4] if given[4] is not None else _episodic(entry),
    )


def marks(scores: Stare) -> str:
    """Return five marks in the order S T A R E: `●` for at least 0.5, `○` for less, `—` for not scored."""
    return "".join(UNSCORED if score is None else SCORED if score >= SHOWN else LOW for score in scores)


def last_day(when: str, calendar: Calendar) -> str:
    """Return the last logical day that the `When` covers; empty when it is none."""
    if not is_when(when):
        return ""
    start, end = when_bounds(when, calendar)
    return calendar.day(max(start, end - _TICK))


def ended(state: EntryState, now: datetime, *, calendar: Calendar) -> bool:
    """Whether it held `until` a time that has passed; an episode is remembered because it is over, so it never has."""
    until = state.entry.until
    if not until or category(state.entry.category).name == "episode" or not is_when(until):
        return False
    return when_bounds(until, calendar)[1] <= now


def _temporal(state: EntryState, now: datetime, calendar: Calendar) -> Score:
    entry = state.entry
    owed = state.due if state.open_commitment else ""
    if not (owed or entry.until or entry.since):
        return None
    today = date.fromisoformat(calendar.day(now)).toordinal()
    named = [last_day(owed, calendar), last_day(entry.until, calendar), _first_day(entry.since, calendar)]
    due, until, since = (date.fromisoformat(day).toordinal() - today if day else None for day in named)
    ahead = [days for days in (due, until, since) if days is not None and days >= 0]
    if due is not None and due <= 0:
        return 1.0
    if ahead:
        return float(0.5 ** (min(ahead) / TEMPORAL_HALF_LIFE))
    return 0.0 if until is not None else None


def _first_day(when: str, calendar: Calendar) -> str:
    return calendar.day(when_bounds(when, calendar)[0]) if is_when(when) else ""


def _relational(entry: Entry) -> Score:
    if not (entry.who or entry.about):
        return None
    named = {name.strip().casefold() for name in _SEPARATOR.split(f"{entry.who},{entry.about}")}
    return float(1.0 - 0.5 ** len(named - _SELF))


def _episodic(entry: Entry) -> Score:
    if category(entry.category).name != "episode":
        return None
    known = (entry.since, entry.who or entry.about, entry.session and entry.turns, entry.evidence)
    return sum(map(bool, known)) / len(known) or None
