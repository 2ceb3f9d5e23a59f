"""Names that are safe on every file system, made from any text.

Owns the rules for file names, page slugs, day names and category slugs; promises that no result holds a path
part, a device name, a leading or trailing dot, or more than its limit in bytes, and that the same text always
gives the same name; never looks at a disk.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import date
from functools import lru_cache
from typing import cast

from reverie.errors import UsageError

SLUG_BYTES = 80
CATEGORY_BYTES = 48
DEFAULT_CATEGORY = "fact"

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PLAIN = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
# What a title may lose without becoming another title; a lost `+` or emoji makes one ("C", "C++").
_SILENT = frozenset(" \t\n-_.,:;!?'\"()[]{}/\\‘’“”–—…·、。，：；！？「」『』（）《》")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789"]
)


@lru_cache(maxsize=256)
def safe_name(name: str) -> str:
    """Return the file name (without suffix) of a session, person or agent called `name`.

    A slug of at most 80 bytes for people, then 8 hex of the SHA-256 of the exact name: names that differ only
    in case, in Unicode form or behind the cut stay apart on file systems that ignore such differences. Raises
    UsageError for what is no text.
    """
    if not isinstance(cast("object", name), str):  # Python calls with anything
        message = (
            f"a name is text, and {name!r:.40} is {type(name).__name__}: name a session, person or agent"
        )
        raise UsageError(message)
    return f"{_slug(name, SLUG_BYTES) or 'unnamed'}-{_digest(name)}"


def slug(title: str) -> str:
    """Return the file name (without suffix) of the page called `title`, at most 80 bytes.

    Titles that differ only in case, blanks or punctuation share it. A title that loses more than that, or
    is cut, carries 8 hex of its hash.
    """
    text = unicodedata.normalize("NFC", title)
    short = _slug(text, SLUG_BYTES)
    lossless = len(_slug(text, len(text.encode("utf-8", "surrogatepass")) * 4).encode()) <= SLUG_BYTES
    if lossless and short and all(_kept(char) or char in _SILENT for char in text):
        return f"page-{short}" if is_device(short) else short
    return f"{_slug(text, SLUG_BYTES - 9) or 'page'}-{_digest(text)}"


def is_device(name: str) -> bool:
    """Tell whether some file systems take a file or folder of this name for a device, whatever its suffix."""
    stem = unicodedata.normalize("NFKC", name.partition(".")[0])
    return stem.strip().casefold() in _DEVICES


@lru_cache(maxsize=1024)
def valid_category(text: str) -> str:
    """Return the category slug for any text: lower case, words joined by `-` or `_`; `fact` when nothing is left.

    `x` is no category: `- [x] …` is a ticked box.
    """
    if len(text) <= CATEGORY_BYTES and _PLAIN.fullmatch(text) and text != "x":
        return text
    found = _slug(text, CATEGORY_BYTES)
    return found if found and found != "x" else DEFAULT_CATEGORY


def is_day(text: str) -> bool:
    """Tell whether `text` is a real date written `YYYY-MM-DD`."""
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _kept(char: str) -> bool:
    """Tell whether a character of a title stays in its slug: letters, digits, and the vowel signs that follow them."""
    return char.isalnum() or _is_sign(char)


def _is_sign(char: str) -> bool:
    # Emoji are joined to their look by variation selectors, which are signs of no letter.
    return unicodedata.category(char) in ("Mn", "Mc") and not (
        "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    )


def _slug(text: str, limit: int) -> str:
    """Return the lower-case words of `text` joined by `-` (`_` stays), within `limit` bytes of UTF-8."""
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    pieces: list[str] = []
    for char in lowered:
        if char.isalnum() or (pieces and pieces[-1] not in "-_" and _is_sign(char)):
            pieces.append(char)
        elif char == "_" or (pieces and pieces[-1] not in "-_"):
            if pieces and pieces[-1] in "-_":
                pieces.pop()
            pieces.append("_" if char == "_" else "-")
    joined = "".join(pieces).strip("-_")
    return joined.encode("utf-8", "ignore")[:limit].decode("utf-8", "ignore").strip("-_")
