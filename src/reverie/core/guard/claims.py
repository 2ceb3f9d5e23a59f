"""What a statement claims about a single-valued attribute: an employer, a home, a deadline, a price, a manager.

Owns the attributes and how their values are found; promises that two claims share a key only if they are about the
same attribute of the same subject with the same qualifiers; a statement that is hedged, past, negated or additive
(`also works at`) claims nothing.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from reverie.core.guard.attributes import (
    CLAIMING,
    CLAIMING_ASCII,
    COMPANY_WORDS,
    DATE_NOUNS,
    FREE_NOUNS,
    JOBS,
    NAME_NOUNS,
    NO_TITLES,
    NOT_EMPLOYERS,
    NUMBER_NOUNS,
    NUMBER_VERBS,
)
from reverie.core.guard.claims_zh import EMPLOYER_ZH, HOME_ZH, JOINED_ZH, LEFT_ZH, NEW_JOB_ZH
from reverie.core.guard.contrast import in_the_past, subject
from reverie.core.guard.places import PLACES, TWO_WORDS, level
from reverie.core.guard.reading import Reading, Token, read
from reverie.core.text.letters import CAPITALS
from reverie.core.text.patterns import Words


class Claim(msgspec.Struct, frozen=True):
    """An attribute of a subject and its value; `ends` claims that the value is no more."""

    key: tuple[str, ...]
    attribute: str
    value: str
    ends: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the value may be a detail of another one, or the same: a quarter of a city, some publisher."""
        return self.value.startswith(_UNKNOWN)


_UNKNOWN = "?:"
_NAME = rf"(?P<value>[{CAPITALS}][\w&.'-]*(?:\s(?:[{CAPITALS}][\w&.'-]*|of|and|&)(?=\s|$|[,.;]))*)"
_REST = r"(?P<rest>.*)$"
_NOW = r"(?:is\s)?(?:now\s|currently\s)?"
_GROUP = Words(r"(?P<who>[\w-]{1,40}) and others ")  # where these live, each of them lives
_EMPLOYER = Words(
    rf"^(?P<subject>.{{1,60}}?)\s{_NOW}(?:(?:works?|working|employed)\s(?:now\s)?(?:at|by)"
    rf"|(?:started|began)\s(?:working|a\s(?:new\s)?job|a\snew\sposition)\s(?:at|with)|has\sa\s(?:new\s)?job\s(?:at|with))\s{_NAME}{_REST}"
)
_POSTED = Words(
    rf"^(?P<subject>.{{1,60}}?)\s(?:is|works\sas)\s(?:now\s)?(?:[A-Z]\w+,\s)?(?:an?|the)\s(?P<title>[\w\s-]{{3,40}}?)\s(?:at|for)\s{_NAME}{_REST}"
)
_JOINED = Words(
    rf"^(?P<subject>.{{1,60}}?)\s{_NOW}(?:works?\sfor|working\sfor|(?:has\s)?joined|(?:has\s)?(?:started|began)\s(?:at|with))\s{_NAME}{_REST}"
)
_LEFT = Words(
    rf"^(?P<subject>.{{1,60}}?)\s(?:left|has\sleft|quit|resigned\sfrom|(?:quit|left)\s(?:his|her|their|the)\sjob\sat)\s{_NAME}{_REST}"
)
_HOME = Words(
    r"^(?P<subject>.{1,60}?)\s(?:(?:is\s)?(?:now\s|currently\s)?(?:lives?|living|resides?|residing|based)\s(?:now\s)?in"
    rf"|(?:has\s)?(?:moved|relocated)(?:\sback)?(?:\sfrom\s[{CAPITALS}][\w ]{{1,30}}?)?\sto)\s{_NAME}{_REST}"
)
_TITLE = Words(
    r"^(?P<subject>.{1,60}?)\s(?:(?:now|currently)\s)?(?:works?|(?:is\s)?working|(?:was|has\sbeen|got)\spromoted)\s(?:now\s)?"
    r"(?:as|to)\s(?:an?\s|the\s)?(?P<value>[a-zA-Z][\w -]{2,40}?)(?P<rest>(?:\s(?:since|from)\s.*|[,;].*)?)\.?$"
)
_AGE = Words(
    r"^(?P<subject>.{1,60}?)(?:\s(?:is|turned)\s(?:now\s)?(?P<value>\d{1,3})(?:\syears?\sold|(?<=turned\s\d\d))|\s?(?:今年|现在|已经)?(?P<value2>\d{1,3})岁了?)"
    r"(?P<rest>)[.。]?$"
)
_SAFE_REST = Words(
    r"[.。!]?|[,;。].*|\s(?:now|these days|nowadays|currently)[,;].*"
    r"|\s(?:as|since|starting|effective|because|after|from|instead)\b.*"
    r"|\s(?:now|these days|nowadays|currently)\.?",
    fold=True,
)
_DATED_REST = Words(r"\s(?:on|in|last|this)\s(?:\w+\s?){1,3}\.?", fold=True)
_ONCE = Words(r"\b(?:moved|relocated|joined|started|began|left|quit|resigned)\b")
_GOES_ON = Words(r"[,;]\s(?:though|but|and|where|which|who|as|because|since|so|a|an|the)\b", fold=True)
_CLAUSE = Words(r",\s|[;。]|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?]\s")
_SO = Words(r"^(?:so|therefore|所以|因此)(?![a-z])\s*", fold=True)
_NOW_IS = Words(r"^.{3,}(?:现在(?:是|姓|叫|为)|\b(?:is|are) now\b)", fold=True)
_QUALIFIES = Words(r"(?:for|in|on|at|with|from|during|用于|用来|给|针对|在|对于|关于)", fold=True)
_CHANGED = Words(
    r"^[^,]{1,40}?\s(?:has\s|have\s)?(?:raised|increased|cut|lowered|reduced|changed|set|moved|pushed(?:\sback)?"
    r"|postponed|extended|bumped|updated)\s(?P<what>(?:the|their|his|her|our|my|User's)\s[^,]{2,80}?)\s(?:from\s[^,]{1,40}\s)?to\s(?P<value>.+)$",
    fold=True,
)
_DATE_IS = Words(r"\bdate (?:(?:for|of) [^,]{1,40} )?(?:is|was changed to|changed to|moved to)\b", fold=True)
_IRREGULAR = frozenset(("drop", "now", "change", "correction"))


@lru_cache(maxsize=8192)
def claims(text: str) -> tuple[Claim, ...]:
    """Return the single-valued claims of a statement."""
    reading = read(text)
    if any(t.form in _DOUBTS for t in reading.tokens):
        return ()
    homes: list[Claim] = []
    if " and others " in reading.text and (group := _GROUP.match(reading.text)) is not None:
        alone = read(f"{group['who']} {reading.text[group.end() :]}")
        homes = [claim for claim in _spoken(alone.text.strip(), alone) if claim.attribute == "home"]
    return (*homes, *_spoken(reading.text.strip(), reading), *_nouns(reading.text.strip()))


def may_claim(text: str) -> bool:
    """Tell whether a text in one form for each character may claim anything; a look says so of most that do not."""
    return any(_has_one(text, one[3]) for one in _SPOKEN) or _has_one(text.casefold(), CLAIMING)


def _hedged(reading: Reading) -> bool:
    """Tell whether a clause is hedged, past, negated or additive, so that it claims no present value."""
    turned = any(
        token.kind in {"modality", "negation", "quantity"}
        or (token.kind == "tense" and token.form not in {"new", "新", "了", "just", "刚"})
        for token in reading.tokens
    )
    return turned or in_the_past(
        Reading(reading.text, tuple(t for t in reading.tokens if t.raw not in _STARTS))
    )


_DOUBTS = frozenset(
    """may could would if probably almost seem guess suppose wonder pretend claim ? 可能 如果 差点 据说 好像 吗 想 打算
    also too any another 也 另外""".split()
)
_STARTS = frozenset(
    "joined started began turned left promoted relocated moved employed quit resigned".split()
)


def _spoken(text: str, reading: Reading) -> list[Claim]:
    """Return the claims that verbs make: working at, living in, working as, being so many years old, leaving."""
    told = [one for one in _SPOKEN if _has_one(text, one[3])]
    who = subject(reading) if told else ()
    if not who:
        return []
    found: list[Claim] = []
    for attribute, pattern, ends, _ in told:
        match = pattern.match(text)
        if not match or _other_subject(match["subject"], who) or not _safe(text, match["rest"]):
            continue
        if _hedged(read(text[: match.start("rest")])) or (pattern is _POSTED and not _job(match["title"])):
            continue
        value = (match["value"] or match.groupdict().get("value2") or "").strip(" .'")
        form = _value(attribute, value)
        if pattern in {_JOINED, JOINED_ZH} and not (_company(value) or match["rest"].startswith(" as ")):
            continue
        if form:
            found.append(Claim((*who, attribute), attribute, form, ends))
    return found


_SPOKEN = (  # each with words of which one stands in all that its pattern matches
    ("employer", _EMPLOYER, False, ("work", "employed", "job", "position")),
    ("employer", _POSTED, False, ("is", "works")),
    ("employer", _JOINED, False, ("work", "joined", "started", "began")),
    ("employer", _LEFT, True, ("left", "quit", "resigned")),
    ("home", _HOME, False, ("live", "living", "resid", "based", "moved", "relocated")),
    ("title", _TITLE, False, ("work", "promoted")),
    ("employer", EMPLOYER_ZH, False, ("在", "职于", "入职", "跳槽")),
    ("employer", JOINED_ZH, False, ("加入",)),
    ("employer", NEW_JOB_ZH, False, ("跳槽", "换工作", "换公司", "离职", "辞职")),
    ("employer", LEFT_ZH, True, ("离职", "辞职", "离开")),
    ("home", HOME_ZH, False, ("住", "居", "搬")),
    ("age", _AGE, False, ("old", "turned", "岁")),
)


def _has_one(text: str, words: tuple[str, ...]) -> bool:
    return any([word in text for word in words])  # noqa: C419 - a generator takes twice as long


def _safe(text: str, rest: str) -> bool:
    """Tell whether what follows a value leaves it whole: `as an engineer` does, `on Mondays`, `in winter` do not."""
    if _ONCE.search(text) and _DATED_REST.fullmatch(rest):
        return True
    narrowing = ("quantity",) if _GOES_ON.match(rest) else ("quantity", "date", "number")
    narrowed = rest.startswith((",", ";", "。")) and read(rest).has(*narrowing)
    return _SAFE_REST.fullmatch(rest) is not None and not narrowed


def _job(title: str) -> bool:
    """Tell whether a title is one of employment: `a backend engineer at`, not `a customer at`."""
    return title.rsplit(maxsplit=1)[-1].casefold() in JOBS


def _company(value: str) -> bool:
    """Tell whether a name is an employer's by one of its words."""
    plain = value.casefold()
    return bool(set(plain.replace(".", "").split()) & COMPANY_WORDS) or any(
        plain.endswith(word) for word in COMPANY_WORDS if not word.isascii()
    )


def _other_subject(words: str, who: tuple[str, ...]) -> bool:
    """Tell whether the words before the verb say more than the subject (`User and Anna`, `User's team at work`)."""
    return any(t.form not in who for t in read(words).content if t.kind not in {"change", "have"})


def _value(attribute: str, value: str) -> str:
    """Return the form of a value, or `` when it is none of its attribute."""
    plain = value.casefold()
    if attribute == "home":
        form = TWO_WORDS.get(plain) or PLACES.get(plain.replace(" ", ""), "")
        if form:
            return f"{level(form)}:{form}"
        thing = (
            plain.split()[0] in NOT_EMPLOYERS
            or _company(value)
            or any(t.kind != "word" for t in read(value).content)
        )
        return "" if thing else f"{_UNKNOWN}{plain}"
    if attribute == "employer":
        if plain.startswith("一") and plain[1:2] in "家个所间":
            return f"{_UNKNOWN}{plain[2:]}"  # some publisher, which may be the one that is named
        vague = (
            plain.split()[0] in NOT_EMPLOYERS
            or level(plain)
            or any(t.kind not in {"word", "code"} for t in read(value).content)
        )
        return "" if vague else plain
    if attribute == "title":
        narrowed = read(value).has("relation", "date", "quantity") or set(plain.split()) & NO_TITLES
        return "" if narrowed or len(plain.split()) > 3 else plain  # noqa: PLR2004 - a longer title is a description
    return plain


def _nouns(text: str) -> list[Claim]:
    """Return the claims that nouns make: the budget is 500, the deadline is Friday, User's manager is Dana."""
    found: list[Claim] = []
    low = text.casefold()
    if not _has_one(low, CLAIMING_ASCII if low.isascii() else CLAIMING):
        return found
    for clause, alone in _clauses(text):
        changed = _CHANGED.match(clause)
        reading = read(f"{changed['what']} changed to {changed['value']}" if changed else clause)
        if _hedged(reading):
            continue
        content = [t for t in reading.content if t.kind not in _IRREGULAR and t.form not in {"new", "新"}]
        nouns = {form for token in content for form in token.forms}
        made: list[Claim] = []
        if nouns & (NUMBER_NOUNS | NUMBER_VERBS):
            made += _typed(content, frozenset(("number", "unit", "version")), "number")
        if nouns & DATE_NOUNS or _DATE_IS.search(clause):
            made += _typed(content, frozenset(("date",)), "date")
        if nouns & (NAME_NOUNS | FREE_NOUNS):
            made += _named(reading)
        found += [claim for claim in made if alone or _qualified(claim)]
    return found


def _clauses(text: str) -> list[tuple[str, bool]]:
    """Return the clauses that claim by themselves, and whether each is the whole text: the first, and conclusions."""
    parts = [part.strip() for part in _CLAUSE.split(text) if part.strip(" .")]
    if len(parts) < 2:  # noqa: PLR2004 - one clause
        return [(_SO.sub("", part), True) for part in parts]
    first = (
        [] if _QUALIFIES.match(parts[1]) or _QUALIFIES.match(parts[0]) else [(_SO.sub("", parts[0]), False)]
    )
    return first + [
        (_SO.sub("", part), False) for part in parts[1:] if _SO.match(part) or _NOW_IS.search(part)
    ]


def _qualified(claim: Claim) -> bool:
    """Tell whether a clause among others says itself what its value is of: `the hosting budget`, not `the budget`."""
    return len(claim.key) > (1 if "".join(claim.key).isascii() else 2)


def _typed(content: list[Token], kinds: frozenset[str], attribute: str) -> list[Claim]:
    """Return the claim whose value is the only cluster of these kinds; everything else is its key."""
    content = _without_from(content, kinds)
    places = [i for i, token in enumerate(content) if token.kind in kinds]
    if not places or places[-1] - places[0] >= len(places) + sum(
        content[i].form == "in" for i in range(places[0], places[-1])
    ):
        return []
    key = [t for t in content if t.kind not in kinds | {"relation", "have"}]
    relations = [t for t in content[: places[0] - 1] if t.kind == "relation"] if places[0] else []
    if not key:
        return []
    value = " ".join(content[i].form for i in places)
    return [Claim(tuple(sorted(t.form for t in (*key, *relations))), attribute, value)]


def _without_from(content: list[Token], kinds: frozenset[str]) -> list[Token]:
    """Return the tokens without an old value that `from` introduces."""
    for i, token in enumerate(content):
        if token.form in {"from", "从"} and i + 1 < len(content) and content[i + 1].kind in kinds:
            end = i + 1
            while end < len(content) and content[end].kind in kinds:
                end += 1
            return content[:i] + content[end:]
    return content


# What it is of stands before it: the phone number.
_OF_WHAT = frozenset(("number", "address", "name", "号码"))
_COPULA = frozenset(("is", "are", "是", "为", "姓", "is called", "is named"))


def _named(reading: Reading) -> list[Claim]:
    """Return the claim `ATTRIBUTE is VALUE` whose value is a name, a code or, for free attributes, a word or two."""
    tokens = list(reading.tokens)
    place = next((i for i, t in enumerate(tokens) if t.raw.casefold() in _COPULA or t.kind == "change"), -1)
    if place <= 0:
        return []
    before = [
        t for t in tokens[:place] if t.kind not in {"drop", "now", "change"} and t.form not in {"new", "新"}
    ]
    after = [t for t in tokens[place + 1 :] if t.kind not in {"drop", "now", "change"}]
    after = after[
        : next((i for i, t in enumerate(after) if t.form in {"instead", "from", "since"}), len(after))
    ]
    last = before[-2:] if before and before[-1].form in _OF_WHAT else before[-1:]
    nouns = {form for token in (before[:1] + last) for form in token.forms} | _before_of(before)
    named = bool(nouns & NAME_NOUNS) and all(
        t.name or t.kind in {"code", "number"} or not t.raw.isascii() for t in after
    )
    free = bool(nouns & FREE_NOUNS) and all(t.kind in {"word", "code", "number"} for t in after)
    if not after or len(after) > 4 or not (named or free):  # noqa: PLR2004 - a longer value is a description
        return []
    attribute = "named" if named else "free"
    return [Claim(tuple(sorted(t.form for t in before)), attribute, " ".join(t.form for t in after))]


def _before_of(before: list[Token]) -> set[str]:
    """Return the forms of the word before `for` or `in`: the budget *owner* for Orion."""
    place = next((i for i, t in enumerate(before) if t.kind == "relation"), 0)
    return set(before[place - 1].forms) if place else set()
