"""What a new statement puts in question without accounting for all that the old one says.

Owns two judgements: that a text denies a value the old one names among other things, and that it moves what the old
one gave a time. Promises that both only ask: the old statement stays, and a person decides; never replaces anything.
"""

from __future__ import annotations

from reverie.core.guard.contrast import subject
from reverie.core.guard.reading import Reading, Token, read
from reverie.core.guard.turns import Turned
from reverie.core.guard.words_zh import KIN
from reverie.core.text.patterns import Words

_DENIES = (
    Words(
        r"[,;]? (?:and )?not (?:on |at |in |to |a |an |the )?(?P<wrong>[\w'.:/-]+(?: [\w'.:/-]+){0,3}?)(?=[.,;!]|$)"
    ),
    Words(r"\brather than (?P<wrong>[\w'.:/-]+(?: [\w'.:/-]+){0,3}?)(?=[.,;!]|$)"),
    Words(
        r"[，,。]\s*[^，,。]{0,12}?不(?:是|姓|叫|在)(?:姓|叫|在)?(?P<wrong>[^，,。；是]{1,16})(?=[，,。；]|$)"
    ),
)
_DENYING = ("not ", "rather than ", "不")  # of which each of these has one
_CLAUSE = Words(r"[,;]\s(?:and\s|but\s)?|[，；。]|[.!?]\s")
_BARE = Words(r"Correction: it is |(?:用户)?更正：是")
_OF_THE_JOB = Words(
    r"职位|负责|岗位|薪|组|部门|\b(?:role|title|team|manag\w+|report\w*|salary|desk|responsible|lead\w*)\b"
)
_MEANS_NOTHING = frozenset(("relation", "have", "person", "correction", "change", "tense", "modality"))
_SCHEDULED = frozenset(("date", "number"))
_PAIR = 2  # Chinese characters that make a word


def denies(new: str) -> bool:
    """Tell whether a text says of something that it is not so."""
    return any(word in new for word in _DENYING) and any(pattern.search(new) for pattern in _DENIES)


def denied(new: str, old: str) -> Turned | None:
    """Return that the new text says `not X` of the same subject, where the old one says X among other things."""
    if not denies(new):
        return None
    two = read(old)
    known = _forms(two.content)
    for pattern in _DENIES:
        found = pattern.search(new)
        if found is None or found.start() == 0:
            continue
        wrong = _said(read(found["wrong"]))
        if not wrong or not all(token.forms & known for token in wrong):
            continue
        one = _without_marks(read(new[: found.start()] + " " + new[found.end() :]))
        errors = _forms(wrong)
        topic = [t for t in _said(one) if t.forms & known and not t.forms & errors and t.kind == "word"]
        right = [t for t in _said(one) if not t.forms & known]
        of_whom = set(subject(one)) - {"have", "name"} - {t.form for t in right if t.name}
        if right and _said(one) == right and _bare(new) and any(t.kind != "word" or t.name for t in wrong):
            return Turned(
                "contradicts", f"it says {right[0].raw}, not {found['wrong'].strip()}, and not of what"
            )
        if topic and right and of_whom <= known | {"user"} and subject(one)[:1] == subject(two)[:1]:
            return Turned("contradicts", f"it says that it is not {found['wrong'].strip()}", flips=True)
    return None


def _bare(new: str) -> bool:
    """Tell whether a text corrects a word without saying of what: `Correction: it is Lena, not Lea`."""
    return _BARE.match(new) is not None


def moved(new: str, old: str) -> Turned | None:
    """Return that the new text gives another time to what the old one, which says more of it, gave a time."""
    one, two = read(new), read(old)
    if not one.has("change"):
        return None
    place = next((i for i, t in enumerate(one.tokens) if t.kind == "change"), 0)
    if not place or one.has("negation", "modality") or two.has("negation", "modality", "tense"):
        return None
    topic = _said(Reading(one.text, one.tokens[:place]))
    times = [[t for t in side.content if t.kind in _SCHEDULED] for side in (one, two)]
    known = _forms(two.content)
    if not all(times) or _forms(times[0]) & _forms(times[1]) or not all(t.forms & known for t in topic):
        return None
    if any(":" in t.form for t in times[0]) != any(":" in t.form for t in times[1]):
        return None  # a time of day is no other day
    if not _is_thing(topic) or {t.kind for t in times[0]}.isdisjoint(t.kind for t in times[1]):
        return None
    return Turned("contradicts", "it says that this was moved, and the older one says more of it")


def says_more(old: str) -> bool:
    """Tell whether a statement goes on to say something of its own behind its first clause.

    `User works at Acme, and User's sister is a nurse` does; `the budget is 500 euros, so keep it boring` does not. What
    belongs to an employment (a title, a duty) ends with it.
    """
    clauses = [part.strip() for part in _CLAUSE.split(old) if part.strip(" .。")]
    for clause in clauses[1:]:
        content = [t for t in read(clause).content if t.kind != "relation"]
        opens = content[0] if content else None
        of_another = opens is not None and (opens.kind == "person" or opens.name or opens.form in KIN)
        if of_another and len(content) > 1 and _OF_THE_JOB.search(clause) is None:
            return True
    return False


def _said(reading: Reading) -> list[Token]:
    return [t for t in reading.content if t.kind not in _MEANS_NOTHING]


def _without_marks(reading: Reading) -> Reading:
    kept = tuple(t for t in reading.tokens if t.kind not in {"correction", "drop"} or t.raw == "的")
    return Reading(reading.text, kept)


def _forms(tokens: list[Token] | tuple[Token, ...]) -> set[str]:
    return {form for token in tokens for form in token.forms}


def _is_thing(topic: list[Token]) -> bool:
    """Tell whether a topic names a thing that can be moved, and not only whose it is."""
    things = [
        t
        for t in topic
        if t.kind in {"word", "code"} and t.form not in KIN and not (t.name and t.raw.isascii())
    ]
    characters = {t.form for t in things if len(t.raw) == 1 and not t.raw.isascii()}
    return len(characters) >= _PAIR or any(len(t.raw) > 1 for t in things)
