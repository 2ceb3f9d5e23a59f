"""Read turns by rule, without a model: the entries that their speakers' own words state.

Owns the way from turns to entries: who speaks, which of a turn's words are his own, which language a sentence is in,
and what an entry's fields are. Promises to be the same for the same turns, to be precise rather than greedy (what it
leaves out stays searchable in the raw turns), to give as evidence words that stand in the turn, and to take at most
`MOST` entries from a turn. Never reads injected spans, system turns, tool output, quotes or pastes; the commands of a
short fence that complete a how-to make it an entry of origin `file`, merely discussed.

In the entries: `who` is the speaker's name if the turn gives one; `about` is the person spoken of, or `agent` for its
own promises, and empty for the speaker; `sig` is None where the category's default holds; `conf` is None for what was
stated plainly. An event's `since` is when it happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from reverie.core.days import Calendar
from reverie.core.records import Entry, Origin, Status, Turn
from reverie.core.text.patterns import Words
from reverie.model.rules import rules_en, rules_zh
from reverie.model.rules.claims import Claim, Scene
from reverie.model.rules.corrections import mends
from reverie.model.rules.sentences import Sentence, command_after, sentences
from reverie.model.rules.topics import tags

EXTRACTOR = "rules/1"
MOST = 40
EVIDENCE = 400

_HAN = Words(r"[\u3400-\u9fff]")
_OTHER = Words(r"[\u3040-\u30ff\uac00-\ud7af\u0400-\u06ff\u0e00-\u0e7f]")
_LATIN = Words(r"[A-Za-z]")
_JOKED = Words(
    r"\b(?:just|only) (?:kidding|joking)\b|\b(?:i'm|i am) (?:kidding|joking)\b|\bjk\b|开玩笑|逗你|说着玩",
    fold=True,
)
_JOKES = ("kidding", "joking", "jk", "玩笑", "逗你", "说着玩")
_ROLES = frozenset(("user", "assistant", "agent", "human", "ai", "bot"))


class Found(msgspec.Struct, frozen=True):
    """One memory read from a turn: the entry without id and day, the ordinal of its turn, and what it may replace.

    `hint` is a statement in words, or the id of an entry, that a model says this one replaces; nobody believes it.
    """

    entry: Entry
    n: int
    hint: str = ""


def extract(turns: Sequence[Turn], calendar: Calendar) -> tuple[Found, ...]:
    """Return what the turns state, in their order; relative dates count from each turn's own instant."""
    stated: list[Claim] = []
    return tuple(found for turn in turns for found in _read(turn, calendar, stated))


def _read(turn: Turn, calendar: Calendar, stated: list[Claim]) -> Iterator[Found]:
    """Yield what one turn states; `stated` grows by it, so that a later turn may correct it."""
    if turn.role not in {"user", "assistant"} or not turn.content:
        return
    spoken = tuple(sentences(turn.content, turn.injected))
    low = turn.content.lower()
    if any([hint in low for hint in _JOKES]):  # noqa: C419 - each turn is asked; a generator takes twice as long
        spoken = _unjoked(spoken)
    if not spoken:
        return
    scene = _scene(turn, calendar)
    seen: set[str] = set()
    for claim in _claims(turn, spoken, scene, stated):
        if claim.text in seen:
            continue
        seen.add(claim.text)
        stated.append(claim)
        yield Found(_entry(turn, claim, scene), turn.n)
        if len(seen) >= MOST:
            return


def _scene(turn: Turn, calendar: Calendar) -> Scene:
    if turn.role == "assistant":
        return Scene("assistant", "Agent", "User", turn.at, calendar)
    named = turn.name if turn.name.lower() not in _ROLES else ""
    return Scene("user", named or "User", "Agent", turn.at, calendar)


def _unjoked(spoken: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Leave out what a later sentence of the same paragraph takes back as a joke."""
    for at in range(len(spoken) - 1, -1, -1):
        if _joked(spoken[at].text):
            kept = tuple(one for one in spoken[:at] if one.paragraph != spoken[at].paragraph)
            return _unjoked(kept) + spoken[at + 1 :]
    return spoken


def _joked(text: str) -> bool:
    """Say whether a sentence takes back what was said before it; few texts hold a word that could."""
    low = text.lower()
    return any(hint in low for hint in _JOKES) and _JOKED.search(text) is not None


def _claims(
    turn: Turn, spoken: tuple[Sentence, ...], scene: Scene, stated: Sequence[Claim]
) -> Iterator[Claim]:
    at = 0
    while at < len(spoken):
        sentence = spoken[at]
        if scene.role == "assistant" and sentence.text.isascii() and not rules_en.agent_may(sentence.text):
            at += 1
            continue
        items = _items(spoken, at)
        if items and scene.role == "user" and (steps := _steps(sentence, items, scene)) is not None:
            yield steps
            at += 1 + len(items)
            continue
        if (
            scene.role == "user"
            and sentence.text.endswith((":", "："))
            and (fenced := _fenced(turn, sentence, scene))
        ):
            yield fenced
        else:
            claims = tuple(_stated(spoken, at, scene))
            if not claims and scene.role == "user":
                claims = tuple(mends(sentence, stated, scene=scene))
            alone = len(claims) == 1
            yield from (
                replace(claim, start=sentence.start, end=sentence.end) if alone else claim for claim in claims
            )
        at += 1


def _stated(spoken: tuple[Sentence, ...], at: int, scene: Scene) -> Iterator[Claim]:
    """Read one sentence in its language."""
    sentence = spoken[at]
    if sentence.text.isascii():
        yield from rules_en.read(sentence, scene, person=_person(spoken, at, scene))
    elif _HAN.search(sentence.text):
        if _chinese(sentence.text):
            yield from rules_zh.read(sentence, scene)
    elif not _OTHER.search(sentence.text):
        yield from rules_en.read(sentence, scene, person=_person(spoken, at, scene))


def _person(spoken: tuple[Sentence, ...], at: int, scene: Scene) -> str:
    """Return the person whom the sentences before one named, if it speaks of "her"."""
    if scene.role != "user" or not rules_en.speaks_of_other(spoken[at].text):
        return ""
    before = (rules_en.person_of(one.text) for one in reversed(spoken[:at]))
    return next((name for name in before if name != ""), None) or ""


def _chinese(text: str) -> bool:
    return not _OTHER.search(text) and len(_HAN.findall(text)) * 6 >= len(_LATIN.findall(text))


def _items(spoken: tuple[Sentence, ...], at: int) -> tuple[Sentence, ...]:
    """Return the list items that follow a sentence that introduces them."""
    if not spoken[at].text.endswith((":", "：")):
        return ()
    end = at + 1
    while end < len(spoken) and spoken[end].item:
        end += 1
    return spoken[at + 1 : end] if end - at > 2 else ()  # noqa: PLR2004


def _steps(intro: Sentence, items: tuple[Sentence, ...], scene: Scene) -> Claim | None:
    """Read an introduction and its list as one procedure, if they are one."""
    reader = rules_zh if _HAN.search(intro.text) else rules_en
    if not reader.introduces(intro.text) or items[-1].end - intro.start > 3 * EVIDENCE:
        return None
    steps = " ".join(f"{number}) {item.text.rstrip(' .;。；')};" for number, item in enumerate(items, 1))
    text = f"{reader.retold(intro.text, scene)} {steps}".rstrip(";")
    return Claim(category="procedure", text=text, start=intro.start, end=items[-1].end)


def _fenced(turn: Turn, intro: Sentence, scene: Scene) -> Claim | None:
    """Read an introduction and the short fence after it as a how-to of the origin a fence has."""
    reader = rules_zh if _HAN.search(intro.text) else rules_en
    if not reader.introduces(intro.text) or (commands := command_after(turn.content, intro.end)) is None:
        return None
    text = f"{reader.retold(intro.text, scene)} {commands[0]}"
    return Claim(category="procedure", text=text, start=intro.start, end=commands[1], origin="file")


def _entry(turn: Turn, claim: Claim, scene: Scene) -> Entry:
    own: Origin = "user" if scene.role == "user" else "agent"
    origin = claim.origin or own
    status: Status = "active" if origin == own else "discussed"
    return Entry(
        id="",
        day="",
        text=claim.text,
        at=turn.at,
        category=claim.category,
        tags=tags(claim.text, claim.category),
        sig=claim.sig,
        conf=claim.conf,
        who=turn.name or turn.user,
        about=claim.about,
        since=claim.since,
        until=claim.until,
        due=claim.due,
        origin=origin,
        status=status,
        session=turn.session,
        turns=str(turn.n) if turn.n >= 0 else "",
        evidence=_evidence(turn.content, claim),
    )


def _evidence(content: str, claim: Claim) -> str:
    """Return the words a claim stands on, cut at a border of words if they are many."""
    words = content[claim.start : claim.end].strip()
    if len(words) <= EVIDENCE:
        return words
    return words[: EVIDENCE + 1].rsplit(None, 1)[0][:EVIDENCE].rstrip()
