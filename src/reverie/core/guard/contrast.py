"""How alike two statements are, and in what they differ.

Owns `likeness` and `differences`; promises that a difference in any number, date, name, negation, place, unit,
subject, quantity, tense, code or plain word is found: whatever is not equal and not in the table of words that say
nothing is a difference; never says which of two statements is right.
"""

from __future__ import annotations

from functools import lru_cache

from reverie.core.guard.places import PLACES
from reverie.core.guard.reading import Reading, Token, read
from reverie.core.guard.words import AMBIGUOUS_NAMES, CONTRASTED, SAME_PAST, VERBS
from reverie.core.guard.words_zh import CHINESE, KIN, OPPOSED_ZH

_COPULAS = frozenset(("is", "are", "am", "goes", "whose", "是", "叫", "名叫", "叫做", "名字叫", "名字是"))
_OPPOSITES = CONTRASTED | OPPOSED_ZH
_PLACES = frozenset(PLACES.values())
_NOWHERE = 1 << 60
_NOUN = 3  # characters of a noun that no table knows
_VERBS_ZH = frozenset("吃喝买卖看写读学教做打去来住开坐穿睡听说想姓叫当带养修会拿送找玩练唱跳画考")
_TURNED = 200  # tokens up to which a phrase may have moved from one end to the other
_TURNING = frozenset(
    "negation modality tense quantity relation number date version unit code change correction".split()
)


@lru_cache(maxsize=8192)
def differences(a: str, b: str) -> tuple[str, ...]:
    """Return the kinds of differences between two statements, sorted; none means that they say the same.

    Kinds: number, date, version, unit, name, place, negation, antonym, modality, tense, quantity, relation, person,
    subject, code, change, correction, word (any other word), order (the same words, related the other way round).
    """
    one, two = read(a), read(b)
    if one.text == two.text:
        return ()
    left, right, pairs = matched(one, two)
    kinds: set[str] = set()
    forms = ({f for t in left for f in t.forms}, {f for t in right for f in t.forms})
    if any(x != y and frozenset((x, y)) in _OPPOSITES for x in forms[0] for y in forms[1]):
        kinds.add("antonym")
    for token in (*left, *right):
        kinds |= _kinds(token)
    for x, y in pairs:
        if x.past != y.past:
            kinds.add("tense")
        if x.count != y.count and "many" in {x.count, y.count} and not x.forms & VERBS:
            kinds.add("quantity")
        if x.forms & SAME_PAST and x.count != y.count:
            kinds.add("tense")
        if x.name != y.name and x.raw.casefold() in AMBIGUOUS_NAMES:
            kinds.add("name")
    if not left and not right and not same_order(one, two):
        kinds.add("order")
    if kinds and subject(one) != subject(two):
        kinds.add("subject")
    return tuple(sorted(kinds))


def likeness(a: str, b: str) -> float:
    """Return the share of content that two statements have in common, 0.0 to 1.0 (Dice's coefficient over tokens).

    Words that say nothing do not count, inflected and synonymous words are the same. Two statements without any
    content are alike only if they are equal.
    """
    one, two = read(a), read(b)
    total = len(one.content) + len(two.content)
    if not total:
        return float(one.text == two.text)
    return 2 * len(matched(one, two)[2]) / total


def matched(one: Reading, two: Reading) -> tuple[list[Token], list[Token], list[tuple[Token, Token]]]:
    """Return the tokens only the first has, those only the second has, and the pairs that are the same."""
    places, others = two.places, two.content
    used: set[int] = set()
    passed: dict[str, int] = {}
    left: list[Token] = []
    pairs: list[tuple[Token, Token]] = []
    for token in one.content:
        place = _NOWHERE
        for form in token.forms:
            if form in places:
                place = min(place, _first(form, places[form], used, passed))
        if place == _NOWHERE:
            left.append(token)
        else:
            used.add(place)
            pairs.append((token, others[place]))
    return left, [t for place, t in enumerate(others) if place not in used], pairs


def _first(form: str, places: list[int], used: set[int], passed: dict[str, int]) -> int:
    """Return the first place of a form that is not used yet; `passed` keeps how many before it are."""
    at = passed.get(form, 0)
    while at < len(places) and places[at] in used:
        at += 1
    passed[form] = at
    return places[at] if at < len(places) else _NOWHERE


def literal(a: str, b: str) -> bool:
    """Tell whether two statements without a difference hold the same words, so that no synonym stands for another."""
    return all((x.bare or x.forms) & (y.bare or y.forms) for x, y in matched(read(a), read(b))[2])


def subject(reading: Reading) -> tuple[str, ...]:
    """Return whom or what a statement is about: the forms of its first words, up to the first verb."""
    found: list[str] = []
    for token in reading.tokens:
        raw = token.raw.casefold()
        if token.kind in {"drop", "now"}:
            if found and raw.split()[0] in _COPULAS:
                break
            continue
        if token.kind == "have" and found and raw in {"'s", "的", "my"}:
            found.append("have")
        elif token.kind == "person" or (not found and token.kind == "word") or _continues(token, found):
            found.append(token.form)
        elif _spells(token, found):
            found[-1] += token.form
        else:
            break
    return tuple(found)


def _spells(token: Token, found: list[str]) -> bool:
    """Tell whether a Chinese character spells on the noun that somebody has: `侄` and `媳` are one relative."""
    if len(found) <= found.count("have") + 1 or "have" not in found[:-1] or token.kind != "word":
        return False
    return _unlisted(token.raw) and all(map(_unlisted, found[-1])) and len(found[-1]) < _NOUN


def _unlisted(text: str) -> bool:
    """Tell whether a text is one Chinese character that no table knows as a word."""
    return len(text) == 1 and "\u3400" <= text <= "\u9fff" and text not in CHINESE and text not in _VERBS_ZH


def in_the_past(reading: Reading) -> bool:
    """Tell whether a statement tells of the past by its verb, also by one that is written like its present."""
    before: Token | None = None
    for token in reading.tokens:
        if token.kind == "word" and token.past:
            return True
        if token.raw in SAME_PAST and before is not None and before.kind == "word" and before.count != "many":
            return True  # `the laptop cost 900 euros`: in the present it costs
        before = token if token.kind != "drop" else before
    return False


def _continues(token: Token, found: list[str]) -> bool:
    """Tell whether a word still belongs to the subject: a name after a name, a noun after a possessive."""
    if token.kind != "word" or not found or token.forms & VERBS:
        return False
    return found[-1] == "have" or token.form in KIN or (token.name and found[-1] != "user")


def _kinds(token: Token) -> set[str]:
    """Return the kinds of difference that a token makes which only one side has."""
    kinds: set[str] = set()
    if any(c.isnumeric() for c in token.raw) and token.kind != "date":
        kinds.add("number")
    if token.kind in _TURNING:
        kinds.add(token.kind)
    elif token.kind == "person":
        kinds |= {"person", "subject"}
    elif token.form in _PLACES and token.name:
        kinds |= {"place", "name"}
    elif token.name:
        kinds.add("name")
    elif not kinds:
        kinds.add("word")
    return kinds


def same_order(one: Reading, two: Reading) -> bool:
    """Tell whether equal content stands in the same order, a phrase moved from one end to the other aside.

    `Anna likes Ben` is not `Ben likes Anna`; `on Fridays User works from home` is what `User works from home on
    Fridays` says. A single date may stand anywhere.
    """
    sides = []
    for reading in (one, two):
        content = [t for t in reading.content if t.kind != "have"]
        dates = [t for t in content if t.kind == "date"]
        sides.append([t for t in content if t.kind != "date"] if len(dates) == 1 else content)
    first, second = sides
    if len(first) != len(second):
        return False
    for turn in range(max(1, len(first)) if len(first) <= _TURNED else 1):
        turned = first[turn:] + first[:turn]
        if all(x.forms & y.forms for x, y in zip(turned, second, strict=True)):
            return True
    return False
