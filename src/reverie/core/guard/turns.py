"""How one statement turns another: corrects it, ends it, replaces its object, changes its number, denies it.

Owns these five judgements; promises that each needs the same subject and accounts for every token of the old
statement, so that nothing it says beside is replaced unseen; never looks at when or by whom something was said.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from reverie.core.guard.attributes import HOLDING_VERBS, KINDS_OF_TOOLS, MOVES, NUMBER_VERBS
from reverie.core.guard.bounds import MARKS, OPPOSITES, TO_A_VALUE, UPGRADES, VALUES, may_oppose, other_value
from reverie.core.guard.claims import claims
from reverie.core.guard.contrast import in_the_past, matched, same_order, subject
from reverie.core.guard.reading import Reading, Token, read
from reverie.core.guard.words import VERBS
from reverie.core.text.patterns import Words


class Turned(msgspec.Struct, frozen=True):
    """The judgement, its reason, and whether the two cannot both hold at once."""

    kind: Literal["supersedes", "corrects", "contradicts"]
    why: str
    flips: bool = False


_NOT_TAIL = Words(
    r"(?:,| -|;)?\s*(?:and\s)?\bnot (?:on |at |in |to |a |an |the )?(?P<wrong>[\w'.:/ -]{1,40}?)[.!]?$",
    fold=True,
)
_NOT_BUT = Words(r"\bnot (?P<wrong>[\w'.:/ -]{1,40}?),? but\b", fold=True)
_RATHER = Words(r",? rather than (?P<wrong>[\w'.:/ -]{1,40}?)[.!]?$", fold=True)
_ZH_NOT = Words(r"不(?:是|姓|叫)(?P<wrong>[^，,。；是]{1,16}?)[，,]?(?:而是|(?P<verb>是|姓|叫))")
_ZH_NOT_TAIL = Words(r"[，,]\s*(?:而)?不(?:是|姓|叫|在)(?P<wrong>[^，,。；是]{1,16})[。.]?$")
NOT_PATTERNS = (_NOT_BUT, _RATHER, _NOT_TAIL, _ZH_NOT, _ZH_NOT_TAIL)
LEAD = Words(
    r"^(?:no|sorry|correction|actually|oops|i misspoke|i was wrong|my mistake"
    r"|不对|不|更正一?下?|说错了|我说错了|口误|记错了|搞错了|纠正一?下?|其实)"
    r"[\s,:;.!，：。；—-]+(?P<rest>.+)$",
    fold=True,
)
_FROM = (
    Words(r"\bfrom (?P<old>[\w'.+# -]{1,40}?) to (?P<new>.+)$", fold=True),
    Words(r"\binstead of (?P<old>[\w'.+# -]{1,40}?)[,.]?$", fold=True),
    Words(r"\breplaced (?P<old>[\w'.+# -]{1,40}?) (?:with|by) (?P<new>.+)$", fold=True),
    Words(r"从(?P<old>[^，。从]{1,16}?)(?:换|改|搬|转|跳槽|升级|迁)(?:成|为|用|到|去|移)?"),
    Words(r"(?:代替|取代|替换)了?(?P<old>[^，。]{1,16})[。]?$"),
    Words(r"(?:不再用|不用)(?P<old>[^，。]{1,16}?)了?[。,]"),
)
_USES = VERBS | HOLDING_VERBS | {"chat", "talk", "help"}
_NAME = 3  # words of the longest name
_CLAUSE = Words(r"[,;，；。]|[.!?]\s|\b(?:and|but|because|since)\b|因为|但")
_ADJUNCT = frozenset(("relation", "date", "quantity"))
_CERTAIN = Words(r"(?:the|user's|my|our) [^,\d]{2,60}? (?:is|are) (?:at |on |in )?", fold=True)
_CERTAIN_ZH = Words(
    r"(?:用户的|我的)?[^，。的\d一二三四五六七八九十两]{2,8}?(?:的(?:时间|日期|金额|价格|号码))?(?:是|在|定在)"
)


def corrected(new: str, old: str) -> Turned | None:
    """Return that the new text says the old one was never true: `Lena, not Lea`, `actually …`, `不是…是…`."""
    if not read(new).has("negation", "correction", "relation") and "不" not in new:
        return None
    lead = LEAD.match(new)
    text = lead["rest"] if lead else new
    for pattern in NOT_PATTERNS:
        found = pattern.search(text)
        if found and found.start() > 0:
            verb = (found["verb"] or "是") if pattern is _ZH_NOT else " "
            cleaned = text[: found.start()] + verb + text[found.end() :]
            if _names_the_error(cleaned, found["wrong"], old):
                return Turned("corrects", f"it says that it is not {found['wrong'].strip()}", flips=True)
    if not (lead or read(new).has("correction")):
        return None
    for claim in claims(text):
        for other in claims(old):
            if claim.key == other.key and claim.value != other.value and not claim.ends:
                whole = _CLAUSE.search(old.strip(" .。")) is None
                return Turned(
                    "corrects" if whole else "contradicts", "it is said as a correction", flips=True
                )
    flip = flipped(text, old)
    typed = _one_type(_unmarked(read(text)), _unmarked(read(old)))
    return Turned("corrects", "it is said as a correction", flips=True) if flip or typed else None


def _names_the_error(cleaned: str, wrong: str, old: str) -> bool:
    """Tell whether all that the old statement says beyond the correction is what the correction calls wrong."""
    one, two, error = read(cleaned), read(old), read(wrong)
    extra, gone, pairs = matched(one, two)
    if not error.content or _without_names(one, extra) != _without_names(two, gone):
        return False
    shared = [x for x, _ in pairs if x.kind not in {"person", "have", "relation"}]
    named = all(
        any(t.forms & e.forms for e in error.content) for t in gone if t.kind not in {"relation", "have"}
    )
    said = all(any(t.forms & e.forms for t in two.content) for e in error.content)
    return bool(gone) and named and said and len(extra) <= len(gone) + 2 and bool(shared)


def _without_names(reading: Reading, differing: list[Token]) -> list[str]:
    """Return whom a statement is about, without a name that the other does not have: User's sister Lea."""
    names = {t.form for t in differing if t.name and t.raw.isascii()}
    return [form for form in subject(reading) if form not in names]


def ended(new: str, old: str) -> Turned | None:
    """Return that the new text says the old one holds no longer."""
    reading = read(new)
    if not (reading.has("negation") and any(t.form == "anymore" for t in reading.tokens)):
        return None
    two = read(old)
    if two.has("negation", "modality", "tense"):
        return None
    for text in (new, _CLAUSE.split(new, maxsplit=1)[0]):
        one = read(text)
        if not any(t.form == "anymore" for t in one.tokens):
            continue
        kept = _taken(one, frozenset(("change", "now", "drop")), {"not", "不", "没有", "没"})
        extra, gone, _ = matched(kept, two)
        if subject(kept) == subject(two) and not extra and (not gone or _adjunct(kept, two)):
            return Turned("supersedes", "it says that this is no longer so", flips=True)
    return None


def _taken(reading: Reading, kinds: frozenset[str], forms: set[str]) -> Reading:
    """Return a reading without the tokens of some kinds and forms."""
    return Reading(
        reading.text, tuple(t for t in reading.tokens if t.kind not in kinds and t.form not in forms)
    )


def _unmarked(reading: Reading) -> Reading:
    """Return a reading without marks of change and the relations that only lead to a value."""
    return Reading(
        reading.text,
        tuple(t for t in reading.tokens if t.kind not in MARKS and t.form not in TO_A_VALUE),
    )


def _adjunct(short: Reading, long: Reading) -> bool:
    """Tell whether the longer statement begins as the shorter one and only adds a phrase of place, time or manner."""
    a, b = short.content, long.content
    if len(b) <= len(a) or not all(x.forms & y.forms for x, y in zip(a, b, strict=False)):
        return False
    return b[len(a)].kind in _ADJUNCT and not any(t.kind in {"negation", "modality"} for t in b[len(a) :])


def replaced(new: str, old: str) -> Turned | None:
    """Return that the new text puts something in the place of what the old one names: `from X to Y`, `instead of X`."""
    one, two = read(new), read(old)
    if one.has("modality") or two.has("negation", "modality", "tense") or not one.has("change"):
        return None
    for pattern in _FROM:
        found = pattern.search(one.text)
        if not found:
            continue
        named = read(found["old"]).content
        rest = [t for t in two.content if not any(t.forms & n.forms for n in named)]
        held = [t for t in rest if t.kind not in {"person", "have", "relation"}]
        extra = [
            t for t in held if not any(t.forms & n.forms for n in one.content) and not t.forms & HOLDING_VERBS
        ]
        spoken = named and all(any(t.forms & n.forms for t in two.content) for n in named)
        if (
            spoken
            and not extra
            and subject(one)
            and subject(one)[:1] == subject(two)[:1]
            and _same_owner(one, two)
        ):
            return Turned("supersedes", f"it puts something in the place of {found['old'].strip()}")
    return None


def _same_owner(one: Reading, two: Reading) -> bool:
    """Tell whether both speak of the user, or both of what belongs to the user (`User's sister` is another)."""
    return ("have" in subject(one)) == ("have" in subject(two))


def retyped(new: str, old: str) -> Turned | None:
    """Return that only a number, a date or a tool of one kind changed, with a mark of change or where one fits once."""
    one, two = read(new), read(old)
    if one.has("modality") or two.has("modality", "tense", "negation"):
        return None
    marked = one.has("now", "change")
    if not marked and not other_value(one, two):
        return None  # without a mark of change nothing but a value, or a tool that something moves to, may differ
    a, b = _unmarked(one), _unmarked(two)
    if subject(a) != subject(b) and not _leading(a, b):
        return None
    if any(t.form in UPGRADES for t in one.tokens):
        a, b = (_taken(r, frozenset(("relation",)), set(HOLDING_VERBS)) for r in (a, b))
    left, right, pairs = matched(a, b)
    if not left or not right:
        return None
    if _one_type(a, b) and (marked or _fits_once(a, left, pairs)) and not in_the_past(a):
        return Turned("supersedes", "only its number or date changed")
    if any(t.form in MOVES for t in one.tokens) and _moved_tool(left, right):
        return Turned("supersedes", "it moves to another tool of the same kind")
    if marked and _one_kind_of_tool(left, right) and same_order(_only(a, pairs, 0), _only(b, pairs, 1)):
        return Turned("supersedes", "it names another tool of the same kind")
    if marked and _same_role(a, b, left, right):
        return Turned("supersedes", "it names another thing in the same role")
    if (
        _one_type(a, b)
        and any(t.kind == "have" for t, _ in pairs)
        and left[0].kind == "number"
        and _counts(a, left[0])
    ):
        return Turned("contradicts", "the two give different counts", flips=True)
    if _one_type(a, b) and _definite(one) and not any(t.kind == "unit" for t in left):
        return Turned("contradicts", "the two give different values of what seems to be one thing")
    return None


def _definite(reading: Reading) -> bool:
    """Tell whether a statement says what one certain thing is: `the flight is at …`, `User's key is …`, `航班是…`."""
    if reading.text.isascii():
        return _CERTAIN.match(reading.text) is not None and not in_the_past(reading)
    return _CERTAIN_ZH.match(reading.text) is not None


def _leading(a: Reading, b: Reading) -> bool:
    return bool(a.content and b.content) and bool(a.content[0].forms & b.content[0].forms)


def _only(reading: Reading, pairs: list[tuple[Token, Token]], side: int) -> Reading:
    kept = [pair[side] for pair in pairs]
    return Reading(reading.text, tuple(t for t in reading.content if any(t is k for k in kept)))


def _one_type(a: Reading, b: Reading) -> bool:
    """Tell whether two statements differ in one number or one date, and share more than the user."""
    left, right, pairs = matched(a, b)
    shared = [t for t, _ in pairs if t.kind in {"word", "code"}]
    for kinds in VALUES:
        if left and right and all(t.kind in kinds for t in (*left, *right)):
            if any(":" in t.form for t in left) != any(":" in t.form for t in right):
                return False  # a time of day is no other day
            counts = [sum(t.kind != "unit" for t in side) for side in (left, right)]
            one = kinds == VALUES[1] and any(
                t.count == "one" for pair in pairs for t in pair
            )  # a meeting of several
            return (
                bool(shared)
                and counts[0] == counts[1] <= 1 + (kinds == VALUES[1])
                and not one
                and same_order(_only(a, pairs, 0), _only(b, pairs, 1))
            )
    return False


def _fits_once(reading: Reading, left: list[Token], pairs: list[tuple[Token, Token]]) -> bool:
    """Tell whether only one such value can hold: what something costs, when it is due, the version of what is used."""
    words = {form for t, _ in pairs for form in t.forms}
    if any(t.kind == "unit" for t in left):
        return False  # 900 euros and 900 dollars may be two prices
    if words & NUMBER_VERBS and left[0].kind in {"number", "unit"}:
        return True
    if "due" in words and left[0].kind == "date":
        return True
    content = reading.content
    place = next((i for i, t in enumerate(content) if t is left[0]), 0)
    before = content[place - 1] if place else None
    versioned = (
        before is not None and before.name and "." in left[0].raw and left[0].kind in {"number", "version"}
    )
    return versioned and bool(words & {"use", "run", "使用"})


def _counts(reading: Reading, number: Token) -> bool:
    """Tell whether a number counts what is had: it stands directly behind `has`."""
    content = reading.content
    place = next((i for i, t in enumerate(content) if t is number), 0)
    return place > 0 and content[place - 1].kind == "have" and content[place - 1].raw not in {"'s", "的"}


def _one_kind_of_tool(left: list[Token], right: list[Token]) -> bool:
    """Tell whether both sides name tools of one kind, apart from a verb of use."""
    sides = [{f for t in side for f in t.forms if not t.forms & HOLDING_VERBS} for side in (left, right)]
    return all(sides) and any(sides[0] <= kind and sides[1] <= kind for kind in KINDS_OF_TOOLS)


def _moved_tool(left: list[Token], right: list[Token]) -> bool:
    """Tell whether a tool gave way to one of its kind, and the old statement says nothing but its use besides."""
    for kind in KINDS_OF_TOOLS:
        new, old = ([t for t in side if t.forms & kind] for side in (left, right))
        if len({t.form for t in new}) == len({t.form for t in old}) == 1:
            rest = [t for t in (*left, *right) if not t.forms & kind]
            return all(t.kind in {"relation", "code"} or (t.kind == "word" and t.forms & _USES) for t in rest)
    return False


def _same_role(a: Reading, b: Reading, left: list[Token], right: list[Token]) -> bool:
    """Tell whether what differs is all before the same `as …`, said of a state that holds one thing at a time."""
    tails = []
    for reading, extra in ((a, left), (b, right)):
        content = reading.content
        place = next((i for i, t in enumerate(content) if t.form == "as"), -1)
        if (
            place < 0
            or any(t is e for e in extra for t in content[place:])
            or not all(e.kind in {"word", "code"} for e in extra)
        ):
            return False
        tails.append(content[place:])
    return (
        len(left) <= _NAME
        and len(right) <= _NAME
        and len(tails[0]) > 1
        and all(x.forms & y.forms for x, y in zip(*tails, strict=False))
    )


def flipped(new: str, old: str) -> Turned | None:
    """Return that the new text says the opposite of the old one: it denies it, or says an opposed word."""
    one, two = read(new), read(old)
    if not may_oppose(one, two):
        return None
    marks = one.has("now", "change")
    a, b = (_taken(r, MARKS, {"again"}) for r in (one, two))
    left, right, pairs = matched(a, b)
    if any(t.raw == "没有" for t in (*left, *right)):
        left, right = ([t for t in side if t.kind != "have"] for side in (left, right))
    if not (left or right) or not any(t.kind in {"word", "code", "person"} for t, _ in pairs):
        return None
    denied = [t for t in (*left, *right) if t.kind == "negation"]
    if denied and len(denied) == len(left) + len(right):
        opposite = len([t for t in left if t.kind == "negation"]) % 2 != len(right) % 2
        opposite = opposite and all(
            t.form in {"not", "never", "no", "不", "没有", "没", "从不", "不会", "不能"} for t in denied
        )
    else:
        opposite = len(left) == len(right) == 1 and any(
            frozenset((x, y)) in OPPOSITES
            for x in left[0].forms | left[0].bare
            for y in right[0].forms | right[0].bare
        )
    if not opposite or not same_order(_only(a, pairs, 0), _only(b, pairs, 1)):
        return None
    if marks:
        return Turned("supersedes", "it says the opposite, as a change", flips=True)
    return Turned("contradicts", "it says the opposite", flips=True)
