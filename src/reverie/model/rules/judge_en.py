"""Judge one English clause: a promise, a decision, a lasting fact, or nothing to keep.

Owns the order of the judgements; their words are in `deeds_en`, `states_en` and `subject_en`. Promises to stay
silent on requests and whatever names no concrete thing. Never writes an entry's text.
"""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from reverie.model.rules import deeds_en as deeds
from reverie.model.rules import states_en as states
from reverie.model.rules import subject_en as subjects
from reverie.model.rules import tense_en, third_person, when
from reverie.model.rules import words_en as words
from reverie.model.rules.claims import STRONG, Scene
from reverie.model.rules.subject_en import Subject
from reverie.model.rules.when import Dated, Dates

_FEWEST_BLANKS = 3  # "remember, just do it" states nothing


class Clause(msgspec.Struct, frozen=True):
    """One clause: its words, their expanded form, that in lower case, and where it stands in the turn.

    `size` is how many characters of the turn it is, where a subject was put before them; else as many as its words.
    """

    said: str
    full: str
    low: str
    start: int
    size: int = 0

    @property
    def end(self) -> int:
        """Where the clause ends in the turn."""
        return self.start + (self.size or len(self.said))


class Hit(msgspec.Struct, frozen=True):
    """What a clause was found to be, before its text is written.

    `lead` stands in stored text in place of the first `cut` characters of the expanded clause.
    """

    category: str
    sig: float | None = None
    about: str = ""
    dates: tuple[Dated, ...] = ()
    due: bool = False
    lead: str = ""
    cut: int = 0


class Front(msgspec.Struct, frozen=True):
    """What the words before a statement say of it: that it is to be remembered, or that it corrects."""

    ordered: bool = False
    corrects: bool = False


def clause_of(said: str, start: int, *, size: int = 0) -> Clause:
    """Return the clause that begins at `start` of the turn, ready to be judged."""
    full = third_person.expand(said)
    return Clause(said, full, full.lower(), start, size)


def judge(clause: Clause, scene: Scene, *, front: Front) -> Hit | None:
    """Decide what a clause of a user is, or that it is nothing to keep."""
    low = clause.low
    for read in (_standing, _decision, _procedure, _lesson):
        hit = read(clause)
        if hit is not None:
            return replace(hit, dates=dates_of(clause, scene)) if read is not _standing else hit
    subject = None if deeds.BARE.match(low) else subjects.subject(clause.full)
    if words.REQUEST.match(low) or words.VAGUE.search(low):
        return None
    hit = _of(clause, scene, subject) if subject is not None else _bare(clause, scene)
    if hit is None and "call" in low and deeds.CALLED.match(clause.full):
        hit = Hit("personal")
    if hit is None and front.corrects and words.CORRECTION.match(low) and words.concrete(clause.said):
        hit = Hit("fact", sig=STRONG, dates=dates_of(clause, scene))
    if (
        hit is None
        and front.ordered
        and low.count(" ") >= _FEWEST_BLANKS
        and (low.startswith("i ") or words.DECLARES.match(low))
        and not (words.DANGLING.match(low) or words.TOLD.match(low))
    ):
        hit = Hit("fact", dates=dates_of(clause, scene))
    return hit


def _of(clause: Clause, scene: Scene, subject: Subject) -> Hit | None:
    introduced = _introduces_himself(clause) if subject.kind == "self" else None
    return introduced or _timed(clause, scene, subject) or _stated(clause, scene, subject)


def _standing(clause: Clause) -> Hit | None:
    """Standing orders to the agent: "always answer in German", "from now on, no emojis"."""
    order = deeds.STANDING.match(clause.low)
    if order is None or deeds.PROCEDURAL.search(clause.low):
        return None
    full = clause.full[order.end("lead") :]
    if clause.low[order.end("lead") :].startswith("i "):
        return Hit("preference", sig=STRONG)
    lead = (
        "{me} asks {you}: "
        if re.match(
            r"(?:do not|no|stop|from|whenever|when|every|each|in|by|as|for|you|going)\b", full.lower()
        )
        else "{me} wants {you} to "
    )
    return Hit("preference", sig=STRONG, lead=lead, cut=order.end("lead"))


def _decision(clause: Clause) -> Hit | None:
    low = clause.low
    hit = None
    if (lets := deeds.LETS.match(low)) is not None and words.concrete(clause.said[6:]):
        lead = "Decided not to " if lets["not"] else "Decided to "
        hit = Hit("decision", sig=STRONG, lead=lead, cut=lets.end("head"))
    elif deeds.DECIDED.match(low, subjects.behind_front(low)) or (
        "it is" in low and deeds.IT_IS.match(low) and words.concrete(clause.said)
    ):
        hit = Hit("decision", sig=STRONG)
    return None if hit is None or deeds.POINTS.search(low) else hit


def _procedure(clause: Clause) -> Hit | None:
    low = clause.low
    if any(pattern.match(low) for pattern in deeds.PROCEDURES) and (
        words.command(clause.said) or deeds.STEPS.search(low)
    ):
        return Hit("procedure")
    return None


def _lesson(clause: Clause) -> Hit | None:
    return Hit("lesson") if deeds.LESSON.match(clause.low) else None


def _bare(clause: Clause, scene: Scene) -> Hit | None:
    """Diary style: "Sent Dana the pricing sheet", and "Tomorrow is my last day"."""
    bare = deeds.BARE.match(clause.low) is not None
    dates = dates_of(clause, scene) if bare or " is " in clause.low else ()
    if dates and deeds.DATE_IS.match(when.carry(clause.said, dates).lower()):
        return Hit("episode", dates=dates)
    if bare and (words.concrete(clause.said) or (dates and " " in clause.low[clause.low.find(" ") + 1 :])):
        full = clause.full[:1].lower() + clause.full[1:]
        return Hit("episode", dates=dates, lead="{me} " + full[:1], cut=1)
    return None


def _timed(clause: Clause, scene: Scene, subject: Subject) -> Hit | None:
    """Commitments, appointments and events: most need a date to be worth keeping."""
    low, rest = clause.low, clause.low[subject.end :]
    fleeting = deeds.EPHEMERAL.match(rest) is not None
    if not fleeting and subject.kind != "thing" and deeds.PROMISED.match(rest):
        return Hit("commitment", about=subject.about, dates=dates_of(clause, scene), due=True)
    milestone = subject.kind != "thing" and deeds.MILESTONE.match(rest) is not None
    named = _dates(clause, scene)
    dates = named.sure
    if not dates:
        told = milestone or (subject.kind in {"self", "group"} and _fulfils(clause, subject))
        told = told or (named.unsure != () and _happened(rest, subject))
        return Hit("episode", about=subject.about) if told and not fleeting else None
    hit = Hit("episode", about=subject.about, dates=dates)
    ahead = any(one.last > scene.anchor.day for one in dates)
    deadline = any(one.role in {"by", "due"} for one in dates)
    if deeds.DEADLINE.search(low) and (ahead or deadline):
        return replace(hit, category="commitment", due=True)
    if fleeting:
        return None
    if subject.kind == "self" and deeds.VOWS.match(rest):
        ahead = ahead or any(one.last == scene.anchor.day for one in dates)
    if deeds.WILL.match(rest) and (ahead or deadline) and (subject.kind != "thing" or deadline):
        return replace(hit, category="commitment", due=True)
    thing = subject.kind in {"thing", "owned"}
    if low.startswith(("my ", "our ")) and states.thing_of(low, subject.end) in {
        "goal",
        "preference",
        "personal",
        "work",
    }:
        return None
    if ahead and ((not thing and deeds.APPOINTMENT.match(rest)) or (thing and deeds.HAPPENS.match(rest))):
        return hit
    if ahead and not thing and deeds.TIDINGS.match(rest):
        return hit
    if not ahead and thing and deeds.BROKE.match(rest):
        return hit
    if not ahead and not thing and (milestone or deeds.DID.match(rest)):
        return replace(hit, category=states.state_of(rest, subject.kind) or "episode")
    return None


def _happened(rest: str, subject: Subject) -> bool:
    """Say whether a clause tells of a thing that took place, by the predicate with which `rest` begins."""
    if subject.kind in {"thing", "owned"}:
        return deeds.BROKE.match(rest) is not None or deeds.HAPPENS.match(rest) is not None
    return deeds.DID.match(rest) is not None or deeds.TIDINGS.match(rest) is not None


def _introduces_himself(clause: Clause) -> Hit | None:
    """Read "I'm Priya" and "I'm Priya from the Ghent office"; "I'm German" names nobody."""
    named = deeds.NAMED.match(clause.full)
    if named is None or {word.casefold() for word in named["name"].split()} & deeds.NO_NAMES:
        return None
    return Hit("personal", lead="{me}'s name is ", cut=named.start("name"))


def _fulfils(clause: Clause, subject: Subject) -> bool:
    """Say whether a clause tells of a deed that could keep a promise: "I sent Dana the quote"."""
    return deeds.FULFILLED.match(clause.low[subject.end :]) is not None and words.concrete(
        clause.said[subject.end - 1 :]
    )


def _stated(clause: Clause, scene: Scene, subject: Subject) -> Hit | None:
    """Lasting statements of the speaker, of people and of things."""
    rest = clause.low[subject.end :]
    concrete = words.concrete(clause.said[max(0, subject.end - 5) :])
    category: str | None
    if subject.kind == "thing":
        category = (
            states.thing_of(clause.low, subject.end) if concrete or clause.low.startswith("my ") else None
        )
    else:
        category = states.state_of(rest, subject.kind)
    if category is None and subject.kind == "person" and concrete:
        thing = subjects.thing(clause.full)
        if states.acts(rest, subject.about):
            category = "fact"
        elif thing is not None:
            category = states.thing_of(clause.low, thing.end)
    if category is None or (category in states.NEED_CONCRETE and not (concrete or states.tools(rest))):
        return None
    sig = STRONG if states.GRAVE.search(clause.low) else None
    return Hit(category, sig=sig, about=subject.about, dates=dates_of(clause, scene))


def agents(clause: Clause, scene: Scene) -> Hit | None:
    """What an assistant's turn may give: its promises, joint decisions and results it confirms."""
    low = clause.low
    if deeds.RESULT.match(low) and words.concrete(clause.said[4:]):
        return Hit("episode", dates=dates_of(clause, scene))
    if deeds.AGENT_DECIDED.match(low) and not deeds.POINTS.search(low) and words.concrete(clause.said):
        return Hit("decision", dates=dates_of(clause, scene))
    if deeds.AGENT_WILL.match(low) and not deeds.AGENT_EPHEMERAL.search(low):
        dates = dates_of(clause, scene)
        if any(one.last > scene.anchor.day for one in dates) or deeds.AGENT_LASTING.search(low):
            return Hit("commitment", about="agent", dates=dates, due=True)
    return None


def dates_of(clause: Clause, scene: Scene) -> tuple[Dated, ...]:
    """Return the times a clause names; a weekday in a sentence about the past is the one before."""
    return _dates(clause, scene).sure


def _dates(clause: Clause, scene: Scene) -> Dates:
    return tense_en.dates(clause.said, scene.anchor) if words.may_date(clause.low) else Dates()
