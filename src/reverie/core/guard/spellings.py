"""How a word may be spelled in a text whose reading holds it.

Owns the way back from the form of a word to its spellings; promises that a text in one form for each character
(`guard_forms.plain_text`), casefolded, with none of them has no token of that form; never reads a text, which takes
twenty times as long as to look for a few letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from reverie.core.guard.places import PLACES, TWO_WORDS
from reverie.core.guard.words import ENGLISH, IRREGULAR_PAST, IRREGULAR_PLURALS, SAME_WORDS, UNITS
from reverie.core.guard.words_zh import CHINESE

# Forms that a reading gives by a rule of its own: `won't` is a will, `has left` the perfect.
_MADE = frozenset(("can", "will", "would", "have", "not", "anymore", "perfect", "不"))
_HAN = re.compile(r"[\u3400-\u9fff]+")


@lru_cache(maxsize=16_384)
def spellings(form: str) -> tuple[str, ...]:
    """Return the spellings, casefolded, of a form that is one word of letters: of each as much as every text has.

    The last letter of a word that can be inflected is left out, for -ies, -ed and -ing may take it away.
    """
    if form in _MADE:
        return ("",)  # it may be in any text
    others = _others()
    bases = {form.casefold(), *others["same"].get(form, ())}
    found = {base if _HAN.fullmatch(base) else base[:-1] for base in bases}
    found.update(word for base in (form, *bases) for word in others["irregular"].get(base, ()))
    return tuple(sorted(found | set(others["listed"].get(form, ())), key=lambda word: (-len(word), word)))


@cache
def _others() -> dict[str, dict[str, list[str]]]:
    """Return the words of the tables by the form they have: of the same meaning, irregular, listed with a form."""
    found: dict[str, dict[str, list[str]]] = {"same": {}, "irregular": {}, "listed": {}}
    for name, pairs in (
        ("same", SAME_WORDS.items()),
        ("irregular", (*IRREGULAR_PAST.items(), *IRREGULAR_PLURALS.items())),
        ("listed", _listed()),
    ):
        for word, form in pairs:
            found[name].setdefault(form, []).append(word)
    return found


def _listed() -> Iterator[tuple[str, str]]:
    """Yield the first words of what has a form of its own in a table, each with the form."""
    yield from ((phrase.split()[0], form) for phrase, (form, _) in ENGLISH.items())
    yield from ((phrase.split()[0], form) for phrase, form in TWO_WORDS.items())
    yield from PLACES.items()
    yield from UNITS.items()
    yield from ((phrase, form) for phrase, (form, _) in CHINESE.items())
