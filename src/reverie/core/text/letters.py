"""Letters of any alphabet: which begin a name, and what a name is without its accents.

Owns the capitals that a pattern may name, which `[A-Z]` does not hold; promises that one name in two spellings
(`Müller`, `Mueller`, `Muller`; in one character each or with its accents apart) has a bare form in common. Never
says that two names are of one thing.
"""

from __future__ import annotations

import unicodedata

_BLOCKS = (range(0x41, 0x530), range(0x1E00, 0x1F00))  # Latin, Greek, Cyrillic, and Latin with more accents
CAPITALS = "".join(chr(code) for block in _BLOCKS for code in block if chr(code).isupper())
"""What may stand between the brackets of a pattern for the first letter of a name."""

_PLAIN = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss"})


def bare(text: str) -> frozenset[str]:
    """Return a text in lower case without accents: with each left out, and with each written out."""
    low = unicodedata.normalize("NFC", text.casefold())
    if low.isascii():
        return frozenset((low,))
    return frozenset(_unmarked(low.translate(table)) for table in (_PLAIN, _WRITTEN_OUT))


def _unmarked(low: str) -> str:
    apart = unicodedata.normalize("NFD", low.translate(_PLAIN))
    return "".join(char for char in apart if not unicodedata.combining(char))


def is_latin(text: str) -> bool:
    """Tell whether the letters of a text are Latin ones, with accents or without."""
    return text.isascii() or all(
        unicodedata.name(char, "").startswith("LATIN") for char in text if char.isalpha()
    )
