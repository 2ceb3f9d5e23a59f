"""Which way the dates of an English clause point: behind it, where it tells the past, or to a thing still to come.

Owns the verbs and nouns that tell; promises that a date is given a direction by the verb that stands nearest before it,
so that "I had an interview on Thursday" lies behind and "I've got an interview on Thursday" ahead, and that a date
whose direction these do not tell is left as it was said. Never reads a clock, or a date that names its year.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules import third_person, when_en
from reverie.model.rules import words_en as words
from reverie.model.rules.when import Anchor, Dated, Dates, Way

# What takes place on a day that is known beforehand.
_EVENT = Words(
    r"""\b(?:appointments?|interviews?|auditions?|exams?|examinations?|weddings?|surgery|surgeries|operation|meetings?
    |calls?|flights?|part(?:y|ies)|concerts?|birthday|trips?|vacation|holidays?|conferences?|workshops?|ceremony
    |funeral|dinner|lunch|brunch|barbecue|bbq|guests|visit|visitors|hearing|trial|deadline|launch|demo|presentation|match
    |game|race|marathon|half-marathon|triathlon|session|lessons?|courses?|reservation|booking|tickets?|train|bus|ferry
    |check-?up|consultation|screening|festival|gig|reunion|slot|shift|event|celebration|baptism|christening|graduation
    |defen[cs]e|viewing|inspection|delivery|kick-?off|review|retro|retreat|invitation|webinar|vaccination|procedure
    |mri|scan|hotel|room|table|cruise|tour|camp|baby shower|shower|prom|ball|play|opera|show|move)\b"""
)
# Of these nobody is told of one but before it takes place.
_SLOT = Words(
    r"""\b(?:appointment|interview|audition|slot|reservation|booking|hearing|viewing|check-?up|consultation
    |exam date|surgery date)\b"""
)
_LEAD = Words(
    r"""(?:^|(?<=\W))(?P<lead>(?:starting|beginning|effective|commencing)(?: on| from)?|as of|since|for|to|by|until|till
    |til|through|before|from)(?: the)?[ (]*$"""
)
_PARTICIPLE = r"""(?:\w{3,}ed|to know|better|worse|sick|ill|home|back|rid|over|used|up|out|away|together|lost|stuck|into
    |through|wet|hurt|caught|drunk)"""
_VERB = Words(
    rf"""\b(?:(?P<now>(?:have|has) got(?! (?:{_PARTICIPLE})\b)|is|are|am|will|would|have|has|starts?|begins|comes
    |arrives|leaves|takes place|opens|closes|departs|lands|expires)
    |(?P<set>scheduled|booked|reserved)
    |(?P<plan>planned|arranged|set up|signed(?: \w+){{0,2}}? up|registered|enrol+ed|invited|assigned|summoned|expected)
    |(?P<get>got|received|sent|gave|given|bought|ordered|found|won|made|accepted|landed|mailed|e-?mailed|forwarded|handed
    |picked|grabbed|secured|offered|fixed)
    |(?P<say>told|said|asked|promised|agreed|decided|mentioned|announced|volunteered|confirmed)
    |(?P<moved>moved|pushed|postponed|rescheduled|delayed|shifted|changed|extended|put off|brought forward)
    |(?P<sorry>apologi[sz]ed|thanked|blamed|forgave|sorry)
    |(?P<go>had|was|were|did|went|attended|took|sat|passed|failed|enjoyed|missed|hosted|celebrated|joined|held|led|ran
    |skipped|visited|saw|met|spoke|played|watched|came|left|flew|drove|rode|survived|finished|completed|wrote|started
    |stayed|lived|worked|waited|slept|ate|danced|sang|presented|returned|arrived|travel+ed|graduated|married|swam|hiked
    |climbed|began|organi[sz]ed|ended|broke|lost|threw|caught|spent|quit|died|launched|demoed|interviewed)
    |(?P<other>(?!need|feed|indeed|hundred|named|bed\b|red\b|based|called|supposed|related|seed|speed|embed)\w{{2,}}ed
    |became|built|chose|drew|felt|fell|grew|kept|knew|paid|shipped|showed|sold|stood|taught|thought|woke|wore|brought
    |heard|learnt|forgot|read|put))\b"""
)
_DIRECT = Words(r" ?(?:(?:it|them|that|this|me|us|him|her|everything) )?(?:on |at |in )?(?:the )?")
_TOLD = Words(r" ?(?:(?:the|my|our|his|her) )?(?:\w+ )?(?:on |at |in )?(?:the )?")
_TO_DO = Words(r"\bto (?!the\b|my\b|our\b|me\b|us\b|a\b|an\b)[a-z]+")
_REPORTED = Words(r"\b(?:said|says|told|mentioned|confirmed|heard|announced)\b.*\b(?:was|were) \w+ing\b")
_CALLED_OFF = Words(
    r"\b(?:was|were|got|been|is) (?:cancel+ed|called off|moved|postponed|rescheduled|pushed|put off|delayed)\b"
)
_ONWARDS = Words(r" on(?:wards?)?\b(?! (?:the|a|my|mon|tue|wed|thu|fri|sat|sun)\b)")
_OWN_LEAD = Words(r"(?:on|by|until|till|before|due|from|in|since|for)\b ?", fold=True)


@lru_cache(maxsize=16)  # a clause is asked for its dates by each judgement that needs them
def dates(said: str, anchor: Anchor) -> Dates:
    """Return the times that a clause names: those that are certain, and those of which nobody knows which is meant."""
    low = third_person.expand(said).lower()
    near = when_en.find(said, anchor)
    past = words.PAST.search(low) is not None
    if not near or (past and words.AHEAD.search(low) is not None):
        return Dates(near)
    coming = when_en.find(said, replace(anchor, ahead=True))
    if not past:
        comes = words.AHEAD.search(low) is not None or _EVENT.search(low) is not None
        return Dates(coming if comes else near)
    behind = when_en.find(said, replace(anchor, past=True))
    return Dates.between(coming, behind, way=lambda one: _way(*_around(said, one)))


def _around(said: str, one: Dated) -> tuple[str, str]:
    """Return the words before a date, with the preposition that is a part of it, and those after it."""
    own = _OWN_LEAD.match(said, one.start)
    start = own.end() if own is not None and own.end() < one.end else one.start
    return third_person.expand(said[:start]).lower(), third_person.expand(said[one.end :]).lower()


def _way(before: str, after: str) -> Way:
    """Say which way a date points in a clause about the past."""
    match = _LEAD.search(before)
    lead = match["lead"].split()[0] if match is not None else ""
    if lead in {"starting", "beginning", "effective", "commencing", "as"}:
        return "ahead"
    verbs = tuple(_VERB.finditer(before))
    if not verbs:
        return "" if _CALLED_OFF.search(after) else "behind"
    verb = verbs[-1]
    kind = verb.lastgroup or "other"
    if kind == "now":
        return "ahead"
    between = before[verb.end() :]
    if lead:
        return _led(lead, kind, onwards=_ONWARDS.match(after) is not None)
    if _REPORTED.search(before) or _CALLED_OFF.search(after):
        return ""
    return _told(kind, verb[0], between)


def _led(lead: str, kind: str, *, onwards: bool) -> Way:
    """Say which way a date points behind a preposition that sets a bound or an aim."""
    if lead == "since":
        return "behind"
    if lead == "from":
        return "ahead" if onwards else "" if kind in {"moved", "set", "plan", "get", "say"} else "behind"
    if lead == "to":
        return "ahead" if kind in {"moved", "set", "plan"} else "behind"
    if lead == "for":
        return "behind" if kind == "sorry" else "" if kind == "go" else "ahead"
    if kind == "go":
        return "" if lead in {"by", "before"} else "behind"
    return "" if kind in {"other", "sorry"} else "ahead"


def _told(kind: str, verb: str, between: str) -> Way:
    """Say which way a date points behind a verb about the past and the words `between` them."""
    event = _EVENT.search(between) is not None
    if kind == "say":
        if _TO_DO.search(between):
            return "ahead" if verb in {"promised", "agreed", "volunteered"} else ""
        plain = verb in {"told", "said", "asked", "mentioned", "promised"}
        return "behind" if plain and not event and _TOLD.fullmatch(between) else ""
    if kind == "go" or (kind == "sorry" and not event):
        return "behind"
    if kind in {"set", "plan"}:
        if _DIRECT.fullmatch(between):
            return ""
        return "ahead" if event or kind == "set" else ""
    if kind == "get" and _SLOT.search(between):
        return "ahead"
    return "" if event else "behind"
