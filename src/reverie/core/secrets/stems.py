"""Which words that announce a secret a text can hold at all: one look before the many that follow.

Owns the stems that the labels, headers and anchors of secrets share; promises that a text without the stem of an
anchor holds no such anchor, in any spelling of its case; never says that something is a secret.

Nearly every text holds none of the stems, and looking for each anchor by itself costs more than storing the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN = (
    "pass",
    "pw",
    "credential",
    "secret",
    "token",
    "key",
    "bearer",
    "authorization",
    "basic",
    "curl ",
    "x-",
    "ssn",
    "social security",
    "phrase",
    "mnemonic",
    "cv",
    "pin",
    "putty",
    "://",
)
_CHINESE = ("密", "令", "钥", "助")  # one character each, which is found at once
_FOLDED = ("\u0130", "\u212a")  # the letters outside ASCII whose lower case is an ASCII letter
# Each begins at a letter that few words hold, so that a search stops seldom; nearly every text passes all of them.
_RARE = tuple(
    re.compile(pattern)
    for pattern in (
        rb"k(?:ey|en)",
        rb"w(?<=pw)",
        rb"v(?<=cv)",
        rb"x-",
        rb"z(?<=authoriz)",
        rb"y(?<=putty)|y(?<=social security)",
        rb"b(?:earer|asic)",
        rb"mnemonic",
        rb"p(?:ass|in|hrase)",
        rb"c(?:redential|url |ret)",
        rb"://",
        rb"ssn",
    )
)
_ENCODED = tuple((stem.encode(), stem) for stem in _PLAIN)
ALL = frozenset((*_PLAIN, *_CHINESE))
NONE: frozenset[str] = frozenset()


def stems_in(text: str, encoded: bytes) -> frozenset[str]:
    """Return the stems that `text` holds; `encoded` is the text in UTF-8."""
    lowered = encoded.lower()
    found: list[str] = []
    for rare in _RARE:
        if rare.search(lowered):
            found = [stem for raw, stem in _ENCODED if raw in lowered]
            break
    if not text.isascii():
        if any(letter in text for letter in _FOLDED):
            return ALL
        found += [stem for stem in _CHINESE if stem in text]
    return frozenset(found) if found else NONE


@lru_cache(maxsize=256)
def stem_of(anchor: str) -> str:
    """Return a stem that `anchor`, in lower case, contains; raises LookupError when there is none."""
    for stem in (*_PLAIN, *_CHINESE):
        if stem in anchor:
            return stem
    message = f"no stem is part of {anchor!r}: add one"
    raise LookupError(message)
