"""Read Chinese sentences by rule: what they state, of whom it is true, and when.

Owns the order in which a sentence is judged; its words are in `words_zh` and `states_zh`. A Chinese sentence chains
clauses by commas and names its subject once, so a clause without a subject has the one before it. Promises to stay
silent on questions, hypotheses, jokes and requests. Never reads other turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules import states_zh as states
from reverie.model.rules import tense_zh, when
from reverie.model.rules import words_zh as words
from reverie.model.rules.claims import HEDGED, RAISED, STRONG, Claim, Scene, bounded
from reverie.model.rules.sentences import Sentence
from reverie.model.rules.voice_zh import names, narrated
from reverie.model.rules.when import Dated, Dates

_DATED = Words(
    r"^(?:(?:上|这|本|去|今|前)(?:个?月|周|星期|年)|[一二三四五六七八九十\d]{1,3}月(?:份|[一二三四五六七八九十\d]{1,3}[号日])?)(?:初|底|中)?"
)
_DENIED = Words(r"不(?:姓|叫|是)[^，]{1,8}$")
_CORRECTED = Words(r"不是[^，]{1,12}，(?:而)?是[^，]{1,16}$")


class _Clause(msgspec.Struct, frozen=True):
    """One clause: as said, and `flat` for matching, and the subject it has or inherits.

    `flat` has half-width punctuation and no blank beside a Chinese character. `rest` is its predicate; `named` says
    that the clause names its subject itself.
    """

    said: str
    flat: str
    start: int
    kind: str
    about: str
    rest: str
    named: bool

    @property
    def end(self) -> int:
        return self.start + len(self.said)


class _Hit(msgspec.Struct, frozen=True):
    """What a clause was found to be, before its text is written."""

    category: str
    sig: float | None = None
    about: str = ""
    dates: tuple[Dated, ...] = ()
    due: bool = False
    standing: bool = False


def introduces(intro: str) -> bool:
    """Say whether a sentence announces the steps of a how-to."""
    return words.INTRODUCES.search(intro.translate(words.FLAT)) is not None


def retold(intro: str, scene: Scene) -> str:
    """Return an introduction in the third person."""
    return narrated(intro, "procedure", scene=scene)


def read(sentence: Sentence, scene: Scene) -> Iterator[Claim]:
    """Yield what a Chinese sentence states that is worth keeping; mostly nothing."""
    said = sentence.text
    if len(said) < words.SHORTEST or "[redacted:" in said:
        return
    flat = said.translate(words.FLAT)
    at, ordered, corrects = _front(flat)
    body, start = flat[at:].rstrip("。!~; "), sentence.start + at
    if words.FORGET.match(body):
        return
    claims = list(_claims(said[at:], body, start, scene, ordered=ordered))
    if not claims or words.JOKING.search(flat):
        return
    hypothetical = words.HYPOTHETICAL.search(body) is not None
    for claim in claims:
        if not hypothetical or claim.category == "procedure" or claim.about == "agent":
            yield _weighed(claim, said, ordered=ordered, corrects=corrects)


def _front(flat: str) -> tuple[int, bool, bool]:
    """Return how far greetings and small words reach, and whether they order remembering or correct."""
    at, ordered, corrects = 0, False, False
    while (lead := words.LEAD.match(flat, at)) is not None and lead.end() > at:
        corrects = corrects or words.CORRECTS.search(lead[0]) is not None
        ordered = ordered or words.ORDERS.search(lead[0]) is not None
        at = lead.end()
    return at, ordered, corrects


def _claims(said: str, body: str, start: int, scene: Scene, *, ordered: bool) -> Iterator[Claim]:
    squeezed = words.squeezed(body)
    whole = _Clause(said[: len(body)], squeezed, start, "", "", squeezed, named=False)
    if scene.role == "user" and "?" not in body:
        if (order := words.REMIND.match(squeezed)) is not None:
            yield from _reminder(whole, scene, order)
            return
        if words.STEPPED.search(squeezed) and any(pattern.match(squeezed) for pattern in words.PROCEDURES):
            yield _claim(whole, _Hit("procedure"), scene)
            return
        if words.LESSON.match(squeezed):
            yield _claim(whole, _Hit("lesson"), scene)
            return
    clauses = list(_clauses(said, body, start))
    asking = words.ASKING.search(body) is not None
    if asking:
        clauses = [one for one in clauses[:-1] if not words.ASKED.search(one.flat)]
    yield from _grouped(clauses, scene, ordered=ordered, alone=asking)


def _grouped(clauses: list[_Clause], scene: Scene, *, ordered: bool, alone: bool) -> Iterator[Claim]:
    """Judge clauses in order; one that states nothing by itself goes with its neighbour, unless it stands `alone`."""
    group: Claim | None = None
    before: list[_Clause] = []
    for clause in clauses:
        hit = _judge(clause, scene, ordered=ordered)
        if hit is None:
            if alone or _ends(clause):
                continue
            if group is not None:
                group = replace(
                    group, text=f"{group.text}，{_aside(clause, group.category, scene)}", end=clause.end
                )
            elif scene.role == "user":
                before.append(clause)
            continue
        claim = _claim(clause, hit, scene)
        if group is None and before:
            lead = "，".join(_aside(one, claim.category, scene) for one in before)
            if claim.category == "episode" and not clause.kind and _CORRECTED.search(lead):
                # What is so has no date, and of whom the rest tells only the reader knows.
                yield Claim(category="fact", text=lead, start=before[0].start, end=before[-1].end, sig=STRONG)
                return
            said = claim.text.removeprefix(claim.about) if _DENIED.search(lead) else claim.text
            claim = replace(claim, text=f"{lead}，{said}", start=before[0].start)
        if group is not None and group.category == claim.category and not (claim.due and group.due):
            group = _merged(group, claim)
            continue
        if group is not None:
            yield group
        group = claim
    if group is not None:
        yield group


def _merged(group: Claim, claim: Claim) -> Claim:
    said = claim.text
    if group.about and group.about == claim.about and _DENIED.search(group.text):
        said = said.removeprefix(group.about)  # `不姓王，姓黄` is one statement
    text, due, since = f"{group.text}，{said}", group.due or claim.due, group.since or claim.since
    return replace(group, text=text, end=claim.end, due=due, since=since)


def _clauses(said: str, body: str, start: int) -> Iterator[_Clause]:
    kind, about, at = "", "", 0
    cuts = [
        cut
        for cut in words.CUT.finditer(body)
        if cut[0][0] != ":" or not words.LABEL.search(body[: cut.start()])
    ]
    for stop, after in [*((cut.start(), cut.end()) for cut in cuts), (len(body), len(body))]:
        raw = body[at:stop]
        bare = raw.strip(",;— ")
        if bare:
            first = at + raw.index(bare)
            flat = words.squeezed(bare)
            found = states.subject(flat)
            rest = flat
            if found is not None:
                kind, about, rest = found.kind, found.about, flat[found.end :]
            exact = said[first : first + len(bare)]
            yield _Clause(exact, flat, start + first, kind, about, rest, named=found is not None)
            kind = "person" if kind == "owned" else kind
        at = after


def _aside(clause: _Clause, category: str, scene: Scene) -> str:
    """Return a clause that states nothing by itself but belongs to its neighbour."""
    return _told(clause, _Hit(category, dates=_dates(clause, scene)), scene)


def _ends(clause: _Clause) -> bool:
    flat = clause.flat
    return words.REQUEST.match(flat) is not None or words.VAGUE.search(flat) is not None or flat[:1] in "你您"


def _dates(clause: _Clause, scene: Scene) -> tuple[Dated, ...]:
    return _named(clause, scene).sure


def _named(clause: _Clause, scene: Scene) -> Dates:
    if words.MAYBE_DATE.search(clause.flat) is None:
        return Dates()
    return tense_zh.dates(clause.said, scene.anchor)


def _judge(clause: _Clause, scene: Scene, *, ordered: bool) -> _Hit | None:
    """Decide what a clause is, or that it is nothing to keep."""
    flat = clause.flat
    if scene.role == "assistant":
        return _agents(clause, scene)
    if words.STANDING.match(flat) and not words.STANDING_OTHERS.match(flat) and clause.kind in {"", "self"}:
        return _Hit("preference", sig=STRONG, standing=True)
    if words.DECIDED.match(flat) and not words.POINTS.search(flat) and len(flat) > words.SHORTEST + 1:
        return _Hit("decision", sig=STRONG, dates=_dates(clause, scene))
    if words.LESSON.match(flat) and not flat.startswith("原因"):
        return _Hit("lesson", dates=_dates(clause, scene))
    if _ends(clause):
        return None
    hit = _timed(clause, scene) or _stated(clause, scene)
    if ordered and hit is not None and _own_duty(hit, clause, scene):
        hit = replace(hit, category="commitment", due=True)
    if hit is None and ordered and words.DECLARES.match(flat):
        hit = _Hit("fact", dates=_dates(clause, scene))
    return hit


def _own_duty(hit: _Hit, clause: _Clause, scene: Scene) -> bool:
    """Say whether what is to be remembered is a thing that the speaker has to do on a day to come."""
    ahead = any(one.last >= scene.anchor.day for one in hit.dates)
    own = clause.kind in {"", "self"} and hit.category == "episode"
    return (
        ahead
        and own
        and words.DUTY.search(clause.flat) is not None
        and words.PAST.search(clause.flat) is None
    )


def _timed(clause: _Clause, scene: Scene) -> _Hit | None:
    """Commitments, appointments and events: what needs a date to be worth keeping."""
    flat = clause.flat
    named = _named(clause, scene)
    dates = named.sure
    if clause.kind and words.PROMISED.match(clause.rest):
        return _Hit("commitment", about=clause.about, dates=dates, due=True)
    if words.EPHEMERAL.search(flat):
        return None
    if not dates:
        done = clause.kind in {"", "self", "group"} and words.FULFILLED.match(flat) is not None
        done = done or (named.unsure != () and clause.kind != "" and words.DID.match(flat) is not None)
        return _Hit("episode", about=clause.about) if done else None
    ahead = any(one.last > scene.anchor.day for one in dates)
    deadline = any(one.role in {"by", "due"} for one in dates)
    duty = words.DUTY.search(flat) is not None
    hit = _Hit("commitment", about=clause.about, dates=dates, due=True)
    if clause.kind == "self" and words.TODAY.search(flat):
        ahead = ahead or any(one.last == scene.anchor.day for one in dates)
    if deadline and (duty or words.DEADLINE.search(flat)):
        return hit
    if (
        ahead
        and duty
        and clause.kind
        and words.WILL.match(when.carry(clause.said, dates).translate(words.FLAT))
    ):
        return hit
    hit = replace(hit, category="episode", due=False)
    if ahead and (words.HAPPENS.search(flat) or (clause.kind and words.DID.match(flat))):
        return hit
    if (
        not ahead
        and (clause.kind or words.SPECIFIC.search(flat) or words.FINISHED.match(flat))
        and words.DID.match(flat)
    ):
        return replace(hit, category=states.state_of(_DATED.sub("", clause.rest), clause.kind) or "episode")
    return None


def _stated(clause: _Clause, scene: Scene) -> _Hit | None:
    """Lasting statements of the speaker, of people and of things, and what changed."""
    rest = _DATED.sub("", clause.rest)
    category = states.state_of(rest, clause.kind) or states.thing_of(clause.flat)
    if category is None and words.CHANGED.match(clause.flat) and words.SPECIFIC.search(clause.flat):
        category = "fact"
    if category is None and words.CHANGED_THING.fullmatch(clause.flat):
        category = "fact"
    if category is None:
        return None
    sig = STRONG if words.GRAVE.search(clause.flat) else None
    return _Hit(category, sig=sig, about=clause.about, dates=_dates(clause, scene))


def _agents(clause: _Clause, scene: Scene) -> _Hit | None:
    """What an assistant's turn may give: its promises and the results it confirms."""
    flat = clause.flat
    if words.AGENT_RESULT.match(flat) and words.SPECIFIC.search(flat):
        return _Hit("episode", dates=_dates(clause, scene))
    if not words.AGENT_WILL.match(flat) or words.AGENT_EPHEMERAL.match(flat):
        return None
    dates = _dates(clause, scene)
    if any(one.last > scene.anchor.day for one in dates) or words.AGENT_LASTING.search(flat):
        return _Hit("commitment", about="agent", dates=dates, due=True)
    return None


def _reminder(whole: _Clause, scene: Scene, order: re.Match[str]) -> Iterator[Claim]:
    dates = _dates(whole, scene)
    if dates or len(order["what"]) >= words.SHORTEST:
        yield _claim(whole, _Hit("commitment", sig=RAISED, about="agent", dates=dates, due=True), scene)


def _told(clause: _Clause, hit: _Hit, scene: Scene) -> str:
    text = narrated(when.carry(clause.said, hit.dates), hit.category, scene=scene)
    return re.sub(r"\s+", " ", text).strip().rstrip("。.!！；;，, ")


def _claim(clause: _Clause, hit: _Hit, scene: Scene) -> Claim:
    """Write a clause's text, with the subject it inherits, and take its dates."""
    text = _told(clause, hit, scene)
    me, you = names(scene)
    if hit.standing:
        text = f"{me}要求{you}：{text}"
    elif not clause.named and clause.kind == "self" and me not in text:
        text = me + text
    elif not clause.named and clause.kind == "person" and clause.about not in text:
        text = clause.about + text
    claim = Claim(
        category=hit.category, text=text, start=clause.start, end=clause.end, sig=hit.sig, about=hit.about
    )
    return bounded(claim, hit.dates, anchor=scene.anchor, due=hit.due)


def _weighed(claim: Claim, said: str, *, ordered: bool, corrects: bool) -> Claim:
    """Raise what was ordered to be remembered, mark a correction, and trust less what was hedged."""
    return replace(
        claim,
        text=f"更正：{claim.text}" if corrects else claim.text,
        sig=max(RAISED, claim.sig or 0.0) if ordered else claim.sig,
        conf=HEDGED if words.HEDGES.search(said) else claim.conf,
    )
