"""Read English sentences by rule: what they state, of whom it is true, and when.

Owns how a sentence is taken apart and how a claim is told; what a clause is, `judge_en` decides. Promises to stay
silent on questions, hypotheses and jokes. Never reads other turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from reverie.model.rules import deeds_en as deeds
from reverie.model.rules import subject_en as subjects
from reverie.model.rules import third_person, when
from reverie.model.rules import words_en as words
from reverie.model.rules.claims import HEDGED, RAISED, Claim, Scene, bounded
from reverie.model.rules.judge_en import Clause, Front, Hit, agents, clause_of, dates_of, judge
from reverie.model.rules.sentences import Sentence
from reverie.model.rules.third_person import Voice

_BLANKS = re.compile(r"\s+")
_REMIND_ME = re.compile(r"\bremind me\b", re.IGNORECASE)
_MARKS = frozenset("\"“'‘")
_WORKING = frozenset(("work", "project", "technical", "decision", "procedure", "lesson", "commitment"))


def introduces(intro: str) -> bool:
    """Say whether a sentence announces the steps of a how-to."""
    low = third_person.expand(intro).lower()
    return deeds.INTRODUCES.search(low) is not None and words.REQUEST.match(low) is None


def retold(intro: str, scene: Scene) -> str:
    """Return an introduction in the third person."""
    return _narrated(_without_front(intro)[0], "procedure", scene)


def speaks_of_other(text: str) -> bool:
    """Say whether a sentence may need to know who "she" is."""
    return words.OTHER.search(text) is not None


def person_of(text: str) -> str | None:
    """Return the third person a sentence names, of whom "she" in the next one speaks; None if it names several."""
    full = third_person.expand(text)
    subject = None if deeds.BARE.match(full.lower()) else subjects.subject(full)
    named = {match["name"] or match["name2"] for match in subjects.APPOSED.finditer(text)}
    named |= {match["name"] for match in subjects.KIN_NAMED.finditer(text)}
    if subject is not None and subject.kind in {"person", "owned"}:
        named.add(subject.about if subject.about[:1].isupper() else f"my {subject.about}")
    return None if len(named) > 1 else next(iter(named), "")


def agent_may(said: str) -> bool:
    """Say whether a sentence of an agent has a word without which it states nothing."""
    return deeds.AGENT_MAY.search(said.lower()) is not None


def read(sentence: Sentence, scene: Scene, *, person: str = "") -> Iterator[Claim]:
    """Yield what an English sentence states that is worth keeping, mostly nothing; "she" is `person`."""
    said = sentence.text
    if len(said) < words.SHORTEST or "[redacted:" in said:
        return
    if said[0] in _MARKS and words.SPOKEN.search(said):
        return
    if scene.role == "assistant" and not agent_may(said):
        return
    body, skipped, front = _without_front(said)
    start = sentence.start + skipped
    claims = list(_claims(body, start, scene, front, person))
    if not claims or words.joking(said):
        return
    hypothetical = words.HYPOTHETICAL.search(third_person.expand(body).lower()) is not None
    for claim in claims:
        if not hypothetical or claim.category == "procedure" or claim.about == "agent":
            yield _weighed(claim, said, front)


def _without_front(said: str) -> tuple[str, int, Front]:
    """Take greetings and small words off the front."""
    at, front = 0, Front()
    while words.may_lead(said, at) and (lead := words.LEAD.match(said, at)) is not None and lead.end() > at:
        front = Front(
            front.ordered or words.ORDERS.search(lead[0]) is not None,
            front.corrects or words.CORRECTS.search(lead[0]) is not None,
        )
        at = lead.end()
    return said[at:], at, front


def _claims(body: str, start: int, scene: Scene, front: Front, person: str) -> Iterator[Claim]:
    if scene.role == "user" and "remind me" in body.lower():
        asked = clause_of(body, start)
        if (order := words.REMIND.match(asked.low)) is not None:
            yield from _reminder(asked, scene, order)
            return
    body = _without_question(body)
    if ": " in body and (told := words.DICTATED.search(body)) and words.REQUEST.match(body.lower()):
        body = body[: told.start()]
    group: Claim | None = None
    for clause in _clauses(body, start):
        clause, hit = _found(clause, scene, front, person)  # noqa: PLW2901
        if hit is None:
            if group is not None and _continues(clause):
                group = _joined(group, clause, scene)
            continue
        claim = _claim(clause, hit, scene)
        person = claim.about if claim.about[:1].isupper() else person
        if group is not None and group.category == claim.category and not claim.due:
            group = replace(
                group, text=f"{group.text}; {claim.text}", end=claim.end, since=group.since or claim.since
            )
            continue
        if group is not None:
            yield group
        group = claim
    if group is not None:
        yield group
    elif (
        scene.role == "user"
        and ("my " in body or "our " in body)
        and (apposed := subjects.APPOSED.search(body)) is not None
    ):
        yield _named(apposed, start, body, scene)


def _without_question(body: str) -> str:
    """Leave of a sentence that asks only what was stated before the question; an empty text if nothing was."""
    if "?" not in body:
        return body
    asks = words.ASKS.match(body)
    if asks is None and not body.rstrip("\"')”’").endswith("?"):
        return body
    asked = next(words.ASKED.finditer(body), None)
    if asked is None or asks is not None:
        return ""
    return body[: asked.start()].rstrip(" ,;:–—-")


def _clauses(body: str, start: int) -> Iterator[Clause]:
    at = 0
    for cut in words.CLAUSE.finditer(body) if words.may_cut(body) else ():
        if cut.start() - at >= words.SHORTEST_CLAUSE:
            yield from _parts(body[at : cut.start()], start + at)
            at = cut.end()
    if len(body) > at:
        yield from _parts(body[at:].rstrip(), start + at)


def _parts(said: str, start: int) -> Iterator[Clause]:
    """Yield a clause, or the two that tell where one lives and where one works, which change one by one."""
    two = words.LIVES_AND.match(said) if " and " in said else None
    if two is None:
        yield clause_of(said, start)
        return
    yield clause_of(said[: two.end("home")], start)
    rest = said[two.start("rest") :]
    yield clause_of(f"{two['who']} {rest}", start + two.start("rest"), size=len(rest))


def _found(clause: Clause, scene: Scene, front: Front, person: str) -> tuple[Clause, Hit | None]:
    """Judge a clause; if it says nothing, what follows a colon in it, or what it says of "her"."""
    if scene.role == "assistant":
        return clause, agents(clause, scene)
    hit = judge(clause, scene, front=front)
    if hit is not None:
        return clause, hit
    third = words.THIRD.match(clause.said)
    name = person if third is None or not third["name"] else third["name"]
    if third is not None and third.end() and (not third["pronoun"] or name):
        moved = _instead(clause, third, name)
        if (hit := judge(moved, scene, front=front)) is not None:
            return moved, hit
    colon = clause.said.find(": ")
    if 0 < colon < len(clause.said) - words.SHORTEST and not words.LABEL.match(clause.said):
        rest = clause.said[colon + 2 :]
        later = clause_of(rest, clause.end - len(rest))
        if (hit := judge(later, scene, front=front)) is not None:
            return later, hit
    return clause, None


def _instead(clause: Clause, third: re.Match[str], name: str) -> Clause:
    """Put the name in place of "she" or "her", and take off "Dana said that"; the place stays that of the clause."""
    pronoun = (third["pronoun"] or "").lower()
    owner = pronoun in {"his", "her", "their"}
    named = (
        f"{name}'s " if owner else f"{name}{pronoun[pronoun.find(chr(39)) :] if chr(39) in pronoun else ''} "
    )
    return clause_of((named if pronoun else "") + clause.said[third.end() :], clause.start)


def _continues(clause: Clause) -> bool:
    return not (
        words.REQUEST.match(clause.low) or words.DANGLING.match(clause.low) or words.VAGUE.search(clause.low)
    )


def _joined(group: Claim, clause: Clause, scene: Scene) -> Claim:
    """Add a clause that says more of the same statement."""
    text = _narrated(when.carry(clause.said, dates_of(clause, scene)), group.category, scene).rstrip(" .!;,")
    return replace(group, text=f"{group.text}; {text}", end=clause.end)


def _reminder(clause: Clause, scene: Scene, order: re.Match[str]) -> Iterator[Claim]:
    dates = dates_of(clause, scene)
    if not dates and not order["what"]:
        return
    what = _REMIND_ME.split(when.carry(clause.said, dates), maxsplit=1)[-1]
    text = f"{scene.me} asked {scene.you} to remind them{_narrated(what, 'commitment', scene, inside=True)}"
    yield _claim(
        clause, Hit("commitment", sig=RAISED, dates=dates, due=True, about="agent"), scene, text=text
    )


def _named(apposed: re.Match[str], start: int, body: str, scene: Scene) -> Claim:
    """Read "my sister Lea" and "Emre, our other maintainer" as what they say in passing."""
    name, what = apposed["name"] or apposed["name2"], apposed["what"] or apposed["what2"]
    whose = (apposed["whose"] or apposed["whose2"]).lower()
    owner = f"{scene.me}'s" if whose == "my" else "the team's"
    return Claim(
        category="fact", text=f"{name} is {owner} {what}", start=start, end=start + len(body), about=name
    )


def _narrated(text: str, category: str, scene: Scene, *, inside: bool = False) -> str:
    we, our = (
        ("The team", "the team's") if category in _WORKING else (f"{scene.me} and others", f"{scene.me}'s")
    )
    voice = Voice(scene.me, scene.you, we, our)
    return third_person.agree(third_person.narrate(third_person.expand(text), voice, inside=inside), voice)


def _claim(clause: Clause, hit: Hit, scene: Scene, *, text: str = "") -> Claim:
    """Write a clause's text and take its dates."""
    if not text:
        lead = hit.lead.format(me=scene.me, you=scene.you) if hit.lead else ""
        said = third_person.expand(when.carry(clause.said, hit.dates))[hit.cut :]
        if lead.endswith(" to "):
            said = said[:1].lower() + said[1:]
        text = lead + _narrated(said, hit.category, scene, inside="{me}" in hit.lead)
    text = _BLANKS.sub(" ", text).strip().rstrip(".!;,: ")
    text = text[:1].upper() + text[1:]
    claim = Claim(
        category=hit.category, text=text, start=clause.start, end=clause.end, sig=hit.sig, about=hit.about
    )
    return bounded(claim, hit.dates, anchor=scene.anchor, due=hit.due)


def _weighed(claim: Claim, said: str, front: Front) -> Claim:
    """Raise what was ordered to be remembered, mark a correction, and trust less what was hedged."""
    return replace(
        claim,
        text=f"Correction: {claim.text}" if front.corrects else claim.text,
        sig=max(RAISED, claim.sig or 0.0) if front.ordered else claim.sig,
        conf=HEDGED if words.HEDGES.search(said) else claim.conf,
    )
