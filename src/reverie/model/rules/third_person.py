"""Turn what a person says of himself into what is said of him: "I prefer" becomes "User prefers".

Owns the English rewriting. Promises that code, links and quotes are left as they stand and that no word is lost but
pronouns and the contraction of verbs. Never decides what is worth keeping.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from reverie.core.text.patterns import Words

_CONTRACTED = Words(r"\b(\w+)['’](m|ve|ll|d|re|s|t)\b", fold=True)
_HAD = Words(r" (?:\w+ )?(?:been|had|gone|\w+ed)\b")
_IS = frozenset(("he", "she", "it", "that", "there", "here", "what"))
_FULL = {"m": "am", "ve": "have", "ll": "will", "re": "are"}
_PROTECTED = Words(r"`[^`\n]*`|https?://\S+|“[^”\n]{12,}”|\"[^\"\n]{12,}\"")

_FIXED = frozenset(
    r"""will would can could should must might may shall had did was were been used ought went got made
    took bought found met lost won sold told said saw came began became broke built chose drew drove
    ate fell felt flew forgot gave grew heard held kept knew led left meant paid ran rode sent shook
    showed slept spent spoke stood swam swore taught thought threw understood woke wore wrote put set
    cut hit quit hurt shut cost bet split dealt dug fought hid laid lent lit rose sang sat sought
    stole stuck struck swept wound bled bred fed fled hung learnt burnt spoilt dreamt brought caught
    rewrote rebuilt withdrew beat bit blew read""".split()
)
_ADVERBS = frozenset(
    r"""just also still now always never often sometimes only even already really then too rather no
    longer not mostly ever once again actually currently almost both each all soon finally later today
    first simply kind kinda sort of pretty much absolutely definitely literally totally currently
    mainly""".split()
)
_ED_PRESENT = frozenset(
    ("need", "feed", "breed", "speed", "bleed", "exceed", "proceed", "succeed", "embed", "shed")
)
_SAME = frozenset(("read", "put", "set", "cut", "hit", "quit", "let", "shut", "cost", "beat"))
_HABIT = frozenset(("usually", "always", "often", "sometimes", "never", "generally", "mostly", "normally"))
_PLAIN = frozenset(
    r"""live work use like love prefer hate drink eat have need want run play speak go take keep enjoy
    drive commute write teach study own do""".split()
)


class Voice(msgspec.Struct, frozen=True):
    """Who "I", "you" and "we" are; `we_plural` says whether "we" takes a plural verb."""

    me: str = "User"
    you: str = "Agent"
    we: str = "The team"
    our: str = "the team's"


def expand(text: str) -> str:
    """Write out the contractions that hide a verb: "I'm" becomes "I am", "don't" "do not"."""
    if "'" not in text and "’" not in text:
        return text
    return _CONTRACTED.sub(_expanded, text)


def _expanded(match: re.Match[str]) -> str:
    word, ending = match[1], match[2].lower()
    low = word.lower()
    if ending == "t" and low.endswith("n"):
        stem = {"won": "will", "can": "can", "shan": "shall"}.get(low, word[:-1])
        return f"{stem} not"
    if ending == "s":
        return f"{word} us" if low == "let" else f"{word} is" if low in _IS else match[0]
    if ending == "d":
        had = low == "i" and _HAD.match(match.string, match.end())
        return (
            f"{word} {'had' if had else 'would'}"
            if low in {"i", "you", "we", "they", "he", "she"}
            else match[0]
        )
    return f"{word} {_FULL[ending]}" if ending in _FULL else match[0]


def conjugate(verb: str) -> str:
    """Return the third person singular of a verb; a past form, a modal or a form of "be" stays or is exchanged."""
    low = verb.lower()
    special = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was"}
    if low in special:
        return special[low]
    if low in _FIXED or (low.endswith("ed") and low not in _ED_PRESENT):
        return verb
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in {"a", "e", "i", "o", "u"}:
        return verb[:-1] + "ies"
    return verb + "s"


def narrate(text: str, voice: Voice, *, inside: bool = False) -> str:
    """Rewrite an expanded English sentence from its speaker's view to a third person's.

    `inside` says that the text goes on a sentence that has named the speaker: "I" is "they" from the start.
    """
    parts, at, told = [], 0, inside
    for kept in _PROTECTED.finditer(text):
        piece, told = _told(text[at : kept.start()], voice, told=told)
        parts += [piece, kept[0]]
        at = kept.end()
    parts.append(_told(text[at:], voice, told=told)[0])
    return "".join(parts)


_PRONOUN = Words(
    r"""\b(?P<subject>I|i|[Yy]ou|[Ww]e)(?P<tail>(?: [\w'’/-]+){1,5})|\b(?P<other>[Mm]yself|[Mm]ine|[Mm]y
    |[Mm]e|[Yy]ourself|[Yy]ours|[Yy]our|[Yy]ou|[Oo]urselves|[Oo]urs|[Oo]ur|[Uu]s|[Ww]e|I)\b"""
)
_PIECES = re.compile(r" [\w'’/-]+")
_OBJECT_YOU = Words(
    r"""(?:\b(?:to|for|with|want|need|tell|told|ask|asked|give|gave|send|sent|remind|show|let|get|thank
    |help|owe|than|from|about|of|and|like|prefer|see|told|at|on|by|after|expect)\s)$"""
)


def _told(text: str, voice: Voice, *, told: bool) -> tuple[str, bool]:
    """Rewrite one unprotected stretch; `told` says that the speaker was named before, so "my" becomes "their"."""
    out, at = [], 0
    inside = told
    while (match := _PRONOUN.search(text, at)) is not None:
        out.append(text[at : match.start()])
        word = match["subject"] or match["other"]
        before = text[: match.start()]
        as_subject = match["subject"] and not (word.lower() == "you" and _OBJECT_YOU.search(before))
        if as_subject:
            piece, used = _subject(
                word, match["tail"], voice, told=told, start=not inside and not before.strip()
            )
            out.append(piece)
            at = match.start() + len(word) + used
        else:
            out.append(_pronoun(word, voice, told=told, start=not inside and not before.strip()))
            at = match.start() + len(word)
        told = told or word.lower() in {"i", "my", "me", "mine", "myself"}
    out.append(text[at:])
    return "".join(out), told


def _subject(word: str, tail: str, voice: Voice, *, told: bool, start: bool) -> tuple[str, int]:
    """Return the subject with its verb in the third person and how much of `tail` was used."""
    low = word.lower()
    name = {"i": "they" if told and not start else voice.me, "you": voice.you}.get(low, voice.we)
    if low == "we" and not start:
        name = name[0].lower() + name[1:] if name.startswith("The ") else name
    plural = name == "they" or (low == "we" and " and " in name)
    used, words = 0, []
    for piece in _PIECES.findall(tail):
        used += len(piece)
        verb = piece[1:]
        if verb.lower() in _ADVERBS or (
            verb.lower().endswith("ly") and verb.lower() not in {"rely", "apply", "supply", "fly", "reply"}
        ):
            words.append(verb)
            continue
        if plural:
            words.append({"am": "are"}.get(verb.lower(), verb))
        else:
            usual = verb.lower() in _SAME and any(word.lower() in _HABIT for word in words)
            words.append(f"{verb}s" if usual else conjugate(verb))
        return f"{name} {' '.join(words)}", used
    return f"{name} {' '.join(words)}".rstrip(), used


def _pronoun(word: str, voice: Voice, *, told: bool, start: bool) -> str:
    low = word.lower()
    mine = "their" if told else f"{voice.me}'s"
    our = voice.our[0].upper() + voice.our[1:] if start else voice.our
    we = voice.we if start or not voice.we.startswith("The ") else "the" + voice.we[3:]
    said = {
        "my": mine,
        "me": "them" if told else voice.me,
        "mine": "theirs",
        "myself": "themselves",
        "i": voice.me,
        "your": f"{voice.you}'s",
        "you": voice.you,
        "yours": f"{voice.you}'s",
        "yourself": "itself",
        "our": our,
        "us": we,
        "we": we,
        "ours": our,
        "ourselves": "themselves",
    }[low]
    return said[0].upper() + said[1:] if start else said


_AND_VERB = Words(rf"""\b(and|but|or) (?P<adv>(?:(?:also|usually|always|never|sometimes|only|still
    |now) )?)(?P<verb>{"|".join(sorted(_PLAIN))})\b""")


_BARE_AFTER = Words(r"\b(?:to|can|could|will|would|should|must|may|might|how|who|that|where|when|what)\b")


@lru_cache(maxsize=64)
def _lead(me: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(me)} (?:\w+ly |also |now |still |always |usually )?(\w+s)\b")


def agree(text: str, voice: Voice) -> str:
    """Give a second verb of the same subject its ending: "User lives in Berlin and work" becomes "and works"."""
    lead = _lead(voice.me).match(text)
    if lead is None or lead[1] in {"was", "does"}:
        return text
    bare = _BARE_AFTER.search(text) if lead[1] == "is" else None  # "is able to eat and drink"
    end = bare.start() if bare is not None else len(text)
    return _AND_VERB.sub(lambda m: f"{m[1]} {m['adv']}{conjugate(m['verb'])}", text[:end]) + text[end:]
